"""An ask with 60 moves: view, moves and bytes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from arena.games.catalogue import game_by_id
from arena.games.contract import Listed, Seat
from arena.games.democracy import rules as democracy
from arena.games.democracy.messages import PLAYS
from arena.referee.wire import fields
from arena.referee.wire.games import codec_of
from arena.testing.deals import SeededDeals

MOVES: Final = 60


def ask_60_moves() -> Callable[[], bytes]:
    """Return a function that builds and encodes an ask with 60 moves, for one seat after another.

    The view is that of a six-seat Democracy table in the last trick of its first island, with the history of all
    earlier tricks. Its rules offer fewer moves, so 60 interned ones take their place. After an ask for each seat the
    history is a new value, as after a trick.
    """
    game = game_by_id("democracy")
    codec = codec_of(game)
    deals = SeededDeals("bench")
    seats = max(game.seats)
    step = democracy.start(game.options({"hands": seats}, seats), seats, deals)
    while democracy.view(step.state, None).undealt or democracy.view(step.state, None).pool:
        everybody = democracy.to_act(step.state)
        chosen = tuple((seat, democracy.fallback(step.state, seat)) for seat in everybody)
        step = democracy.step(step.state, chosen, deals)
    known = tuple(PLAYS.values())
    moves = tuple(known[at % len(known)] for at in range(MOVES))
    events = [codec.event(told.event) for told in step.events if told.sent_to is None]
    match, state, seat = fields.match_field(1), step.state, Seat(0)

    def build() -> bytes:
        nonlocal state, seat
        seat = Seat((seat + 1) % seats)
        if seat == 0:
            state = replace(state, island=replace(state.island))
        view = democracy.view(state, seat)
        body = fields.seat_field(seat) + codec.ask(view, events, Listed(moves))
        return fields.ask_element(1, 1, match, 10_000, 60_000, 0, 3, body)

    return build

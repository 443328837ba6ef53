"""An ask with 60 moves: view, moves and bytes, and what a bot in Python does with it."""

import itertools
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
from cardarena import Bot
from cardarena._play import OneByOne, do, finished
from cardarena._session import Session
from cardarena.v1.play_pb2 import ArenaMessage, Hello, Limits, MatchStart, Welcome

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

    numbers = itertools.count(1)

    def build() -> bytes:
        nonlocal state, seat
        seat = Seat((seat + 1) % seats)
        if seat == 0:
            state = replace(state, island=replace(state.island))
        view = democracy.view(state, seat)
        body = fields.seat_field(seat) + codec.ask(view, events, Listed(moves))
        return fields.ask_element(next(numbers), 1, match, 10_000, 60_000, 0, 3, body)

    return build


class _First(Bot):
    """Plays the first move, after a look at the view."""

    def move(self, ask):  # type: ignore[no-untyped-def]
        return ask.moves[len(ask.view.to_act) - 1]


class _Port:
    """The part of a bot's connection that plays, without a stream."""

    def __init__(self, session: Session) -> None:
        self.show = session.show
        self._session = session
        self.sent: list[bytes] = []

    def answer(self, answers):  # type: ignore[no-untyped-def]
        self.sent = self._session.frames(self._session.answer(answers))


def answered_ask() -> Callable[[], bytes]:
    """Return a function that has the SDK read an ask with 60 moves, call a bot and write its answer."""
    build, session = (
        ask_60_moves(),
        Session(Hello(token="guest:bench"), auto=True, now_s=lambda: 0.0),
    )
    session.opened()
    start = MatchStart(match=1)
    start.terms.game = "democracy"
    limits = Limits(max_message_bytes=65536, max_note_chars=200)
    welcome = Welcome(epoch=1, limits=limits, matches=[start])
    session.receive(ArenaMessage(welcome=welcome).SerializeToString())
    author, port = OneByOne(_First), _Port(session)

    def answer() -> bytes:
        session.receive(fields.asks_frame([build()]))
        port.sent = []
        finished(do(author, session.take(), port))  # type: ignore[arg-type]
        (frame,) = port.sent
        return frame

    return answer

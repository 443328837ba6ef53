"""What an ask costs by seats and by cards held: listing the moves, building the view, encoding.

Each ask is timed once, where it comes up in random play: measured again and again, it would be
found in what rules and codec keep of asks that were the same. Events are encoded once for all
seats and are not part of it; those that a seat has not been told yet are.
"""

import math
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.games.game import Game
from arena.referee.seat import UnsentEvents
from arena.testing.deals import SeededDeals
from arena.wire import fields
from arena.wire.games import codec_of
from bench.rules import HANDS

FAMILIES: Final = tuple({game.family: game for game in reversed(GAMES)}.values())[::-1]
"""The first game of each family: the others have the same views."""
LEAST_ASKS: Final = 50
"""With a number of cards held, to tell what these cost."""
WARM_ASKS: Final = 100
"""Before the count: the first ones make encoders and fill caches."""
_MATCH: Final = fields.match_field(1)


class Ask(NamedTuple):
    """One ask of random play."""

    held: int | None
    """Cards that its seat has in hand; None where views have no hand."""
    us: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class HeldCost:
    """Asks of seats that hold so many cards."""

    held: int
    asks: int
    us: float
    """Processor time, as `typical_us` has it."""


@dataclass(frozen=True, slots=True)
class AskCost:
    """Asks of a game at a number of seats."""

    game: str
    seats: int
    asks: int
    us: float
    """Processor time, as `typical_us` has it."""
    size_bytes: float
    """Mean length."""
    by_held: tuple[HeldCost, ...]
    """From few cards to many, as far as there were enough asks."""


def measure(game: Game, seats: int, seconds: float) -> AskCost:
    """Play at random for so long, and for `LEAST_ASKS` at least."""
    found: list[Ask] = []
    until_s = time.perf_counter() + seconds
    for at, ask in enumerate(_played(game, seats)):
        if at >= WARM_ASKS:
            found.append(ask)
            if len(found) >= LEAST_ASKS and time.perf_counter() > until_s:
                break
    by_held = defaultdict(list)
    for ask in found:
        if ask.held is not None:
            by_held[ask.held].append(ask.us)
    return AskCost(
        game=game.id,
        seats=seats,
        asks=len(found),
        us=typical_us([ask.us for ask in found]),
        size_bytes=round(statistics.fmean(ask.size_bytes for ask in found), 1),
        by_held=tuple(
            HeldCost(held, len(each_us), typical_us(each_us))
            for held, each_us in sorted(by_held.items())
            if len(each_us) >= LEAST_ASKS
        ),
    )


def typical_us(each_us: Sequence[float]) -> float:
    """The mean without the dearest hundredth, and at least without one.

    Asks of one game are of cheap and dear kinds, between which a median jumps; and one pause of
    the machine or of the collector would be most of a plain mean.
    """
    dearest = math.ceil(len(each_us) / 100)
    return round(statistics.fmean(sorted(each_us)[:-dearest]), 2)


def _played(game: Game, seats: int) -> Iterator[Ask]:
    """The asks of one match after the other."""
    match = 0
    while True:
        yield from _match(game, seats, SeededDeals(f"bench {match}"))
        match += 1


def _match(game: Game, seats: int, deals: SeededDeals) -> Iterator[Ask]:
    rules, codec = game.rules, codec_of(game)
    drawn = random.Random(1)
    news = [UnsentEvents(codec) for _ in range(seats)]
    step = rules.start(game.options({"hands": -(-HANDS // seats) * seats}, seats), seats, deals)
    decision = 0
    while True:
        for told in step.events:
            encoded = codec.event(told.event)
            for seat in range(seats) if told.sent_to is None else told.sent_to:
                news[seat].event(told.event, encoded)
        state, chosen = step.state, []
        acting = rules.to_act(state)
        if not acting:
            return
        for seat in map(Seat, acting):
            decision += 1
            begin_ns = time.thread_time_ns()
            moves = rules.moves(state, seat)
            view = rules.view(state, seat)
            body = news[seat].ask(seat, view, moves)
            element = fields.ask_element(decision, decision, _MATCH, 10_000, 60_000, 0, 3, body)
            us = (time.thread_time_ns() - begin_ns) / 1000
            news[seat].forget()
            held = getattr(view, "held", None)
            yield Ask(None if held is None else len(held), us, len(element))
            offered = moves.offered
            move = drawn.choice(offered) if offered else moves.sample(drawn.randrange)
            chosen.append((seat, move))
        step = rules.step(state, tuple(chosen), deals)

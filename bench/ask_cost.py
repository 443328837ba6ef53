"""The cost of an ask by seats and by cards held: listing the moves, building the view, encoding.

Each ask is timed once, where it occurs in random play, as the caches of rules and codec would make a repetition
cheaper. Events are encoded once for all seats and are not included; adding them to the ask is.
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
"""Asks with a number of cards held, to estimate the cost of a card."""
WARM_ASKS: Final = 100
"""Asks before the measurement, which make encoders and fill caches."""
_MATCH: Final = fields.match_field(1)


class Ask(NamedTuple):
    """One ask of random play."""

    held: int | None
    """Cards in the hand of its seat; None in games without hands in views."""
    us: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class HeldCost:
    """Asks of seats with a number of cards."""

    held: int
    asks: int
    us: float
    """Processor time by `typical_us`."""


@dataclass(frozen=True, slots=True)
class AskCost:
    """Asks of a game at a number of seats."""

    game: str
    seats: int
    asks: int
    us: float
    """Processor time by `typical_us`."""
    size_bytes: float
    """Mean length in bytes."""
    by_held: tuple[HeldCost, ...]
    """By number of cards, ascending, where there were enough asks."""


def measure(game: Game, seats: int, seconds: float) -> AskCost:
    """Play at random for some seconds, and for at least `LEAST_ASKS`."""
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
    """Return the mean without the most expensive hundredth, and at least without one value.

    Asks of a game are of cheap and expensive kinds, between which a median jumps; a single pause of the machine or of
    the garbage collector would dominate a plain mean.
    """
    dearest = math.ceil(len(each_us) / 100)
    return round(statistics.fmean(sorted(each_us)[:-dearest]), 2)


def _played(game: Game, seats: int) -> Iterator[Ask]:
    """Yield the asks of one match after another."""
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

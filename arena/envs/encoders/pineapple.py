"""Observations and actions of the Pineapple games."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, Final

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import (
    CardOrder,
    Fields,
    OneOf,
    Part,
    Rename,
    SeatOf,
    SeveralOf,
    ValueCode,
)
from arena.envs.encoders.betting import betting_codes, wagers
from arena.envs.writers import At, Source
from arena.games.betting.moves import CALL, CHECK, FOLD
from arena.games.betting.rounds import Structure
from arena.games.cards import PACK_52, SUITS, Card
from arena.games.contract import Options
from arena.games.pineapple import messages as m
from arena.games.pineapple.state import first_match
from arena.house.policies.pineapple import equities_of

_STEPS: Final = 20
"""The number of numbers of an equity; each is the filled part of one twentieth."""
_DEALS: Final = 64
"""The number of imagined deals for an equity, which take half a millisecond."""


class _Beside(ValueCode):
    """The code of a value, followed by numbers that are computed from it, so that a learner need not compute them.

    These numbers are not read back. They are from 0 to 1, and must not depend on the names of suits.
    """

    def __init__(
        self,
        code: ValueCode,
        name: str,
        meaning: str,
        size: int,
        follows: Callable[[Any, int], Sequence[float]],
    ) -> None:
        """Take the code of the value, and the function that returns the `size` further numbers from a value and the seat that sees it."""
        self._code = code
        self._name, self._text, self._follows = name, meaning, follows
        self._further = size
        self.size = code.size + size
        self.low, self.high = (*code.low, *(0,) * size), (*code.high, *(1,) * size)

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        yield from self._code.source(value, at, source)
        place, number = source.variable(), source.variable()
        follows = f"{source.constant(self._follows)}({value}, seat)"
        start = at.after(self._code.size)
        yield f"for {place}, {number} in enumerate({follows}, {start}): numbers[{place}] = {number}"

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return self._code.read(seat, numbers, at)

    def renamed(self, rename: Rename) -> list[int]:
        return [*self._code.renamed(rename), *range(self._code.size, self.size)]

    def parts(self, name: str, start: int) -> Iterator[Part]:
        yield from self._code.parts(name, start)
        yield Part(self._name, start + self._code.size, self._further, self._text)

    def meaning(self) -> str:
        return f"{self._code.meaning()}; {self._name}: {self._text}"


def view_code(options: Options, seats: int) -> ValueCode:
    _, match = first_match(options, seats)
    seen = Fields(
        m.View,
        seats,
        to_act=SeveralOf(SeatOf(seats), seats),
        held=CardOrder(PACK_52),
        given_up=OneOf((*PACK_52, None)),
        board=CardOrder(PACK_52),
        live=SeveralOf(SeatOf(seats), seats),
        **betting_codes(match, seats),
    )
    meaning = (
        f"the part of the pot that the best two cards should win from others with any cards, by {_DEALS} imagined deals: "
        f"for each of {_STEPS} steps from 0 to 1 the part that it fills"
    )
    with_low = options.variant == m.Variant.CRAZY_HILO
    return _Beside(seen, "equity", meaning, _STEPS, partial(_equity, with_low=with_low))


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: all moves in fixed limit, and in no-limit a few sizes of bets."""
    is_fixed = options.structure == Structure.FIXED
    moves = FixedMoves(FOLD, CHECK, CALL, *m.DISCARDS.values())
    return ActionSpace(moves, wagers(1 if is_fixed else 0))


def _equity(view: m.View, seat: int, *, with_low: bool) -> list[float]:
    others = len(view.live) - 1
    if seat not in view.live or not others:
        return []
    gone = () if view.given_up is None else (view.given_up,)
    equity = _STEPS * _imagined(*_renamed(view.held, view.board, gone), others, with_low=with_low)
    return [min(1.0, equity - step) for step in range(_STEPS) if equity > step]


def _renamed(*groups: tuple[Card, ...]) -> list[tuple[Card, ...]]:
    """Return cards with their suits renamed and sorted, so that hands that differ only in suits are equal."""
    ranks = {
        suit: [sorted(card[0] for card in group if card[1] == suit) for group in groups]
        for suit in SUITS
    }
    to = dict(zip(sorted(SUITS, key=ranks.__getitem__), SUITS, strict=True))
    return [tuple(sorted(card[0] + to[card[1]] for card in group)) for group in groups]


@lru_cache(maxsize=1 << 14)
def _imagined(
    held: tuple[Card, ...],
    board: tuple[Card, ...],
    gone: tuple[Card, ...],
    others: int,
    *,
    with_low: bool,
) -> float:
    """Return the equity of the best two cards; the deals follow from the cards that a seat sees."""
    seen = {*held, *board, *gone}
    unseen = [card for card in PACK_52 if card not in seen]
    draw = random.Random(f"{held} {board} {gone} {others}").random
    return max(
        equities_of(
            list(combinations(held, 2)),
            board,
            unseen,
            others,
            lambda count: int(draw() * count),
            _DEALS,
            with_low=with_low,
        )
    )

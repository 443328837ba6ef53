"""Observations and actions of Open-Face Chinese Poker."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from arena.envs.actions import ActionSpace, ChosenMoves, FixedMoves
from arena.envs.codes import (
    BySeat,
    CardOrder,
    Fields,
    Flag,
    Maybe,
    Number,
    OneOf,
    SeatOf,
    SeveralOf,
)
from arena.envs.encoders.lengths import totals_code
from arena.games.cards import PACK_52, in_order
from arena.games.chinese.hands import HAND_SIZE
from arena.games.chinese.settings import OFFERED_SETTINGS
from arena.games.contract import Moves, Options
from arena.games.open_face_chinese_poker import messages as m
from arena.games.open_face_chinese_poker import rules

_FIRST: Final = 5
_ROWS_OF_CARDS: Final = tuple(product(range(3), repeat=_FIRST))


def view_code(options: Options, seats: int) -> Fields:
    row, hands = CardOrder(PACK_52), options.hands or rules.HANDS_PER_DEALER * seats
    layout = Fields(m.Layout, seats, front=row, middle=row, back=row)
    return Fields(
        m.View,
        seats,
        hand=Number(0, rules.MOST_HANDS * hands),
        to_act=SeveralOf(SeatOf(seats), seats),
        fantasyland=BySeat(Flag(), seats),
        layouts=BySeat(layout, seats),
        to_place=CardOrder(PACK_52),
        own_setting=Maybe(layout),
        drawn=OneOf((*PACK_52, None)),
        stock=Number(0, len(PACK_52)),
        hands_left=Number(0, hands),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: all moves of the game, in Fantasyland the best settings of a search."""
    return ActionSpace(
        FixedMoves(*(place for places in m.SINGLES.values() for place in places)),
        ChosenMoves(
            len(_ROWS_OF_CARDS),
            "place the first five cards: digit n of the number in base 3, from the left, is the row of card n of "
            "`to_place` in the order of the pack (0 front, 1 middle, 2 back)",
            _spreads,
        ),
        ChosenMoves(
            OFFERED_SETTINGS + 1,
            "set thirteen cards in Fantasyland: the offered settings by their place in the offer",
            _settings,
        ),
    )


def _spreads(view: m.View, moves: Moves) -> Iterator[m.Place | None]:
    cards = in_order(view.to_place)
    if len(cards) != _FIRST:
        return
    for rows in _ROWS_OF_CARDS:
        front, middle, back = (
            tuple([card for card, row in zip(cards, rows, strict=True) if row == number])
            for number in range(3)
        )
        move = m.Place(front, middle, back)
        yield move if move in moves else None


def _settings(view: m.View, moves: Moves) -> Iterator[m.Place]:
    if len(view.to_place) == HAND_SIZE:
        yield from moves.offered

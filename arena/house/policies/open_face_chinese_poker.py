"""Plays Open-Face Chinese Poker by imagining how each placement could end.

The open rows are filled with random cards by a simple rule, which also plays the rest of a hand in searches.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from arena.games.cards import PACK_52, RANKS, Card
from arena.games.chinese.hands import SIZES, high_first
from arena.games.chinese.settings import candidates as settings_of
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker.messages import SINGLES, Layout, Move, Phase, Place, View
from arena.games.open_face_chinese_poker.rules import State, moves
from arena.games.open_face_chinese_poker.scoring import reaches_fantasyland, score_rows
from arena.games.poker import HandClass, front, hand_class
from arena.house.betting import drawn

_FRONT, _MIDDLE, _BACK = range(3)
_TRIALS: Final = 90
_FOUL: Final = -7.0
_FANTASYLAND: Final = 8.0
"""The worth of a hand in Fantasyland, in units."""
_STARTS: Final = 14
"""The number of placements of the first five cards that are tried."""
_SETTINGS: Final = 24
_LEVEL: Final[dict[HandClass, int]] = {
    kind: level
    for level, kind in enumerate(
        kind
        for kind in HandClass
        if kind not in (HandClass.CANADIAN_STRAIGHT, HandClass.CANADIAN_FLUSH)
    )
}
_HIGH: Final = RANKS.index("9")
_RANK: Final = {card: RANKS.index(card[0]) for card in PACK_52}

_Rows = tuple[list[Card], list[Card], list[Card]]

STEP_TIME: Final = 0.25


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """Return the move of `seat`, which is to act; it takes a few milliseconds."""
    moves = candidates(state, seat, below)
    if len(moves) == 1 or state.phase is Phase.FANTASYLAND:
        return moves[0]
    hand = state.hand
    seen = {*hand.dealt[seat]}
    for layout in hand.layouts:
        seen.update(layout.front, layout.middle, layout.back)
    unseen = [card for card in PACK_52 if card not in seen]
    placed = hand.layouts[seat]
    left = sum(placed.room()) - len(hand.dealt[seat])
    deals = [drawn(unseen, left, below) for _ in range(_TRIALS // len(moves) + 1)]
    return max(moves, key=lambda move: _value(placed.with_placed(move), deals))


def rollout(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """Return a move by the simple rule."""
    held = state.hand.dealt[seat]
    if state.phase is Phase.FANTASYLAND:
        return _setting(held)
    rows = _rows(state.hand.layouts[seat])
    if len(held) == 1:
        return SINGLES[held[0]][_row_of(rows, held[0])]
    before = tuple(map(len, rows))
    _fill(rows, high_first(held))
    return Place(*[tuple(row[start:]) for row, start in zip(rows, before, strict=True)])


def candidates(state: State, seat: Seat, below: Callable[[int], int]) -> Sequence[Move]:
    """Return the moves that are worth a search."""
    held = state.hand.dealt[seat]
    if state.phase is Phase.FANTASYLAND:
        return [_setting(held)]
    offered = moves(state, seat).offered
    return sorted(offered, key=_start, reverse=True)[:_STARTS] if len(held) > 1 else offered


def last_hand(view: View) -> View:
    """Return the view as it would be if the hand were the last ordinary one."""
    return replace(view, hands_left=0 if any(view.fantasyland) else 1)


def _setting(held: tuple[Card, ...]) -> Place:
    """Return the setting for Fantasyland that is worth most, among those that `candidates` rates best."""
    settings = settings_of(held, _SETTINGS)
    best = max(settings, key=lambda rows: _worth((rows.front, rows.middle, rows.back), again=True))
    return Place(best.front, best.middle, best.back)


def _start(move: Place) -> float:
    """Return how good the first five cards look."""
    rows = (move.front, move.middle, move.back)
    ranks = [[_RANK[card] for card in row] for row in rows]
    in_front, in_middle, in_back = [len(row) - len(set(row)) for row in ranks]
    suited = max(Counter([card[1] for card in move.back]).values(), default=1)
    heights = [sum(row) / len(row) if row else _HIGH - 1 for row in ranks]
    return (
        2 * in_back
        + 1.2 * in_middle
        + 0.3 * in_front
        + 0.5 * suited
        + 0.15 * (heights[_BACK] - heights[_FRONT])
        - 0.4 * len(move.front)
    )


def _value(layout: Layout, deals: Sequence[Sequence[Card]]) -> float:
    total = 0.0
    for cards in deals:
        rows = _rows(layout)
        _fill(rows, cards)
        total += _worth(rows)
    return total / len(deals)


def _worth(rows: Sequence[Sequence[Card]], *, again: bool = False) -> float:
    """Return roughly what three full rows are worth against one opponent."""
    scoring = score_rows(*rows)
    if scoring.foul:
        return _FOUL
    units = float(scoring.royalty_units)
    if reaches_fantasyland(scoring, in_fantasyland=again):
        units += _FANTASYLAND
    in_front, in_middle, in_back = [_LEVEL[hand_class(value)] for value in scoring.values]
    top = scoring.values.front >> 16 & 15
    return units + 0.4 * (in_front + top / 13) + 0.35 * in_middle + 0.3 * in_back


def _rows(layout: Layout) -> _Rows:
    return [*layout.front], [*layout.middle], [*layout.back]


def _fill(rows: _Rows, cards: Sequence[Card]) -> None:
    for card in cards:
        rows[_row_of(rows, card)].append(card)


def _row_of(rows: _Rows, card: Card) -> int:
    at_front, at_middle, at_back = rows
    rank, suit = card[0], card[1]
    has_room = [len(row) < size for row, size in zip(rows, SIZES, strict=True)]
    if has_room[_BACK] and (_has_only(at_back, suit) or _has(at_back, rank)):
        return _BACK
    # A pair goes into a row only if it does not foul as the rows are now.
    if has_room[_MIDDLE] and _has(at_middle, rank) and _fits(at_middle, card, at_back):
        return _MIDDLE
    if has_room[_FRONT] and _has(at_front, rank) and _fits(at_front, card, at_middle):
        return _FRONT
    room = [row for row in (_BACK, _MIDDLE, _FRONT) if has_room[row]]
    return room[0] if _RANK[card] >= _HIGH else room[-1]


def _has(row: Sequence[Card], rank: str) -> bool:
    return rank in [card[0] for card in row]


def _has_only(row: Sequence[Card], suit: str) -> bool:
    return [card[1] for card in row].count(suit) == len(row)


def _fits(row: Sequence[Card], card: Card, behind: Sequence[Card]) -> bool:
    return front((*row, card)) <= front(behind) if behind else False

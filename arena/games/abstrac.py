"""Abstrac, four games for two seats with nothing hidden.

Source: David Parlett; the digest's rules are cited as B1 to B11 and its
rulings as "ruling n". Cards lie in a face-up row whose first card is the
exposed top; seats take from the top in turn until the row is empty. What a
seat collects in sets and runs is multiplied by how much the *other* collected,
so taking little with much in it is the whole art.

| variant      | pack          | how many may be taken                           |
|--------------|---------------|-------------------------------------------------|
| `basic`      | 24            | 1 to 3                                          |
| `suit`       | 24            | by the suit on top: S 1, H 2, C 3, D 4           |
| `unfettered` | 24 and joker  | 12 at first, then 1 + what the other seat took  |
| `fiftytwo`   | two halves 26 | by the suit on top                              |
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import JOKER, RANKS, SUITS, Card, pack
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.options import check_hands, hands_setting, setting

SEATS: Final = (Seat(0), Seat(1))
HALF: Final = 26
"""Cards in each half of the 52-card game."""
MAX_DEALS: Final = 50
"""A race that nobody has won by then goes to the higher total (B11)."""


class Variant(StrEnum):
    BASIC = "basic"
    SUIT = "suit"
    UNFETTERED = "unfettered"
    FIFTYTWO = "fiftytwo"


class Phase(StrEnum):
    CHOOSE = "choose"
    """The seat that does not deal says who takes first (B2)."""
    TAKE = "take"
    OVER = "over"


class Order(StrEnum):
    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(2, "a race to `target`", maximum=MAX_DEALS)
    target: int = setting(500, "points that win the race when hands=0", minimum=1, maximum=100_000)
    variant: str = setting(Variant.BASIC, "which Abstrac", choices=tuple(Variant))


# What a seat may do.


@dataclass(frozen=True, slots=True)
class Choose:
    """Take first, or leave that to the dealer."""

    order: Order


@dataclass(frozen=True, slots=True)
class Take:
    """Take `count` cards from the top of the row."""

    count: int


Move: TypeAlias = Choose | Take

CHOICES: Final = Listed((Choose(Order.FIRST), Choose(Order.SECOND)))
# Moves are interned: equal moves are one object, which the codec's cache likes.
TAKES: Final = tuple(
    Listed(tuple(Take(count) for count in range(1, limit + 1))) for limit in range(HALF + 1)
)


# What everybody is told.


@dataclass(frozen=True, slots=True)
class Dealt:
    """A row was laid out; in the 52-card game once for each half."""

    hand: int
    half: int
    dealer: Seat
    row: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    seat: Seat
    order: Order


@dataclass(frozen=True, slots=True)
class Taken:
    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A deal, or a half, was scored; `points` and `totals` by seat."""

    hand: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = Dealt | Chosen | Taken | Scored


@dataclass(frozen=True, slots=True)
class View:
    """Everything about the match: nothing is hidden but the order of undealt cards."""

    phase: Phase
    hand: int
    half: int
    dealer: Seat
    to_act: Seat | None
    row: tuple[Card, ...]
    """Cards left, the exposed top first."""
    taken: tuple[tuple[Card, ...], ...]
    """By seat, in the order taken."""
    limit: int
    """Cards that may be taken now; 0 unless the phase is `take`."""
    undealt: int
    """Cards of the second half that still lie face down."""
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row being taken: a deal, or half of a 52-card round."""

    cards: tuple[Card, ...]
    taken: tuple[tuple[Card, ...], tuple[Card, ...]]
    first: Seat | None
    """Who took first; None until the choice is made."""
    turn: Seat
    previous: int
    """Cards the other seat took on the turn before; 0 on the first turn."""


@dataclass(frozen=True, slots=True)
class State:
    options: Options
    hand: int
    half: int
    row: Row
    undealt: tuple[Card, ...]
    half_points: tuple[int, int]
    """Points of the first half while the second is played."""
    hand_scores: tuple[tuple[int, int], ...]
    totals: tuple[int, int]


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first row.

    Raises:
      BadOptions: unless there are two seats and `hands` is even.
    """
    if seats != len(SEATS):
        raise BadOptions(f"Abstrac is for 2 seats, not {seats}")
    check_hands(options.hands, seats)
    return _deal(options, 0, (), (0, 0), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    seat = state.row.turn
    (move,) = require_to_act(chosen, to_act(state))
    if move not in moves(state, seat):
        raise IllegalMove(_why_illegal(state))
    if isinstance(move, Choose):
        return _choose(state, seat, move)
    return _take(state, seat, move.count, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if _phase(state) is Phase.OVER else (state.row.turn,)


def moves(state: State, seat: Seat) -> Listed:
    if state.row.first is None:
        return CHOICES
    return TAKES[take_limit(state.options.variant, state.row.cards, state.row.previous)]


def view(state: State, seat: Seat | None) -> View:
    phase, row = _phase(state), state.row
    taking = phase is Phase.TAKE
    return View(
        phase=phase,
        hand=state.hand,
        half=state.half,
        dealer=_dealer(state.hand),
        to_act=None if phase is Phase.OVER else row.turn,
        row=row.cards,
        taken=row.taken,
        limit=take_limit(state.options.variant, row.cards, row.previous) if taking else 0,
        undealt=len(state.undealt),
        totals=state.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """First, or a single card: the first move offered."""
    offered: Move = moves(state, seat).all[0]
    return offered


def hand_number(state: State) -> int:
    return state.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    return False


def result(state: State) -> Result | None:
    if _phase(state) is not Phase.OVER:
        return None
    return Result(state.totals, places_of(state.totals), state.hand_scores)


def take_limit(variant: str, row: Sequence[Card], previous: int) -> int:
    """Cards that may be taken from `row` (B3 to B5), at most what is left (ruling 2).

    `previous` is what the other seat took on the turn just before, 0 at first.
    """
    if not row:
        return 0
    match variant:
        case Variant.BASIC:
            limit = 3
        case Variant.UNFETTERED:
            limit = 1 + previous if previous else 12
        case _:
            limit = _SUIT_LIMITS[row[0][1]]  # of the card on top now (ruling 7)
    return min(limit, len(row))


_SUIT_LIMITS: Final = {"s": 1, "h": 2, "c": 3, "d": 4}

_SET_POINTS: Final = {3: 2, 4: 8}
_RUN_POINTS: Final = {3: 3, 4: 4, 5: 6, 6: 12}


def combination_points(cards: Iterable[Card]) -> int:
    """Points of the sets and runs among the cards (B6); the joker counts in none."""
    held = [card for card in cards if card != JOKER]
    sets = Counter(card[0] for card in held)
    points = sum(_SET_POINTS.get(size, 0) for size in sets.values())
    for suit in SUITS:
        ranks = {card[0] for card in held if card[1] == suit}
        # Only the longest run: six ranks have no room for two (ruling 3).
        points += _RUN_POINTS.get(_longest_run(ranks), 0)
    return points


def deal_points(first: Sequence[Card], second: Sequence[Card]) -> tuple[int, int]:
    """Points of a deal for two heaps of cards (B7).

    Own combinations times the other's number of cards. If exactly one heap has
    no combination at all, the products change hands (the misère, ruling 6).
    """
    a, b = combination_points(first), combination_points(second)
    if a == 0 and b > 0:
        return b * len(first), 0
    if b == 0 and a > 0:
        return 0, a * len(second)
    return a * len(second), b * len(first)


def half_factors(cards: Sequence[Card]) -> tuple[int, int, int]:
    """The three factors of a half in the 52-card game (B9, reconstructed).

    Cards in the most numerous suit; longest run of ranks whatever the suits;
    size of the largest group of one rank.
    """
    if not cards:
        return 0, 0, 0
    suits = Counter(card[1] for card in cards)
    ranks = Counter(card[0] for card in cards)
    return max(suits.values()), _longest_run(ranks), max(ranks.values())


def half_points(cards: Sequence[Card]) -> int:
    """Points of a half: the factors, times the shortfall for under 13 cards (B9)."""
    flush, run, group = half_factors(cards)
    short = HALF // 2 - len(cards)
    return flush * run * group * (2 * short if short > 0 else 1)


def first_to_take(dealer: Seat, order: Order) -> Seat:
    """Who takes first after the choice of the seat that does not deal (B2)."""
    return _other(dealer) if order is Order.FIRST else dealer


def is_over(options: Options, hands_played: int, totals: tuple[int, int]) -> bool:
    """Whether a completed deal, or 52-card round, ends the match (B11)."""
    if options.hands:
        return hands_played >= options.hands
    if hands_played >= MAX_DEALS:
        return True
    return max(totals) >= options.target and totals[0] != totals[1]


def _longest_run(ranks: Iterable[str]) -> int:
    longest = length = 0
    held = set(ranks)
    for rank in RANKS:
        length = length + 1 if rank in held else 0
        longest = max(longest, length)
    return longest


def _other(seat: Seat) -> Seat:
    return SEATS[1 - seat]


def _dealer(hand: int) -> Seat:
    return SEATS[hand % 2]


def _phase(state: State) -> Phase:
    if len(state.hand_scores) > state.hand:
        return Phase.OVER
    return Phase.CHOOSE if state.row.first is None else Phase.TAKE


def _why_illegal(state: State) -> str:
    if state.row.first is None:
        return "choose first or second"
    limit = moves(state, state.row.turn).count()
    return f"take from 1 to {limit} cards"


def _deal(
    options: Options,
    hand: int,
    hand_scores: tuple[tuple[int, int], ...],
    totals: tuple[int, int],
    deals: Deals,
) -> Step:
    dealer = _dealer(hand)
    undealt: tuple[Card, ...] = ()
    if options.variant == Variant.FIFTYTWO:
        shuffled = deals.shuffle(hand, "deck", pack())
        cards, undealt = shuffled[:HALF], shuffled[HALF:]
    else:
        cards = deals.shuffle(hand, "deck", pack("9TJQKA"))
        if options.variant == Variant.UNFETTERED:
            cards = (JOKER, *cards)  # the joker is always the first exposed card (B1)
    row = Row(cards, ((), ()), first=None, turn=_other(dealer), previous=0)
    state = State(options, hand, 1, row, undealt, (0, 0), hand_scores, totals)
    return Step(state, (Told(Dealt(hand, 1, dealer, cards)),))


def _choose(state: State, seat: Seat, move: Choose) -> Step:
    first = first_to_take(_dealer(state.hand), move.order)
    row = replace(state.row, first=first, turn=first)
    return Step(replace(state, row=row), (Told(Chosen(seat, move.order)),))


def _take(state: State, seat: Seat, count: int, deals: Deals) -> Step:
    row = state.row
    cards = row.cards[:count]
    heaps = list(row.taken)
    heaps[seat] += cards
    row = Row(row.cards[count:], (heaps[0], heaps[1]), row.first, _other(seat), count)
    after = State(
        state.options,
        state.hand,
        state.half,
        row,
        state.undealt,
        state.half_points,
        state.hand_scores,
        state.totals,
    )
    taken = Told(Taken(seat, cards))
    if row.cards:
        return Step(after, (taken,))
    ended, told = _end_row(after, deals)
    return Step(ended, (taken, *told))


def _end_row(state: State, deals: Deals) -> Step:
    if state.options.variant == Variant.FIFTYTWO:
        points = (half_points(state.row.taken[0]), half_points(state.row.taken[1]))
        if state.half == 1:
            return _second_half(state, points)
        points = _added(points, state.half_points)
    else:
        points = deal_points(*state.row.taken)
    totals = _added(state.totals, points)
    scores = (*state.hand_scores, points)
    scored = Told(Scored(state.hand, points, totals))
    after = replace(state, hand_scores=scores, totals=totals)
    if is_over(state.options, len(scores), totals):
        return Step(after, (scored,))
    dealt, told = _deal(state.options, state.hand + 1, scores, totals, deals)
    return Step(dealt, (scored, *told))


def _second_half(state: State, points: tuple[int, int]) -> Step:
    """Lay out the other 26 cards, face up (ruling 9); the second mover starts (B8)."""
    assert state.row.first is not None
    first = _other(state.row.first)
    row = Row(state.undealt, ((), ()), first, first, previous=0)
    after = replace(state, half=2, row=row, undealt=(), half_points=points)
    dealt = Dealt(state.hand, 2, _dealer(state.hand), row.cards)
    return Step(after, (Told(Scored(state.hand, points, state.totals)), Told(dealt)))


def _added(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]

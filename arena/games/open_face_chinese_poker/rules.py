"""Open-Face Chinese Poker: rows are built card by card, face up except in Fantasyland.

Rulings are numbered O1 to O14.

    DEAL -> FANTASYLAND (all seats in Fantasyland at the same time, face down)
         -> PLACE five cards, then one drawn card eight times, in turn
         -> reveal, score -> DEAL ...
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Final

from arena.games.cards import PACK_52, Card
from arena.games.chinese.hands import FRONT_SIZE, HAND_SIZE, SIZES, high_first, settle_pairs
from arena.games.chinese.settings import SettingMoves
from arena.games.chinese.unit_values import UnitValues, most_in_a_hand, unit_values
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
    with_entry,
)
from arena.games.open_face_chinese_poker.messages import (
    SINGLES,
    Dealt,
    Drawn,
    HandBegan,
    Layout,
    Move,
    Options,
    Phase,
    Place,
    Placed,
    Revealed,
    Scored,
    View,
)
from arena.games.open_face_chinese_poker.scoring import (
    MOST_UNITS,
    Scoring,
    pair_units,
    reaches_fantasyland,
    score_rows,
)
from arena.games.options import check_match

EMPTY: Final = Layout((), (), ())


@dataclass(frozen=True, slots=True)
class Match:
    seats: tuple[Seat, ...]
    scheduled: int
    """The number of ordinary hands in the match."""
    unit_values: UnitValues
    played: int
    """The number of completed ordinary hands."""
    dealer: Seat
    fantasyland: tuple[bool, ...]
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    layouts: tuple[Layout, ...]
    dealt: tuple[tuple[Card, ...], ...]
    """By seat, the cards that it has not placed, in the order dealt."""
    settings: tuple[Layout | None, ...]
    """By seat, the rows set in Fantasyland."""
    stock: tuple[Card, ...]
    order: tuple[Seat, ...]
    """The seats that place in turn, from the dealer's left."""
    turns: int
    """The number of completed turns."""


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    phase: Phase
    hand: Hand


SEATS: Final[tuple[int, ...]] = (2, 3, 4)
INITIAL: Final = 5
"""The number of cards dealt to every seat, which it places together."""
HANDS_PER_DEALER: Final = 4
MOST_HANDS: Final = 3
"""The maximal number of hands, including Fantasyland, as a multiple of the scheduled hands."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Seat 0 deals first.

    Raises `BadOptions` unless there are 2 to 4 seats, `hands` is a multiple of them, and each pair has a unit value.
    """
    check_match("Open-Face Chinese Poker", SEATS, seats, options.hands)
    everybody = tuple(Seat(number) for number in range(seats))
    none_there = (False,) * seats
    scheduled = options.hands or HANDS_PER_DEALER * seats
    values = unit_values(options.unit_values, seats)
    return deal_hand(
        Match(everybody, scheduled, values, 0, Seat(0), none_there, (), (0,) * seats), deals
    )


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    acting = to_act(state)
    placed = require_to_act(chosen, acting)
    for player, move in chosen:
        if move not in moves(state, player):
            raise IllegalMove("place exactly your cards, into rows with room for them")
    if state.phase is Phase.FANTASYLAND:
        return _set(state, dict(zip(acting, placed, strict=True)), deals)
    return _place(state, acting[0], placed[0], deals)


def to_act(state: State) -> tuple[Seat, ...]:
    match state.phase:
        case Phase.FANTASYLAND:
            there = state.match.fantasyland
            return tuple([player for player in state.match.seats if there[player]])
        case Phase.PLACE:
            hand = state.hand
            return (hand.order[hand.turns % len(hand.order)],)
        case _:
            return ()


def moves(state: State, seat: Seat) -> Moves:
    hand = state.hand
    held = hand.dealt[seat]
    if state.phase is Phase.FANTASYLAND:
        return SettingMoves(held, Place, fallback(state, seat))
    room = hand.layouts[seat].room()
    if len(held) == 1:
        singles = SINGLES[held[0]]
        return Listed(tuple([way for way, free in zip(singles, room, strict=True) if free]))
    return Spreads(held)


def view(state: State, seat: Seat | None) -> View:
    match, hand, phase = state.match, state.hand, state.phase
    acting = to_act(state)
    drawing = phase is Phase.PLACE and len(hand.dealt[acting[0]]) == 1
    return View(
        phase=phase,
        hand=hand_number(state),
        dealer=match.dealer,
        to_act=acting,
        fantasyland=match.fantasyland,
        layouts=hand.layouts,
        to_place=() if seat is None else hand.dealt[seat],
        own_setting=None if seat is None else hand.settings[seat],
        drawn=hand.dealt[acting[0]][0] if drawing else None,
        stock=len(hand.stock),
        hands_left=match.scheduled - match.played,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return the move that places cards into the first rows with room: back, middle, front (O14)."""
    front, middle, back = state.hand.layouts[seat].room()
    held = state.hand.dealt[seat]
    to_back, rest = held[:back], held[back:]
    to_middle, to_front = rest[:middle], rest[middle:]
    assert len(to_front) <= front
    if len(held) == 1:
        return SINGLES[held[0]][2 if to_back else 1 if to_middle else 0]
    return Place(to_front, to_middle, to_back)


def hand_number(state: State) -> int:
    return len(state.match.hand_scores) - (state.phase is Phase.OVER)


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if state.phase is not Phase.OVER:
        return None
    match = state.match
    return Result.of(
        match.totals, match.hand_scores, ended_by_limit=not all_scheduled_are_played(match)
    )


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the most that a seat can win in all possible hands, plus as much that it can lose."""
    hands = MOST_HANDS * (options.hands or HANDS_PER_DEALER * seats)
    return hands * most_in_a_hand(unit_values(options.unit_values, seats), MOST_UNITS)


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal five cards to each seat, and eight more to seats in Fantasyland."""
    number = len(match.hand_scores)
    deck = deals.shuffle(number, "deck", PACK_52)
    seats = len(match.seats)
    around = tuple(Seat((match.dealer + 1 + at) % seats) for at in range(seats))
    there = [player for player in around if match.fantasyland[player]]
    dealt: dict[Seat, tuple[Card, ...]] = {
        seat: deck[at : INITIAL * seats : seats] for at, seat in enumerate(around)
    }
    stock = deck[INITIAL * seats :]
    extra = (HAND_SIZE - INITIAL) * len(there)
    for at, seat in enumerate(there):
        dealt[seat] += stock[at : extra : len(there)]
    by_seat = tuple(dealt[player] for player in match.seats)
    order = tuple(player for player in around if not match.fantasyland[player])
    hand = Hand((EMPTY,) * seats, by_seat, (None,) * seats, stock[extra:], order, 0)
    events = [SentEvent(HandBegan(number, match.dealer, match.fantasyland))]
    events += [SentEvent(Dealt(player, by_seat[player]), (player,)) for player in match.seats]
    phase = Phase.FANTASYLAND if there else Phase.PLACE
    return Step(State(match, phase, hand), tuple(events))


def _set(state: State, placed: dict[Seat, Place], deals: Deals) -> Step:
    """Commit the settings of Fantasyland, without an event (O9)."""
    match, hand = state.match, state.hand
    settings = tuple(
        EMPTY.with_placed(placed[player]) if player in placed else None for player in match.seats
    )
    dealt = tuple(
        () if player in placed else cards
        for player, cards in zip(match.seats, hand.dealt, strict=True)
    )
    after = Hand(hand.layouts, dealt, settings, hand.stock, hand.order, 0)
    if not hand.order:
        return _score(match, after, deals)
    return Step(State(match, Phase.PLACE, after), ())


def _place(state: State, seat: Seat, move: Place, deals: Deals) -> Step:
    match, hand = state.match, state.hand
    layouts = with_entry(hand.layouts, seat, hand.layouts[seat].with_placed(move))
    events = [SentEvent(Placed(seat, move.front, move.middle, move.back))]
    turns = hand.turns + 1
    rounds = 1 + HAND_SIZE - INITIAL
    if turns == rounds * len(hand.order):
        ended = Hand(layouts, ((),) * len(layouts), hand.settings, hand.stock, hand.order, turns)
        after, more = _score(match, ended, deals)
        return Step(after, (*events, *more))
    dealt, stock = list(hand.dealt), hand.stock
    dealt[seat] = ()
    if turns >= len(hand.order):
        following = hand.order[turns % len(hand.order)]
        dealt[following] = stock[:1]
        events.append(SentEvent(Drawn(following, stock[0])))
        stock = stock[1:]
    after_hand = Hand(layouts, tuple(dealt), hand.settings, stock, hand.order, turns)
    return Step(State(match, Phase.PLACE, after_hand), tuple(events))


def _score(match: Match, hand: Hand, deals: Deals) -> Step:
    layouts = tuple(
        setting or layout for setting, layout in zip(hand.settings, hand.layouts, strict=True)
    )
    events: list[SentEvent] = []
    for player, setting in zip(match.seats, hand.settings, strict=True):
        if setting is not None:
            events.append(SentEvent(Revealed(player, setting.front, setting.middle, setting.back)))
    scorings = [score_rows(layout.front, layout.middle, layout.back) for layout in layouts]
    units = settle_pairs(scorings, pair_units, match.unit_values)
    totals = tuple(total + unit for total, unit in zip(match.totals, units, strict=True))
    earned = tuple(
        reaches_fantasyland(scoring, in_fantasyland=there)
        for scoring, there in zip(scorings, match.fantasyland, strict=True)
    )
    events.append(SentEvent(_scored(len(match.hand_scores), scorings, units, totals, earned)))
    ordinary = not any(match.fantasyland)
    after = replace(
        match,
        played=match.played + ordinary,
        dealer=next_dealer(match.dealer, len(match.seats), earned),
        fantasyland=earned,
        hand_scores=(*match.hand_scores, units),
        totals=totals,
    )
    if is_over(after):
        shown = Hand(
            layouts, hand.dealt, (None,) * len(layouts), hand.stock, hand.order, hand.turns
        )
        return Step(State(after, Phase.OVER, shown), tuple(events))
    dealt, more = deal_hand(after, deals)
    return Step(dealt, (*events, *more))


def _scored(
    hand: int,
    scorings: Sequence[Scoring],
    units: tuple[int, ...],
    totals: tuple[int, ...],
    earned: tuple[bool, ...],
) -> Scored:
    fouls = tuple(scoring.foul for scoring in scorings)
    royalties = tuple(scoring.royalty_units for scoring in scorings)
    return Scored(hand, fouls, royalties, units, totals, earned)


def next_dealer(dealer: Seat, seats: int, earned: Sequence[bool]) -> Seat:
    """Return the next dealer: the same while a seat is in Fantasyland (O11), then the next seat."""
    return dealer if any(earned) else Seat((dealer + 1) % seats)


def is_over(match: Match) -> bool:
    """Return whether all hands are played, or the maximum."""
    most = MOST_HANDS * match.scheduled
    return len(match.hand_scores) >= most or all_scheduled_are_played(match)


def all_scheduled_are_played(match: Match) -> bool:
    """Return whether all scheduled hands, and the Fantasylands earned in them, are played (O12)."""
    return match.played >= match.scheduled and not any(match.fantasyland)


class Spreads:
    """The moves that place the first five cards into empty rows; each is made when it is needed."""

    __slots__ = ("_held", "_offered", "_ways")
    complete: Final = True

    def __init__(self, held: tuple[Card, ...]) -> None:
        self._held = high_first(held)
        self._ways = ways(len(held))
        self._offered: tuple[Place, ...] = ()

    @property
    def offered(self) -> tuple[Place, ...]:
        if not self._offered:
            rows = [_some(self._held, places) for places in range(1 << len(self._held))]
            self._offered = tuple(
                [
                    Place.in_order(rows[front], rows[middle], rows[back])
                    for front, middle, back in self._ways
                ]
            )
        return self._offered

    def __contains__(self, move: object) -> bool:
        # Five cards fit if no row overflows, and only the front can.
        return (
            isinstance(move, Place)
            and len(move.front) <= FRONT_SIZE
            and _same_cards(move, self._held)
        )

    def count(self) -> int:
        return len(self._ways)

    def sample(self, below: Callable[[int], int]) -> Place:
        front, middle, back = self._ways[below(len(self._ways))]
        held = self._held
        return Place.in_order(_some(held, front), _some(held, middle), _some(held, back))


def _same_cards(move: Place, held: Sequence[Card]) -> bool:
    return sorted((*move.front, *move.middle, *move.back)) == sorted(held)


@cache
def ways(cards: int) -> tuple[tuple[int, int, int], ...]:
    """Return every assignment of cards to empty rows that fits, as the places of each row's cards: a bit for each."""
    return tuple(
        (_places(way, 0), _places(way, 1), _places(way, 2))
        for way in product(range(3), repeat=cards)
        if all(way.count(row) <= size for row, size in enumerate(SIZES))
    )


def _places(way: Sequence[int], row: int) -> int:
    return sum(1 << at for at, of_card in enumerate(way) if of_card == row)


def _some(cards: Sequence[Card], places: int) -> tuple[Card, ...]:
    """Return the cards at these places, a bit for each."""
    return tuple([card for at, card in enumerate(cards) if places >> at & 1])

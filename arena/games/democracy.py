"""Democracy, for two to six seats that all play at once.

Source: Denexa's description; the digest's rulings are cited as R1 to R11. A
hand is an island of two days. A trick turns up the top card of the voting
pool, whose suit is trump for that trick only; every seat then plays any card
of its hand, unseen by the others, and the cards are shown together.

| played                      | who captures                                    |
|-----------------------------|-------------------------------------------------|
| a trump                     | the highest trump takes the cards and the upcard |
| both 5 and 6 of trump       | the 6 takes them                                |
| no trump, one highest rank  | that card takes them                            |
| no trump, a tie for highest | each seat its own card; the upcard is discarded |

Thirteen captured points of a suit are its tribe, worth 1 at the island's end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from arena.cards import JOKER, SUITS, Card, pack
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


class Sizes(NamedTuple):
    """What is dealt on an island for one number of seats."""

    jokers: int
    first_day: int
    """Cards to each seat, and as many to the pool, on day 1."""
    second_day: int
    """The same on day 2."""


# The seed's numbers cannot hold for both days: day 2 gets what is left (R1).
SIZES: Final = {
    2: Sizes(jokers=0, first_day=12, second_day=4),
    3: Sizes(jokers=0, first_day=8, second_day=4),
    4: Sizes(jokers=2, first_day=6, second_day=4),
    5: Sizes(jokers=0, first_day=4, second_day=4),
    6: Sizes(jokers=1, first_day=4, second_day=3),
}

RANKING: Final = "6789TJQKA345"
"""Ranks of the pack from low to high."""
POINTS: Final = dict(zip(RANKING, (0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5), strict=True))
"""Points of a captured card by its rank; a joker has none."""
TRIBE_POINTS: Final = 13
"""Captured points of a suit that make its tribe, whatever left the island (R7)."""
MAX_ISLANDS: Final = 40
"""A race that nobody has won by then goes to the highest total (R9)."""
TIE: Final = -1
"""Stands for the winner of a tied trick in all that is told."""

_HAND_ORDER: Final = {
    card: at
    for at, card in enumerate((*(rank + suit for rank in RANKING for suit in SUITS), JOKER))
}
_PACKS: Final = {seats: pack(RANKING, jokers=sizes.jokers) for seats, sizes in SIZES.items()}
# A joker played is a plain 5 without a suit (R5).
_STRENGTH: Final = {card: RANKING.index(card[0]) for card in pack(RANKING)} | {
    JOKER: RANKING.index("5")
}


class Phase(StrEnum):
    """What the match is doing."""

    PLAY = "play"
    """Every seat plays a card to the upcard."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "a race to `target`", maximum=MAX_ISLANDS)
    target: int = setting(
        5, "tribes that win the race when hands=0, for a single leader", minimum=1, maximum=100
    )


# What a seat may do.


@dataclass(frozen=True, slots=True)
class PlayCard:
    """Play a card of the own hand, any card; it is shown when all have played."""

    card: Card


Move: TypeAlias = PlayCard

# Moves are interned: equal moves are one object, which the codec's cache likes.
_PLAYS: Final = {card: PlayCard(card) for card in _HAND_ORDER}


# What everybody may know.


@dataclass(frozen=True, slots=True)
class SuitPoints:
    """Captured points of one seat, by suit; a whole suit is 25."""

    clubs: int = 0
    diamonds: int = 0
    hearts: int = 0
    spades: int = 0


@dataclass(frozen=True, slots=True)
class Island:
    """The tricks of an island that were shown. All of it is public."""

    upcards: tuple[Card, ...]
    """One for each trick."""
    plays: tuple[Card, ...]
    """The cards of the first trick in seat order, then of the second, and so on."""
    winners: tuple[int, ...]
    """The capturing seat of each trick, or `TIE`."""
    captured: tuple[tuple[Card, ...], ...]
    """By seat, in the order captured."""
    points: tuple[SuitPoints, ...]
    """Of `captured`, by seat."""
    discarded: tuple[Card, ...]
    """Upcards of tied tricks, which nobody captured."""


@dataclass(frozen=True, slots=True)
class View:
    """The public part of the match and the own hand."""

    phase: Phase
    hand: int
    """The island, from 0."""
    day: int
    dealer: Seat
    upcard: Card | None
    """Its suit is trump for this trick; None when the match is over."""
    held: tuple[Card, ...]
    """The own hand from low to high; empty for the spectator."""
    hand_size: int
    """Cards in the hand of each seat: all hold equally many."""
    pool: int
    """Face-down cards under the upcard."""
    undealt: int
    """Cards set aside for day 2."""
    island: Island
    totals: tuple[int, ...]
    """Tribes of the completed islands, by seat."""


# What seats are told.


@dataclass(frozen=True, slots=True)
class DayBegan:
    """A day was dealt."""

    hand: int
    day: int
    dealer: Seat
    hand_size: int
    """Cards dealt to each seat, and as many to the pool."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """The seat's cards for the day, from low to high; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class TurnedUp:
    """The top card of the pool was turned, for the next trick."""

    upcard: Card


@dataclass(frozen=True, slots=True)
class Shown:
    """The cards of a trick, by seat; `winner` captured, or it was a `TIE`."""

    upcard: Card
    cards: tuple[Card, ...]
    winner: int


@dataclass(frozen=True, slots=True)
class Scored:
    """An island was scored; all by seat, `tribes` of this island alone."""

    hand: int
    points: tuple[SuitPoints, ...]
    tribes: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = DayBegan | Dealt | TurnedUp | Shown | Scored


@dataclass(frozen=True, slots=True)
class Match:
    """What outlasts an island."""

    options: Options
    seats: tuple[Seat, ...]
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """The cards in play, and those still to be dealt."""

    number: int
    hands: tuple[tuple[Card, ...], ...]
    """By seat, each in hand order."""
    pool: tuple[Card, ...]
    """The upcard first."""
    undealt: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match between two tricks; the commitments to a trick are never part of it."""

    match: Match
    island: Island
    day: Day


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first island.

    Raises:
      BadOptions: unless there are 2 to 6 seats and `hands` is a multiple of them.
    """
    if seats not in SIZES:
        raise BadOptions(f"Democracy is for 2 to 6 seats, not {seats}")
    check_hands(options.hands, seats)
    everybody = tuple(Seat(seat) for seat in range(seats))
    return _begin_island(Match(options, everybody, 0, (), (0,) * seats), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Show a trick: one card of every seat.

    Raises:
      IllegalMove: if a card is not in its seat's hand, or a seat is missing.
    """
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    cards = tuple(move.card for move in require_to_act(chosen, asked))
    day = state.day
    left = tuple(_without(hand, card) for hand, card in zip(day.hands, cards, strict=True))
    upcard = day.pool[0]
    winner = trick_winner(upcard, cards)
    island = capture(state.island, upcard, cards, winner)
    shown = Told(Shown(upcard, cards, TIE if winner is None else winner))
    if left[0]:
        pool = day.pool[1:]
        after = State(state.match, island, Day(day.number, left, pool, day.undealt))
        return Step(after, (shown, Told(TurnedUp(pool[0]))))
    if day.undealt:
        dealt, told = _begin_day(state.match, island, 2, day.undealt)
        return Step(dealt, (shown, *told))
    scored, told = _end_island(State(state.match, island, Day(day.number, left, (), ())), deals)
    return Step(scored, (shown, *told))


def to_act(state: State) -> tuple[Seat, ...]:
    """All seats, also those with one card left to play (R2)."""
    return state.match.seats if state.day.pool else ()


def moves(state: State, seat: Seat) -> Listed:
    """The cards of the hand in hand order, equal jokers once."""
    hand = state.day.hands[seat]
    if hand[-2:] == (JOKER, JOKER):
        hand = hand[:-1]
    return Listed(tuple(_PLAYS[card] for card in hand))


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand."""
    match, day = state.match, state.day
    pool = day.pool
    return View(
        phase=Phase.PLAY if pool else Phase.OVER,
        hand=match.hand,
        day=day.number,
        dealer=_dealer(match),
        upcard=pool[0] if pool else None,
        held=() if seat is None else day.hands[seat],
        hand_size=len(day.hands[0]),
        pool=len(pool) - 1 if pool else 0,
        undealt=len(day.undealt),
        island=state.island,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The lowest card: by rank 6 to 5, then clubs to spades, a joker last."""
    return _PLAYS[state.day.hands[seat][0]]


def hand_number(state: State) -> int:
    """The island, from 0."""
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Tribes and places; equal totals share a place (R9)."""
    if to_act(state):
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def trick_winner(upcard: Card, cards: Sequence[Card]) -> Seat | None:
    """The seat that captures, or None if the highest rank is tied.

    The upcard names the trump but is not played: it never competes, and does
    not count for the rule of the 5 and the 6 (R3).
    """
    if upcard != JOKER:  # a joker makes no trump (R6), not even of the other joker
        trumps = [card for card in cards if card[1] == upcard[1]]
        if trumps:
            six = "6" + upcard[1]
            if six in trumps and "5" + upcard[1] in trumps:
                return Seat(cards.index(six))
            return Seat(cards.index(max(trumps, key=_STRENGTH.__getitem__)))
    strengths = [_STRENGTH[card] for card in cards]
    highest = max(strengths)
    return Seat(strengths.index(highest)) if strengths.count(highest) == 1 else None


def unplayed(seats: int) -> Island:
    """An island before its first trick."""
    return Island((), (), (), ((),) * seats, (SuitPoints(),) * seats, ())


def capture(island: Island, upcard: Card, cards: tuple[Card, ...], winner: Seat | None) -> Island:
    """The island after one more trick.

    On a tie every seat takes its own card, those below the top too (R4).
    """
    if winner is None:
        spoils = [(card,) for card in cards]
        captured = tuple(map(_joined, island.captured, spoils))
        points = tuple(map(suit_points, spoils, island.points))
    else:
        taken = (*cards, upcard)
        heaps, sums = list(island.captured), list(island.points)
        heaps[winner] += taken
        sums[winner] = suit_points(taken, sums[winner])
        captured, points = tuple(heaps), tuple(sums)
    return Island(
        (*island.upcards, upcard),
        island.plays + cards,
        (*island.winners, TIE if winner is None else winner),
        captured,
        points,
        (*island.discarded, upcard) if winner is None else island.discarded,
    )


def suit_points(cards: Iterable[Card], before: SuitPoints = SuitPoints()) -> SuitPoints:
    """Points of the cards by suit, added to `before`."""
    sums = [before.clubs, before.diamonds, before.hearts, before.spades]
    for card in cards:
        if card != JOKER:
            sums[SUITS.index(card[1])] += POINTS[card[0]]
    return SuitPoints(*sums)


def tribes_of(points: SuitPoints) -> str:
    """The suits whose tribe is won, in canonical order; of 25 points only one seat has 13."""
    sums = (points.clubs, points.diamonds, points.hearts, points.spades)
    return "".join(suit for suit, have in zip(SUITS, sums, strict=True) if have >= TRIBE_POINTS)


def is_over(options: Options, islands_played: int, totals: Sequence[int]) -> bool:
    """Whether a completed island ends the match (R8, R9)."""
    if options.hands:
        return islands_played >= options.hands
    if islands_played >= MAX_ISLANDS:
        return True
    highest = max(totals)
    return highest >= options.target and totals.count(highest) == 1


def _dealer(match: Match) -> Seat:
    return match.seats[match.hand % len(match.seats)]


def _without(hand: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    if card not in hand:
        raise IllegalMove("play a card of your hand")
    at = hand.index(card)
    return hand[:at] + hand[at + 1 :]


def _joined(heap: tuple[Card, ...], cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return heap + cards


def _begin_island(match: Match, deals: Deals) -> Step:
    seats = len(match.seats)
    deck = deals.shuffle(match.hand, "deck", _PACKS[seats])
    return _begin_day(match, unplayed(seats), 1, deck)


def _begin_day(match: Match, island: Island, number: int, deck: tuple[Card, ...]) -> Step:
    """Deal a day singly from the dealer's left, the pool last in each round (R10)."""
    seats, dealer = len(match.seats), _dealer(match)
    sizes = SIZES[seats]
    each = sizes.first_day if number == 1 else sizes.second_day
    cut = each * (seats + 1)
    dealt, rest = deck[:cut], deck[cut:]
    hands = tuple(
        tuple(sorted(dealt[(seat - dealer - 1) % seats :: seats + 1], key=_HAND_ORDER.__getitem__))
        for seat in match.seats
    )
    # After day 2 nothing is left with any number of seats, so `rest` is day 2's cards.
    day = Day(number, hands, dealt[seats :: seats + 1], rest)
    told = (
        Told(DayBegan(match.hand, number, dealer, each)),
        *(Told(Dealt(seat, hands[seat]), (seat,)) for seat in match.seats),
        Told(TurnedUp(day.pool[0])),
    )
    return Step(State(match, island, day), told)


def _end_island(state: State, deals: Deals) -> Step:
    match, points = state.match, state.island.points
    tribes = tuple(len(tribes_of(each)) for each in points)
    totals = tuple(had + won for had, won in zip(match.totals, tribes, strict=True))
    scores = (*match.hand_scores, tribes)
    scored = Told(Scored(match.hand, points, tribes, totals))
    if is_over(match.options, len(scores), totals):
        ended = Match(match.options, match.seats, match.hand, scores, totals)
        return Step(State(ended, state.island, state.day), (scored,))
    following = Match(match.options, match.seats, match.hand + 1, scores, totals)
    dealt, told = _begin_island(following, deals)
    return Step(dealt, (scored, *told))

"""Arlington, for two to six seats: lead cards to gather more, lead sets to keep them.

Source: D. P. Himes's rules of 1998; the digest's rules are cited as R1 to R21
and its rulings as "ruling n". Sets are in `arlington_sets`, moves in
`arlington_moves`. The seat with the lead acts until it has no cards; then the
hand is scored.

| phase   | moves                                       | the lead then goes to    |
|---------|---------------------------------------------|--------------------------|
| LEAD    | LeadCard -> TRICK, LeadSet -> RESPOND        | see there                |
| LEAD    | PlayS2, Add, TakeJoker onto any table        | the same seat            |
| TRICK   | PlayCard: each other seat with cards, once   | who takes the trick      |
| RESPOND | Pass, Overplay: each other seat, once        | who owns the set left    |
| RESPOND | Kill                                         | the killer, at once      |
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import CANONICAL, JOKER, Card, in_order, pack
from arena.games.arlington_moves import (
    TWO_OF_SPADES,
    Add,
    AtLead,
    Choice,
    InAnswer,
    InTrick,
    Kill,
    LeadCard,
    LeadSet,
    Move,
    Overplay,
    Pass,
    PlayCard,
    PlayS2,
    TakeJoker,
)
from arena.games.arlington_sets import JOKERS, CardSet, Spectrum, Table, points_of, table_of
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.options import check_hands, hands_setting, setting

HAND: Final = 8
"""Cards dealt to each seat (R8)."""
MAX_SEATS: Final = 6
MAX_HANDS: Final = 60
"""A match that nobody has won by then goes to the highest total (ruling 4)."""

_PACK: Final = pack(jokers=JOKERS)


class Phase(StrEnum):
    """What the match is doing."""

    LEAD = "lead"
    TRICK = "trick"
    RESPOND = "respond"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "a match to `target`", maximum=MAX_HANDS)
    target: int = setting(
        32, "total that ends the match when hands=0; the highest wins", minimum=1, maximum=1000
    )


# What everybody may know.


@dataclass(frozen=True, slots=True)
class Active:
    """The set that the others may beat, the last on its owner's table."""

    owner: Seat
    index: int
    """Its place on the owner's table."""
    spectrum: Spectrum
    """The one it was led in, which an overplay has to follow."""


@dataclass(frozen=True, slots=True)
class View:
    """The public part of the match and the own hand."""

    phase: Phase
    hand: int
    """From 0."""
    dealer: Seat
    lead: Seat
    """The seat that has the lead, or that led what is being answered."""
    to_act: Seat | None
    """None when the match is over."""
    held: tuple[Card, ...]
    """The own hand; empty for the spectator."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat: cards in its hand that all have seen, from tricks and sets."""
    tables: tuple[Table, ...]
    """By seat."""
    trick_seats: tuple[Seat, ...]
    """Who played to the trick so far, the leader first."""
    trick_cards: tuple[Card, ...]
    """The card of each of `trick_seats`."""
    active: Active | None
    graveyard: int
    """Cards in the graveyard, seen or not."""
    buried: tuple[Card, ...]
    """Those of them that all have seen, in the order buried."""
    totals: tuple[int, ...]
    """Points of the completed hands, by seat."""


# What seats are told.


@dataclass(frozen=True, slots=True)
class Began:
    """A hand was dealt; the seat after the dealer has the lead."""

    hand: int
    dealer: Seat


@dataclass(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class CardLed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class TrickTaken:
    """The seat's card is buried; the others of the trick are in its hand."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SetLed:
    seat: Seat
    cards: tuple[Card, ...]
    spectrum: Spectrum


@dataclass(frozen=True, slots=True)
class Passed:
    seat: Seat


@dataclass(frozen=True, slots=True)
class Overplayed:
    """The seat's set is active now; the one before it is buried."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Killed:
    """The active set is buried, and the 2s with it; the seat has the lead."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SetKept:
    """All have answered: the seat keeps the active set and has the lead."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class S2Played:
    """The seat buried a set on the owner's table, and the 2s with it."""

    seat: Seat
    owner: Seat
    index: int


@dataclass(frozen=True, slots=True)
class CardAdded:
    """The seat added a card to a set on the owner's table."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


@dataclass(frozen=True, slots=True)
class JokerTaken:
    """The seat has a joker of a set on the owner's table, the set the card."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


@dataclass(frozen=True, slots=True)
class Scored:
    """The hand was scored; by seat, `points` of this hand alone."""

    hand: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    Began
    | Dealt
    | CardLed
    | CardPlayed
    | TrickTaken
    | SetLed
    | Passed
    | Overplayed
    | Killed
    | SetKept
    | S2Played
    | CardAdded
    | JokerTaken
    | Scored
)


@dataclass(frozen=True, slots=True)
class Match:
    """What outlasts a hand."""

    options: Options
    hand: int
    totals: tuple[int, ...]
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Cards:
    """Where the cards of a hand are."""

    hands: tuple[CardSet, ...]
    known: tuple[CardSet, ...]
    tables: tuple[Table, ...]
    buried: tuple[Card, ...]
    undealt: int
    """Cards that were in the graveyard from the start."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose move it is, in what."""

    phase: Phase
    lead: Seat
    to_act: Seat
    trick_seats: tuple[Seat, ...]
    trick_cards: tuple[Card, ...]
    active: Active | None


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    cards: Cards
    turn: Turn


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand.

    Raises:
      BadOptions: unless there are 2 to 6 seats and `hands` is a multiple of them.
    """
    if not 2 <= seats <= MAX_SEATS:
        raise BadOptions(f"Arlington is for 2 to {MAX_SEATS} seats, not {seats}")
    check_hands(options.hands, seats)
    return _deal(Match(options, 0, (0,) * seats, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    (move,) = require_to_act(chosen, to_act(state))
    seat = state.turn.to_act
    why_not = moves(state, seat).why_not(move)
    if why_not is not None:
        raise IllegalMove(why_not)
    match move:
        case LeadCard(card) | LeadSet((card,), None):
            return _lead_card(state, card, deals)
        case LeadSet(cards, spectrum):
            assert spectrum is not None
            return _lead_set(state, cards, spectrum, deals)
        case PlayS2(owner, index):
            cards_after = _bury(_spend(state.cards, seat, (TWO_OF_SPADES,)), owner, index)
            cards_after = _to_graveyard(cards_after, (TWO_OF_SPADES,))
            return _go_on(state, cards_after, seat, Told(S2Played(seat, owner, index)), deals)
        case Add(owner, index, card):
            cards_after = _put_onto(_spend(state.cards, seat, (card,)), owner, index, (card,))
            return _go_on(state, cards_after, seat, Told(CardAdded(seat, owner, index, card)), deals)
        case TakeJoker(owner, index, card):
            return _take_joker(state, owner, index, card, deals)
        case PlayCard(card):
            return _play_card(state, card, deals)
        case Pass():
            return _answered(state, state.cards, state.turn, Told(Passed(seat)), deals)
        case Overplay(cards):
            return _overplay(state, cards, deals)
        case Kill():
            return _kill(state, deals)
    raise AssertionError(move)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.turn.phase is Phase.OVER else (state.turn.to_act,)


def moves(state: State, seat: Seat) -> Choice:
    turn, cards = state.turn, state.cards
    hand = cards.hands[turn.to_act]
    if turn.phase is Phase.LEAD:
        return AtLead(hand, cards.tables)
    if turn.phase is Phase.TRICK:
        return InTrick(hand)
    active = turn.active
    assert active is not None
    return InAnswer(hand, cards.tables[active.owner].sets[active.index], active.spectrum)


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand."""
    match, cards, turn = state.match, state.cards, state.turn
    return View(
        phase=turn.phase,
        hand=match.hand,
        dealer=_dealer(match),
        lead=turn.lead,
        to_act=None if turn.phase is Phase.OVER else turn.to_act,
        held=() if seat is None else cards.hands[seat],
        hand_sizes=tuple([len(hand) for hand in cards.hands]),
        known=cards.known,
        tables=cards.tables,
        trick_seats=turn.trick_seats,
        trick_cards=turn.trick_cards,
        active=turn.active,
        graveyard=cards.undealt + len(cards.buried),
        buried=cards.buried,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The lowest card, led or played; to a set, a pass."""
    return PASS_OR_LOWEST[state.turn.phase](state.cards.hands[seat][0])


def hand_number(state: State) -> int:
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Totals and places; equal totals share a place (R21, ruling 18)."""
    if to_act(state):
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)

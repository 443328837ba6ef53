"""Chinese Poker, for two to four seats: thirteen cards set as three poker hands.

The digest's rulings are cited as C1 to C13. All seats choose at once and
unseen, first how to set their cards, then whether to stand by it:

| phase     | who is asked                  | what they choose                        |
|-----------|-------------------------------|-----------------------------------------|
| set       | all                           | a setting, or to declare a natural      |
| surrender | those without natural, if two | to play, or to pay two to each opponent |

Naturals are shown between the two; the settings of those who play, after both.
Every pair of seats settles once (`arena.games.chinese_hands`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import PACK_52, Card
from arena.games.chinese_hands import (
    HAND_SIZE,
    SURRENDERED,
    Rows,
    Standing,
    high_first,
    is_foul,
    settle,
    strengths,
)
from arena.games.chinese_naturals import Natural, best_natural, natural_of
from arena.games.chinese_settings import SETTINGS, by_rank, candidates, numbered
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.options import check_hands, hands_setting

MIN_SEATS: Final = 2
MAX_SEATS: Final = 4
HANDS_PER_SEAT: Final = 4
"""Deals of each seat in a match of the game's own length."""
OFFERED_SETTINGS: Final = 8
"""Good settings offered to a bot that does not search for its own."""


class Phase(StrEnum):
    """What the match is doing."""

    SET = "set"
    SURRENDER = "surrender"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, f"{HANDS_PER_SEAT} deals by each seat")


# What a seat may do.


@dataclass(frozen=True, slots=True)
class Set:
    """Set all thirteen cards; a foul is accepted, and loses.

    The order of cards within a row means nothing: rows are put high first, so
    that equal settings are equal moves.
    """

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "front", high_first(self.front))
        object.__setattr__(self, "middle", high_first(self.middle))
        object.__setattr__(self, "back", high_first(self.back))


@dataclass(frozen=True, slots=True)
class DeclareNatural:
    """Show the highest natural of the hand instead of setting it."""


@dataclass(frozen=True, slots=True)
class Play:
    """Stand by the setting."""


@dataclass(frozen=True, slots=True)
class Surrender:
    """Give the hand up for two units to each opponent without a natural."""


Move: TypeAlias = Set | DeclareNatural | Play | Surrender

DECLARE_NATURAL: Final = DeclareNatural()
PLAY: Final = Play()
SURRENDER: Final = Surrender()
PLAY_OR_SURRENDER: Final = Listed((PLAY, SURRENDER))


def _set_of(rows: Rows) -> Set:
    return Set(rows.front, rows.middle, rows.back)


class Settings:
    """All moves of a seat that has thirteen cards to set; far too many to list.

    Offered are the natural, good settings that do not foul, best first, and the
    setting that is played for a seat that does not answer.
    """

    __slots__ = ("_held", "_natural", "_offered")

    def __init__(self, held: tuple[Card, ...], natural: Natural | None) -> None:
        self._held = held
        self._natural = natural
        self._offered: tuple[Move, ...] | None = None

    @property
    def offered(self) -> tuple[Move, ...]:
        """Some of the moves. Found when first asked for, in a few milliseconds."""
        if self._offered is None:
            settings = (*candidates(self._held, OFFERED_SETTINGS), by_rank(self._held))
            found = dict.fromkeys(map(_set_of, settings))
            natural = () if self._natural is None else (DECLARE_NATURAL,)
            self._offered = (*natural, *found)
        return self._offered

    @property
    def complete(self) -> bool:
        return False

    def __contains__(self, move: object) -> bool:
        if isinstance(move, Set):
            sizes = len(move.front), len(move.middle), len(move.back)
            cards = (*move.front, *move.middle, *move.back)
            return sizes == (3, 5, 5) and set(cards) == set(self._held)
        return move == DECLARE_NATURAL and self._natural is not None

    def count(self) -> int:
        return SETTINGS if self._natural is None else SETTINGS + 1

    def sample(self, below: Callable[[int], int]) -> Move:
        number = below(self.count())
        return DECLARE_NATURAL if number == SETTINGS else _set_of(numbered(self._held, number))


# What everybody may know.


@dataclass(frozen=True, slots=True)
class ShownNatural:
    """A natural that was declared."""

    seat: Seat
    natural: Natural
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; else high first."""


@dataclass(frozen=True, slots=True)
class View:
    """What one seat may know; nothing says who has made its choice."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    """Seats that choose now, all at once."""
    held: tuple[Card, ...]
    """The own thirteen cards, high first; empty for the spectator and when the match is over."""
    natural: Natural | None
    """The highest natural in `held`."""
    setting: Rows | None
    """The own setting, once it is made."""
    naturals: tuple[ShownNatural, ...]
    """Naturals of this hand, by seat; none before all have set."""
    totals: tuple[int, ...]
    """Units of the completed hands, by seat."""


# What seats are told.


@dataclass(frozen=True, slots=True)
class HandBegan:
    """Thirteen cards were dealt to each seat."""

    hand: int
    dealer: Seat


@dataclass(frozen=True, slots=True)
class Dealt:
    """The seat's cards, high first; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class NaturalDeclared:
    """A seat shows a natural, and is out of the rest of the hand."""

    seat: Seat
    natural: Natural
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; else high first."""


@dataclass(frozen=True, slots=True)
class Surrendered:
    """A seat gave up; its cards stay hidden."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Revealed:
    """A seat that plays shows its setting."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]
    fouled: bool


@dataclass(frozen=True, slots=True)
class Scored:
    """A hand was settled; `units` of this hand alone, both by seat."""

    hand: int
    units: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = HandBegan | Dealt | NaturalDeclared | Surrendered | Revealed | Scored


@dataclass(frozen=True, slots=True)
class Match:
    """What outlasts a hand."""

    seats: tuple[Seat, ...]
    hands: int
    """Hands of the whole match."""
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand, by seat."""

    hands: tuple[tuple[Card, ...], ...]
    """Thirteen to each seat, high first; none when the match is over."""
    naturals: tuple[Natural | None, ...]
    """The highest natural in each hand, declared or not."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The hand after all have set: by seat, what each did."""

    settings: tuple[Set | None, ...]
    """None where a natural was declared."""
    naturals: tuple[ShownNatural, ...]
    asked: tuple[Seat, ...]
    """The seats without natural, which now play or surrender."""


@dataclass(frozen=True, slots=True)
class State:
    """A match before a choice of all seats concerned; half of one is never in it."""

    match: Match
    deal: Deal
    committed: Committed | None
    """None while the seats set their cards."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Seat 0 deals it: the arena has drawn the seats already.

    Raises:
      BadOptions: unless there are 2 to 4 seats and `hands` is a multiple of them.
    """
    if not MIN_SEATS <= seats <= MAX_SEATS:
        raise BadOptions(f"Chinese Poker is for {MIN_SEATS} to {MAX_SEATS} seats, not {seats}")
    check_hands(options.hands, seats)
    hands = options.hands or HANDS_PER_SEAT * seats
    everybody = tuple(Seat(seat) for seat in range(seats))
    return _deal(Match(everybody, hands, 0, (), (0,) * seats), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Take what all seats concerned have chosen.

    Raises:
      IllegalMove: if a choice is against the rules, or a seat's is missing.
    """
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    choices = require_to_act(chosen, asked)
    for seat, move in zip(asked, choices, strict=True):
        if move not in moves(state, seat):
            raise IllegalMove(_why_illegal(state, seat, move))
    if state.committed is None:
        return _commit(state, choices, deals)
    return _reveal(state, state.committed, choices, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    """All seats to set, then those without natural to play or surrender."""
    if not state.deal.hands:
        return ()
    return state.match.seats if state.committed is None else state.committed.asked


def moves(state: State, seat: Seat) -> Moves:
    """The settings of a hand, or the two answers."""
    if state.committed is not None:
        return PLAY_OR_SURRENDER
    return Settings(state.deal.hands[seat], state.deal.naturals[seat])


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand before it is shown."""
    match, deal, committed = state.match, state.deal, state.committed
    held: tuple[Card, ...] = ()
    natural = setting = None
    if seat is not None and deal.hands:
        held, natural = deal.hands[seat], deal.naturals[seat]
        own = committed.settings[seat] if committed is not None else None
        if own is not None:
            setting = Rows(own.front, own.middle, own.back)
    return View(
        phase=_phase(state),
        hand=match.hand,
        dealer=_dealer(match),
        to_act=to_act(state),
        held=held,
        natural=natural,
        setting=setting,
        naturals=committed.naturals if committed is not None else (),
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The cards by rank, highest in the back, a natural undeclared; then to play (C13)."""
    return _set_of(by_rank(state.deal.hands[seat])) if state.committed is None else PLAY


def hand_number(state: State) -> int:
    """The deal, from 0."""
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Units and places; equal totals share a place."""
    if to_act(state):
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def _phase(state: State) -> Phase:
    if not state.deal.hands:
        return Phase.OVER
    return Phase.SET if state.committed is None else Phase.SURRENDER


def _dealer(match: Match) -> Seat:
    return match.seats[match.hand % len(match.seats)]


def _why_illegal(state: State, seat: Seat, move: Move) -> str:
    if state.committed is not None:
        return "play or surrender"
    if move == DECLARE_NATURAL:
        return "there is no natural in your hand"
    return "set your thirteen cards: 3 in front, 5 in the middle, 5 in the back"


def _deal(match: Match, deals: Deals) -> Step:
    """Deal singly from the dealer's left; the rest of the pack is out of play."""
    seats, dealer = len(match.seats), _dealer(match)
    deck = deals.shuffle(match.hand, "deck", PACK_52)[: seats * HAND_SIZE]
    hands = tuple(high_first(deck[(seat - dealer - 1) % seats :: seats]) for seat in match.seats)
    deal = Deal(hands, tuple(map(natural_of, hands)))
    told = (
        Told(HandBegan(match.hand, dealer)),
        *(Told(Dealt(seat, hands[seat]), (seat,)) for seat in match.seats),
    )
    return Step(State(match, deal, None), told)


def _commit(state: State, choices: Sequence[Move], deals: Deals) -> Step:
    """Take the settings and show the naturals; nobody has seen a setting then (C9)."""
    settings = tuple(move if isinstance(move, Set) else None for move in choices)
    naturals = tuple(
        _shown_natural(seat, state.deal.hands[seat])
        for seat in state.match.seats
        if settings[seat] is None
    )
    asked = tuple(seat for seat in state.match.seats if settings[seat] is not None)
    committed = Committed(settings, naturals, asked)
    told = tuple(Told(NaturalDeclared(each.seat, each.natural, each.cards)) for each in naturals)
    if len(asked) > 1:
        return Step(State(state.match, state.deal, committed), told)
    # One seat or none is left: there is nobody to surrender to (C12).
    after, revealed = _reveal(state, committed, (PLAY,) * len(asked), deals)
    return Step(after, told + revealed)


def _shown_natural(seat: Seat, held: Sequence[Card]) -> ShownNatural:
    best = best_natural(held)
    assert best is not None, "a natural was declared that is none"
    return ShownNatural(seat, best.natural, best.cards)


def _reveal(state: State, committed: Committed, answers: Sequence[Move], deals: Deals) -> Step:
    """Show the settings of those who play, settle, and deal the next hand."""
    match = state.match
    standings: list[Standing] = []
    told: list[Told] = []
    answer_of = dict(zip(committed.asked, answers, strict=True))
    for seat, setting in zip(match.seats, committed.settings, strict=True):
        if setting is None:
            natural = best_natural(state.deal.hands[seat])
            assert natural is not None
            standings.append(natural)
        elif answer_of[seat] == SURRENDER:
            standings.append(SURRENDERED)
            told.append(Told(Surrendered(seat)))
        else:
            front, middle, back = setting.front, setting.middle, setting.back
            rows = strengths(front, middle, back)
            standings.append(rows)
            told.append(Told(Revealed(seat, front, middle, back, is_foul(rows))))
    units = settle(standings)
    totals = tuple(map(sum, zip(match.totals, units, strict=True)))
    told.append(Told(Scored(match.hand, units, totals)))
    scores = (*match.hand_scores, units)
    if len(scores) == match.hands:
        ended = Match(match.seats, match.hands, match.hand, scores, totals)
        return Step(State(ended, Deal((), ()), None), tuple(told))
    following = Match(match.seats, match.hands, match.hand + 1, scores, totals)
    dealt, dealing = _deal(following, deals)
    return Step(dealt, (*told, *dealing))

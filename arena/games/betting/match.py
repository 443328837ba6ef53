"""A match of poker hands: its two formats, the deal going round, and the line of betting.

| format      | a hand starts with                | the match ends                        |
|-------------|-----------------------------------|---------------------------------------|
| `cash`      | the same stacks every time        | after a fixed number of hands         |
| `freezeout` | what the hand before left         | when one seat has all, or at the same |

In a freezeout a seat without chips is out, and the deal and the blinds pass
over it. The score is what a seat has won or lost, in chips, in both.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from arena.games.betting.rounds import Round, clockwise
from arena.games.contract import BadOptions, Result, Seat, Told, places_of
from arena.games.options import check_hands, hands_setting, setting
from arena.games.values import value

HANDS_PER_SEAT: Final = 10
"""Hands of a cash match for each seat, unless an option says otherwise."""
MAX_HANDS: Final = 1000
"""A freezeout that is not decided by then goes to the most chips."""
MAX_STACK: Final = 100_000


class Format(StrEnum):
    """What stacks a hand starts with."""

    CASH = "cash"
    FREEZEOUT = "freezeout"


@value(frozen=True, slots=True)
class Terms:
    """What was agreed for the match."""

    seats: tuple[Seat, ...]
    format: str
    hands: int
    """Hands at most; in a cash match exactly."""


@value(frozen=True, slots=True)
class Scores:
    """Chips won and lost, by seat."""

    hands: tuple[tuple[int, ...], ...]
    """For each completed hand in order."""
    totals: tuple[int, ...]


@value(frozen=True, slots=True)
class Match:
    """What outlasts a hand, and who plays the one that is on."""

    terms: Terms
    scores: Scores
    hand: int
    dealer: Seat
    players: tuple[Seat, ...]
    """Seats that are dealt to, in seat order: in a freezeout those with chips."""
    stacks: tuple[int, ...]
    """At the start of the hand, by seat."""


def hands_option() -> Any:
    """The option `hands` of a poker game."""
    own_length = f"{HANDS_PER_SEAT} for each seat, in a freezeout up to {MAX_HANDS}"
    return hands_setting(0, own_length, maximum=MAX_HANDS)


def format_option() -> Any:
    """The option `format` of a poker game."""
    return setting(
        Format.CASH,
        "cash: every hand starts with the same stacks; freezeout: they carry over, and a seat "
        "without chips is out",
        choices=tuple(Format),
    )


def new_match(seats: int, hands: int, format_: str, stack: int) -> Match:
    """A match before its first hand. Seat 0 deals: the arena has drawn the seats already.

    Raises:
      BadOptions: if `hands` is not a multiple of the seats.
    """
    check_hands(hands, seats)
    own_length = MAX_HANDS if format_ == Format.FREEZEOUT else HANDS_PER_SEAT * seats
    everybody = tuple(Seat(seat) for seat in range(seats))
    terms = Terms(everybody, format_, hands or own_length)
    return Match(terms, Scores((), (0,) * seats), 0, Seat(0), everybody, (stack,) * seats)


def check_seats(game: str, seats: int, most: int) -> None:
    """Require 2 to `most` seats.

    Raises:
      BadOptions: naming the game.
    """
    if not 2 <= seats <= most:
        raise BadOptions(f"{game} is for 2 to {most} seats, not {seats}")


def score_hand(match: Match, stacks: Sequence[int]) -> Scores:
    """The scores after a hand that left these stacks."""
    nets = tuple([after - before for before, after in zip(match.stacks, stacks, strict=True)])
    totals = tuple([had + won for had, won in zip(match.scores.totals, nets, strict=True)])
    return Scores((*match.scores.hands, nets), totals)


def next_hand(match: Match, scores: Scores) -> Match | None:
    """The match before its next hand, or None if it is over."""
    terms, players, stacks = match.terms, match.players, match.stacks
    if len(scores.hands) >= terms.hands:
        return None
    if terms.format == Format.FREEZEOUT:
        stacks = tuple([had + won for had, won in zip(stacks, scores.hands[-1], strict=True)])
        players = tuple([seat for seat in players if stacks[seat]])
        if len(players) == 1:
            return None
    dealer = clockwise(players, match.dealer)[0]
    return Match(terms, scores, match.hand + 1, dealer, players, stacks)


def ended_match(match: Match, scores: Scores) -> Match:
    """The match after its last hand."""
    return Match(match.terms, scores, match.hand, match.dealer, match.players, match.stacks)


def chips_at_stake(match: Match, most: int) -> int:
    """By how much a seat's result may differ from another's or from its own, played otherwise.

    Nobody loses more than `most` in a hand of a cash match, nor more than its stack in a freezeout.
    """
    if match.terms.format == Format.FREEZEOUT:
        return sum(match.stacks)
    return match.terms.hands * len(match.terms.seats) * most


def result_of(match: Match) -> Result:
    """Chips won or lost, and places; equal totals share a place."""
    scores = match.scores
    return Result(scores.totals, places_of(scores.totals), scores.hands)


class Action(StrEnum):
    """What a seat did with its chips."""

    FOLD = "fold"
    CHECK = "check"
    CALL = "call"
    BET = "bet"
    RAISE = "raise"


@value(frozen=True, slots=True)
class Line:
    """The betting of a hand so far: three lists side by side, an entry for each action."""

    seats: tuple[Seat, ...]
    actions: tuple[Action, ...]
    tos: tuple[int, ...]
    """The seat's total of the round after the action."""
    starts: tuple[int, ...]
    """For each round of betting begun, how many actions came before it."""


@value(frozen=True, slots=True)
class Acted:
    """A seat bet or declined to."""

    seat: Seat
    action: Action
    to: int
    """Its total of the round after the action."""


@value(frozen=True, slots=True)
class UncalledReturned:
    """A seat got back the part of its bet that nobody called."""

    seat: Seat
    amount: int


@value(frozen=True, slots=True)
class HandEnded:
    """A hand was settled; `nets` of this hand alone, both by seat."""

    hand: int
    nets: tuple[int, ...]
    totals: tuple[int, ...]


NO_ACTIONS: Final = Line((), (), (), (0,))


def acted(line: Line, seat: Seat, action: Action, after: Round) -> tuple[Line, Told]:
    """The line with an action that led to the round `after`, and what is told of it."""
    to = after.chips.bets[seat]
    line = Line((*line.seats, seat), (*line.actions, action), (*line.tos, to), line.starts)
    return line, _told(seat, action, to)


def new_round(line: Line) -> Line:
    """The line when a further round of betting begins."""
    return Line(line.seats, line.actions, line.tos, (*line.starts, len(line.seats)))


@lru_cache(maxsize=1 << 12)
def _told(seat: Seat, action: Action, to: int) -> Told:
    # Kept, as the same few actions are told over and over.
    return Told(Acted(seat, action, to))

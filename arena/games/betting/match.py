"""A match of poker hands: its two formats, the rotation of the deal, and the betting so far.

| format      | stacks at the start of a hand     | the match ends                                    |
|-------------|-----------------------------------|---------------------------------------------------|
| `cash`      | the same in every hand            | after a fixed number of hands                     |
| `freezeout` | those after the previous hand     | when one seat has all chips, or as in `cash`      |

In a freezeout a seat without chips is out; the deal and the blinds skip it. In both formats the score
of a seat is the number of chips that it has won or lost.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from arena.games.betting.rounds import Round, clockwise
from arena.games.contract import BadOptions, Result, Seat, SentEvent
from arena.games.frozen import Frozen
from arena.games.options import hands_setting, setting

HANDS_PER_SEAT: Final = 10
"""Default number of hands of a cash match, for each seat."""
MAX_HANDS: Final = 1000
"""A freezeout ends after so many hands; most chips win."""
MAX_STACK: Final = 100_000
DEEPEST: Final = 1000
"""The maximal stack in smallest bets where raises have no cap, which limits their number."""


class Format(StrEnum):
    """The format of a match."""

    CASH = "cash"
    FREEZEOUT = "freezeout"


class Terms(Frozen):
    """The terms of a match."""

    seats: tuple[Seat, ...]
    format: str
    hands: int
    """The maximal number of hands; in a cash match the exact number."""


class Scores(Frozen):
    """Chips won and lost."""

    hands: tuple[tuple[int, ...], ...]
    """For each completed hand in order, by seat."""
    totals: tuple[int, ...]
    """By seat."""


class Match(Frozen):
    """What continues from hand to hand, and the seats of the current hand."""

    terms: Terms
    scores: Scores
    hand: int
    dealer: Seat
    players: tuple[Seat, ...]
    """Seats that are dealt cards, in seat order; in a freezeout those with chips."""
    stacks: tuple[int, ...]
    """At the start of the hand, by seat."""


def hands_option() -> Any:
    """Return the option `hands` of a poker game."""
    own_length = f"{HANDS_PER_SEAT} for each seat, in a freezeout up to {MAX_HANDS}"
    return hands_setting(0, own_length, maximum=MAX_HANDS)


def format_option() -> Any:
    """Return the option `format` of a poker game."""
    return setting(
        Format.CASH,
        "cash: every hand starts with the same stacks; freezeout: they carry over, and a seat "
        "without chips is out",
        choices=tuple(Format),
    )


def check_stacks(option: str, stacks: Sequence[int], ante: int) -> None:
    """Require that the ante leaves chips of every stack, so that a hand has a decision.

    Raises `BadOptions` naming the ante and `option`, which has the stacks.
    """
    if ante >= min(stacks):
        raise BadOptions(f"ante={ante} leaves nothing of a stack of {min(stacks)} in {option}")


def check_depth(option: str, stacks: Sequence[int], least: int) -> None:
    """Require that no stack is over `DEEPEST` bets of `least` chips.

    Raises `BadOptions` naming `option`, which has the stacks.
    """
    if max(stacks) > DEEPEST * least:
        raise BadOptions(f"{option}={max(stacks)} is over {DEEPEST} of the smallest bets")


def new_match(hands: int, format_: str, stacks: tuple[int, ...]) -> Match:
    """Return a match before its first hand. Seat 0 deals first, because seats are drawn before the match."""
    seats = len(stacks)
    own_length = MAX_HANDS if format_ == Format.FREEZEOUT else HANDS_PER_SEAT * seats
    everybody = tuple(Seat(number) for number in range(seats))
    terms = Terms(everybody, format_, hands or own_length)
    return Match(terms, Scores((), (0,) * seats), 0, Seat(0), everybody, stacks)


def score_hand(match: Match, stacks: Sequence[int]) -> Scores:
    """Return the scores after a hand that ended with these stacks."""
    nets = tuple([after - before for before, after in zip(match.stacks, stacks, strict=True)])
    totals = tuple([had + won for had, won in zip(match.scores.totals, nets, strict=True)])
    return Scores((*match.scores.hands, nets), totals)


def next_hand(match: Match, scores: Scores) -> Match | None:
    """Return the match before its next hand, or None if it is over."""
    terms, players, stacks = match.terms, match.players, match.stacks
    if len(scores.hands) >= terms.hands:
        return None
    if terms.format == Format.FREEZEOUT:
        stacks, players = _stacks_after(match, scores), _with_chips(match, scores)
        if len(players) == 1:
            return None
    dealer = clockwise(players, match.dealer)[0]
    return Match(terms, scores, match.hand + 1, dealer, players, stacks)


def ended_match(match: Match, scores: Scores) -> Match:
    """Return the match after its last hand."""
    return Match(match.terms, scores, match.hand, match.dealer, match.players, match.stacks)


def chips_at_stake(match: Match, most: int = MAX_STACK) -> int:
    """Return the margin bound of a match, see `arena.games.contract`.

    A seat loses at most its stack in a freezeout, and in each hand of a cash match; there at most `most`
    chips.
    """
    if match.terms.format == Format.FREEZEOUT:
        return sum(match.stacks)
    return match.terms.hands * sum(min(stack, most) for stack in match.stacks)


def result_of(match: Match) -> Result:
    """Return chips won or lost, and places; equal totals share a place."""
    scores = match.scores
    in_play = match.terms.format == Format.FREEZEOUT and len(_with_chips(match, scores)) > 1
    return Result.of(scores.totals, scores.hands, ended_by_limit=in_play)


def _stacks_after(match: Match, scores: Scores) -> tuple[int, ...]:
    return tuple([had + won for had, won in zip(match.stacks, scores.hands[-1], strict=True)])


def _with_chips(match: Match, scores: Scores) -> tuple[Seat, ...]:
    stacks = _stacks_after(match, scores)
    return tuple([player for player in match.players if stacks[player]])


class Action(StrEnum):
    """A betting action."""

    FOLD = "fold"
    CHECK = "check"
    CALL = "call"
    BET = "bet"
    RAISE = "raise"


class Line(Frozen):
    """The betting of a hand so far: three parallel lists with an entry for each action."""

    seats: tuple[Seat, ...]
    actions: tuple[Action, ...]
    tos: tuple[int, ...]
    """The seat's total of the round after the action."""
    starts: tuple[int, ...]
    """For each betting round begun, the number of actions before it."""


class Acted(Frozen):
    """A seat made a betting move."""

    seat: Seat
    action: Action
    to: int
    """Its total of the round after the action."""


class UncalledReturned(Frozen):
    """A seat got back the uncalled part of its bet."""

    seat: Seat
    amount: int


class HandEnded(Frozen):
    """A hand was settled; `nets` are chips won or lost in this hand. Both lists are by seat."""

    hand: int
    nets: tuple[int, ...]
    totals: tuple[int, ...]


NO_ACTIONS: Final = Line((), (), (), (0,))


def acted(line: Line, seat: Seat, action: Action, after: Round) -> tuple[Line, SentEvent]:
    """Add an action that led to the round `after`; return the line, and the event of the action."""
    to = after.chips.bets[seat]
    line = Line((*line.seats, seat), (*line.actions, action), (*line.tos, to), line.starts)
    return line, _acted(seat, action, to)


def new_round(line: Line) -> Line:
    """Return the line when the next betting round begins."""
    return Line(line.seats, line.actions, line.tos, (*line.starts, len(line.seats)))


@lru_cache(maxsize=1 << 12)
def _acted(seat: Seat, action: Action, to: int) -> SentEvent:
    # Cached, as the same few actions occur in every match.
    return SentEvent(Acted(seat, action, to))

"""What a match of Eleusis consists of while it is played."""

from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.eleusis.options import Options, Variant
from arena.games.eleusis.verdict import Verdict, Witness
from arena.games.eleusis.words import (
    SHOWN_CALLS,
    SHOWN_GUESSES,
    Calls,
    Guesses,
    Layout,
    NoPlay,
    Office,
    Phase,
    Play,
)
from arena.games.values import value

NO_LAYOUT: Final = Layout((), (), (), (), ())
NO_CALLS: Final = Calls((), (), (), ())
NO_GUESSES: Final = Guesses((), ())
NO_OFFICE: Final = Office(None, 0, (), ())


@value(frozen=True, slots=True)
class Match:
    """What outlasts a hand."""

    options: Options
    seats: tuple[Seat, ...]
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]
    previous_rule: str

    @property
    def dealer(self) -> Seat:
        return self.seats[self.hand % len(self.seats)]

    @property
    def players(self) -> tuple[Seat, ...]:
        """All but the dealer, from its left."""
        dealer = self.dealer
        return self.seats[dealer + 1 :] + self.seats[:dealer]


@value(frozen=True, slots=True)
class Secret:
    """The rule of the hand and what only its dealer may know of it."""

    rule: str = ""
    """Empty until one was accepted."""
    refused: int = 0
    """Rules that were refused."""
    verdict: Verdict = Verdict.ACCEPTED
    """On the last rule sent."""
    reason: str = ""
    """Why it was refused."""
    by_arena: bool = False
    dearest: int = 0
    """The most that the rule cost for one card while it was tried."""


@value(frozen=True, slots=True)
class Cards:
    """Cards that are not on the table."""

    hands: tuple[tuple[Card, ...], ...]
    """By seat, each in the order received, in which it goes under the stock after a
    no-play; it is shown sorted. The dealer has none."""
    stock: tuple[Card, ...]
    """The next to be drawn first."""
    packs: int
    """Packs used in this hand."""


@value(frozen=True, slots=True)
class Turn:
    """Whose turn it is and how far it has come."""

    seat: Seat
    pending: Play | NoPlay | None
    """What the prophet is to judge."""
    taken: tuple[int, ...]
    """Turns completed, by seat."""


@value(frozen=True, slots=True)
class Attempts:
    """Wrong guesses of the hand (Express)."""

    count: int = 0
    shown: Guesses = NO_GUESSES
    witnesses: tuple[tuple[Seat, Witness], ...] = ()
    """Where the last guess of each seat fails; told after the hand."""


@value(frozen=True, slots=True)
class Table:
    """All that a hand consists of, once it is dealt."""

    cards: Cards
    layout: Layout
    calls: Calls
    office: Office


@value(frozen=True, slots=True)
class State:
    """A match between two moves."""

    match: Match
    secret: Secret
    phase: Phase
    turn: Turn
    table: Table
    attempts: Attempts

    def at(self, phase: Phase, turn: Turn, table: Table) -> "State":
        """The same hand further on."""
        return State(self.match, self.secret, phase, turn, table, self.attempts)


def is_express(state: State) -> bool:
    """Whether it is Eleusis Express."""
    return state.match.options.variant == Variant.EXPRESS


def active(match: Match, office: Office) -> tuple[Seat, ...]:
    """The seats that have turns, from the dealer's left."""
    prophet, expelled = office.prophet, office.expelled
    if prophet is None and not expelled:
        return match.players
    return tuple([seat for seat in match.players if seat != prophet and seat not in expelled])


def with_call(
    calls: Calls, seat: Seat, shown: tuple[Card, ...], after: int, *, right: bool
) -> Calls:
    """One more no-play, the oldest being forgotten."""
    return Calls(
        (*calls.seats, seat)[-SHOWN_CALLS:],
        (*calls.hands, shown)[-SHOWN_CALLS:],
        (*calls.after, after)[-SHOWN_CALLS:],
        (*calls.right, right)[-SHOWN_CALLS:],
    )


def with_guess(attempts: Attempts, seat: Seat, text: str, witness: Witness | None) -> Attempts:
    """One more wrong guess, the oldest being forgotten."""
    others = tuple(each for each in attempts.witnesses if each[0] != seat)
    return Attempts(
        attempts.count + 1,
        Guesses(
            (*attempts.shown.seats, seat)[-SHOWN_GUESSES:],
            (*attempts.shown.texts, text)[-SHOWN_GUESSES:],
        ),
        others if witness is None else (*others, (seat, witness)),
    )

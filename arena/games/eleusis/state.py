"""The state of a match of Eleusis."""

from typing import Final

from arena.games.cards import Card
from arena.games.contract import Seat
from arena.games.eleusis.messages import (
    SHOWN_CALLS,
    SHOWN_GUESSES,
    Calls,
    Guesses,
    Layout,
    NoPlay,
    Office,
    Options,
    Phase,
    Play,
    Variant,
    Verdict,
    Witness,
)
from arena.games.frozen import Frozen

NO_LAYOUT: Final = Layout((), (), (), (), ())
NO_CALLS: Final = Calls((), (), (), ())
NO_GUESSES: Final = Guesses((), ())
NO_OFFICE: Final = Office(None, 0, (), ())


class Match(Frozen):
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
        """All seats except the dealer, from its left."""
        dealer = self.dealer
        return self.seats[dealer + 1 :] + self.seats[:dealer]


class Secret(Frozen):
    """The rule of the hand, and what only its dealer may know."""

    rule: str = ""
    """The rule; empty until one was accepted."""
    refused: int = 0
    verdict: Verdict = Verdict.ACCEPTED
    """The verdict on the last rule sent."""
    reason: str = ""
    """Why the last rule was refused."""
    by_arena: bool = False
    dearest: int = 0
    """The highest cost of one card during validation."""


class Cards(Frozen):
    hands: tuple[tuple[Card, ...], ...]
    """By seat, each in the order received, in which it is put under the stock after a no-play; views show
    hands sorted. The dealer has no cards."""
    stock: tuple[Card, ...]
    """The next card to draw first."""
    packs: int
    """The number of packs used in this hand."""


class Turn(Frozen):
    seat: Seat
    pending: Play | NoPlay | None
    """The play that the prophet judges."""
    taken: tuple[int, ...]
    """The number of completed turns, by seat."""
    guesser: Seat | None = None
    """The seat that may guess now (Express)."""


class Attempts(Frozen):
    """Wrong guesses of the hand (Express)."""

    count: int = 0
    shown: Guesses = NO_GUESSES
    witnesses: tuple[tuple[Seat, Witness], ...] = ()
    """Where the last guess of each seat fails, which is sent after the hand."""


class Table(Frozen):
    """The cards and the public state of a hand."""

    cards: Cards
    layout: Layout
    calls: Calls
    office: Office


class State(Frozen):
    """A match between two moves."""

    match: Match
    secret: Secret
    phase: Phase
    turn: Turn
    table: Table
    attempts: Attempts

    def at(self, phase: Phase, turn: Turn, table: Table) -> "State":
        """Return the same match in another phase, turn and table."""
        return State(self.match, self.secret, phase, turn, table, self.attempts)


def is_express(state: State) -> bool:
    return state.match.options.variant == Variant.EXPRESS


def active(match: Match, office: Office) -> tuple[Seat, ...]:
    """Return the seats that have turns, from the dealer's left."""
    prophet, expelled = office.prophet, office.expelled
    if prophet is None and not expelled:
        return match.players
    return tuple(
        [player for player in match.players if player != prophet and player not in expelled]
    )


def with_call(
    calls: Calls, seat: Seat, shown: tuple[Card, ...], after: int, *, right: bool
) -> Calls:
    """Add a no-play; drop the oldest ones beyond `SHOWN_CALLS`."""
    return Calls(
        (*calls.seats, seat)[-SHOWN_CALLS:],
        (*calls.hands, shown)[-SHOWN_CALLS:],
        (*calls.after, after)[-SHOWN_CALLS:],
        (*calls.right, right)[-SHOWN_CALLS:],
    )


def with_guess(attempts: Attempts, seat: Seat, text: str, witness: Witness | None) -> Attempts:
    """Add a wrong guess; drop the oldest ones beyond `SHOWN_GUESSES`."""
    others = tuple(witness for witness in attempts.witnesses if witness[0] != seat)
    return Attempts(
        attempts.count + 1,
        Guesses(
            (*attempts.shown.seats, seat)[-SHOWN_GUESSES:],
            (*attempts.shown.texts, text)[-SHOWN_GUESSES:],
        ),
        others if witness is None else (*others, (seat, witness)),
    )

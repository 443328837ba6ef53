"""What is said at a match of Eleusis: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import Card
from arena.games.cel import DECK_ORDER
from arena.games.contract import Seat
from arena.games.eleusis.verdict import Verdict
from arena.games.values import value

SHOWN_CALLS: Final = 64
"""No-plays that a view remembers; older ones were told as events."""
SHOWN_GUESSES: Final = 12
"""Guesses that a view remembers."""


class Phase(StrEnum):
    """What the match is doing."""

    RULE = "rule"
    """The dealer sends the rule of this hand."""
    PLAY = "play"
    """A seat plays cards or says that none of its cards is right."""
    JUDGE = "judge"
    """The prophet says whether that was right."""
    PROPHET_OPTION = "prophet_option"
    """The seat that had its turn may declare itself the prophet."""
    GUESS_OPTION = "guess_option"
    """The seat that played right may guess the rule (Express)."""
    OVER = "over"


class Opinion(StrEnum):
    """What a prophet says of a play."""

    RIGHT = "right"
    WRONG = "wrong"


class End(StrEnum):
    """Why a hand ended."""

    DEPLETED = "depleted"
    """A seat has no cards left."""
    NO_PLAY = "no_play"
    """A seat with few cards was right that it could not play."""
    EXPELLED = "expelled"
    """Nobody is left to play."""
    GUESS = "guess"
    """The rule was guessed."""
    TURN_CAP = "turn_cap"
    """Every seat still playing has had `max_turns` turns."""


# What a seat may do.


@value(frozen=True, slots=True)
class Rule:
    """Set the rule of the hand. One that is refused may be followed by another."""

    text: str


@value(frozen=True, slots=True)
class Play:
    """Play one card, or several that follow each other from left to right."""

    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class NoPlay:
    """Say that no card of the hand is right, and show it."""


@value(frozen=True, slots=True)
class Judge:
    """Say as the prophet whether the turn was right.

    A no-play that is called wrong needs a `card` of the shown hand that is right.
    """

    opinion: Opinion
    card: Card | None


@value(frozen=True, slots=True)
class Declare:
    """Become the prophet."""


@value(frozen=True, slots=True)
class Guess:
    """Say what the rule is; nothing is lost if it is not that."""

    text: str


@value(frozen=True, slots=True)
class Pass:
    """Neither declare nor guess."""


Move: TypeAlias = Rule | Play | NoPlay | Judge | Declare | Guess | Pass

# Moves are interned: equal moves are one object, which the codec's cache likes.
PLAYS: Final = {card: Play((card,)) for card in DECK_ORDER}
NO_PLAY: Final = NoPlay()
PASS: Final = Pass()
DECLARE: Final = Declare()
RIGHT: Final = Judge(Opinion.RIGHT, None)
WRONG: Final = Judge(Opinion.WRONG, None)
WRONG_FOR: Final = {card: Judge(Opinion.WRONG, card) for card in DECK_ORDER}
NO_RULE: Final = Rule("")
"""Sent for a dealer that does not answer: it is refused (E15)."""


# What is told.


@value(frozen=True, slots=True)
class HandBegan:
    """A hand began; its dealer is asked for the rule."""

    hand: int
    dealer: Seat


@value(frozen=True, slots=True)
class RuleRefused:
    """The rule cannot be used; for the dealer alone."""

    verdict: Verdict
    reason: str


@value(frozen=True, slots=True)
class RuleReplaced:
    """The second rule was refused too, so the arena chose this one; for the dealer alone."""

    rule: str


@value(frozen=True, slots=True)
class Dealt:
    """There is a rule, cards were dealt and the starter was turned up."""

    starter: Card
    hand_size: int
    """Cards of each seat but the dealer."""
    stock: int


@value(frozen=True, slots=True)
class Drawn:
    """Cards that a seat was dealt or drew; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Played:
    """A seat played cards. Whether they are right is told next."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class NoPlayCalled:
    """A seat said that none of these cards, its whole hand, is right."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Judged:
    """The prophet gave its opinion, and on a no-play the card it holds for right."""

    seat: Seat
    opinion: Opinion
    card: Card | None


@value(frozen=True, slots=True)
class ProphetDeposed:
    """The prophet was wrong, draws five cards and plays again."""

    seat: Seat


@value(frozen=True, slots=True)
class PlayResolved:
    """Played cards were right and went to the mainline, or wrong and went beside it."""

    seat: Seat
    right: bool
    cards: tuple[Card, ...]
    penalty: int
    """Cards that the seat drew."""
    expelled: bool


@value(frozen=True, slots=True)
class NoPlayResolved:
    """A no-play was right, or a card of the hand was and went to the mainline."""

    seat: Seat
    right: bool
    card: Card | None
    """The card that was moved; None if the no-play was right."""
    penalty: int
    """Cards that the seat drew, if it was wrong."""
    hand_size: int
    """Cards of the seat afterwards."""
    expelled: bool


@value(frozen=True, slots=True)
class PackAdded:
    """The stock was too small: another shuffled pack lies under it."""

    packs: int
    """Packs of this hand so far."""


@value(frozen=True, slots=True)
class ProphetDeclared:
    """A seat became the prophet; `marker` is the number of cards played before."""

    seat: Seat
    marker: int


@value(frozen=True, slots=True)
class Passed:
    """A seat did not declare, or did not guess."""

    seat: Seat


@value(frozen=True, slots=True)
class Guessed:
    """A seat guessed the rule; all hear the guess and whether it is right."""

    seat: Seat
    text: str
    accepted: bool


@value(frozen=True, slots=True)
class GuessRefuted:
    """After the hand: where a seat's last wrong guess differs from the rule."""

    seat: Seat
    line: tuple[Card, ...]
    """A mainline that could have come about."""
    card: Card
    legal: bool
    """Whether the card may follow by the rule; the guess says the opposite."""


@value(frozen=True, slots=True)
class HandScored:
    """A hand ended and its rule is shown; `scores` of the hand, `totals` of the match."""

    hand: int
    end: End
    rule: str
    by_arena: bool
    """The dealer's own rules were refused: it scores nothing."""
    scores: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    HandBegan
    | RuleRefused
    | RuleReplaced
    | Dealt
    | Drawn
    | Played
    | NoPlayCalled
    | Judged
    | ProphetDeposed
    | PlayResolved
    | NoPlayResolved
    | PackAdded
    | ProphetDeclared
    | Passed
    | Guessed
    | GuessRefuted
    | HandScored
)


# What a seat may know.


@value(frozen=True, slots=True)
class Layout:
    """The cards on the table.

    A unit of wrong cards lies under the mainline card that was the last when
    it was played. So the order of all plays can be read off: each mainline
    card, then the units under it in order.
    """

    mainline: tuple[Card, ...]
    """Right cards, the starter first."""
    main_seats: tuple[int, ...]
    """Whose each was; the starter is the dealer's."""
    sidelines: tuple[tuple[Card, ...], ...]
    """Wrong plays in order, each a card or several that were played together."""
    side_seats: tuple[int, ...]
    """Whose each was."""
    side_after: tuple[int, ...]
    """The place in the mainline, from 0, of the card above each."""


@value(frozen=True, slots=True)
class Calls:
    """The latest no-plays, in order; at most `SHOWN_CALLS`.

    If one was right, none of its cards may follow the mainline up to `after`.
    If it was wrong, the next mainline card came from that hand; without a
    prophet it is the first in the hand that was right.
    """

    seats: tuple[int, ...]
    hands: tuple[tuple[Card, ...], ...]
    """What each showed, in order: spades, hearts, diamonds, clubs, from ace to king."""
    after: tuple[int, ...]
    """The place of the last mainline card, from 0."""
    right: tuple[bool, ...]


@value(frozen=True, slots=True)
class Guesses:
    """The latest wrong guesses, in order; at most `SHOWN_GUESSES`."""

    seats: tuple[int, ...]
    texts: tuple[str, ...]


@value(frozen=True, slots=True)
class Office:
    """The prophet, those who were, and those who may not play any more."""

    prophet: Seat | None
    marker: int
    """Cards played after the starter up to the marker; 0 without a prophet."""
    former: tuple[Seat, ...]
    """Deposed prophets of this hand."""
    expelled: tuple[Seat, ...]


@value(frozen=True, slots=True)
class View:
    """The public part of the match, the own hand, and for the dealer the rule."""

    phase: Phase
    hand: int
    """The hand, from 0."""
    dealer: Seat
    to_act: Seat | None
    turn: Seat | None
    """Whose turn it is, also while the prophet judges; None before the deal."""
    held: tuple[Card, ...]
    """The own hand: spades, hearts, diamonds, clubs, each from ace to king."""
    hand_sizes: tuple[int, ...]
    stock: int
    layout: Layout
    played: tuple[Card, ...]
    """What the prophet is to judge: the cards played, or the hand shown by a no-play."""
    no_play: bool
    """Whether it is a no-play."""
    calls: Calls
    guesses: Guesses
    office: Office
    turns: tuple[int, ...]
    """Turns taken in this hand, by seat."""
    rule: str | None
    """For the dealer the rule in force; for others None."""
    refusal: str
    """For the dealer, why its rule was refused; empty if it was not."""
    previous_rule: str
    """The rule of the hand before; after the last hand, of that hand."""
    totals: tuple[int, ...]
    """Scores of the completed hands."""

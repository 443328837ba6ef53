"""Moves, events, views and options of Eleusis."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import Card
from arena.games.cel import DECK_ORDER
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting, setting


class Verdict(StrEnum):
    """The verdict on a rule, in the order of the tests."""

    ACCEPTED = "accepted"
    SYNTAX = "syntax"
    RUNTIME_ERROR = "runtime_error"
    COST = "cost"
    DEAD_END = "dead_end"
    TOO_RESTRICTIVE = "too_restrictive"
    TOO_PERMISSIVE = "too_permissive"


class Witness(Frozen):
    """A difference between a guess and the rule: on `card` after `line`."""

    line: tuple[Card, ...]
    card: Card
    legal: bool
    """Whether the rule allows the card."""


SHOWN_CALLS: Final = 64
"""The number of no-plays in a view; older ones are in events only."""
SHOWN_GUESSES: Final = 12
"""The number of guesses in a view."""


class Phase(StrEnum):
    """What happens next in the match."""

    RULE = "rule"
    """The dealer sends the rule of this hand."""
    PLAY = "play"
    """A seat plays cards or calls a no-play."""
    JUDGE = "judge"
    """The prophet judges the play or no-play."""
    PROPHET_OPTION = "prophet_option"
    """The seat that had its turn may declare itself prophet."""
    GUESS_OPTION = "guess_option"
    """After a right play a seat may guess the rule (Express)."""
    OVER = "over"


class Opinion(StrEnum):
    """A prophet's judgement."""

    RIGHT = "right"
    WRONG = "wrong"


class End(StrEnum):
    """The reason for the end of a hand."""

    DEPLETED = "depleted"
    """A seat has no cards left."""
    NO_PLAY = "no_play"
    """A seat with few cards called a true no-play."""
    EXPELLED = "expelled"
    """All seats were expelled."""
    GUESS = "guess"
    """The rule was guessed."""
    TURN_CAP = "turn_cap"
    """Every seat still playing has had `max_turns` turns."""


class Rule(Frozen):
    """Set the rule of the hand. If it is refused, one more may be sent."""

    text: str


class Play(Frozen):
    """Play one card, or several in order from left to right."""

    cards: tuple[Card, ...]


class NoPlay(Frozen):
    """Claim that no card of the hand is right, and show the hand."""


class Judge(Frozen):
    """Judge the turn as the prophet.

    A no-play that is judged wrong needs a `card` of the shown hand that is right.
    """

    opinion: Opinion
    card: Card | None


class Declare(Frozen):
    """Become the prophet."""


class Guess(Frozen):
    """Guess the rule. A wrong guess costs nothing."""

    text: str


class Pass(Frozen):
    """Do not declare, or do not guess."""


Move: TypeAlias = Rule | Play | NoPlay | Judge | Declare | Guess | Pass

# Moves are interned, as the codec finds the bytes of a move by its identity.
PLAYS: Final = {card: Play((card,)) for card in DECK_ORDER}
NO_PLAY: Final = NoPlay()
PASS: Final = Pass()
DECLARE: Final = Declare()
RIGHT: Final = Judge(Opinion.RIGHT, None)
WRONG: Final = Judge(Opinion.WRONG, None)
WRONG_FOR: Final = {card: Judge(Opinion.WRONG, card) for card in DECK_ORDER}
NO_RULE: Final = Rule("")
"""The fallback of a dealer, which is refused (E15)."""


class HandBegan(Frozen):
    """A hand began; its dealer is asked for the rule."""

    hand: int
    dealer: Seat


class RuleRefused(Frozen):
    """The rule was refused. Sent to the dealer only."""

    verdict: Verdict
    reason: str


class RuleReplaced(Frozen):
    """The second rule was refused too, and the arena chose this one. Sent to the dealer only."""

    rule: str


class Dealt(Frozen):
    """The rule was accepted, cards were dealt and the starter was turned up."""

    starter: Card
    hand_size: int
    """The number of cards of each seat except the dealer."""
    stock: int


class Drawn(Frozen):
    """Cards that a seat was dealt or drew. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Played(Frozen):
    """A seat played cards; a later event says whether they are right."""

    seat: Seat
    cards: tuple[Card, ...]


class NoPlayCalled(Frozen):
    """A seat called a no-play and showed its hand."""

    seat: Seat
    cards: tuple[Card, ...]


class Judged(Frozen):
    """The prophet judged the turn; of a no-play that is judged wrong `card` is claimed to be right."""

    seat: Seat
    opinion: Opinion
    card: Card | None


class ProphetDeposed(Frozen):
    """The prophet was wrong: it draws five cards and plays again."""

    seat: Seat


class PlayResolved(Frozen):
    """Played cards were right and joined the mainline, or were wrong and joined a sideline."""

    seat: Seat
    right: bool
    cards: tuple[Card, ...]
    penalty: int
    """The number of cards that the seat drew."""
    expelled: bool


class NoPlayResolved(Frozen):
    """A no-play was true, or it was false and a right card of the hand joined the mainline."""

    seat: Seat
    right: bool
    card: Card | None
    """The card that joined the mainline; None if the no-play was true."""
    penalty: int
    """The number of cards that the seat drew, if the no-play was false."""
    hand_size: int
    """The number of cards of the seat afterwards."""
    expelled: bool


class PackAdded(Frozen):
    """The stock was too small, so another shuffled pack was put under it."""

    packs: int
    """The number of packs used in this hand."""


class ProphetDeclared(Frozen):
    """A seat became the prophet; `marker` is the number of cards played before."""

    seat: Seat
    marker: int


class Passed(Frozen):
    """A seat did not declare, or did not guess."""

    seat: Seat


class Guessed(Frozen):
    """A seat guessed the rule."""

    seat: Seat
    text: str
    accepted: bool


class GuessRefuted(Frozen):
    """Where the last wrong guess of a seat differs from the rule. Sent after the hand."""

    seat: Seat
    line: tuple[Card, ...]
    """A possible mainline."""
    card: Card
    legal: bool
    """Whether the rule allows the card; the guess says the opposite."""


class HandScored(Frozen):
    """A hand was scored and its rule shown; `scores` are those of the hand."""

    hand: int
    end: End
    rule: str
    by_arena: bool
    """Whether the arena chose the rule, so that the dealer scores nothing."""
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


class Layout(Frozen):
    """The cards on the table.

    Wrong cards of one play are a unit under the mainline card that was last at that time. So the layout
    shows the order of all plays: each mainline card, then the units under it in order.
    """

    mainline: tuple[Card, ...]
    """Right cards, the starter first."""
    main_seats: tuple[int, ...]
    """The seat that played each card; the dealer for the starter."""
    sidelines: tuple[tuple[Card, ...], ...]
    """The units of wrong cards, in the order played."""
    side_seats: tuple[int, ...]
    """The seat that played each unit."""
    side_after: tuple[int, ...]
    """The index in the mainline of the card above each unit."""


class Calls(Frozen):
    """The latest no-plays, in order; at most `SHOWN_CALLS`.

    If a no-play was true, none of its cards may follow the mainline up to `after`. If it was false, the
    next mainline card is from that hand; without a prophet it is the first right card of the hand.
    """

    seats: tuple[int, ...]
    hands: tuple[tuple[Card, ...], ...]
    """The hands shown, ordered spades, hearts, diamonds, clubs, each from ace to king."""
    after: tuple[int, ...]
    """The index of the last mainline card at that time."""
    right: tuple[bool, ...]


class Guesses(Frozen):
    """The latest wrong guesses, in order; at most `SHOWN_GUESSES`."""

    seats: tuple[int, ...]
    texts: tuple[str, ...]


class Office(Frozen):
    """The prophet, deposed prophets, and expelled seats."""

    prophet: Seat | None
    marker: int
    """The number of cards played after the starter up to the marker; 0 without a prophet."""
    former: tuple[Seat, ...]
    """Deposed prophets of this hand."""
    expelled: tuple[Seat, ...]


class View(Frozen):
    """What a seat may know: the public part of the match, its own hand, and for the dealer the rule."""

    phase: Phase
    hand: int
    """The number of the hand, from 0."""
    dealer: Seat
    to_act: Seat | None
    turn: Seat | None
    """The seat whose turn it is, also while the prophet judges; None before the deal."""
    held: tuple[Card, ...]
    """The seat's own hand, ordered spades, hearts, diamonds, clubs, each from ace to king."""
    hand_sizes: tuple[int, ...]
    stock: int
    layout: Layout
    played: tuple[Card, ...]
    """The cards to judge: those played, or the hand shown by a no-play."""
    no_play: bool
    """Whether a no-play is to be judged."""
    calls: Calls
    guesses: Guesses
    office: Office
    turns: tuple[int, ...]
    """The number of turns taken in this hand, by seat."""
    rule: str | None
    """The rule in force, for the dealer only; None for others."""
    refusal: str
    """For the dealer only, why its rule was refused; empty if it was not."""
    previous_rule: str
    """The rule of the previous hand; after the match that of the last hand."""
    totals: tuple[int, ...]
    """Scores of completed hands, by seat."""


MAX_HANDS: Final = 80


class Variant(StrEnum):
    """One of the two games."""

    ELEUSIS = "eleusis"
    EXPRESS = "express"


class Guessers(StrEnum):
    """Who may guess after a right play."""

    ALL = "all"
    PLAYER = "player"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "one deal by each seat", maximum=MAX_HANDS)
    max_turns: int = setting(
        40, "turns of each seat after which a hand ends at the latest", minimum=1, maximum=100
    )
    guessers: str = setting(
        Guessers.ALL,
        "who may guess after a right play: all seats but the dealer, or only the one that played",
        choices=tuple(Guessers),
        needs={"variant": (Variant.EXPRESS,)},
    )
    variant: str = setting(Variant.ELEUSIS, "which Eleusis", choices=tuple(Variant))

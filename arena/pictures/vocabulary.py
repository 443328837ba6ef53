"""The elements of a scene, which are the same for all games.

A scene defines the place and the meaning of every item. It contains no colours, no pixels and no names of
bots. Renderers lay out the items of a zone by its kind:

| kind    | items                      | drawn as                                          |
|---------|----------------------------|---------------------------------------------------|
| `fan`   | `Card`, or one `Pile`      | a hand: cards overlap, and wrap when there are many |
| `trick` | `Card`, `Gap`              | side by side, each with a caption                 |
| `pile`  | `Pile`                     | a back or a top card, and how many                |
| `meld`  | `Group`                    | cards that belong together, with what they are    |
| `row`   | `Card`, `Gap`              | in a row, wrapping                                |
| `grid`  | `Group`                    | rows under each other: front, middle, back        |
| `line`  | `Column`                   | from left to right, wrong cards below             |
| `chips` | `Chips`                    | amounts                                           |
| `said`  | `Word`                     | bubbles                                           |
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from arena.games import cards
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Name:
    """The name of the bot at a seat, which the renderer fills in."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Face:
    """A card in running text."""

    card: cards.Card


@dataclass(frozen=True, slots=True)
class Suit:
    """A suit in running text."""

    suit: str


Part: TypeAlias = str | Name | Face | Suit
Line: TypeAlias = tuple[Part, ...]
"""Running text. Its strings may contain text of bots, which renderers must escape."""


class ZoneKind(StrEnum):
    """The layout of the items of a zone."""

    FAN = "fan"
    TRICK = "trick"
    PILE = "pile"
    MELD = "meld"
    ROW = "row"
    GRID = "grid"
    LINE = "line"
    CHIPS = "chips"
    SAID = "said"


class Tone(StrEnum):
    """The meaning of an item."""

    PLAIN = "plain"
    MARKED = "marked"
    """Important now, such as the card that won the trick."""
    DIM = "dim"
    """No longer in play, such as folded or discarded cards."""
    WRONG = "wrong"
    """Wrong by the rules, or fouled."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card."""

    code: cards.Card | None
    """None is drawn as a card back."""
    tone: Tone = Tone.PLAIN
    tag: Line = ()
    """A caption below the card."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty place for a card."""

    tag: Line = ()


@dataclass(frozen=True, slots=True)
class Pile:
    """Cards on top of each other."""

    count: int
    label: str
    """The text after the number, such as `in the stock`."""
    top: cards.Card | None = None
    """The top card; None if it is face down."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cards that belong together."""

    cards: tuple[Card | Gap, ...]
    label: Line = ()
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Column:
    """A card in a line, and plays of one or more cards below it."""

    top: Card
    under: tuple[tuple[Card, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Chips:
    """An amount of chips on the table."""

    amount: int
    label: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Word:
    """A text in a bubble."""

    text: Line
    tone: Tone = Tone.PLAIN


Item: TypeAlias = Card | Gap | Pile | Group | Column | Chips | Word


@dataclass(frozen=True, slots=True)
class Zone:
    """Items that are drawn together."""

    key: str
    """Identifies the zone within its seat or the centre; the same in every step."""
    kind: ZoneKind
    items: tuple[Item, ...]
    title: Line = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with its label."""

    label: str
    value: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Badge:
    """A role of a seat, such as dealer, maker or prophet."""

    text: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class SeatScene:
    """The scene of one seat."""

    seat: Seat
    score: str
    """The score of the match so far, in the unit of the game."""
    badges: tuple[Badge, ...] = ()
    facts: tuple[Fact, ...] = ()
    zones: tuple[Zone, ...] = ()
    active: bool = False
    """Whether the seat is to act."""
    out: bool = False
    """Whether the seat is out of the hand; it is drawn small."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A table as one viewer sees it."""

    seats: tuple[SeatScene, ...]
    """In seat order."""
    unit: str
    """The unit of scores, such as `points`."""
    centre: tuple[Zone, ...]
    facts: tuple[Fact, ...] = ()
    """Facts about the whole table, such as trump."""
    banner: tuple[Line, ...] = ()
    """Sentences on the end and the score of a hand; empty before its end."""

    def unit_of(self, seat: SeatScene) -> str:
        """Return the unit after the score of a seat: `1 point`, `2 points`."""
        return self.unit.removesuffix("s") if seat.score.lstrip("+-") == "1" else self.unit

"""What a picture of a table consists of, whichever game is played at it.

A scene says what lies where and what it means there; it knows no colours, no
pixels and no names of bots. The kinds of zones are the whole layout model:

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
from typing import Final, TypeAlias

from arena import cards
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Name:
    """The name of whoever sits there, which a scene does not know."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Face:
    """A card, named in running text."""

    card: cards.Card


@dataclass(frozen=True, slots=True)
class Suit:
    """A suit, named in running text."""

    suit: str


Part: TypeAlias = str | Name | Face | Suit
Line: TypeAlias = tuple[Part, ...]
"""Running text. Its strings may be a bot's own words: whoever draws them escapes them."""


class Kind(StrEnum):
    """How the items of a zone are laid out."""

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
    """What something means where it lies."""

    PLAIN = "plain"
    MARKED = "marked"
    """What it is about now: the card that took the trick, those that may be taken."""
    DIM = "dim"
    """No longer part of what goes on: given up, folded, set aside."""
    WRONG = "wrong"
    """Refused by a rule, or fouled."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card."""

    code: cards.Card | None
    """None shows its back."""
    tone: Tone = Tone.PLAIN
    tag: Line = ()
    """A caption below it."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The place of a card that is still to come."""

    tag: Line = ()


@dataclass(frozen=True, slots=True)
class Pile:
    """Cards on top of each other."""

    count: int
    label: str
    """What they are, after the number: `in the stock`."""
    top: cards.Card | None = None
    """None if the top lies face down."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cards that belong together."""

    cards: tuple[Card | Gap, ...]
    label: Line = ()
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Column:
    """A card in a line, and those below it, each a play of one card or more."""

    top: Card
    under: tuple[tuple[Card, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Chips:
    """An amount that lies on the table."""

    amount: int
    label: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Word:
    """Something that was said."""

    text: Line
    tone: Tone = Tone.PLAIN


Item: TypeAlias = Card | Gap | Pile | Group | Column | Chips | Word

ASIDE: Final = "aside"
"""The key of a zone that no scene uses: it is kept for what others did at the same place."""


@dataclass(frozen=True, slots=True)
class Zone:
    """Things that lie together."""

    key: str
    """Names the zone within its seat, or within the centre; the same from step to step."""
    kind: Kind
    items: tuple[Item, ...]
    title: Line = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with its name."""

    label: str
    value: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Badge:
    """What a seat is: dealer, maker, prophet."""

    text: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class SeatScene:
    """One seat at the table."""

    seat: Seat
    score: str
    """Of the match so far, in the game's unit."""
    badges: tuple[Badge, ...] = ()
    facts: tuple[Fact, ...] = ()
    zones: tuple[Zone, ...] = ()
    active: bool = False
    """Whether the seat is to act."""
    out: bool = False
    """Whether it is out of the hand; it is drawn small."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A table as somebody sees it."""

    seats: tuple[SeatScene, ...]
    """In seat order."""
    unit: str
    """What scores are counted in, as `points`."""
    centre: tuple[Zone, ...]
    facts: tuple[Fact, ...] = ()
    """What the whole table has to know, such as trump."""
    banner: tuple[Line, ...] = ()
    """How a hand ended and why it was scored so, a sentence each; empty before its end."""

    def unit_of(self, seat: SeatScene) -> str:
        """The unit as it follows a seat's score: `1 point`, `2 points`."""
        return self.unit.removesuffix("s") if seat.score.lstrip("+-") == "1" else self.unit

"""Draws text with names, cards and suits as trees, and as plain text for screen readers."""

from collections.abc import Sequence
from typing import Final

from arena.games.cards import JOKER
from arena.games.cards import Card as Code
from arena.pictures.vocabulary import Face, Line, Name, Suit
from arena.web.trees import Tree, element

SUIT_NAMES: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
SYMBOLS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
RANK_NAMES: Final = {
    "A": "ace",
    "K": "king",
    "Q": "queen",
    "J": "jack",
    "T": "ten",
    "9": "nine",
    "8": "eight",
    "7": "seven",
    "6": "six",
    "5": "five",
    "4": "four",
    "3": "three",
    "2": "two",
}


def rank_of(code: Code) -> str:
    """Return the rank as printed on a card: `10`, `K`."""
    return "10" if code[0] == "T" else code[0]


def card_name(code: Code) -> str:
    """Return the name of a card: queen of hearts."""
    return "joker" if code == JOKER else f"{RANK_NAMES[code[0]]} of {SUIT_NAMES[code[1]]}"


def text(line: Line, names: Sequence[str]) -> tuple[Tree, ...]:
    """Return a line as trees. Names of bots are isolated, so that they cannot change the text direction."""
    return tuple(_part(part, names) for part in line)


def spoken(line: Line, names: Sequence[str]) -> str:
    """Return a line as plain text, for screen readers; names are in quotes: “first” deals."""
    words = []
    for part in line:
        match part:
            case str():
                words.append(part)
            case Name(seat):
                words.append(f"“{names[seat]}”")
            case Face(card):
                words.append(card_name(card))
            case Suit(suit):
                words.append(SUIT_NAMES[suit])
    return "".join(words)


def _part(part: str | Name | Face | Suit, names: Sequence[str]) -> Tree:
    match part:
        case str():
            return part
        case Name(seat):
            return element("bdi", "name", names[seat])
        case Suit(suit):
            name = SUIT_NAMES[suit]
            return element("span", f"face {name}", f"{SYMBOLS[suit]} {name}")
    code = part.card
    if code == JOKER:
        return element("span", "face joker", "joker", role="img", aria_label="joker")
    shown = f"{rank_of(code)}{SYMBOLS[code[1]]}"
    suit = SUIT_NAMES[code[1]]
    return element("span", f"face {suit}", shown, role="img", aria_label=card_name(code))

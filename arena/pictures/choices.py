"""The legal moves of an ask for a person: their place in the picture, their words, and the widget.

The module of a family has besides its scenes:

    ASKS: for every phase, its widget, and a template of the view that says what the seat may do
    MOVES: for every class of moves, its words: a template of the move, or a function of move and view
    TARGETS: for classes of moves that are not about a card of the hand, the item of the picture (optional)
    made(view, cards): the moves that these cards of the hand may be, where an ask does not list all moves
    CARDS: for classes of moves whose cards are not all from the hand, those that are (optional)
    to_place(view, seat): what is placed into rows (for `Widget.ROWS`)
    worded(view, text): the move of a text (for `Widget.TEXT`)
    why_not(view, card): why a card of the hand may not be played now; empty if the rules have no reason (optional)

Words never say which move is better. Everything follows from the view and the moves of the ask.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

from arena.games.cards import Card as Code
from arena.games.contract import Move, Moves, Seat, View
from arena.games.game import Game
from arena.pictures.sentences import fill
from arena.pictures.vocabulary import Line


class Widget(StrEnum):
    """The way in which a move is made."""

    CLICK = "click"
    """One item of the picture, or one button."""
    SELECT = "select"
    """Several cards, then a button that says what they are."""
    ROWS = "rows"
    """Cards into front, middle and back."""
    AMOUNT = "amount"
    """A number of chips."""
    TEXT = "text"
    """A rule of Eleusis."""


@dataclass(frozen=True, slots=True)
class Target:
    """An item of the picture."""

    zone: str
    """The key of its zone, after `own/` or `centre/`."""
    card: Code | None = None
    """None is the pile of the zone."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One legal move, with its words and its place in the picture."""

    move: Move
    words: Line
    cards: tuple[Code, ...] = ()
    """The cards of the hand that it takes."""
    target: Target | None = None
    """None for a move with a separate button."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Cards that are placed into rows."""

    cards: tuple[Code, ...]
    rows: tuple[tuple[Code, ...], ...]
    """The cards in front, middle and back."""
    move: Callable[[tuple[Code, ...], tuple[Code, ...], tuple[Code, ...]], Move]
    """Makes the move of the cards for each row."""


class Amounts(NamedTuple):
    """The totals that a bet or a raise may have."""

    move: Callable[[int], Move]
    low: int
    high: int


MoveWords: TypeAlias = Mapping[type, str | Callable[[Any, Any], str | Line]]
Asks: TypeAlias = Mapping[Any, tuple[Widget, str]]
Targets: TypeAlias = Mapping[type, Callable[[Any, Any], Target | None]]
Cards: TypeAlias = Mapping[type, Callable[[Any, Any], tuple[Code, ...]]]

HAND: Final = "own/hand"
ROWS: Final = ("front", "middle", "back")
"""The names of rows, which moves have as fields."""


def choices(game: Game, view: View, moves: Sequence[Move]) -> tuple[Choice, ...]:
    """Return the moves of an ask as choices, in the same order."""
    family = _family(game.family)
    return tuple(_choice(family, view, move) for move in moves)


def widget(game: Game, view: View, moves: Moves) -> Widget:
    """Return the widget of an ask. A few moves that need no selection are clicked in every game."""
    usual: Widget = _family(game.family).ASKS[view.phase][0]
    if usual in (Widget.SELECT, Widget.AMOUNT) and moves.complete:
        taken = [choice.cards for choice in choices(game, view, moves.offered)]
        cards = Counter(some for some in taken if some)
        if all(len(some) == 1 for some in cards) and max(cards.values(), default=1) == 1:
            return Widget.CLICK
    return usual


def selected(game: Game, view: View, moves: Moves, cards: Sequence[Code]) -> tuple[Choice, ...]:
    """Return the legal moves that take exactly these cards of the hand, in this order if the order matters.

    If an ask does not list all moves, they are made from the cards and checked by the rules.
    """
    family, chosen = _family(game.family), Counter(cards)
    listed = choices(game, view, moves.offered)
    if moves.complete or not cards:
        return tuple(choice for choice in listed if Counter(choice.cards) == chosen and cards)
    made = dict.fromkeys(move for move in family.made(view, tuple(cards)) if move in moves)
    fitting = (choice.move for choice in listed if Counter(choice.cards) == chosen)
    return choices(game, view, tuple(made | dict.fromkeys(fitting)))


def placing(game: Game, view: View, seat: Seat) -> Placing:
    """Return the cards that a seat places into rows."""
    placed: Placing = _family(game.family).to_place(view, seat)
    return placed


def worded(game: Game, view: View, text: str) -> Move:
    """Return the move of a text.

    Raises `RuleError` if the text is not a rule of the language; the text of the error says why.
    """
    return _family(game.family).worded(view, text)


def amounts(view: View, offered: Sequence[Move]) -> Amounts | None:
    """Return the wagers of an ask; None if there is none."""
    kind = next((type(move) for move in offered if hasattr(move, "to")), None)
    return None if kind is None else Amounts(kind, view.min_to, view.max_to)


def task(game: Game, view: View) -> Line:
    """Return what the seat to act may do, in a sentence."""
    return fill(_family(game.family).ASKS[view.phase][1], view)


def reasons(game: Game, view: View, offered: Sequence[Choice]) -> Mapping[Code, Line]:
    """Return why cards of the hand may not be played, for those for which the rules have a reason."""
    why_not = getattr(_family(game.family), "why_not", None)
    if why_not is None:
        return {}
    playable = {card for choice in offered for card in choice.cards}
    barred = [card for card in view.held if card not in playable]
    return {card: why for card in barred if (why := why_not(view, card))}


def _choice(family: Any, view: View, move: Move) -> Choice:
    kind = type(move)
    row = family.MOVES[kind]
    words = row if isinstance(row, str) else row(move, view)
    line = fill(words, move) if isinstance(words, str) else words
    targets: Targets = getattr(family, "TARGETS", {})
    if kind in targets:
        return Choice(move, line, (), targets[kind](move, view))
    taken = getattr(family, "CARDS", {}).get(kind)
    cards = cards_of(move) if taken is None else taken(move, view)
    return Choice(move, line, cards, Target(HAND, cards[0]) if len(cards) == 1 else None)


def cards_of(move: Move) -> tuple[Code, ...]:
    """Return all cards that a move names."""
    card = getattr(move, "card", None)
    if card is not None:
        return (card,)
    rows = [code for row in ROWS for code in getattr(move, row, ())]
    return (*getattr(move, "cards", ()), *rows)


@cache
def _family(family: str) -> Any:
    return import_module(f"arena.pictures.{family}")

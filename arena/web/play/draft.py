"""A half-made choice, which the server keeps until it is sent, and the effect of a posted form on it.

A form has one action: it changes the draft, or chooses a move. Nothing else of a form is used, so a page without a
script has all functions of one with a script.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from arena.games.cards import Card as Code
from arena.games.cards import without
from arena.games.cel import RuleError
from arena.games.chinese.hands import SIZES
from arena.games.contract import Move, Seat
from arena.games.game import Game
from arena.local.human_match import NotYourMove, PersonsAsk
from arena.pictures import choices as asks
from arena.pictures.choices import ROWS, Choice, Widget

LONGEST_TEXT: Final = 2_000
FIELDS: Final = {"color": "colour", "suit": "suit", "rank": "rank", "parity": "parity"}
COMPARED: Final = {
    "==": "is",
    "!=": "is not",
    ">": "is more than",
    ">=": "is at least",
    "<": "is less than",
    "<=": "is at most",
}
VALUES: Final = {
    "last": "that of the last card",
    "'R'": "red",
    "'B'": "black",
    "'s'": "spades",
    "'h'": "hearts",
    "'d'": "diamonds",
    "'c'": "clubs",
    "0": "even",
    "1": "odd, or 1 (ace)",
    **{str(rank): str(rank) for rank in range(2, 11)},
    "11": "11 (jack)",
    "12": "12 (queen)",
    "13": "13 (king)",
}
JOINED: Final = {"": "this alone", "&&": "and", "||": "or"}


@dataclass(frozen=True, slots=True)
class Draft:
    """A half-made choice."""

    picked: tuple[Code, ...] = ()
    """Cards of the hand, in the order in which they were chosen; for rows the one that is placed next."""
    placed: tuple[tuple[Code, str], ...] = ()
    """Cards and their rows, in the order in which they were placed."""
    text: str = ""

    @property
    def is_begun(self) -> bool:
        """Return whether an action can be undone."""
        return bool(self.picked or self.placed or self.text)

    def row(self, name: str) -> tuple[Code, ...]:
        """Return the cards that were placed into a row."""
        return tuple(code for code, where in self.placed if where == name)


NO_DRAFT: Final = Draft()


@dataclass(frozen=True, slots=True)
class Asked:
    """An open ask with its choices."""

    game: Game
    seat: Seat
    ask: PersonsAsk
    widget: Widget
    offered: tuple[Choice, ...]

    @classmethod
    def of(cls, game: Game, seat: Seat, ask: PersonsAsk) -> "Asked":
        offered = asks.choices(game, ask.view, ask.moves.offered)
        return cls(game, seat, ask, asks.widget(game, ask.view, ask.moves), offered)

    def selected(self, draft: Draft) -> tuple[Choice, ...]:
        """Return the moves that the chosen cards make."""
        return asks.selected(self.game, self.ask.view, self.ask.moves, draft.picked)

    def unplaced(self, draft: Draft) -> tuple[Code, ...]:
        """Return the cards that are still to be placed, the next one first."""
        cards = asks.placing(self.game, self.ask.view, self.seat).cards
        left = without(cards, (code for code, _ in draft.placed))
        return (*draft.picked, *without(left, draft.picked))

    def room(self, draft: Draft) -> dict[str, int]:
        """Return how many cards still fit into each row."""
        rows = asks.placing(self.game, self.ask.view, self.seat).rows
        sizes = zip(ROWS, rows, SIZES, strict=True)
        return {name: size - len(row) - len(draft.row(name)) for name, row, size in sizes}


def act(asked: Asked, draft: Draft, form: Mapping[str, str]) -> Draft | Move:
    """Return the draft after the action of a form, or the move that it chooses.

    Raises `NotYourMove` if the action cannot be done. The draft stays.
    """
    if "choice" in form:
        return _numbered(asked.offered, form["choice"])
    if "selected" in form:
        return _numbered(asked.selected(draft), form["selected"])
    if "clear" in form:
        return NO_DRAFT
    if "undo" in form:
        return _undone(draft)
    if "pick" in form:
        return _picked(asked, draft, form["pick"])
    if "row" in form:
        return _placed(asked, draft, form["row"])
    if "place" in form:
        made = asks.placing(asked.game, asked.ask.view, asked.seat).move
        return _legal(asked, made(*map(draft.row, ROWS)))
    if "wager" in form:
        return _wager(asked, form.get("amount", ""))
    if "text" in form and asked.widget is Widget.TEXT:
        return _texted(asked, draft, form)
    raise NotYourMove("The form had no move in it; choose one.")


def _numbered(choices: tuple[Choice, ...], number: str) -> Move:
    if not (number.isdecimal() and int(number[:6]) < len(choices)):
        raise NotYourMove("That choice is not on the table any more.")
    return choices[int(number[:6])].move


def _undone(draft: Draft) -> Draft:
    if draft.placed:
        return replace(draft, placed=draft.placed[:-1], picked=())
    return replace(draft, picked=draft.picked[:-1], text="")


def _picked(asked: Asked, draft: Draft, card: str) -> Draft:
    """Choose a card, or take it back if all its copies are already chosen."""
    if asked.widget is Widget.ROWS:
        if card not in asked.unplaced(draft):
            raise NotYourMove("That card is placed already.")
        return replace(draft, picked=(card,))
    held = Counter(asked.ask.view.held)[card]
    if Counter(draft.picked)[card] < held:
        picked = (*draft.picked, card)
        # If a single card is a move, another card replaces it.
        return replace(draft, picked=picked if asked.widget is Widget.SELECT else (card,))
    if not held:
        raise NotYourMove("You do not hold that card.")
    return replace(draft, picked=without(draft.picked, (card,)))


def _placed(asked: Asked, draft: Draft, row: str) -> Draft | Move:
    unplaced, room = asked.unplaced(draft), asked.room(draft)
    if not unplaced or room.get(row, 0) < 1:
        raise NotYourMove("There is no room in that row.")
    after = replace(draft, picked=(), placed=(*draft.placed, (unplaced[0], row)))
    placing = asks.placing(asked.game, asked.ask.view, asked.seat)
    if len(placing.cards) > 1:
        return after
    return _legal(asked, placing.move(*map(after.row, ROWS)))  # a single card is the whole move


def _legal(asked: Asked, move: Move) -> Move:
    if move not in asked.ask.moves:
        raise NotYourMove("The rules do not allow that: place every card first.")
    return move


def _wager(asked: Asked, amount: str) -> Move:
    span = asks.amounts(asked.ask.view, asked.ask.moves.offered)
    if span is None or not (amount.isdecimal() and span.low <= int(amount[:9]) <= span.high):
        limits = "" if span is None else f" from {span.low} to {span.high}"
        raise NotYourMove(f"Give a whole number of chips{limits}.")
    return span.move(int(amount[:9]))


def _texted(asked: Asked, draft: Draft, form: Mapping[str, str]) -> Draft | Move:
    """Add a sentence to the text, or send it."""
    text = " ".join(form["text"].split())[:LONGEST_TEXT]
    if "build" in form:
        field, value = form.get("field", ""), form.get("value", "")
        compared, join = form.get("compared", ""), form.get("join", "")
        if (
            field not in FIELDS
            or compared not in COMPARED
            or value not in VALUES
            or join not in JOINED
        ):
            raise NotYourMove("Choose the parts of a sentence from the lists.")
        part = f"card.{field} {compared} {f'last.{field}' if value == 'last' else value}"
        return replace(draft, text=f"{text} {join} {part}" if text and join else part)
    try:
        move = asks.worded(asked.game, asked.ask.view, text)
    except RuleError as error:
        raise NotYourMove(f"That is no rule of the language: {error}.") from None
    return _legal(asked, move)

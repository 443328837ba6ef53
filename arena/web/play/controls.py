"""Turns the picture of a seat to act into a form: cards become buttons, and a bar has the other moves.

All moves of an ask look alike: brass shows where to act, never which answer is better.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from markupsafe import Markup

from arena.games.cards import Card as Code
from arena.pictures import choices as asks
from arena.pictures.choices import HAND, ROWS, Choice, Target, Widget
from arena.pictures.rule_sentences import rule_words
from arena.pictures.sentences import counted
from arena.pictures.vocabulary import Card, Line, Pile, Scene, SeatScene
from arena.web.play.draft import COMPARED, FIELDS, JOINED, LONGEST_TEXT, VALUES, Asked, Draft
from arena.web.rendering import macros
from arena.web.rich_text import card_name, spoken, text
from arena.web.table import card_tree
from arena.web.trees import Element, Tree, element, html

MOST_BUTTONS: Final = 6
"""The number of moves with a place in the picture outside the hand up to which they also get buttons."""


class Controls:
    """The controls of one ask."""

    def __init__(self, asked: Asked, draft: Draft, scene: Scene, names: Sequence[str]) -> None:
        self._asked = asked
        self._draft = draft
        self._scene = scene
        self._names = tuple(names)
        self._numbers = {choice: number for number, choice in enumerate(asked.offered)}

    def form(self, tree: Element, notice: str) -> Element:
        """Return the table with its controls; `notice` says why the last form was refused."""
        return self._changed(tree, self._places(), notice)

    def _replaced(self) -> Sequence[str]:
        """Return the zones of the own seat that the controls replace."""
        if self._asked.widget is Widget.ROWS:
            return ("hand", "rows")
        return ("hand",) if any(choice.cards for choice in self._asked.offered) else ()

    def _without_replaced(self, child: Tree) -> Element:
        """Return a part of the own seat without the zones that the controls replace."""
        assert isinstance(child, Element)
        if child.attributes.get("class") != "zones":
            return child
        keys = {f"seat-{self._asked.seat}/{name}" for name in self._replaced()}
        kept = (
            zone
            for zone in child.children
            if isinstance(zone, str) or zone.attributes.get("data-key") not in keys
        )
        return replace(child, children=tuple(kept))

    @property
    def _own_seat(self) -> SeatScene:
        return self._scene.seats[self._asked.seat]

    def _places(self) -> Mapping[str, Mapping[Target, Choice]]:
        """Return the moves that are items of the picture beyond the hand, by the key of the zone."""
        places: dict[str, dict[Target, Choice]] = {}
        for choice in self._asked.offered:
            target = choice.target
            if target is not None and target.zone != HAND:
                key = target.zone.replace("own/", f"seat-{self._asked.seat}/")
                places.setdefault(key, {})[target] = choice
        return places

    def _changed(
        self,
        tree: Element,
        places: Mapping[str, Mapping[Target, Choice]],
        notice: str,
    ) -> Element:
        """Return a tree in which items that are moves are buttons."""
        key = tree.attributes.get("data-key", "")
        if key in places:
            return self._clickable(tree, key, places[key])
        children = tuple(
            child if isinstance(child, str) else self._changed(child, places, notice)
            for child in tree.children
        )
        if "own" in tree.attributes.get("class", "").split():
            head, *rest = map(self._without_replaced, children)
            zones = [child for child in rest if child.attributes.get("class") == "zones"]
            foot = [child for child in rest if child.attributes.get("class") != "zones"]
            children = (head, self._turn_line(notice), *zones, *self._own_controls(), *foot)
        return replace(tree, children=children)

    def _clickable(self, zone: Element, key: str, moves: Mapping[Target, Choice]) -> Element:
        where, _, name = key.partition("/")
        zones = self._scene.centre if where == "centre" else self._own_seat.zones
        items = next(drawn.items for drawn in zones if drawn.key == name)
        by_card = {target.card: choice for target, choice in moves.items()}
        drawn, *title = zone.children
        assert isinstance(drawn, Element)
        made = [
            self._button_of(tree, by_card.get(getattr(item, "code", None)))
            if isinstance(item, Card | Pile)
            else tree
            for tree, item in zip(drawn.children, items, strict=True)
        ]
        return replace(zone, children=(replace(drawn, children=tuple(made)), *title))

    def _button_of(self, tree: Tree, choice: Choice | None) -> Tree:
        """Return a card or a pile as a button."""
        if choice is None or isinstance(tree, str):
            return tree
        kind = tree.attributes.get("class", "")
        if kind.startswith("tagged") or kind == "slot":
            inner, *rest = tree.children
            return replace(tree, children=(self._button_of(inner, choice), *rest))
        return element(
            "button",
            f"{kind} may",
            *tree.children,
            name="choice",
            value=str(self._numbers[choice]),
            aria_label=spoken(choice.words, self._names),
        )

    # The own seat.

    def _line(self, line: Line) -> Markup:
        return Markup("".join(map(html, text(line, self._names))))  # noqa: S704 - `html` escapes

    def _turn_line(self, notice: str) -> Markup:
        ask = self._asked.ask
        move_s, bank_s = (ms // 1000 for ms in ask.left_ms)
        task = self._line(asks.task(self._asked.game, ask.view))
        return _part("turn_line", notice, task, move_s, bank_s, ask.left_ms)

    def _own_controls(self) -> list[Tree]:
        asked, made = self._asked, list[Tree]()
        if asked.widget is Widget.AMOUNT:
            made.append(_part("first_amount"))
        if asked.widget is Widget.ROWS:
            made.append(element("div", "split-own", self._rows(), self._to_place()))
        elif asked.widget is Widget.TEXT:
            made.append(self._writing())
        elif "hand" in self._replaced():
            made += self._hand()
        return [*made, self._bar()]

    def _hand(self) -> list[Tree]:
        """Return the cards of the hand in their order, with the reason below those that may not be played."""
        zone = next((zone for zone in self._own_seat.zones if zone.key == "hand"), None)
        cards = [item for item in zone.items if isinstance(item, Card)] if zone else []
        if not cards:
            return []
        asked, left = self._asked, Counter(self._draft.picked)
        moves: dict[Code, list[Choice]] = {}
        for choice in asked.offered:
            for code in set(choice.cards):
                moves.setdefault(code, []).append(choice)
        selects = asked.widget is Widget.SELECT
        reasons = asks.reasons(asked.game, asked.ask.view, asked.offered)
        sets: list[tuple[bool, list[Element], Markup]] = []

        def group(card: Card) -> tuple[bool, Line]:
            assert card.code is not None
            may = selects or card.code in moves
            return may, () if may else reasons.get(card.code, ())

        for (may, why), of_group in groupby(cards, group):
            buttons = []
            for card in of_group:
                assert card.code is not None
                pressed = left[card.code] > 0
                left[card.code] -= pressed
                buttons.append(
                    self._card(card.code, moves.get(card.code, []), why, may=may, pressed=pressed)
                )
            sets.append((may, buttons, self._line(why)))
        legend = "your hand: choose cards" if selects else "your hand: choose a card"
        return [_part("hand", legend, sets)]

    def _card(
        self, code: Code, moves: Sequence[Choice], why: Line, *, may: bool, pressed: bool
    ) -> Element:
        drawn = card_tree(code)
        if not may:
            label = f"{card_name(code)}: not now{', ' if why else ''}{spoken(why, self._names)}"
            return _as_button(drawn, type="button", aria_disabled="true", aria_label=label)
        if self._asked.widget is Widget.CLICK and len(moves) == 1:
            label = spoken(moves[0].words, self._names)
            number = str(self._numbers[moves[0]])
            return _as_button(drawn, name="choice", value=number, aria_label=label)
        state = "true" if pressed else "false"
        return _as_button(
            drawn, name="pick", value=code, aria_pressed=state, aria_label=card_name(code)
        )

    def _bar(self) -> Markup:
        asked, draft, hint = self._asked, self._draft, ""
        apart = [choice for choice in asked.offered if choice.target and choice.target.zone != HAND]
        shown = apart if len(apart) <= MOST_BUTTONS else []
        plain = [choice for choice in asked.offered if not (choice.target or choice.cards)]
        moves = [
            ("choice", self._numbers[choice], self._line(choice.words))
            for choice in (*shown, *plain)
        ]
        left = len(asked.unplaced(draft)) if asked.widget is Widget.ROWS else 0
        if left:
            hint = f"{counted(left, 'card')} to place"
        elif draft.picked and asked.widget is not Widget.ROWS:
            fitting = enumerate(asked.selected(draft))
            selected = [("selected", number, self._line(one.words)) for number, one in fitting]
            hint = "" if selected else "No move takes exactly these cards."
            moves = selected + moves
        is_placed = asked.widget is Widget.ROWS and not left
        return _part("bar", moves, hint, self._amount(), is_placed, draft.is_begun)

    def _amount(self) -> tuple[str, int, int] | None:
        """Return the words of the move of an amount, and its limits; None if there is no choice of one."""
        asked = self._asked
        if asked.widget is not Widget.AMOUNT:
            return None
        span = asks.amounts(asked.ask.view, [choice.move for choice in asked.offered])
        if span is None or span.low >= span.high:
            return None
        (example,) = asks.choices(asked.game, asked.ask.view, (span.move(span.low),))
        words = spoken(example.words, self._names).removesuffix(str(span.low)).strip()
        return words, span.low, span.high

    # Rows.

    def _rows(self) -> Markup:
        asked, draft = self._asked, self._draft
        placing = asks.placing(asked.game, asked.ask.view, asked.seat)
        unplaced, room = asked.unplaced(draft), asked.room(draft)
        rows = []
        for name, lying in zip(ROWS, placing.rows, strict=True):
            cards = [card_tree(code) for code in lying]
            for code in draft.row(name):
                tree = card_tree(code)
                kind = f"{tree.attributes['class']} pending"
                label = f"{card_name(code)}, not sent"
                changed = {**tree.attributes, "class": kind, "aria-label": label}
                cards.append(replace(tree, attributes=changed))
            rows.append((name, cards, room[name], card_name(unplaced[0]) if unplaced else ""))
        return _part("rows", rows)

    def _to_place(self) -> Markup:
        buttons = []
        for at, code in enumerate(self._asked.unplaced(self._draft)):
            name = card_name(code)
            label = f"choose the {name}" if at else f"{name}, placed next"
            state = "false" if at else "true"
            buttons.append(
                _as_button(
                    card_tree(code), name="pick", value=code, aria_label=label, aria_pressed=state
                )
            )
        return _part("hand", "cards still to place", [(True, buttons, "")])

    # Text.

    def _writing(self) -> Markup:
        """Return a field for a rule, and lists that build sentences of it."""
        written = self._draft.text
        words = rule_words(written) if written else ""
        sentence = f"A card is right if {words}." if words else ""
        is_rule = self._asked.ask.view.phase == "rule"
        send = "Set this rule" if is_rule else "Guess this rule"
        lists = FIELDS, COMPARED, VALUES, JOINED
        return _part("writing", written, sentence, LONGEST_TEXT, send, *lists)


def _part(name: str, *given: object) -> Markup:
    """Return the HTML of a macro of the controls."""
    return Markup(getattr(macros("play_controls.html"), name)(*given))  # noqa: S704 - it escapes


def _as_button(card: Element, **attributes: str) -> Element:
    return element("button", card.attributes["class"], *card.children, **attributes)

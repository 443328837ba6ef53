"""Turns the picture of a seat to act into a form: cards become buttons, and a bar has the other moves.

All moves of an ask look alike: brass shows where to act, never which answer is better.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from arena.games.cards import Card as Code
from arena.pictures import choices as asks
from arena.pictures.choices import HAND, ROWS, Choice, Target, Widget
from arena.pictures.rule_sentences import rule_words
from arena.pictures.sentences import counted
from arena.pictures.vocabulary import Card, Line, Pile, Scene, SeatScene
from arena.web.play.draft import COMPARED, FIELDS, JOINED, LONGEST_TEXT, VALUES, Asked, Draft
from arena.web.rich_text import card_name, spoken, text
from arena.web.table import card_tree
from arena.web.trees import Element, Tree, element

MOST_BUTTONS: Final = 6
"""Moves with a place in the picture beyond the hand get buttons too, unless there are more."""


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
        """Return a tree whose items are buttons where they are moves."""
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

    def _turn_line(self, notice: str) -> Element:
        ask = self._asked.ask
        move_ms, bank_ms = ask.left_ms
        task = asks.task(self._asked.game, ask.view)
        move_s, bank_s = move_ms // 1000, bank_ms // 1000
        return element(
            "div",
            "turn-line",
            element("strong", "", "Your turn."),
            element(
                "span",
                "",
                element("strong", "refused", f"{notice} ") if notice else None,
                *text(task, self._names),
            ),
            element(
                "span",
                "clock-big",
                f"{_clock(move_s)}, then {_clock(bank_s)}",
                aria_label=f"{move_s} seconds left for this move, then {bank_s} seconds of the bank",
                data_left_ms=str(move_ms),
                data_bank_ms=str(bank_ms),
            ),
            role="status",
            # A new page begins here: one tabulator key leads to the first move, and none looks like advice.
            autofocus="",
            tabindex="-1",
        )

    def _own_controls(self) -> list[Element]:
        asked, made = self._asked, []
        if asked.widget is Widget.ROWS:
            made.append(element("div", "split-own", self._rows(), self._to_place()))
        elif asked.widget is Widget.TEXT:
            made.append(self._writing())
        elif "hand" in self._replaced():
            made += self._hand()
        if asked.widget is Widget.AMOUNT:
            # Enter in a field presses the first button of a form, which must not fold.
            first = element("button", "hidden", "send the amount", name="wager", value="1")
            made.insert(0, _unfocusable(first))
        return [*made, self._bar()]

    def _hand(self) -> list[Element]:
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
        sets: list[Element] = []

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
            reason = element("span", "reason", *text(why, self._names)) if why else None
            held = element("div", "set", *buttons)
            sets.append(element("div", f"held {'may' if may else 'may-not'}", held, reason))
        legend = "your hand: choose cards" if selects else "your hand: choose a card"
        return [element("fieldset", "hand-play", element("legend", "hidden", legend), *sets)]

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

    def _bar(self) -> Element:
        asked, draft = self._asked, self._draft
        apart = [choice for choice in asked.offered if choice.target and choice.target.zone != HAND]
        shown = apart if len(apart) <= MOST_BUTTONS else []
        plain = [choice for choice in asked.offered if not (choice.target or choice.cards)]
        buttons: list[Tree] = []
        if draft.picked and asked.widget is not Widget.ROWS:
            fitting = asked.selected(draft)
            buttons += [
                self._move("selected", number, choice) for number, choice in enumerate(fitting)
            ]
            if not fitting:
                buttons.append(element("span", "small", "No move takes exactly these cards."))
        buttons += [
            self._move("choice", self._numbers[choice], choice) for choice in (*shown, *plain)
        ]
        if asked.widget is Widget.AMOUNT:
            buttons += self._amount()
        if asked.widget is Widget.ROWS:
            left = len(asked.unplaced(draft))
            if left:
                buttons.append(element("span", "small", f"{counted(left, 'card')} to place"))
            else:
                buttons.append(
                    element("button", "button move", "Place the cards", name="place", value="1")
                )
        if draft.is_begun:
            buttons.append(_quiet("undo", "Undo"))
            buttons.append(_quiet("clear", "Take all back"))
        return element("div", "bar-play", *buttons)

    def _move(self, name: str, number: int, choice: Choice) -> Element:
        words = text(choice.words, self._names)
        return element("button", "button move", *words, name=name, value=str(number))

    def _amount(self) -> list[Tree]:
        offered = [choice.move for choice in self._asked.offered]
        span = asks.amounts(self._asked.ask.view, offered)
        if span is None or span.low >= span.high:
            return []
        low, high = str(span.low), str(span.high)
        (example,) = asks.choices(self._asked.game, self._asked.ask.view, (span.move(span.low),))
        words = spoken(example.words, self._names).removesuffix(low).strip()
        label = f"chips, {low} to {high}"
        field = element(
            "input",
            "",
            type="number",
            name="amount",
            value=low,
            min=low,
            max=high,
            aria_label=label,
        )
        send = element("button", "button move", words, name="wager", value="1")
        return [element("span", "bet", send, field, element("span", "small", label))]

    # Rows.

    def _rows(self) -> Element:
        asked, draft = self._asked, self._draft
        placing = asks.placing(asked.game, asked.ask.view, asked.seat)
        unplaced, room = asked.unplaced(draft), asked.room(draft)
        rows = []
        for name, lying in zip(ROWS, placing.rows, strict=True):
            cards: list[Tree] = [card_tree(code) for code in lying]
            for code in draft.row(name):
                tree = card_tree(code)
                kind = f"{tree.attributes['class']} pending"
                label = f"{card_name(code)}, not sent"
                changed = {**tree.attributes, "class": kind, "aria-label": label}
                cards.append(replace(tree, attributes=changed))
            for at in range(room[name]):
                if not unplaced:
                    cards.append(element("span", "card gap"))
                    continue
                label = f"place the {card_name(unplaced[0])} in {name}"
                gap = element("button", "card gap", name="row", value=name, aria_label=label)
                cards.append(gap if at == 0 else _unfocusable(gap))
            rows.append(
                element(
                    "div",
                    "rowp",
                    element("b", "", name),
                    element("div", "cards", *cards),
                    element("span", "value", f"{room[name]} free" if room[name] else ""),
                )
            )
        return element("div", "rows-play", *rows)

    def _to_place(self) -> Element:
        buttons = []
        for at, code in enumerate(self._asked.unplaced(self._draft)):
            label = (
                f"{card_name(code)}, placed next" if at == 0 else f"choose the {card_name(code)}"
            )
            state = "true" if at == 0 else "false"
            buttons.append(
                _as_button(
                    card_tree(code), name="pick", value=code, aria_label=label, aria_pressed=state
                )
            )
        held = element("div", "held may", element("div", "set", *buttons))
        return element(
            "fieldset", "hand-play", element("legend", "hidden", "cards still to place"), held
        )

    # Text.

    def _writing(self) -> Element:
        """Return a field for a rule, and lists that build sentences of it."""
        written = self._draft.text
        words = rule_words(written) if written else ""
        sentence = f"A card is right if {words}." if words else ""
        field = Element(
            "textarea",
            {
                "name": "text",
                "rows": "2",
                "maxlength": str(LONGEST_TEXT),
                "aria-label": "the rule, in the language of rules",
            },
            (written,),
        )
        build = element(
            "div",
            "sentence-play",
            element("span", "small", "A card is right if its"),
            _list("field", "what", FIELDS),
            _list("compared", "how", COMPARED),
            _list("value", "to what", VALUES),
            element("span", "small", "beside the rule above:"),
            _list("join", "how it joins the rule above", JOINED),
            element("button", "button quiet small", "Write this sentence", name="build", value="1"),
        )
        is_rule = self._asked.ask.view.phase == "rule"
        send = element(
            "button",
            "button move",
            "Set this rule" if is_rule else "Guess this rule",
            name="say",
            value="1",
        )
        return element(
            "div",
            "writing-play",
            field,
            element("p", "small", sentence),
            build,
            element("div", "bar-play", send),
        )


def _quiet(name: str, words: str) -> Element:
    return element("button", "button quiet", words, name=name, value="1")


def _list(name: str, label: str, options: Mapping[str, str]) -> Element:
    made = (element("option", "", words, value=value) for value, words in options.items())
    return element("select", "", *made, name=name, aria_label=label)


def _as_button(card: Element, **attributes: str) -> Element:
    return element("button", card.attributes["class"], *card.children, **attributes)


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"


def _unfocusable(button: Element) -> Element:
    """Leave out of the order of the keyboard what another control does as well."""
    return replace(button, attributes={**button.attributes, "tabindex": "-1"})

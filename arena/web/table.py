"""Draws a scene as a tree: seats around a table, zones on it, cards in the zones.

The style sheet has the design of zones, and the page has the marks of the bots (`arena.web.avatars`). The viewer's own
seat is alone below the centre; the others follow clockwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from arena.games.cards import JOKER
from arena.games.cards import Card as Code
from arena.pictures.vocabulary import (
    Card,
    Chips,
    Column,
    Fact,
    Gap,
    Group,
    Item,
    Line,
    Pile,
    Scene,
    SeatScene,
    Tone,
    Word,
    Zone,
    ZoneKind,
)
from arena.web.avatars import avatar
from arena.web.rich_text import SUIT_NAMES, card_name, rank_of, text
from arena.web.trees import Element, Tree, element

_FULL: Final = ((4, " few"), (7, ""), (12, " some"))
"""The classes of fans by their number of cards: few do not overlap, many wrap on every screen."""
_COURT: Final = frozenset("JQK")


@dataclass(frozen=True, slots=True)
class Clock:
    """The remaining time of a seat."""

    bank_s: float
    full_s: float
    charged_s: float = 0.0
    """The time charged for the last decision."""


LONG_BANNER: Final = 4
"""The maximal number of sentences of a banner that a phone shows above the seats."""
_ZONES_KEPT: Final = 2_048
_SEATS_KEPT: Final = 1_024


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The names, clocks and marks of the seats, and which of them is the viewer's."""

    names: Sequence[str]
    """The names of the bots, by seat."""
    own: int | None = None
    """The viewer's own seat."""
    clocks: Mapping[int, Clock] | None = None
    marks: Mapping[int, str] | None = None
    """The last fault of each seat, or that it forfeited."""


def table(scene: Scene, layout: TableLayout) -> Element:
    """Draw the table of a scene."""
    above, below = rows_of(len(scene.seats), layout.own)
    return element(
        "div",
        f"felt seats-{len(scene.seats)}",
        _row(scene, above, layout, "above"),
        _centre(scene, layout),
        _row(scene, below, layout, "below"),
    )


def rows_of(seats: int, own: int | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the seats above and below the centre, each row from left to right."""
    if own is not None:
        return tuple((own + at) % seats for at in range(1, seats)), (own,)
    if seats == 2:
        return (1,), (0,)
    half = (seats + 1) // 2
    return tuple(range(half)), tuple(range(seats - 1, half - 1, -1))


def _row(scene: Scene, seats: Sequence[int], layout: TableLayout, css: str) -> Element:
    names, clocks, marks = tuple(layout.names), layout.clocks or {}, layout.marks or {}
    drawn = (
        _seat(
            scene.seats[seat],
            scene.unit_of(scene.seats[seat]),
            names,
            marks.get(seat),
            clocks.get(seat),
            own=seat == layout.own,
        )
        for seat in seats
    )
    return element("div", f"seats {css} of-{len(seats)}", *drawn)


def _centre(scene: Scene, layout: TableLayout) -> Element:
    names = tuple(layout.names)
    banner = [element("p", "", *text(line, names)) for line in scene.banner]
    css = "banner long" if len(banner) > LONG_BANNER else "banner"
    zones = [_zone(zone, names, "centre") for zone in scene.centre]
    return element(
        "div",
        "centre",
        element("div", css, *banner, data_key="centre/banner") if banner else None,
        element("div", "zones", *zones) if zones else None,
        _facts(scene.facts, names, "centre/facts") if scene.facts else None,
    )


@lru_cache(_SEATS_KEPT)
def _seat(
    seat: SeatScene,
    unit: str,
    names: tuple[str, ...],
    mark: str | None,
    clock: Clock | None,
    *,
    own: bool,
) -> Element:
    """Draw a seat; cached, because most seats do not change from one step to the next."""
    key = f"seat-{seat.seat}"
    state = (" active" if seat.active else "") + (" out" if seat.out else "")
    head = element(
        "div",
        "head",
        element(
            "div",
            "who",
            avatar(names[seat.seat]),
            element("bdi", "name", names[seat.seat]),
            *(
                element("span", f"badge {badge.tone}", *text(badge.text, names))
                for badge in seat.badges
            ),
            element("span", "badge fault", mark) if mark else None,
            element("span", "badge turn", "to act") if seat.active else None,
        ),
        element("span", "score", seat.score, element("span", "unit", f" {unit}")),
        data_key=f"{key}/head",
    )
    zones = [_zone(zone, names, key) for zone in seat.zones]
    foot = element(
        "div",
        "foot",
        _facts(seat.facts, names, f"{key}/facts") if seat.facts else None,
        _clock(clock) if clock is not None else None,
        data_key=f"{key}/foot",
    )
    return element(
        "div",
        f"seat{state}{' own' if own else ''}",
        head,
        element("div", "zones", *zones) if zones else None,
        foot if foot.children else None,
        role="group",
        aria_label=f"seat {seat.seat}, {names[seat.seat]}" + (", to act" if seat.active else ""),
    )


def _facts(facts: Sequence[Fact], names: Sequence[str], key: str) -> Element:
    drawn = []
    for fact in facts:
        value = element("strong", "", *text(fact.value, names))
        drawn.append(element("span", f"fact {fact.tone}", f"{fact.label} ", value))
    return element("div", "facts", *drawn, data_key=key)


def _clock(clock: Clock) -> Element:
    left = f"{clock.bank_s:.1f} s"
    charged = f"{clock.charged_s:.2f} s used, " if clock.charged_s else ""
    used = element("span", "used", charged) if charged else None
    return element(
        "span",
        "clock",
        element(
            "progress",
            "",
            max=f"{max(clock.full_s, clock.bank_s):.6g}",
            value=f"{clock.bank_s:.6g}",
            aria_label="time left in the bank",
        ),
        used,
        left,
    )


@lru_cache(_ZONES_KEPT)
def _zone(zone: Zone, names: tuple[str, ...], key: str) -> Element:
    """Draw a zone; cached, because most zones do not change from one step to the next."""
    many = next((css for most, css in _FULL if len(zone.items) <= most), " many")
    items = [_item(item, names) for item in zone.items]
    if zone.kind is ZoneKind.FAN:
        items = [element("span", "slot", item) for item in items]
    is_line = zone.kind is ZoneKind.LINE
    return element(
        "div",
        f"zone {zone.kind}{many} key-{zone.key}",
        _line(items, f"{key}/{zone.key}") if is_line else element("div", "items", *items),
        element("div", "title", *text(zone.title, names)) if zone.title else None,
        data_key=f"{key}/{zone.key}",
    )


def _line(items: Sequence[Tree], key: str) -> Element:
    """Draw a line of cards, which scrolls if it is long."""
    # Each place has a key, because a line grows at its end and the other places stay.
    places = (
        element("div", "place", item, data_key=f"{key}/{at}") for at, item in enumerate(items)
    )
    return element(
        "div",
        "items",
        element("div", "places", *places),
        tabindex="0",
        role="region",
        aria_label="the line, from its beginning",
    )


def _item(item: Item, names: Sequence[str]) -> Tree:
    match item:
        case Card():
            return _tagged(_card(item), item.tag, names, item.tone)
        case Gap(tag):
            return _tagged(element("span", "card gap"), tag, names)
        case Pile():
            return _pile(item)
        case Group(cards, label, tone):
            drawn = (_item(card, names) for card in cards)
            caption = element("span", "label", *text(label, names)) if label else None
            return element("div", f"group {tone}", element("div", "cards", *drawn), caption)
        case Column(top, under):
            below = (element("div", "play", *map(_card, play)) for play in under)
            return element("div", "column", _tagged(_card(top), top.tag, names, top.tone), *below)
        case Chips(amount, label, tone):
            caption = element("span", "label", *text(label, names))
            return element("span", f"amount {tone}", element("b", "", str(amount)), " ", caption)
        case Word(line, tone):
            return element("span", f"word {tone}", *text(line, names))


def _tagged(card: Element, tag: Line, names: Sequence[str], tone: Tone = Tone.PLAIN) -> Element:
    if not tag:
        return card
    return element("span", f"tagged {tone}", card, element("span", "tag", *text(tag, names)))


def _pile(pile: Pile) -> Element:
    top = _card(Card(pile.top))
    deep = " deep" if pile.count > 1 else ""
    label = element("span", "label", element("b", "", str(pile.count)), f" {pile.label}")
    return element("div", f"stack{deep}", top, label)


@lru_cache(1024)
def _card(card: Card) -> Element:
    code = card.code
    if code is None:
        return element("span", f"card back {card.tone}", role="img", aria_label="a hidden card")
    if code == JOKER:
        inner: tuple[Tree, ...] = (_rank("★"), _shape("joker", "pip"))
        suit = "joker"
    else:
        suit = SUIT_NAMES[code[1]]
        large = _shape(f"court-{code[0]}" if code[0] in _COURT else suit, "pip")
        inner = (_rank(rank_of(code)), _shape(suit, "suit"), large)
    wide = " wide" if code[0] == "T" else ""
    tone = "" if card.tone is Tone.PLAIN else f" {card.tone}"
    label = card_name(code) + _TONE_WORDS.get(card.tone, "")
    return element("span", f"card {suit}{wide}{tone}", *inner, role="img", aria_label=label)


_TONE_WORDS: Final = {
    Tone.MARKED: ", marked",
    Tone.DIM: ", out of play",
    Tone.WRONG: ", wrong",
}


def _rank(rank: str) -> Element:
    return element("b", "", rank)


def _shape(name: str, css: str) -> Element:
    return element("svg", css, element("use", "", href=f"#{name}"), aria_hidden="true")


def mini(groups: Sequence[Sequence[Item]]) -> Element:
    """Draw a few items in groups, for example beside a sentence; cards without a caption overlap."""
    drawn = (element("span", "cards", *(_item(item, ()) for item in group)) for group in groups)
    return element("span", "mini", *drawn)


def card_tree(code: Code) -> Element:
    """Draw a card by itself."""
    return _card(Card(code))

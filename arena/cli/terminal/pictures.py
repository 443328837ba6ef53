"""Draws a scene in a terminal: the picture of the pages, in text and colours.

Marked cards are bold and underlined, unimportant ones dim, and refused ones red and
struck out, so that nothing depends on colour alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from arena.cli.terminal import draw
from arena.pictures import vocabulary
from arena.pictures.vocabulary import (
    Card,
    Chips,
    Column,
    Face,
    Fact,
    Gap,
    Item,
    Line,
    Name,
    Pile,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Word,
    Zone,
    ZoneKind,
)

_STYLES: Final = {
    Tone.PLAIN: "",
    Tone.MARKED: "bold underline",
    Tone.DIM: "dim",
    Tone.WRONG: "red strike",
}
_SYMBOLS: Final = {"c": "♣ clubs", "d": "♦ diamonds", "h": "♥ hearts", "s": "♠ spades"}
_BACK: Final = "▒▒"
_GAP: Final = "··"
_NARROW: Final = 26
"""The fewest columns of a seat."""


def picture(
    scene: Scene, names: Sequence[str], own: int | None, clocks: Mapping[int, str]
) -> RenderableType:
    """Return the table; `clocks` has the remaining time of seats."""
    above, below = _rows(len(scene.seats), own)
    return Group(
        _seats(scene, above, names, clocks),
        _centre(scene, names),
        _seats(scene, below, names, clocks),
    )


def running(line: Line, names: Sequence[str]) -> Text:
    """Return running text with cards drawn as cards."""
    text = Text()
    for part in line:
        match part:
            case str():
                text.append(part)
            case Name(seat):
                text.append(names[seat], "bold")
            case Face(card):
                text.append_text(draw.card(card))
            case Suit(suit):
                text.append(_SYMBOLS[suit], "bold")
    return text


def _rows(seats: int, own: int | None) -> tuple[Sequence[int], Sequence[int]]:
    """Return the seats above and below the middle, clockwise, the viewer's own below."""
    if own is not None:
        return [(own + at) % seats for at in range(1, seats)], [own]
    half = (seats + 1) // 2 if seats > 2 else 1
    above = range(half) if seats > 2 else [1]
    return above, range(seats - 1, half - 1, -1) if seats > 2 else [0]


def _seats(
    scene: Scene, seats: Sequence[int], names: Sequence[str], clocks: Mapping[int, str]
) -> RenderableType:
    panels = [
        _seat(scene.seats[seat], scene.unit_of(scene.seats[seat]), names, clocks) for seat in seats
    ]
    if len(panels) == 1:
        return panels[0]
    if len(panels) > 3:
        return Columns(panels, expand=True, equal=True, width=_NARROW)
    grid = Table.grid(expand=True)
    for _ in panels:
        grid.add_column(ratio=1)
    grid.add_row(*panels)
    return grid


def _seat(
    seat: SeatScene, unit: str, names: Sequence[str], clocks: Mapping[int, str]
) -> RenderableType:
    title = Text(f"{seat.seat} ").append(names[seat.seat], "bold")
    title.append(f"  {seat.score} {unit}")
    badges = [running(badge.text, names) for badge in seat.badges]
    for badge, text in zip(seat.badges, badges, strict=True):
        text.stylize("bold yellow" if badge.tone is Tone.MARKED else _STYLES[badge.tone])
    if seat.active:
        badges.append(Text("to act", "bold yellow"))
    lines: list[Text] = []
    if badges:
        lines.append(Text(" · ").join(badges))
    lines += [line for zone in seat.zones for line in _zone(zone, names)]
    facts = [_fact(fact, names) for fact in seat.facts]
    if seat.seat in clocks:
        facts.append(Text(clocks[seat.seat], "dim"))
    if facts:
        lines.append(Text("   ").join(facts))
    style = "yellow" if seat.active else "dim" if seat.out else ""
    return Panel(Group(*lines), title=title, title_align="left", border_style=style)


def _centre(scene: Scene, names: Sequence[str]) -> RenderableType:
    lines: list[RenderableType] = []
    if scene.banner:
        banner = Group(*(running(line, names) for line in scene.banner))
        lines.append(Panel(banner, border_style="bold yellow"))
    middle = [line for zone in scene.centre for line in _zone(zone, names)]
    if scene.facts:
        middle.append(Text("   ").join(_fact(fact, names) for fact in scene.facts))
    return Group(*lines, *(Text("  ").append_text(line) for line in middle))


def _fact(fact: Fact, names: Sequence[str]) -> Text:
    value = running(fact.value, names)
    value.stylize("bold" + (" yellow" if fact.tone is Tone.MARKED else ""))
    return Text(f"{fact.label} ", "dim").append_text(value)


def _zone(zone: Zone, names: Sequence[str]) -> Iterable[Text]:
    """Yield a zone as lines: one line, or more for groups that are drawn below each other."""
    title = running(zone.title, names)
    title.stylize("dim")
    if zone.kind is ZoneKind.GRID:
        for item in zone.items:
            yield _item(item, names)
        return
    between = (
        "   "
        if zone.kind in (ZoneKind.MELD, ZoneKind.TRICK, ZoneKind.CHIPS, ZoneKind.SAID)
        else " "
    )
    line = Text(between).join(_item(item, names) for item in zone.items)
    if zone.title:
        line.append("   ").append_text(title)
    yield line


def _item(item: Item, names: Sequence[str]) -> Text:
    match item:
        case Card(_, tone, tag):
            return _tagged(_card(item), tag, tone, names)
        case Gap(tag):
            return _tagged(Text(_GAP, "dim"), tag, Tone.DIM, names)
        case Pile(count, label, top):
            back = Text(_BACK, "blue") if top is None else draw.card(top)
            return back.append(f" {count} {label}", "dim")
        case vocabulary.Group(cards, label, tone):
            line = Text(" ").join(_item(card, names) for card in cards)
            return line.append("  ").append_text(_toned(running(label, names), tone))
        case Column(top, under):
            line = _card(top)
            if under:
                plays = Text(" ").join(
                    Text("+").join(_card(card) for card in play) for play in under
                )
                line.append("(").append_text(plays).append(")")
            return line
        case Chips(amount, label, tone):
            line = Text("● ", "red").append(str(amount), "bold").append(" ")
            return line.append_text(_toned(running(label, names), tone))
        case Word(text, tone):
            return _toned(Text("“").append_text(running(text, names)).append("”"), tone)


def _tagged(card: Text, tag: Line, tone: Tone, names: Sequence[str]) -> Text:
    if not tag:
        return card
    tagged = running(tag, names)
    tagged.stylize("bold yellow" if tone is Tone.MARKED else "dim")
    return card.append(" ").append_text(tagged)


def _toned(text: Text, tone: Tone) -> Text:
    text.stylize(_STYLES[tone])
    return text


def _card(card: Card) -> Text:
    drawn = Text(_BACK, "blue") if card.code is None else draw.card(card.code)
    return _toned(drawn, card.tone)

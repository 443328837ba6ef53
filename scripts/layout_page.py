"""Writes the page of what learners see and do, from arena/envs/encoders: `docs/reference/layouts.md`."""

from collections.abc import Iterator
from typing import Final

from arena.envs.encoders import layout_of
from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.games.notation import Notation

HEAD: Final = """\
# Layouts of observations and actions

<!-- Written by scripts/reference_pages.py from arena/envs/encoders: do not edit. -->

This page is for people who train on the [environments](../environments.md). It says what the numbers of an observation and of an
action mean, with the default options and the fewest seats. `arena.envs.layout` has the same for other options and seats. Fields are those of the [view of each game](../games/index.md). Cards are in the order of rank,
then suit, unless a table says otherwise; `[0]` after a field is the observer, `[1]` the seat at its left.
"""


def page() -> str:
    """Return the page."""
    lines, first = [HEAD], {}
    for game in GAMES:
        table = "\n".join(_table(game))
        same = first.setdefault((game.family, table), game.id)
        text = table if same == game.id else f"The layout is that of [{same}](#{same}).\n"
        lines += [f"## {game.id}\n", text]
    return "\n".join(lines)


def _table(game: Game) -> Iterator[str]:
    seats = game.seats[0]
    layout = layout_of(game, game.options({}, seats), seats)
    yield f"{layout.view.size} numbers at {seats} seats, {layout.actions.size} actions.\n"
    yield "| numbers | field | meaning |\n|---|---|---|"
    for part in layout.parts():
        yield f"| {_span(part.start, part.size)} | `{part.name}` | {part.meaning} |"
    yield "\n| actions | meaning |\n|---|---|"
    start, notation = 0, Notation(game.messages.Move)
    for actions in layout.actions.groups:
        for size, meaning in actions.meanings(notation):
            yield f"| {_span(start, size)} | {meaning} |"
            start += size
    yield ""


def _span(start: int, size: int) -> str:
    return f"{start}" if size == 1 else f"{start}–{start + size - 1}"

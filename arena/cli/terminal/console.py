"""The console and the plain tables of all commands. Unprintable characters are replaced."""

import contextlib
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final

from rich.box import HEAVY_HEAD
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from arena.cli.terminal.plain import plain, plain_lines, say

SHORT_WORD: Final = 8
"""The number of letters up to which a word is not broken, such as numbers and most heads."""
LINE_S: Final = 10.0
"""Seconds between two lines of progress without a terminal."""


class PlainConsole(Console):
    """Replaces unprintable characters in all text; colours are added afterwards."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # Control codes of rich itself, for example of a progress bar, are in separate segments.
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(plain_lines(segment.text), segment.style)


def print_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    wrapped: Container[str] = (),
    numbers: Container[str] = (),
    title: str = "",
    caption: str = "",
    framed: bool = False,
    console: Console | None = None,
) -> None:
    """Print rows of text. No cell is shortened.

    In columns that are not in `wrapped`, a word is broken only if the table does not fit in any other way.

    Args:
      wrapped: Heads of the columns whose cells may take several lines. If that is not enough, all
        may.
      numbers: Heads of the columns that are right-aligned.
      console: The console; None is the standard output.
    """
    console = console or PlainConsole()
    cells = [[plain(str(cell)) for cell in row] for row in rows]
    columns = list(zip(heads, *cells, strict=True))
    edges = 3 * len(columns) + 1 if framed else 2 * len(columns) - 2
    widths = _widths(columns, [head in wrapped for head in heads], console.width - edges)
    table = Table(
        box=HEAVY_HEAD if framed else None,
        pad_edge=framed,
        title=title or None,
        caption=caption or None,
        title_justify="left",
        caption_justify="left",
    )
    for head, width in zip(heads, widths, strict=True):
        justify: JustifyMethod = "right" if head in numbers else "left"
        table.add_column(head, justify=justify, overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _widths(
    columns: Sequence[Sequence[str]], is_wrapped: Sequence[bool], room: int
) -> Sequence[int]:
    """Return the widths of columns that share `room` characters, from their texts.

    The first aim is that no word of an unwrapped column is broken; the last aim is that each cell has one line. The
    columns that lack least come first.
    """
    lines = [max(map(len, texts)) for texts in columns]
    words = [
        max((len(word) for text in texts for word in text.split()), default=0) for texts in columns
    ]

    def wish(wrapped: int, others: Sequence[int]) -> Sequence[int]:
        return [
            min(word, wrapped) if wraps else other
            for word, wraps, other in zip(words, is_wrapped, others, strict=True)
        ]

    widths = [min(word, SHORT_WORD) for word in words]
    longest = max(words)
    for wishes in (wish(SHORT_WORD, words), wish(longest, words), wish(longest, lines), lines):
        short = [wished - width for wished, width in zip(wishes, widths, strict=True)]
        for column in sorted(range(len(widths)), key=short.__getitem__):
            widths[column] += max(0, min(short[column], room - sum(widths)))
    return widths


@contextlib.contextmanager
def progress(
    waiting: str, *, quiet: bool = False, now_s: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str], None]]:
    """Show the progress of long work on standard error; the block calls with a line for each step.

    On a terminal it is one line that changes; otherwise a plain line is written every ten seconds, if it has changed.
    """
    console = PlainConsole(stderr=True, quiet=quiet, highlight=False)
    if console.is_terminal or quiet:
        with console.status(waiting) as status:
            yield status.update
        return
    say(waiting, err=True)
    last_s, last = now_s(), waiting

    def tell(line: str) -> None:
        nonlocal last_s, last
        if line != last and now_s() - last_s >= LINE_S:
            last_s, last = now_s(), line
            say(line, err=True)

    yield tell

"""The console and the plain tables of all commands. Unprintable characters are replaced."""

import contextlib
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, OverflowMethod, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from arena.cli.terminal.plain import plain, plain_lines, say

LINE_S: Final = 10.0
"""Time between two lines of progress where there is no terminal."""


class PlainConsole(Console):
    """Replaces unprintable characters in all text; colours are added afterwards."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # Control codes of rich itself, as of a progress bar, are in segments of their own.
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(plain_lines(segment.text), segment.style)


def print_table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], *, wrapped: Container[str] = ()
) -> None:
    """Print rows of text; cells of the columns in `wrapped` may take several lines."""
    table = Table(box=None, pad_edge=False)
    for head in heads:
        overflow: OverflowMethod = "fold" if head in wrapped else "ellipsis"
        table.add_column(head, no_wrap=head not in wrapped, overflow=overflow)
    for row in rows:
        table.add_row(*(Text(plain(str(cell))) for cell in row))
    PlainConsole().print(table)


@contextlib.contextmanager
def progress(
    waiting: str, *, quiet: bool = False, now_s: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str], None]]:
    """Show the progress of long work on standard error; the block calls with a line for each step.

    On a terminal it is one line that changes; elsewhere a plain line is written every ten seconds.
    """
    console = PlainConsole(stderr=True, quiet=quiet, highlight=False)
    if console.is_terminal or quiet:
        with console.status(waiting) as status:
            yield status.update
        return
    say(waiting, err=True)
    last_s = now_s()

    def tell(line: str) -> None:
        nonlocal last_s
        if now_s() - last_s >= LINE_S:
            last_s = now_s()
            say(line, err=True)

    yield tell

"""The console of all commands, which shows no text as it stands that is not printable."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from arena.cli.terminal.plain import plain_lines


class PlainConsole(Console):
    """Draws everything, with all text made harmless. Colours are made after that."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # Its own orders to the terminal, as those of a progress bar, stand in segments apart.
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(plain_lines(segment.text), segment.style)

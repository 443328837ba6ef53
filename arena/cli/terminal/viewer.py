"""A replay on the whole terminal: one picture, the sentence of what happened, one key a step.

Drawn by rich, which the commands use anyway, and read by click, so that no
further library is needed. What a key does is in `Viewing`, which knows no terminal.
"""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType, MappingProxyType
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.layout import Layout
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from arena.cli.terminal.pictures import picture, running
from arena.cli.terminal.steps import Steps
from arena.games.contract import Seat
from arena.replay.beats import Beat, beats
from arena.replay.read import Replay
from arena.scenes import Eyes, Viewer

LEGEND: Final = "→ ← step  PgDn PgUp hand  f fault  a all  s spectator  0-9 seat  ↑ ↓  q quit"
_KEYS: Final = {
    "\x1b[C": "next",
    "\x1bOC": "next",
    " ": "next",
    "\r": "next",
    "\n": "next",
    "n": "next",
    "\x1b[D": "back",
    "\x1bOD": "back",
    "p": "back",
    "\x1b[6~": "next hand",
    "h": "next hand",
    "\x1b[5~": "hand before",
    "H": "hand before",
    "\x1b[H": "first",
    "\x1b[1~": "first",
    "\x1bOH": "first",
    "g": "first",
    "\x1b[F": "last",
    "\x1b[4~": "last",
    "\x1bOF": "last",
    "G": "last",
    "f": "next fault",
    "F": "fault before",
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "q": "quit",
    "\x1b": "quit",
    "\x03": "quit",
}
_SCROLL: Final = 4
"""Lines of a scroll."""


@dataclass(frozen=True)
class Viewing:
    """Where a viewer is in a match, and what every key leads to."""

    beats: Mapping[Eyes, Sequence[Beat]]
    """By the eyes that may be chosen; all have the same beats in the same order."""
    eyes: Eyes
    at: int = 0
    top: int = 0
    """Lines of the picture above what is seen."""
    over: bool = False

    @property
    def beat(self) -> Beat:
        """What is shown."""
        return self.beats[self.eyes][self.at]

    def after(self, key: str) -> "Viewing":
        """The same match after a key; a key that means nothing changes nothing."""
        if key == "a":
            return self._seen_by(Viewer.ALL)
        if key == "s":
            return self._seen_by(Viewer.SPECTATOR)
        if key.isdecimal():
            return self._seen_by(Seat(int(key)))
        steps = {"next": self.at + 1, "back": self.at - 1, "first": 0, "last": len(self._beats) - 1}
        meaning = _KEYS.get(key, "")
        if meaning in steps:
            return self._to(steps[meaning])
        match meaning:
            case "next hand":
                return self._to_hand(self.beat.hand + 1)
            case "hand before":
                return self._to_hand(self.beat.hand - 1)
            case "next fault":
                return self._to_fault(range(self.at + 1, len(self._beats)))
            case "fault before":
                return self._to_fault(range(self.at - 1, -1, -1))
            case "up" | "down":
                by = _SCROLL if meaning == "down" else -_SCROLL
                return replace(self, top=max(0, self.top + by))
            case "quit":
                return replace(self, over=True)
        return self

    @property
    def _beats(self) -> Sequence[Beat]:
        return self.beats[self.eyes]

    def _seen_by(self, eyes: Eyes) -> "Viewing":
        return replace(self, eyes=eyes) if eyes in self.beats else self

    def _to(self, at: int) -> "Viewing":
        return replace(self, at=max(0, min(at, len(self._beats) - 1)), top=0)

    def _to_hand(self, hand: int) -> "Viewing":
        found = (at for at, beat in enumerate(self._beats) if beat.hand == hand)
        at = next(found, None)
        return self if at is None else self._to(at)

    def _to_fault(self, places: Sequence[int]) -> "Viewing":
        at = next((at for at in places if self._beats[at].faults()), None)
        return self if at is None else self._to(at)


def viewing(replay: Replay, steps: Steps, eyes: Eyes, step: int = 0) -> Viewing:
    """A match from a step on, through all eyes that there are."""
    options, seats = replay.spec().terms.options, len(replay.names)
    offered: tuple[Eyes, ...] = (
        Viewer.ALL,
        Viewer.SPECTATOR,
        *(Seat(seat) for seat in range(seats)),
    )
    seen = {each: tuple(beats(steps.frames, each, options, seats)) for each in offered}
    at = next((at for at, beat in enumerate(seen[eyes]) if beat.frame.index == step), 0)
    return Viewing(MappingProxyType(seen), eyes, at)


def watch(
    shown: Viewing,
    screen: "FullScreen",
    console: Console,
    read_key: Callable[[], str],
) -> None:
    """Show a match on the whole terminal until the viewer quits."""
    with Live(screen.drawn(shown), console=console, screen=True, auto_refresh=False) as live:
        while not shown.over:
            live.update(screen.drawn(shown), refresh=True)
            with _redrawn_on_resize(live):
                try:
                    key = read_key()
                except (EOFError, KeyboardInterrupt):
                    return
            shown = shown.after(key)


@contextmanager
def _redrawn_on_resize(live: Live) -> Iterator[None]:
    """Draw anew when the terminal has another size."""

    def redraw(_number: int, _frame: FrameType | None) -> None:
        live.refresh()

    before = signal.signal(signal.SIGWINCH, redraw)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


class FullScreen:
    """Draws a match as a whole screen: where one is, the picture, the sentence, the keys."""

    def __init__(
        self,
        title: str,
        names: Sequence[str],
        result: str,
        noted: Mapping[Eyes, Mapping[int, str]] = MappingProxyType({}),
    ) -> None:
        """Begin with `noted`, what seats noted by their decisions, for those eyes alone."""
        self._title = title
        self._names = names
        self._result = result
        self._noted = noted

    def drawn(self, shown: Viewing) -> RenderableType:
        """The whole screen."""
        whole = Layout()
        words = self._words(shown)
        whole.split_column(
            Layout(self._heading(shown), size=1),
            Layout(_Window(self._picture(shown), shown.top)),
            Layout(words, size=4),
            Layout(Text(LEGEND, "dim", no_wrap=True, overflow="ellipsis"), size=1),
        )
        return whole

    def _heading(self, shown: Viewing) -> Text:
        beat, last = shown.beat, shown.beats[shown.eyes][-1]
        whose = shown.eyes if isinstance(shown.eyes, Viewer) else self._names[shown.eyes]
        line = Text(self._title, "bold", no_wrap=True, overflow="ellipsis")
        line.append(f"  step {beat.label} of {last.label} · hand {beat.hand + 1}", "default")
        line.append(f" · seen by {whose}", "default")
        return line.append(f" · {self._result}", "dim")

    def _picture(self, shown: Viewing) -> RenderableType:
        own = None if isinstance(shown.eyes, Viewer) else int(shown.eyes)
        return picture(shown.beat.scene(), self._names, own, _clocks(shown, len(self._names)))

    def _words(self, shown: Viewing) -> Text:
        beat = shown.beat
        said = [running(line, self._names) for line in beat.words()]
        for line in beat.faults():
            fault = running(line, self._names)
            fault.stylize("bold red")
            said.append(fault)
        for decision in () if beat.part else beat.frame.decisions:
            note = self._noted.get(shown.eyes, {}).get(decision.decision, "")
            if note and decision.seat == shown.eyes:
                said.append(Text("Note: ", "dim").append(note, "italic"))
        return Text(" ").join(said)


def _clocks(shown: Viewing, seats: int) -> Mapping[int, str]:
    """What each seat had left after its latest decision."""
    left: dict[int, str] = {}
    for beat in reversed(shown.beats[shown.eyes][: shown.at + 1]):
        for decision in beat.frame.decisions:
            used = f"{decision.charged_us / 1e6:.2f} s used, "
            now = used if beat is shown.beat else ""
            left.setdefault(decision.seat, f"{now}{decision.bank_ms / 1e3:.1f} s left")
        if len(left) == seats:
            break
    return left


class _Window:
    """A part of a picture that is higher than its place."""

    def __init__(self, inside: RenderableType, top: int) -> None:
        self._inside = inside
        self._top = top

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or console.height
        lines = console.render_lines(self._inside, options.update(height=None), pad=True)
        first = max(0, min(self._top, len(lines) - height))
        for line in lines[first : first + height]:
            yield from line
            yield Segment.line()

"""Shows a replay on the whole terminal: a picture, the events, and keys that move through the steps.

rich draws it and click reads the keys, so that no further library is needed.
`Viewing` has the meaning of the keys, and no terminal.
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
from arena.cli.terminal.playback import Playback
from arena.games.contract import Seat
from arena.pictures import AnyViewer, Viewer
from arena.records.frames import Frame, viewer_frames
from arena.records.read import Replay

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
"""The number of lines of a scroll."""


@dataclass(frozen=True)
class Viewing:
    """The place of a viewer in a match, and the effect of each key."""

    frames: Mapping[AnyViewer, Sequence[Frame]]
    """By viewer; all have the same frames in the same order."""
    viewer: AnyViewer
    at: int = 0
    top: int = 0
    """The number of lines of the picture above the window."""
    over: bool = False

    @property
    def frame(self) -> Frame:
        return self._frames[self.at]

    def after(self, key: str) -> "Viewing":
        """Return the place after a key; an unknown key changes nothing."""
        if key == "a":
            return self._seen_by(Viewer.ALL)
        if key == "s":
            return self._seen_by(Viewer.SPECTATOR)
        if key.isdecimal():
            return self._seen_by(Seat(int(key)))
        steps = {
            "next": self.at + 1,
            "back": self.at - 1,
            "first": 0,
            "last": len(self._frames) - 1,
        }
        meaning = _KEYS.get(key, "")
        if meaning in steps:
            return self._to(steps[meaning])
        match meaning:
            case "next hand":
                return self._to_hand(self.frame.hand + 1)
            case "hand before":
                return self._to_hand(self.frame.hand - 1)
            case "next fault":
                return self._to_fault(range(self.at + 1, len(self._frames)))
            case "fault before":
                return self._to_fault(range(self.at - 1, -1, -1))
            case "up" | "down":
                by = _SCROLL if meaning == "down" else -_SCROLL
                return replace(self, top=max(0, self.top + by))
            case "quit":
                return replace(self, over=True)
        return self

    @property
    def _frames(self) -> Sequence[Frame]:
        return self.frames[self.viewer]

    def _seen_by(self, viewer: AnyViewer) -> "Viewing":
        return replace(self, viewer=viewer) if viewer in self.frames else self

    def _to(self, at: int) -> "Viewing":
        return replace(self, at=max(0, min(at, len(self._frames) - 1)), top=0)

    def _to_hand(self, hand: int) -> "Viewing":
        at = next((at for at, frame in enumerate(self._frames) if frame.hand == hand), None)
        return self if at is None else self._to(at)

    def _to_fault(self, places: Sequence[int]) -> "Viewing":
        at = next((at for at in places if self._frames[at].fault_sentences()), None)
        return self if at is None else self._to(at)


def viewing(replay: Replay, playback: Playback, viewer: AnyViewer, step: int = 0) -> Viewing:
    """Return a match from a step on, for all viewers."""
    options, seats = replay.spec().terms.options, len(replay.names)
    offered: tuple[AnyViewer, ...] = (
        Viewer.ALL,
        Viewer.SPECTATOR,
        *(Seat(seat) for seat in range(seats)),
    )
    frames = {
        viewer: tuple(viewer_frames(playback.steps, viewer, options, seats)) for viewer in offered
    }
    at = next((at for at, frame in enumerate(frames[viewer]) if frame.step.index == step), 0)
    return Viewing(MappingProxyType(frames), viewer, at)


def watch(
    shown: Viewing, screen: "FullScreen", console: Console, read_key: Callable[[], str]
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
    def redraw(_number: int, _frame: FrameType | None) -> None:
        live.refresh()

    before = signal.signal(signal.SIGWINCH, redraw)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


class FullScreen:
    """Draws a match as a whole screen: place, picture, events, keys."""

    def __init__(
        self,
        title: str,
        names: Sequence[str],
        result: str,
        notes: Mapping[AnyViewer, Mapping[int, str]] = MappingProxyType({}),
        problem: str = "",
    ) -> None:
        """Show `notes` by decision, each seat's to its own viewer; the result at the last step, and what is wrong with the replay at all."""
        self._title = title
        self._names = names
        self._result = result
        self._notes = notes
        self._problem = problem

    def drawn(self, shown: Viewing) -> RenderableType:
        whole = Layout()
        whole.split_column(
            Layout(self._heading(shown), size=1),
            Layout(_Window(self._picture(shown), shown.top)),
            Layout(self._sentences(shown), size=4),
            Layout(Text(LEGEND, "dim", no_wrap=True, overflow="ellipsis"), size=1),
        )
        return whole

    def _heading(self, shown: Viewing) -> Text:
        frame, last = shown.frame, shown.frames[shown.viewer][-1]
        whose = shown.viewer if isinstance(shown.viewer, Viewer) else self._names[shown.viewer]
        line = Text(self._title, "bold", no_wrap=True, overflow="ellipsis")
        line.append(f"  step {frame.label} of {last.label} · hand {frame.hand + 1}", "default")
        line.append(f" · seen by {whose}", "default")
        if self._problem:
            line.append(f" · {self._problem}", "dim")
        elif frame is last:
            line.append(f" · {self._result}", "dim")
        return line

    def _picture(self, shown: Viewing) -> RenderableType:
        own = None if isinstance(shown.viewer, Viewer) else int(shown.viewer)
        return picture(shown.frame.scene(), self._names, own, _clocks(shown, len(self._names)))

    def _sentences(self, shown: Viewing) -> Text:
        frame = shown.frame
        sentences = [running(line, self._names) for line in frame.sentences()]
        for line in frame.fault_sentences():
            fault = running(line, self._names)
            fault.stylize("bold red")
            sentences.append(fault)
        for decision in frame.decisions:
            note = self._notes.get(shown.viewer, {}).get(decision.decision, "")
            if note and decision.seat == shown.viewer:
                sentences.append(Text("Note: ", "dim").append(note, "italic"))
        return Text(" ").join(sentences)


def _clocks(shown: Viewing, seats: int) -> Mapping[int, str]:
    clocks: dict[int, str] = {}
    for frame in reversed(shown.frames[shown.viewer][: shown.at + 1]):
        for decision in frame.step.decisions:
            used = f"{decision.charged_us / 1e6:.2f} s used, " if frame is shown.frame else ""
            clocks.setdefault(decision.seat, f"{used}{decision.bank_ms / 1e3:.1f} s left")
        if len(clocks) == seats:
            break
    return clocks


class _Window:
    """The visible part of a picture that is higher than the screen."""

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

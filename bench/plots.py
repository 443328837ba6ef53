"""Pictures of the sweeps: SVG files that read in light and in dark, the same bytes from the same figures.

A picture stands alone: it has its own style, names its axes with their units, and says of which
machine and day its figures are. Lines differ by symbol and name, not by colour alone.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.web.marks import line, polyline, rect, round_step, symbol, text
from arena.web.trees import Tree, html

WIDE: Final = 760
HIGH: Final = 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 548, 62, 350
"""The stretch that is plotted in; names of lines stand to its right, the caption below."""
_NAME_GAP: Final = 16
"""Least distance of the names of two lines."""
_TICKS: Final = 6
_COLOURS: Final = (
    # light      dark
    ("#1d5fbf", "#6aa8ff"),
    ("#b4400a", "#ff9b5e"),
    ("#177245", "#5fd39a"),
    ("#8a2b9c", "#dc8bea"),
    ("#8a6a00", "#e3c04a"),
    ("#0c7489", "#55cfe6"),
    ("#b3205c", "#ff82b2"),
    ("#565f6b", "#b3bcc8"),
    ("#4b3fb5", "#a79dff"),
)
_STYLE: Final = """
text{{font:13px system-ui,sans-serif;fill:var(--ink)}}
.title{{font-size:16px;font-weight:600}}
.soft{{font-size:12px;fill:var(--soft)}}
.panel{{fill:var(--panel);stroke:var(--rule)}}
.rule{{stroke:var(--rule)}}
.axis{{stroke:var(--soft)}}
polyline{{fill:none;stroke-width:2}}
.dashed{{stroke-dasharray:6 4}}
{lines}
svg{{{light}}}
@media (prefers-color-scheme:dark){{svg{{{dark}}}}}
"""


class NoSweeps(Exception):
    """A file has no sweeps that could be drawn. The text says which are missing, and how to make them."""


@dataclass(frozen=True, slots=True)
class Series:
    """A line with its name."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis."""

    words: str
    """What it measures, with the unit."""
    ticks: tuple[float, ...] = ()
    """Where it is marked; empty for round values."""
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot before it is drawn."""

    title: str
    x: Scale
    y: Scale
    series: tuple[Series, ...]


Points = Sequence[Mapping[str, Any]]


def read(file: Path) -> dict[str, Any]:
    """The figures of a run.

    Raises:
      NoSweeps: if the file is none that `--json` wrote.
    """
    try:
        figures = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise NoSweeps(f"cannot read {file}: {error.strerror}") from None
    except ValueError:
        raise NoSweeps(f"{file} is not JSON") from None
    if not isinstance(figures, dict):
        raise NoSweeps(f"{file} holds no figures of scripts/bench")
    return figures


def draw(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write a picture of each kind into a folder, and tell which.

    Raises:
      NoSweeps: if the figures lack one of them.
      OSError: if a file cannot be written.
    """
    made = {name: svg(picture, caption(figures)) for name, picture in pictures(figures).items()}
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, drawn in made.items():
        path = folder / f"{name}.svg"
        path.write_text(drawn, "utf-8", newline="\n")
        written.append(path)
    return written


def pictures(figures: Mapping[str, Any]) -> dict[str, Picture]:
    """The pictures by their names.

    Raises:
      NoSweeps: if the figures lack one of them.
    """
    sweeps = figures.get("sweeps") or {}
    of = {each for each, _ in _PICTURES.values()}
    if missing := sorted(name for name in of if not sweeps.get(name)):
        raise NoSweeps(
            f"the figures have no sweeps of {', '.join(missing)}: "
            "make them by scripts/bench --only sweeps --json FILE"
        )
    try:
        return {name: picture(sweeps[each]) for name, (each, picture) in _PICTURES.items()}
    except (KeyError, TypeError) as error:
        raise NoSweeps(
            f"the figures are not of this scripts/bench, which looks for {error}: measure again"
        ) from None


def caption(figures: Mapping[str, Any]) -> str:
    """Of which machine and day the figures are."""
    made = figures.get("versions") or {}
    parts = [
        str(figures.get("date", "no date")),
        f"{made.get('cpu', 'an unknown processor')}, {made.get('cpu_count', '?')} processors",
        f"Python {made.get('python', '?')}, {made.get('arena', '?')}",
        f"grpcio {made.get('grpcio', '?')}",
    ]
    if figures.get("quick"):
        parts.insert(0, "A QUICK RUN, NO MEASUREMENT")
    return " \N{MIDDLE DOT} ".join(parts)


def _decisions(points: Points) -> Picture:
    by_matches = _series(points, "matches", "streams", "per_s")
    bare: dict[float, list[float]] = {
        streams: [] for streams in sorted({point["streams"] for point in points})
    }
    for point in points:
        bare[point["streams"]].append(point["bare_per_s"])
    medians = tuple((streams, sorted(found)[len(found) // 2]) for streams, found in bare.items())
    return Picture(
        "Decisions of the trivial game a second",
        Scale("streams", tuple(bare), is_log=True),
        Scale("decisions a second"),
        (
            *(Series(f"{_many(int(name), 'match')} each", line) for name, line in by_matches),
            Series("bare gRPC", medians, dashed=True),
        ),
    )


def _turnarounds(points: Points) -> Picture:
    shares = {"p50_ms": "p50", "p90_ms": "p90", "p99_ms": "p99", "p999_ms": "p99.9"}
    series = [
        Series(
            name if server == "arena" else f"{name}, bare gRPC",
            tuple(
                (point["offered_per_s"], point[share])
                for point in points
                if point["server"] == server
            ),
            dashed=server != "arena",
        )
        for server, share, name in [
            *(("arena", share, name) for share, name in shares.items()),
            *(("bare", share, shares[share]) for share in ("p50_ms", "p99_ms")),
        ]
    ]
    return Picture(
        "Turnaround: from when an answer was due to the next ask",
        Scale("decisions offered a second, on 64 streams"),
        Scale("ms", is_log=True),
        tuple(each for each in series if each.points),
    )


def _memory(points: Points) -> Picture:
    return Picture(
        "Memory of the arena's process",
        Scale("matches in play"),
        Scale("MiB"),
        tuple(Series(*each) for each in _series(points, "game", "matches", "memory_mb")),
    )


def _asks_by_seats(points: Points) -> Picture:
    lines = _series(points, "game", "seats", "us")
    return Picture(
        "An ask, by seats",
        Scale("seats", tuple(sorted({point["seats"] for point in points}))),
        Scale("\N{MICRO SIGN}s of processor time", is_log=True),
        tuple(Series(name, line) for name, line in lines if len(line) > 1),
    )


def _asks_by_held(points: Points) -> Picture:
    found: dict[str, Series] = {}
    for point in points:
        line = tuple((each["held"], each["us"]) for each in point["by_held"])
        if len(line) >= _LEAST_SIZES:
            found.setdefault(point["game"], Series(f"{point['game']}, {point['seats']}", line))
    return Picture(
        "An ask, by cards held (and seats)",
        Scale("cards held"),
        Scale("\N{MICRO SIGN}s of processor time", is_log=True),
        tuple(found.values()),
    )


_LEAST_SIZES: Final = 4
"""Of hands, to tell how they change what an ask costs."""
_PICTURES: Final[Mapping[str, tuple[str, Callable[[Points], Picture]]]] = {
    "decisions": ("decisions", _decisions),
    "turnarounds": ("turnarounds", _turnarounds),
    "memory": ("memory", _memory),
    "asks-by-seats": ("asks", _asks_by_seats),
    "asks-by-cards-held": ("asks", _asks_by_held),
}
"""By the name of its file, of which sweep each picture is, and what makes it."""


def _series(
    points: Points, name: str, x: str, y: str
) -> list[tuple[str, tuple[tuple[float, float], ...]]]:
    """The points of each value of `name`, in the order in which they come."""
    found: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        found.setdefault(str(point[name]), []).append((point[x], point[y]))
    return [(key, tuple(line)) for key, line in found.items()]


def svg(picture: Picture, words: str) -> str:
    """A picture as the text of an SVG file, `words` below it."""
    every = [point for series in picture.series for point in series.points]
    across = _Axis(picture.x, [x for x, _ in every], _LEFT, _RIGHT)
    up = _Axis(picture.y, [y for _, y in every], _BOTTOM, _TOP)
    drawn: list[Tree] = [
        rect(0.5, 0.5, WIDE - 1, HIGH - 1, "panel"),
        text(16, 28, picture.title, "start", "title"),
        text(16, 48, picture.y.words, "start", "soft"),
        text((_LEFT + _RIGHT) / 2, _BOTTOM + 42, picture.x.words, "middle", "soft"),
        text(16, HIGH - 14, words, "start", "soft"),
    ]
    for value, y in up.ticks():
        drawn.append(line(_LEFT, y, _RIGHT, y, "rule"))
        drawn.append(text(_LEFT - 8, y + 4, _figure(value), "end"))
    for value, x in across.ticks():
        drawn.append(line(x, _BOTTOM, x, _BOTTOM + 5, "axis"))
        drawn.append(text(x, _BOTTOM + 20, _figure(value), "middle"))
    drawn.append(line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"))
    ends = []
    for at, series in enumerate(picture.series):
        places = [(across(x), up(y)) for x, y in series.points]
        colour = f"c{at % len(_COLOURS)}"
        dashed = " dashed" if series.dashed else ""
        drawn.append(polyline(places, f"{colour}{dashed}"))
        drawn += [symbol(at, x, y, f"{colour} dot") for x, y in places]
        ends.append((places[-1][1], at))
    for y, at in _apart(ends):
        drawn.append(symbol(at, _RIGHT + 24, y, f"c{at % len(_COLOURS)} dot"))
        drawn.append(text(_RIGHT + 34, y + 4, picture.series[at].name, "start"))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" '
        f'width="{WIDE}" height="{HIGH}" role="img">'
    )
    title = f"<title>{html(f'{picture.title}. {words}')}</title>"
    body = "\n".join(html(each) for each in drawn)
    return f"{head}\n{title}\n<style>{_style(len(picture.series))}</style>\n{body}\n</svg>\n"


def _style(lines: int) -> str:
    used = _COLOURS[:lines]
    return _STYLE.format(
        lines="\n".join(
            f".c{at}{{stroke:var(--c{at})}}.c{at}.dot{{fill:var(--c{at})}}"
            for at in range(len(used))
        ),
        light=_variables("#1b1f24", "#57606a", "#ffffff", "#d6dbe1", [one for one, _ in used]),
        dark=_variables("#e6e9ee", "#9aa4b2", "#14181d", "#343b45", [one for _, one in used]),
    )


def _variables(ink: str, soft: str, panel: str, rule: str, colours: Sequence[str]) -> str:
    named = {"ink": ink, "soft": soft, "panel": panel, "rule": rule}
    named |= {f"c{at}": colour for at, colour in enumerate(colours)}
    return ";".join(f"--{name}:{value}" for name, value in named.items())


class _Axis:
    """Values on a stretch of the picture, `low_at` to `high_at`."""

    def __init__(self, scale: Scale, values: Sequence[float], low_at: float, high_at: float):
        values = values or [1.0]
        self._scale, self._from, self._to = scale, low_at, high_at
        high = max(values)
        low = min(values) if scale.is_log or scale.ticks else 0.0
        if scale.ticks:
            low, high = scale.ticks[0], scale.ticks[-1]
        self._marks = scale.ticks or (_powers(low, high) if scale.is_log else _rounds(high))
        self._low, self._high = (
            self._on(end) for end in (min(low, *self._marks), max(high, *self._marks))
        )

    def __call__(self, value: float) -> float:
        share = (self._on(value) - self._low) / ((self._high - self._low) or 1.0)
        return self._from + share * (self._to - self._from)

    def ticks(self) -> Iterator[tuple[float, float]]:
        """Values that are marked, and where."""
        for value in self._marks:
            yield value, self(value)

    def _on(self, value: float) -> float:
        return math.log10(value) if self._scale.is_log else value


def _rounds(high: float) -> tuple[float, ...]:
    """Round values from 0 up to the first that is not less than `high`."""
    step = round_step(high or 1.0, _TICKS)
    return tuple(at * step for at in range(math.ceil(high / step) + 1))


def _powers(low: float, high: float) -> tuple[float, ...]:
    """1, 2, 5, 10 … around two positive values; powers of ten alone where they are far apart."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first > 2:
        return tuple(10.0**at for at in range(first, last + 1))
    every = [by * 10.0**at for at in range(first, last + 1) for by in (1, 2, 5)]
    below = max((each for each in every if each <= low), default=every[0])
    above = min((each for each in every if each >= high), default=every[-1])
    return tuple(each for each in every if below <= each <= above)


def _apart(ends: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Heights of names beside the ends of their lines, none over another."""
    placed: list[tuple[float, int]] = []
    for y, at in sorted(ends):
        lowest = placed[-1][0] + _NAME_GAP if placed else 0.0
        placed.append((max(y, lowest), at))
    over = placed[-1][0] - _BOTTOM if placed else 0.0
    if over <= 0:
        return placed
    # From below: the last goes up to the floor, and pushes those that it meets.
    pushed: list[tuple[float, int]] = []
    for y, at in reversed(placed):
        highest = pushed[-1][0] - _NAME_GAP if pushed else float(_BOTTOM)
        pushed.append((min(y, highest), at))
    return pushed[::-1]


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}es"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:.4g}"

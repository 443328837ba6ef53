"""Evidence as SVG trees: small drawings for the rows of tables, and plots. Each is beside its numbers as text.

The server draws them, so exports and browsers without scripts have them. A plot is an image whose
label is its message. The style sheet has the colours, and no drawing depends on colour only.
"""

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from arena.records.phrases import count
from arena.web.trees import Element, Tree, element

WIDE: Final = 720
"""The width of a plot in its own units; the page scales it."""
MOST_MARKS: Final = 2_000
"""The maximal number of marks of a plot; if there are more, every second, third … is drawn."""
_TICKS: Final = 5
_LONGEST_NAME: Final = 14
_SYMBOLS: Final[Sequence[str]] = (
    "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "m-4,-4h8v8h-8Z",
    "m0,-5l5,9h-10Z",
    "m0,-5l5,5l-5,5l-5,-5Z",
    "m-1.5,-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5Z",
)
"""Circle, square, triangle, diamond and cross, as paths around a point: one for each kind of fault."""
_M = TypeVar("_M")


@dataclass(frozen=True, slots=True)
class PlottedTest:
    """The sequential test of two bots after a number of deal-sets."""

    deal_sets: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FaultMark:
    """A fault at a decision of a match."""

    match: int
    """The number of the match in the plot, from 0."""
    decision: int
    kind: str


def bars(rows: Sequence[Mapping[str, Any]]) -> dict[str, Element | None]:
    """Draw the 95 % intervals of rows of standings, by bot, on one axis that holds all, and zero.

    A skill below the mean of all bots has another colour, and one of an unranked bot is dashed; None is no skill.
    """
    ends = [0.0, *(end for row in rows if row["score"] is not None for end in _ends(row))]
    return {row["bot"]: _interval(row, min(ends), max(ends)) for row in rows}


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a skill; both are the skill if its width is not known."""
    half = row["half_width_95"] or 0.0
    return row["score"] - half, row["score"] + half


def _interval(row: Mapping[str, Any], low: float, high: float) -> Element | None:
    score = row["score"]
    if score is None or high <= low:
        return None

    def x(value: float) -> float:
        return 4 + (min(max(value, low), high) - low) / (high - low) * 292

    begin, end = _ends(row)
    css = "unsure" if row.get("tier", 1) is None else "below" if score < 0 else ""
    return element(
        "svg",
        f"interval {css}".strip(),
        line(x(0), 0, x(0), 18, "zero"),
        line(x(begin), 9, x(end), 9, "range"),
        rect(x(score) - 2.5, 2, 5, 14, "dot"),
        viewBox="0 0 300 18",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def strip(margins: Sequence[float], label: str, decided: bool = False) -> Element | None:
    """Draw a bar for each deal-set, upward if the first bot had more; the last one decided if `decided`."""
    if not margins:
        return None
    most, wide = max(map(abs, margins)) or 1.0, 100 / len(margins)
    bars: list[Tree] = [line(0, 14, 100, 14, "mid")]
    for at, margin in enumerate(margins):
        height = max(0.8, abs(margin) / most * 12)
        top = 14 - height if margin > 0 else 14
        bars.append(rect((at + 0.14) * wide, top, 0.72 * wide, height, "a" if margin > 0 else "b"))
    if decided:
        bars.append(rect((len(margins) - 1) * wide, 1, wide, 26, "dec"))
    return element(
        "svg", "strip", *bars, viewBox="0 0 100 28", preserveAspectRatio="none", role="img",
        aria_label=label,
    )  # fmt: skip


def spark(values: Sequence[float], label: str) -> Element | None:
    """Draw a line through a few values, with a dot at the last; None of fewer than two."""
    if len(values) < 2:
        return None
    low, high = min(values), max(values)
    at = [
        (100 * number / (len(values) - 1), 22 - (value - low) / ((high - low) or 1) * 18)
        for number, value in enumerate(values)
    ]
    return element(
        "svg", "spark", polyline(at, "line"), circle(*at[-1], 3, "dot"), viewBox="-2 0 106 26",
        role="img", aria_label=f"{label}: from {values[0]:+.1f} to {values[-1]:+.1f}",
    )  # fmt: skip


_SHADES: Final = (0.05, 0.15, 0.3, 0.42, 0.58, 0.7, 0.85, 0.95)


def shade(chance: float) -> str:
    """Return the class of a cell with the chance to be better, from `h0`, surely worse, to `h8`."""
    return f"h{bisect.bisect_left(_SHADES, chance)}"


def versions_plot(steps: Sequence[tuple[str, Mapping[str, Any]]]) -> Element:
    """Draw skill by competition, oldest first: dots with bars, from labels and rows of standings that have a score."""
    height, top = 200, 12
    axis = _Axis([0.0, *(end for _, row in steps for end in _ends(row))], height - 30, top)
    gap = (WIDE - 90) / len(steps)
    marks: list[Tree] = []
    points: list[tuple[float, float]] = []
    for at, (label, row) in enumerate(_thinned(steps)):
        x, y = 70 + gap * (at + 0.5), axis(row["score"])
        points.append((x, y))
        if row["half_width_95"] is not None:
            low, high = map(axis, _ends(row))
            marks.append(line(x, low, x, high, "range"))
        marks.append(circle(x, y, 5, "dot"))
        marks.append(text(x, height - 6, _cut(label, max(4, int(gap / 8))), "middle", "strong"))
    path = polyline(points, "line")
    return _svg("Skill with 95 % bars, oldest first.", height, [*axis.rungs(), path, *marks])


def progress_plot(one: str, other: str, points: Sequence[PlottedTest], margins_in: str) -> Element:
    """Draw the estimate after every deal-set, with its anytime 95 % band."""
    thin = _thinned(points)
    finite = [end for tested in thin for end in (tested.low, tested.high) if math.isfinite(end)]
    means = [tested.mean for tested in thin]
    # Early bands are very wide, and would flatten the rest of the plot.
    late = [tested for tested in thin[len(thin) // 4 :] if math.isfinite(tested.low)]
    ends = [end for tested in late for end in (tested.low, tested.high)] or finite
    height = 220
    axis = _Axis([*ends, *means, 0.0], height - 30, 12)
    last = thin[-1].deal_sets

    def x(deal_sets: int) -> float:
        return 70 + (WIDE - 90) * deal_sets / max(last, 1)

    above = [f"{x(tested.deal_sets):.1f},{axis.inside(tested.high):.1f}" for tested in thin]
    below = [
        f"{x(tested.deal_sets):.1f},{axis.inside(tested.low):.1f}" for tested in reversed(thin)
    ]
    band = element("path", "band", d="M" + "L".join([*above, *below]) + "Z")
    estimate = polyline([(x(tested.deal_sets), axis(tested.mean)) for tested in thin], "line")
    marks = [
        text(70, height - 6, "0", "middle"),
        text(WIDE - 20, height - 6, count(last, "deal-set"), "end"),
    ]
    return _svg(
        f"{one} against {other}: {margins_in}, with the anytime 95 % band.",
        height,
        [*axis.rungs(), band, estimate, *marks],
    )


def faults_plot(kinds: Sequence[str], marks: Sequence[FaultMark], matches: int) -> Element:
    """Draw faults by match and decision, with a shape for each kind."""
    if not marks:
        return _empty("no faults")
    height = 200
    last = max(mark.decision for mark in marks)
    drawn: list[Tree] = [
        line(60, height - 30, WIDE - 20, height - 30, "axis"),
        line(60, 12, 60, height - 30, "axis"),
        text(60, height - 10, "match 1", "start"),
        text(WIDE - 20, height - 10, f"match {matches}", "end"),
        text(52, 18, str(last), "end"),
        text(52, height - 30, "decision 0", "end"),
    ]
    for mark in _thinned(marks):
        x = 66 + (WIDE - 96) * mark.match / max(matches - 1, 1)
        y = height - 30 - (height - 42) * mark.decision / max(last, 1)
        drawn.append(_fault(kinds.index(mark.kind), x, y))
    for at, kind in enumerate(kinds):
        drawn += [
            _fault(at, 80 + 130 * at, height + 4),
            text(90 + 130 * at, height + 8, kind, "start"),
        ]
    return _svg(f"{len(marks)} faults by match and decision.", height + 20, drawn)


_TIMES_MS: Final = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)


def times_plot(times_ms: Sequence[float]) -> Element:
    """Draw the distribution of decision times, by the upper bounds of half decades."""
    counts = [0] * (len(_TIMES_MS) + 1)
    for ms in times_ms:
        counts[bisect.bisect_left(_TIMES_MS, ms)] += 1
    bounds = [f"{ms:g} ms" if ms < 1_000 else f"{ms / 1000:g} s" for ms in _TIMES_MS] + ["more"]
    wide, most = (WIDE - 40) / len(counts), max(counts)
    marks: list[Tree] = [line(20, 150, WIDE - 20, 150, "axis")]
    for at, (number, bound) in enumerate(zip(counts, bounds, strict=True)):
        height, x = number / most * 130, 20 + at * wide
        marks.append(rect(x + 4, 150 - height, wide - 8, height, "bar"))
        marks.append(text(x + wide / 2, 168, bound, "middle"))
        if number:
            marks.append(text(x + wide / 2, 144 - height, f"{number}", "middle", "strong"))
    return _svg(f"{count(len(times_ms), 'decision')} by thinking time.", 176, marks)


def chance_words(chance: float) -> str:
    """Return a chance in %, never 0 or 100."""
    return ">99" if chance > 0.995 else "<1" if chance < 0.005 else f"{100 * chance:.0f}"


class _Axis:
    """Maps values to positions from `low_at` to `high_at`, with ticks at round values."""

    def __init__(self, values: Iterable[float], low_at: float, high_at: float) -> None:
        known = list(values)
        low, high = min(known), max(known)
        spread = (high - low) or 1.0
        self._low, self._high = low - 0.06 * spread, high + 0.06 * spread
        self._from, self._to = low_at, high_at
        self._step = round_step(spread, _TICKS)

    def __call__(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return self._from + share * (self._to - self._from)

    def inside(self, value: float) -> float:
        """Return the position of a value; that of the nearer end if the value is beyond the axis."""
        return self(min(max(value, self._low), self._high))

    def _ticks(self) -> list[float]:
        first = math.ceil(self._low / self._step)
        return [at * self._step for at in range(first, math.floor(self._high / self._step) + 1)]

    def rungs(self) -> list[Tree]:
        """Return the ticks of a vertical axis."""
        made: list[Tree] = []
        for tick in self._ticks():
            y = self(tick)
            made.append(line(64, y, WIDE - 10, y, "zero" if tick == 0 else "grid"))
            made.append(text(56, y + 4, _figure(tick, self._step), "end"))
        return made


def _thinned(marks: Sequence[_M]) -> Sequence[_M]:
    every = math.ceil(len(marks) / MOST_MARKS)
    return marks if every <= 1 else [*marks[:-1:every], marks[-1]]


def _fault(kind: int, x: float, y: float) -> Element:
    """Draw the shape of a kind of fault, by its number in the plot."""
    return element("path", f"fault-{kind}", d=f"M{x:.1f},{y:.1f}{_SYMBOLS[kind]}")


def _figure(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step))) if step < 1 else 0
    return f"{value:.{digits}f}" if value else "0"


def _cut(name: str, most: int = _LONGEST_NAME) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _empty(why: str) -> Element:
    return element("p", "empty-state", f"No plot: {why}.")


def _svg(message: str, height: float, inner: Iterable[Tree]) -> Element:
    return element(
        "svg",
        "plot",
        *inner,
        viewBox=f"0 0 {WIDE} {height:.0f}",
        role="img",
        aria_label=message,
    )


# Marks of a plot, as SVG elements.


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> Element:
    """Return a straight line."""
    return element("line", css, x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}")


def polyline(points: Sequence[tuple[float, float]], css: str) -> Element:
    """Return a line through all points."""
    return element("polyline", css, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points))


def rect(x: float, y: float, width: float, height: float, css: str) -> Element:
    """Return a rectangle by its upper left corner."""
    return element(
        "rect", css, x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}"
    )


def circle(x: float, y: float, radius: float, css: str) -> Element:
    """Return a circle around a point."""
    return element("circle", css, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius:.0f}")


def text(x: float, y: float, content: str, anchor: str, css: str = "") -> Element:
    """Text that starts, ends or has its middle at `x`, by the `anchor` of SVG."""
    return element("text", css, content, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def round_step(spread: float, most: int) -> float:
    """Return the smallest of 1, 2, 5, 10 … that divides `spread` into at most `most` parts."""
    step: float = 10 ** math.floor(math.log10(spread / most))
    return next(step * by for by in (1, 2, 5, 10) if spread / (step * by) <= most)

"""Five plots as SVG trees. Each page also has a table with the same figures.

The server draws them, so exports and browsers without scripts have them. A plot is an image whose
label is its message; screen readers read the table. The style sheet has the colours, and no plot
depends on colour only.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from arena.replay.phrases import count
from arena.web.marks import SYMBOLS, circle, line, polyline, rect, round_step, symbol, text
from arena.web.trees import Element, Tree, element

WIDE: Final = 720
"""The width of a plot in its own units; the page scales it."""
MOST_MARKS: Final = 2_000
"""The most marks of a plot; of more, every second, third … is drawn."""
_ROW: Final = 26
_NAME: Final = 150
_TICKS: Final = 5
_LONGEST_NAME: Final = 14
_M = TypeVar("_M")


@dataclass(frozen=True, slots=True)
class PlottedSkill:
    """A bot in a table of skills."""

    bot: str
    tier: int | None
    """From 1; None if it is not ranked."""
    value: float | None
    half_width: float | None

    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % interval; both are the value if its width is not known."""
        value, half_width = self.value or 0.0, self.half_width or 0.0
        return value - half_width, value + half_width


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


def standings_plot(rows: Sequence[PlottedSkill]) -> Element:
    """Draw dots with 95 % bars, and a line between tiers."""
    ranked = [row for row in rows if row.value is not None]
    if not ranked:
        return _empty("no bot is ranked yet")
    axis = _Axis([0.0, *(end for row in ranked for end in row.interval())], _NAME, WIDE - 20)
    marks: list[Tree] = []
    for at, row in enumerate(ranked):
        y = 16 + at * _ROW
        if at and row.tier != ranked[at - 1].tier:
            marks.append(line(0, y - _ROW / 2, WIDE, y - _ROW / 2, "tier"))
        assert row.value is not None
        marks.append(text(_NAME - 10, y + 4, _cut(row.bot), "end"))
        if row.half_width is not None:
            low, high = map(axis, row.interval())
            marks.append(line(low, y, high, y, "bar-95"))
        marks.append(circle(axis(row.value), y, 5, "dot"))
    best = ranked[0].bot
    return _svg(
        f"Skills with 95 % bars; best is {best}.",
        16 + len(ranked) * _ROW + 24,
        [*axis.drawn(8 + len(ranked) * _ROW), *marks],
    )


def versions_plot(steps: Sequence[PlottedSkill]) -> Element:
    """Draw skill by competition, oldest first: dots with bars; `bot` is the label of a step."""
    known = [each for each in steps if each.value is not None]
    if not known:
        return _empty("no competition has ranked it yet")
    height, top = 200, 12
    axis = _Axis([0.0, *(end for row in known for end in row.interval())], height - 30, top)
    gap = (WIDE - 90) / len(known)
    marks: list[Tree] = []
    points: list[tuple[float, float]] = []
    for at, row in enumerate(_thinned(known)):
        assert row.value is not None
        x = 70 + gap * (at + 0.5)
        points.append((x, axis(row.value)))
        if row.half_width is not None:
            low, high = map(axis, row.interval())
            marks.append(line(x, low, x, high, "bar-95"))
        marks.append(circle(x, axis(row.value), 5, "dot"))
        marks.append(text(x, height - 6, _cut(row.bot, max(4, int(gap / 8))), "middle"))
    path = polyline(points, "steps")
    return _svg("Skill with 95 % bars, oldest first.", height, [*axis.rungs(), path, *marks])


def pairs_plot(bots: Sequence[str], better: Sequence[Sequence[float | None]]) -> Element:
    """Draw a heat map of the chance that the row's bot is better, with the number in each cell.

    Blue cells favour the row, orange ones the column; darker is more certain. These colours suit
    colour-blind readers. Pairs without a chance are grey.
    """
    if not bots:
        return _empty("no two bots have met")
    shown = len(bots)
    side = min(80.0, (WIDE - _NAME) / shown)
    marks: list[Tree] = []
    for row, bot in enumerate(bots):
        y = 30 + row * 30
        marks.append(text(_NAME - 10, y + 19, _cut(bot), "end"))
        marks.append(
            text(_NAME + side * (row + 0.5), 20, _cut(bot, max(3, int(side / 8))), "middle")
        )
        for column in range(shown):
            chance = better[row][column]
            x = _NAME + side * column
            marks.append(rect(x, y, side - 2, 28, f"cell {_shade(chance)}"))
            if chance is not None:
                marks.append(
                    text(x + side / 2 - 1, y + 19, chance_words(chance), "middle", "in-cell")
                )
    return _svg(
        "Chance in % that the row's bot is better than the column's.", 36 + shown * 30, marks
    )


def progress_plot(one: str, other: str, points: Sequence[PlottedTest]) -> Element:
    """Draw the estimate after every deal-set, with its anytime 95 % band."""
    if not points:
        return _empty("they have not met yet")
    thin = _thinned(points)
    finite = [end for each in thin for end in (each.low, each.high) if math.isfinite(end)]
    means = [each.mean for each in thin]
    # Early bands are very wide, and would flatten the rest of the plot.
    late = [each for each in thin[len(thin) // 4 :] if math.isfinite(each.low)]
    ends = [end for each in late for end in (each.low, each.high)] or finite
    height = 220
    axis = _Axis([*ends, *means, 0.0], height - 30, 12)
    last = thin[-1].deal_sets

    def x(deal_sets: int) -> float:
        return 70 + (WIDE - 90) * deal_sets / max(last, 1)

    above = [f"{x(each.deal_sets):.1f},{axis.inside(each.high):.1f}" for each in thin]
    below = [f"{x(each.deal_sets):.1f},{axis.inside(each.low):.1f}" for each in reversed(thin)]
    band = element("path", "band", d="M" + "L".join([*above, *below]) + "Z")
    estimate = polyline([(x(each.deal_sets), axis(each.mean)) for each in thin], "estimate")
    marks = [
        text(70, height - 6, "0", "middle"),
        text(WIDE - 20, height - 6, count(last, "deal-set"), "end"),
    ]
    return _svg(
        f"{one} against {other}: points a deal-set, with the anytime 95 % band.",
        height,
        [*axis.rungs(), band, estimate, *marks],
    )


def faults_plot(kinds: Sequence[str], marks: Sequence[FaultMark], matches: int) -> Element:
    """Draw faults by match and decision, with a shape for each kind."""
    if not marks:
        return _empty("no faults")
    height = 200
    last = max(each.decision for each in marks)
    drawn: list[Tree] = [
        line(60, height - 30, WIDE - 20, height - 30, "axis"),
        line(60, 12, 60, height - 30, "axis"),
        text(60, height - 10, "match 1", "start"),
        text(WIDE - 20, height - 10, f"match {matches}", "end"),
        text(52, 18, str(last), "end"),
        text(52, height - 30, "decision 0", "end"),
    ]
    for each in _thinned(marks):
        x = 66 + (WIDE - 96) * each.match / max(matches - 1, 1)
        y = height - 30 - (height - 42) * each.decision / max(last, 1)
        drawn.append(_fault(kinds.index(each.kind), x, y))
    for at, kind in enumerate(kinds):
        drawn += [
            _fault(at, 80 + 130 * at, height + 4),
            text(90 + 130 * at, height + 8, kind, "start"),
        ]
    return _svg(f"{len(marks)} faults by match and decision.", height + 20, drawn)


def chance_words(chance: float) -> str:
    """A chance in %, never 0 or 100."""
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
        """The position of a value; that of the nearer end if the value is beyond the axis."""
        return self(min(max(value, self._low), self._high))

    def _ticks(self) -> list[float]:
        first = math.ceil(self._low / self._step)
        return [at * self._step for at in range(first, math.floor(self._high / self._step) + 1)]

    def drawn(self, below: float) -> list[Tree]:
        """The ticks of a horizontal axis at the position `below`."""
        made: list[Tree] = []
        for tick in self._ticks():
            x = self(tick)
            made.append(line(x, 4, x, below, "zero" if tick == 0 else "axis"))
            made.append(text(x, below + 16, _figure(tick, self._step), "middle"))
        return made

    def rungs(self) -> list[Tree]:
        """The ticks of a vertical axis."""
        made: list[Tree] = []
        for tick in self._ticks():
            y = self(tick)
            made.append(line(64, y, WIDE - 10, y, "zero" if tick == 0 else "axis"))
            made.append(text(56, y + 4, _figure(tick, self._step), "end"))
        return made


def _thinned(marks: Sequence[_M]) -> Sequence[_M]:
    every = math.ceil(len(marks) / MOST_MARKS)
    return marks if every <= 1 else [*marks[:-1:every], marks[-1]]


def _shade(chance: float | None) -> str:
    if chance is None:
        return "unknown"
    if abs(chance - 0.5) < 0.1:
        return "even"
    sure = "-sure" if abs(chance - 0.5) > 0.475 else ""
    return f"row{sure}" if chance > 0.5 else f"column{sure}"


def _fault(kind: int, x: float, y: float) -> Element:
    return symbol(kind, x, y, f"fault-{kind % len(SYMBOLS)}")


def _figure(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step))) if step < 1 else 0
    return f"{value:.{digits}f}" if value else "0"


def _cut(name: str, most: int = _LONGEST_NAME) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _empty(why: str) -> Element:
    return element("p", "empty", f"No plot: {why}.")


def _svg(message: str, height: float, inner: Iterable[Tree]) -> Element:
    return element(
        "svg",
        "plot",
        *inner,
        viewBox=f"0 0 {WIDE} {height:.0f}",
        role="img",
        aria_label=message,
    )

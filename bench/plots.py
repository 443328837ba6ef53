"""Plots of the sweeps by matplotlib, as SVG files: the same bytes from the same figures.

A plot stands alone: it names its axes with their units, and the machine and the day of its figures.
Lines differ by symbol and name, not by colour alone.
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = Sequence[Mapping[str, Any]]

_STYLE: Final = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "font.size": 9,
    "grid.color": "0.85",
    "legend.frameon": False,
    "lines.markersize": 5,
    "svg.fonttype": "none",  # words stay words
    "svg.hashsalt": "Card Arena",
}
_MARKERS: Final = "os^D"
_LEAST_SIZES: Final = 4
"""Sizes of hands that it takes to show how they change what an ask costs."""


class NoSweeps(Exception):
    """A file has no sweeps that can be drawn. The text says which are missing, and how to make them."""


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
    """Write all plots into a folder; returns their files.

    Raises:
      NoSweeps: if the figures lack one of the sweeps.
      OSError: if a file cannot be written.
    """
    drawn = plots(figures)
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in drawn.items():
        (folder / f"{name}.svg").write_text(svg, "utf-8", newline="\n")
    return [folder / f"{name}.svg" for name in drawn]


def plots(figures: Mapping[str, Any]) -> dict[str, str]:
    """The plots as SVG, by their names.

    Raises:
      NoSweeps: if the figures lack one of the sweeps.
    """
    sweeps = figures.get("sweeps") or {}
    if missing := sorted({of for of, _ in _PLOTS.values() if not sweeps.get(of)}):
        raise NoSweeps(
            f"the figures have no sweeps of {', '.join(missing)}: "
            "make them by scripts/bench --only sweeps --json FILE"
        )
    try:
        return {
            name: _svg(lambda axes, of=of, plot=plot: plot(axes, sweeps[of]), caption(figures))
            for name, (of, plot) in _PLOTS.items()
        }
    except (KeyError, TypeError) as error:
        raise NoSweeps(
            f"the figures are not of this scripts/bench, which looks for {error}: measure again"
        ) from None


def caption(figures: Mapping[str, Any]) -> str:
    """The day and the machine of the figures."""
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


def _svg(plot: Callable[["Axes"], None], words: str) -> str:
    """A plot with `words` below it, as the text of an SVG file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        axes = figure.add_subplot()
        plot(axes)
        if axes.lines:
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        figure.supxlabel(words, x=0.01, ha="left", fontsize=8, color="0.4")
        file = io.StringIO()
        title = f"{axes.get_title('left')}. {words}"
        figure.savefig(file, format="svg", metadata={"Creator": None, "Date": None, "Title": title})
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _lines(axes: "Axes", points: Points, name: str, x: str, y: str, least: int = 1) -> None:
    """A line of the points of each value of `name`, where there are at least so many."""
    for value in dict.fromkeys(point[name] for point in points):
        own = [point for point in points if point[name] == value]
        if len(own) >= least:
            _line(axes, [(point[x], point[y]) for point in own], str(value))


def _line(axes: "Axes", line: Sequence[tuple[float, float]], name: str, style: str = "-") -> None:
    axes.plot(*zip(*line, strict=True), style, label=name, marker=_MARKERS[len(axes.lines) % 4])


def _decisions(axes: "Axes", points: Points) -> None:
    axes.set(title="Decisions of the trivial game a second", xlabel="streams")
    axes.set(ylabel="decisions a second")
    axes.set_xscale("log")
    each = [
        {**point, "name": f"{point['matches']} match{'es' * (point['matches'] > 1)} each"}
        for point in points
    ]
    _lines(axes, each, "name", "streams", "per_s")
    streams = sorted({point["streams"] for point in points})
    bare = [sorted(p["bare_per_s"] for p in points if p["streams"] == number) for number in streams]
    medians = [(number, of[len(of) // 2]) for number, of in zip(streams, bare, strict=True)]
    _line(axes, medians, "bare gRPC", "--")
    axes.set_xticks(streams, map(str, streams))
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _turnarounds(axes: "Axes", points: Points) -> None:
    axes.set(title="Turnaround: from when an answer was due to the next ask", ylabel="ms")
    axes.set(xlabel="decisions offered a second, on 64 streams")
    shares = {"p50_ms": "p50", "p90_ms": "p90", "p99_ms": "p99", "p999_ms": "p99.9"}
    for server, style, named in (
        ("arena", "-", shares),
        ("bare", "--", {share: f"{shares[share]}, bare gRPC" for share in ("p50_ms", "p99_ms")}),
    ):
        own = [point for point in points if point["server"] == server]
        for share, name in named.items() if own else ():
            _line(axes, [(point["offered_per_s"], point[share]) for point in own], name, style)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    _log(axes)


def _memory(axes: "Axes", points: Points) -> None:
    axes.set(title="Memory of the arena's process", xlabel="matches in play", ylabel="MiB")
    _lines(axes, points, "game", "matches", "memory_mb")
    axes.set_ylim(bottom=0)


def _asks_by_seats(axes: "Axes", points: Points) -> None:
    axes.set(title="An ask, by seats", xlabel="seats", ylabel="\N{MICRO SIGN}s of processor time")
    _lines(axes, points, "game", "seats", "us", least=2)
    axes.set_xticks(sorted({point["seats"] for point in points}))
    _log(axes)


def _asks_by_held(axes: "Axes", points: Points) -> None:
    axes.set(title="An ask, by cards held (and seats)", xlabel="cards held")
    axes.set(ylabel="\N{MICRO SIGN}s of processor time")
    shown = set()
    for point in points:
        if len(point["by_held"]) >= _LEAST_SIZES and point["game"] not in shown:
            shown.add(point["game"])
            line = [(each["held"], each["us"]) for each in point["by_held"]]
            _line(axes, line, f"{point['game']}, {point['seats']}")
    _log(axes)


def _log(axes: "Axes") -> None:
    axes.set_yscale("log", subs=())
    axes.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
    axes.yaxis.set_major_formatter("{x:,g}")


_PLOTS: Final[Mapping[str, tuple[str, Callable[["Axes", Points], None]]]] = {
    "decisions": ("decisions", _decisions),
    "turnarounds": ("turnarounds", _turnarounds),
    "memory": ("memory", _memory),
    "asks-by-seats": ("asks", _asks_by_seats),
    "asks-by-cards-held": ("asks", _asks_by_held),
}
"""By the name of its file, the sweep that each plot shows, and what draws it."""

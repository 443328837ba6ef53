"""`python -m bench`: measure, print tables, and write the figures as JSON."""

import json
import os
import platform
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from arena.compiled import built
from arena.games.catalogue import GAMES, game_by_id
from bench import clock, cost, pages, playing, research, rules, watchers, wire
from bench.processes import Failed

TURN_TARGET_MS: Final = 1.0
"""Most that a thousand watchers may add to a turn of the match that they watch."""
PLAIN_COLUMNS: Final = 100
"""Width where the output is not a terminal."""
TIMES: Final = "\N{MULTIPLICATION SIGN}"

Progress = Callable[[str], None]
_out = Console() if sys.stdout.isatty() else Console(width=PLAIN_COLUMNS)
_err = Console(stderr=True)


def _show(title: str, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    table = Table(title=title, title_justify="left")
    for at, head in enumerate(heads):
        table.add_column(head, justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    _out.print(table)


def _cost(quick: bool, progress: Progress) -> Any:
    costs = cost.measure(cost.CASES[:1] if quick else cost.CASES, progress)
    rows = []
    for case in costs:
        budget, over = ("none", "") if case.budget is None else (
            f"{case.budget / 1000:.1f}", f"{case.over:+.1%}"
        )  # fmt: skip
        counted = f"{case.instructions / 1000:.1f}"
        rows.append((case.case, f"{case.asks_per_frame:.1f}", counted, budget, over))
    heads = ("case", "asks/frame", "counted", "budget", "over")
    _show(f"Thousands of instructions a decision: {cost.build()}", heads, rows)
    return [asdict(case) for case in costs]


def _off_budget(figures: list[dict[str, Any]]) -> str:
    """Return why a run fails, in a sentence; empty if it does not."""
    costs = [cost.Cost(**row) for row in figures]
    if over := [case for case in costs if not case.is_within]:
        cases = ", ".join(f"{case.case} by {case.over:.1%}" for case in over)
        return (
            f"over the budget of instructions by more than {cost.TOLERANCE:.1%}: {cases}. Find what "
            "costs more; or, if it must, raise the line in bench/budget.json and say why there"
        )
    if loose := [case for case in costs if case.is_loose]:
        cases = ", ".join(f"{case.case} to {case.instructions}" for case in loose)
        return (
            f"under the budget of instructions by more than {cost.SLACK:.0%}, where as much could "
            f"be lost again unnoticed. Lower the line in bench/budget.json: {cases}"
        )
    return ""


def _wire(quick: bool, progress: Progress) -> Any:
    rows, figures = [], {}
    for case in wire.CASES:
        got = wire.compare(case, *((1, 0.7) if quick else (5, 1.5)), progress)
        figures[case.name] = asdict(got)
        rows.append(
            (
                f"{case.streams}{TIMES}{case.matches}",
                f"{got.asks_per_frame:.1f}",
                f"{got.bare_per_s:,.0f}",
                f"{got.arena_per_s:,.0f}",
                f"{got.ratio:.2f}",
                f"{got.low:.2f}-{got.high:.2f}",
                case.target,
                f"{got.cpu_us:.1f}",
                case.target_us,
            )
        )
    heads = (f"streams{TIMES}matches", "asks/frame", "bare", "arena", "ratio", "range", "goal",
             "CPU µs", "goal")  # fmt: skip
    _show("Decisions a second over the wire, as ratios to a bare grpc.aio ping-pong", heads, rows)
    return figures


def _end_to_end(quick: bool, progress: Progress) -> Any:
    size = (1, 0.7) if quick else (3, 2.0)
    figures = {game.id: round(wire.decisions_per_s(game, *size, progress)) for game in GAMES}
    game_id, hands = wire.LONG
    per_s = wire.decisions_per_s(game_by_id(game_id), *size, progress, hands=hands)
    figures[f"{game_id}, {hands} hands"] = round(per_s)
    title = f"Decisions a second end to end, {wire.MATCHES} matches a stream, journal on"
    _show(title, ("game", "decisions/s"), ((name, f"{rate:,}") for name, rate in figures.items()))
    return figures


def _in_turns(
    rates: Mapping[str, Callable[[float], float]], quick: bool, seconds: float, progress: Progress
) -> dict[str, int]:
    """Return the median of five rounds of each rate; all take turns, so that they see the same machine."""
    rounds, seconds = (1, 0.3) if quick else (5, seconds)
    measured: dict[str, list[float]] = {name: [] for name in rates}
    for at in range(rounds):
        for name, rate in rates.items():
            measured[name].append(rate(seconds))
            progress(f"{name} {at + 1}/{rounds}: {measured[name][-1]:.0f}/s")
    return {name: round(statistics.median(per_s)) for name, per_s in measured.items()}


def _rules(quick: bool, progress: Progress) -> Any:
    rates = {game.id: rules.rate_of(game) for game in GAMES}
    rates |= {
        f"{name}, as offered": rules.rate_of(game_by_id(name), offered=True)
        for name in rules.DRAWN_SLOWLY
    }
    figures = _in_turns(rates, quick, 0.7, progress)
    rows = ((name, f"{rate:,}") for name, rate in figures.items())
    _show("Rules alone, random play in one process", ("game", "decisions/s"), rows)
    return figures


def _research(quick: bool, progress: Progress) -> Any:
    figures = _in_turns(dict(research.rates(progress)), quick, 0.5, progress)
    rows = ((name, f"{rate:,}") for name, rate in figures.items())
    _show(
        "Random play with observations, in one process", ("game", "steps/s of processor time"), rows
    )
    return figures


def _clock(quick: bool, progress: Progress) -> Any:
    rows, figures = [], {}
    for case in clock.CASES:
        got = clock.measure(case, 4.0 if quick else 20.0, progress)
        figures[case.name] = asdict(got)
        rows.append(
            (
                case.name,
                f"{got.decisions:,}",
                f"{got.p50_ms:.1f}",
                f"{got.p99_ms:.1f}",
                case.p99_target_ms,
                f"{got.extra_ms:.1f}",
                case.extra_target_ms,
                f"{got.refunded_s:.1f}",
                got.timeouts,
            )
        )
    title = f"Time charged less time thought, {clock.THINK_MS:.0f} ms at most of {clock.BUDGET_MS}"
    heads = ("case", "decisions", "p50 ms", "p99 ms", "goal", "most ms", "goal", "refunded s",
             "time-outs")  # fmt: skip
    _show(title, heads, rows)
    return figures


def _playing(quick: bool, progress: Progress) -> Any:
    games, rounds, seconds = (playing.GAMES[:1], 1, 5.0) if quick else (playing.GAMES, 3, 20.0)
    figures = [asdict(case) for case in playing.measure(games, rounds, seconds, progress)]
    title = f"A ladder of {playing.BOTS} launched bots, by the number of workers"
    heads = ("game", "--workers", "decisions/s", "CPU µs", "matches/h", "arena MB", "worker MB",
             "bot MB")  # fmt: skip
    rows = ((game, *(f"{value:,.0f}" for value in values)) for game, *values in
            (row.values() for row in figures))  # fmt: skip
    _show(title, heads, rows)
    return figures


def _pages(quick: bool, progress: Progress) -> Any:
    matches = 2_000 if quick else 100_000
    costs = pages.measure(matches, progress)
    rows = (
        (cost.page, f"{cost.cpu_ms:.0f}", f"{cost.kb:.0f}", f"{cost.kb_compressed:.1f}")
        for cost in costs
    )
    heads = ("page", "CPU ms", "kB", "kB gz")
    _show(f"Pages of a site with {matches:,} matches", heads, rows)
    return [asdict(cost) for cost in costs]


def _web(quick: bool, progress: Progress) -> Any:
    got = watchers.measure(quick=quick, progress=progress)
    beside_ms = f"{got.alone_p99_ms + TURN_TARGET_MS:.1f} ms"
    rows = (
        ("messages a second to each", f"{got.messages_per_s:.1f}", "4"),
        ("messages missed", got.missed, "0"),
        ("of a core", f"{got.core_share:.0%}", "15 %"),
        ("memory", f"{got.memory_mb:.0f} MB, {got.added_mb:.0f} of it for them", "60 MB"),
        ("p99 from the first watcher to another", f"{got.p99_ms:.0f} ms", "250 ms"),
        ("added to a turn, p99, without them", f"{got.alone_p99_ms:.1f} ms", None),
        ("added to a turn, p99, beside them", f"{got.beside_p99_ms:.1f} ms", beside_ms),
    )
    _show(f"{got.watchers:,} watchers of a match, by arena web", ("what", "", "goal"), rows)
    return asdict(got)


def _floor(quick: bool, progress: Progress, paths: tuple[str, ...] = ()) -> Any:
    rates = wire.bare_per_s(paths, *((1, 0.7) if quick else (5, 1.5)), progress)
    first = next(iter(rates))[0]
    rows = []
    for (version, streams), per_s in rates.items():
        beside = zip(per_s, rates.get((first, streams), ()), strict=False)
        ratios = [rate / base for rate, base in beside]
        ratio = f"{statistics.median(ratios):.2f}" if ratios else None
        rows.append((version, streams, f"{statistics.median(per_s):,.0f}", ratio))
    heads = ("grpcio", "streams", "round trips", "beside the first")
    _show("Round trips a second of a bare grpc.aio ping-pong", heads, rows)
    return [{"grpcio": version, "streams": streams, "per_s": per_s}
            for (version, streams), per_s in rates.items()]  # fmt: skip


PARTS: Final[dict[str, Callable[[bool, Progress], Any]]] = {
    "cost": _cost,
    "wire": _wire,
    "end_to_end": _end_to_end,
    "rules": _rules,
    "research": _research,
    "clock": _clock,
    "web": _web,
    "pages": _pages,
    "playing": _playing,
    "floor": _floor,
}
NAMED: Final = ("research", "playing", "floor")
"""Parts that run only when they are named."""


def versions() -> dict[str, str | int]:
    """Return the versions that affect speed, and the processor of the machine."""
    model = re.search(
        r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE
    )
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("grpcio", "protobuf", "trio")},
        "arena": built(),
        "cpu": model[1] if model else platform.machine(),
        "cpu_count": os.cpu_count() or 0,
    }


def _write(file: Path | None, figures: dict[str, Any]) -> None:
    """Write the figures so far, if they are to be written."""
    if file is not None:
        try:
            file.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
        except OSError as error:
            raise click.ClickException(f"cannot write {file}: {error.strerror}") from None


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  python -m bench --json bench.json
  python -m bench --only cost
  python -m bench --only floor --grpcio /tmp/grpcio-1.75.1 --grpcio /tmp/grpcio-1.85.1
""",
)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the figures to FILE as well.", metavar="FILE")  # fmt: skip
@click.option("--only", type=click.Choice([*PARTS]), help="Run one part.")
@click.option("--quick", is_flag=True, help="One short round of each: to see that all runs.")
@click.option("--grpcio", "paths", multiple=True, metavar="FOLDER",
              help="With --only floor: measure the grpcio in FOLDER, made by"
              " `pip install --target FOLDER grpcio==VERSION`. May be repeated.")  # fmt: skip
def main(file: Path | None, only: str | None, quick: bool, paths: tuple[str, ...]) -> None:
    """Measure the arena on this machine.

    Figures of a busy machine say little: ratios are measured in turns, the
    rest is not.
    """
    if paths and only != "floor":
        raise click.UsageError("--grpcio goes with --only floor")
    today = datetime.now(UTC).date().isoformat()
    figures: dict[str, Any] = {"versions": versions(), "date": today, "quick": quick}
    names = [only] if only else [name for name in PARTS if name not in NAMED]
    with _err.status("measuring") as status:
        try:
            for name in names:
                part = partial(_floor, paths=paths) if paths else PARTS[name]
                figures[name] = part(quick, status.update)
                _write(file, figures)  # one that fails later loses nothing
        except Failed as error:
            raise click.ClickException(str(error)) from None
    shown = ", ".join(f"{name} {value}" for name, value in figures["versions"].items())
    _out.print(shown, soft_wrap=True)
    if why := _off_budget(figures.get("cost", [])):
        raise click.ClickException(why)


if __name__ == "__main__":
    main(prog_name="python -m bench")

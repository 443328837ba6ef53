"""`python -m bench`: measure, print tables, and write the figures as JSON."""

import json
import os
import platform
import re
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
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

PLAIN_COLUMNS: Final = 140
"""Width where the output is not a terminal."""

Progress = Callable[[str], None]
_out = Console() if sys.stdout.isatty() else Console(width=PLAIN_COLUMNS)
_err = Console(stderr=True)


def _show(title: str, figures: Any) -> None:
    """Print figures as a table: a row for each of a list, or for each name, with a column for each value."""
    rows: list[dict[str, object]] = figures
    if isinstance(figures, dict):
        rows = [
            {"": name} | (values if isinstance(values, dict) else {"figure": values})
            for name, values in figures.items()
        ]
    table = Table(title=title, title_justify="left")
    for at, head in enumerate(rows[0]):
        table.add_column(head, justify="right" if at else "left")
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    _out.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str("none" if value is None else value)


def _cost(quick: bool, progress: Progress) -> Any:
    costs = cost.measure(cost.CASES[:1] if quick else cost.CASES, progress)
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
    size = (1, 0.7) if quick else (5, 1.5)
    return {case.name: wire.compare(case, *size, progress) for case in wire.CASES}


def _end_to_end(quick: bool, progress: Progress) -> Any:
    size = (1, 0.7) if quick else (3, 2.0)
    figures = {game.id: round(wire.decisions_per_s(game, *size, progress)) for game in GAMES}
    game_id, hands = wire.LONG
    per_s = wire.decisions_per_s(game_by_id(game_id), *size, progress, hands=hands)
    return figures | {f"{game_id}, {hands} hands": round(per_s)}


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
    return _in_turns(rates, quick, 0.7, progress)


def _research(quick: bool, progress: Progress) -> Any:
    return _in_turns(dict(research.rates(progress)), quick, 0.5, progress)


def _clock(quick: bool, progress: Progress) -> Any:
    seconds = 4.0 if quick else 20.0
    return {case.name: clock.measure(case, seconds, progress) for case in clock.CASES}


def _playing(quick: bool, progress: Progress) -> Any:
    games, rounds, seconds = (playing.GAMES[:1], 1, 5.0) if quick else (playing.GAMES, 3, 20.0)
    return playing.measure(games, rounds, seconds, progress)


def _pages(quick: bool, progress: Progress) -> Any:
    return pages.measure(2_000 if quick else 100_000, progress)


def _web(quick: bool, progress: Progress) -> Any:
    return watchers.measure(quick=quick, progress=progress)


PARTS: Final[dict[str, tuple[str, Callable[[bool, Progress], Any]]]] = {
    "cost": (f"Instructions a decision: {cost.build()}", _cost),
    "wire": ("Decisions a second over the wire, beside a bare grpc.aio ping-pong", _wire),
    "end_to_end": (f"Decisions a second, {wire.MATCHES} matches a stream, journal on", _end_to_end),
    "rules": ("Decisions a second of the rules alone, random play in one process", _rules),
    "research": ("Steps a second of processor time, random play with observations", _research),
    "clock": (f"Time charged less time thought, at most {clock.THINK_MS:.0f} ms", _clock),
    "web": ("Watchers of a match, by arena web", _web),
    "pages": ("Pages of a site with many matches", _pages),
    "playing": (f"A ladder of {playing.BOTS} launched bots, by the number of workers", _playing),
}
"""The title of each part, and what measures it."""
NAMED: Final = ("research", "playing")
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
""",
)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the figures to FILE as well.", metavar="FILE")  # fmt: skip
@click.option("--only", type=click.Choice([*PARTS]), help="Run one part.")
@click.option("--quick", is_flag=True, help="One short round of each: to see that all runs.")
def main(file: Path | None, only: str | None, quick: bool) -> None:
    """Measure the arena on this machine.

    Figures of a busy machine say little: ratios are measured in turns, the
    rest is not.
    """
    today = datetime.now(UTC).date().isoformat()
    figures: dict[str, Any] = {"versions": versions(), "date": today, "quick": quick}
    names = [only] if only else [name for name in PARTS if name not in NAMED]
    with _err.status("measuring") as status:
        try:
            for name in names:
                title, measure = PARTS[name]
                figures[name] = measure(quick, status.update)
                _show(title, figures[name])
                _write(file, figures)  # one that fails later loses nothing
        except Failed as error:
            raise click.ClickException(str(error)) from None
    shown = ", ".join(f"{name} {value}" for name, value in figures["versions"].items())
    _out.print(shown, soft_wrap=True)
    if why := _off_budget(figures.get("cost", [])):
        raise click.ClickException(why)


if __name__ == "__main__":
    main(prog_name="python -m bench")

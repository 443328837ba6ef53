"""`python -m bench`: measure, print tables, and write the figures as JSON."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from arena.games.catalogue import GAMES, game_by_id
from bench import (
    clock,
    cost,
    end_to_end,
    floor,
    hands,
    ladder,
    local,
    metrics,
    pages,
    peers,
    playing,
    plots,
    rules,
    sdks,
    sweeps,
    watchers,
    wire,
)
from bench.encode import ask_60_moves_us
from bench.processes import Failed
from bench.versions import versions

PARTS: Final = (
    "cost",
    "wire",
    "encode",
    "end_to_end",
    "rules",
    "hands",
    "local",
    "clock",
    "metrics",
    "ladder",
    "sdks",
    "web",
)
ASKED_FOR: Final = ("floor", "playing", "sweeps")
"""Parts that are run when they are asked for, and not with all others."""
ENCODE_TARGET_US: Final = 30
WATCHING_TARGET_US: Final = 1.0
TURN_TARGET_MS: Final = 1.0
"""Most that a thousand watchers may add to a turn of the match that they watch."""
PLAIN_COLUMNS: Final = 100
"""Width where the output is not a terminal."""

Progress = Callable[[str], None]
_out = Console() if sys.stdout.isatty() else Console(width=PLAIN_COLUMNS)
_err = Console(stderr=True)


def _wire(quick: bool, progress: Progress) -> dict[str, Any]:
    table = _table(
        "Decisions a second over the wire, as ratios to a bare grpc.aio ping-pong",
        *("streams\N{MULTIPLICATION SIGN}matches", "asks/frame", "bare", "arena", "ratio", "range"),
        *("goal", "CPU µs", "goal"),
    )
    found, used_us = {}, {}
    for case in wire.CASES:
        rounds, seconds = (1, 0.7) if quick else (5, 1.5)
        got = wire.compare(case, rounds, seconds, progress)
        found[case.name] = round(got.ratio, 3)
        used_us[case.name] = {"arena": round(got.cpu_us, 1), "bare": round(got.bare_cpu_us, 1)}
        table.add_row(
            f"{case.streams}\N{MULTIPLICATION SIGN}{case.matches}",
            f"{got.asks_per_frame:.1f}",
            f"{got.bare_per_s:,.0f}",
            f"{got.arena_per_s:,.0f}",
            f"{got.ratio:.2f}",
            f"{got.low:.2f}-{got.high:.2f}",
            "" if case.target is None else f"{case.target:.2f}",
            f"{got.cpu_us:.1f}",
            "" if case.target_us is None else f"{case.target_us:.0f}",
        )
    _out.print(table)
    return {"wire": found, "wire_cpu_us": used_us}


def _encode(quick: bool, progress: Progress) -> dict[str, Any]:
    progress("an ask with 60 moves")
    took_us = ask_60_moves_us(20 if quick else 200)
    table = _table("Building and encoding an ask", "ask", "µs", "target")
    table.add_row("60 moves", f"{took_us:.1f}", str(ENCODE_TARGET_US))
    _out.print(table)
    return {"encode": {"ask_60_moves_us": round(took_us, 1)}}


def _end_to_end(quick: bool, progress: Progress) -> dict[str, Any]:
    title = f"Decisions a second end to end, {end_to_end.MATCHES} matches a stream, journal on"
    table = _table(title, "game", "seats", "decisions/s")
    found = {}
    rounds, seconds = (1, 0.7) if quick else (3, 2.0)
    for game in GAMES:
        per_s = end_to_end.decisions_per_s(game, rounds, seconds, progress)
        found[game.id] = round(per_s)
        table.add_row(game.id, str(min(game.seats)), f"{per_s:,.0f}")
    game_id, hands = end_to_end.LONG
    game, name = game_by_id(game_id), f"{game_id}, {hands} hands"
    per_s = end_to_end.decisions_per_s(game, rounds, seconds, progress, hands=hands)
    found[name] = round(per_s)
    table.add_row(name, str(min(game.seats)), f"{per_s:,.0f}")
    _out.print(table)
    return {"end_to_end": found}


def _rules(quick: bool, progress: Progress) -> dict[str, Any]:
    """Games and peers take turns, so that all see the same machine."""
    rates: dict[str, rules.Rate] = {game.id: rules.rate_of(game) for game in GAMES}
    as_offered = {f"{name}, as offered": name for name in rules.DRAWN_SLOWLY}
    for name, of in as_offered.items():
        rates[name] = rules.rate_of(game_by_id(of), offered=True)
    missing = []
    for name, make in peers.PEERS.items():
        progress(f"making {name} ready")
        try:
            rates[name] = make()
        except ImportError:
            missing.append(name)
    rounds, seconds = (1, 0.3) if quick else (5, 0.7)
    found: dict[str, list[float]] = {name: [] for name in rates}
    for at in range(rounds):
        for name, rate in rates.items():
            found[name].append(rate(seconds))
            progress(f"{name} {at + 1}/{rounds}: {found[name][-1]:.0f}/s")
    table = _table("Rules alone, random play in one process", "game", "seats", "decisions/s")
    seats = {game.id: str(min(game.seats)) for game in GAMES}
    seats |= {name: seats[of] for name, of in as_offered.items()}
    medians = {name: round(statistics.median(each)) for name, each in found.items()}
    for name, per_s in medians.items():
        table.add_row(name, seats.get(name, "peer"), f"{per_s:,}")
    for name in missing:
        table.add_row(name, "peer", "not installed")
    _out.print(table)
    return {
        "rules": {name: medians[name] for name in seats},
        "peers": {name: per_s for name, per_s in medians.items() if name not in seats},
    }


def _hands(quick: bool, progress: Progress) -> dict[str, Any]:
    """All evaluators take turns, so that they see the same machine."""
    rates: dict[str, rules.Rate] = {}
    table = _table("Values of seven cards a second", "evaluator", "hands/s")
    for name, make in hands.EVALUATORS.items():
        try:
            rates[name] = hands.rate_of(make())
        except ImportError:
            table.add_row(name, "not installed")
    rounds, seconds = (1, 0.3) if quick else (5, 0.7)
    found: dict[str, list[float]] = {name: [] for name in rates}
    for at in range(rounds):
        for name, rate in rates.items():
            progress(f"{name} {at + 1}/{rounds}")
            found[name].append(rate(seconds))
    medians = {name: round(statistics.median(each)) for name, each in found.items()}
    for name, per_s in medians.items():
        table.add_row(name, f"{per_s:,}")
    _out.print(table)
    return {"hands": medians}


def _local(quick: bool, progress: Progress) -> dict[str, Any]:
    """The rules alone and both bots take turns, so that all see the same machine."""
    cpu_s = time.process_time  # all of it is one thread, whatever else the machine does
    title = "Decisions a second of processor time by cardarena.local, and by the rules alone"
    columns = ("rules", "reads moves", "ratio", "reads all", "ratio", "goal")
    table = _table(title, "game", *columns)
    rounds, seconds = (1, 0.3) if quick else (5, 0.7)
    found = {}
    for game in GAMES:
        rates = {
            "rules": rules.rate_of(game, cpu_s),
            "reads_moves": local.rate_of(game, local.ReadsMoves, cpu_s),
            "reads_all": local.rate_of(game, local.ReadsAll, cpu_s),
        }
        got: dict[str, list[float]] = {name: [] for name in rates}
        for at in range(rounds):
            for name, rate in rates.items():
                got[name].append(rate(seconds))
                progress(f"{game.id} {name} {at + 1}/{rounds}: {got[name][-1]:.0f}/s")
        alone, moves, everything = (statistics.median(each) for each in got.values())
        goal = f"{local.TARGET_PER_S:,}" if game.id in local.TRICK_GAMES else ""
        table.add_row(
            game.id,
            f"{alone:,.0f}",
            f"{moves:,.0f}",
            f"{moves / alone:.2f}",
            f"{everything:,.0f}",
            f"{everything / alone:.2f}",
            goal,
        )
        found[game.id] = {name: round(statistics.median(each)) for name, each in got.items()}
    _out.print(table)
    return {"local": found}


def _clock(quick: bool, progress: Progress) -> dict[str, Any]:
    table = _table(
        f"Time charged less time thought, {clock.THINK_MS:.0f} ms at most of {clock.BUDGET_MS}",
        *("case", "decisions", "p50 ms", "p99 ms", "goal", "most ms", "goal"),
        *("refunded s", "time-outs"),
    )
    found = {}
    for case in clock.CASES:
        got = clock.measure(case, 4.0 if quick else 20.0, progress)
        found[case.name] = asdict(got)
        table.add_row(
            case.name,
            f"{got.decisions:,}",
            f"{got.p50_ms:.1f}",
            f"{got.p99_ms:.1f}",
            "" if case.p99_target_ms is None else f"{case.p99_target_ms:.0f}",
            f"{got.extra_ms:.1f}",
            "" if case.extra_target_ms is None else f"{case.extra_target_ms:.0f}",
            f"{got.refunded_s:.1f}",
            str(got.timeouts),
        )
    _out.print(table)
    return {"clock": found}


def _metrics(quick: bool, progress: Progress) -> dict[str, Any]:
    progress("counting")
    got = metrics.measure(3 if quick else 15)
    table = _table("What it costs to count", "what", "", "goal")
    table.add_row("a decision in the ledger", f"{got.ledger_us:.2f} µs")
    table.add_row("a message", f"{got.message_us:.2f} µs")
    table.add_row("a batch of asks", f"{got.sent_us:.2f} µs")
    table.add_row("a write of the journal", f"{got.journal_us:.2f} µs")
    table.add_row("together", f"{got.decision_us:.2f} µs", f"{WATCHING_TARGET_US:.0f} µs")
    table.add_row("a page of metrics, 1,000 bots", f"{got.page_ms:.1f} ms")
    table.add_row("of which play waits for", f"{got.page_loop_ms:.1f} ms")
    _out.print(table)
    return {"metrics": asdict(got) | {"decision_us": got.decision_us}}


def _ladder(quick: bool, progress: Progress) -> dict[str, Any]:
    title = "From the results of a ladder to its table, with all pairs' chances"
    table = _table(title, "bots", "seats", "deal-sets", "s", "goal")
    found = {}
    for case in ladder.CASES[:1] if quick else ladder.CASES:
        took_s = ladder.table_s(case, progress)
        found[case.name] = round(took_s, 2)
        goal = "" if case.target_s is None else f"{case.target_s:.0f}"
        sizes = str(case.bots), str(case.seats), f"{case.deal_sets:,}"
        table.add_row(*sizes, f"{took_s:.1f}", goal)
    _out.print(table)
    return {"ladder": found}


def _playing(quick: bool, progress: Progress) -> dict[str, Any]:
    size = (playing.GAMES[:1], 1, 5.0) if quick else (playing.GAMES, 3, 20.0)
    cases = playing.measure(*size, progress)
    title = f"A ladder of {playing.BOTS} launched bots, by the number of workers"
    measured = "decisions/s", "CPU µs", "matches/h"
    table = _table(title, "game", "--workers", *measured, "arena MB", "worker MB", "bot MB")
    for case in cases:
        numbers = [
            f"{each:,.0f}"
            for each in (
                case.per_s,
                case.cpu_us,
                case.matches_per_h,
                case.arena_mb,
                case.worker_mb,
                case.bot_mb,
            )
        ]
        table.add_row(case.game, str(case.workers), *numbers)
    _out.print(table)
    return {"playing": [asdict(case) for case in cases]}


def _sdks(quick: bool, progress: Progress) -> dict[str, Any]:
    sdks.build(progress)
    size = (1, 0.7, 0.0) if quick else (1, 3.0, sdks.WARM_UP_MOST_S)
    found = sdks.measure(*size, progress)
    together = sdks.together(progress)
    _out.print("Each SDK's random bot with a bare server, streams x matches; for docs/sdks.md")
    _out.print(sdks.markdown(found, together), soft_wrap=True, markup=False, highlight=False)
    if missing := [name for name in sdks.COMMANDS if name not in sdks.built()]:
        _out.print(f"left out, as its tool is missing: {', '.join(missing)}")
    written = {name: sdks.lines(name) for name in sdks.SOURCES}
    each = [asdict(one) for one in found]
    return {"sdks": each, "sdk_answers_together": together, "sdk_lines": written}


def _web(quick: bool, progress: Progress) -> dict[str, Any]:
    page = pages.measure(quick=quick, progress=progress)
    cost = page.cost
    table = _table(f"Pages of a match of {cost.steps:,} decisions", "what", "", "goal")
    table.add_row("the first page, processor time", f"{cost.cold_ms:.0f} ms", "300 ms")
    table.add_row("a page of another hand", f"{cost.next_hand_ms:.0f} ms")
    table.add_row("a page that is kept", f"{cost.kept_ms:.1f} ms", "10 ms")
    table.add_row(
        "the largest page, compressed, with all it fetches", f"{cost.largest_kb:.1f} kB", "60 kB"
    )
    if page.longer is not None:
        longer = page.longer
        table.add_row(f"the first page of one of {longer.steps:,}", f"{longer.cold_ms:.0f} ms")
        table.add_row("a page of another hand of it", f"{longer.next_hand_ms:.0f} ms")
        table.add_row("the largest page of it", f"{longer.largest_kb:.1f} kB")
    if page.browsed is None:
        table.add_row("in a browser", "no Chromium with Playwright")
    else:
        table.add_row("requests of a page", str(page.browsed.requests), "3")
        table.add_row("first contentful paint", f"{page.browsed.paint_ms:.0f} ms", "300 ms")
        table.add_row("a step in the browser", f"{page.browsed.step_ms:.1f} ms", "30 ms")
    _out.print(table)
    seen = watchers.measure(quick=quick, progress=progress)
    table = _table(f"{seen.watchers:,} watchers of a match, by arena web", "what", "", "goal")
    table.add_row("messages a second to each", f"{seen.messages_per_s:.1f}", "4")
    table.add_row("messages missed", str(seen.missed), "0")
    table.add_row("of a core", f"{seen.core_share:.0%}", "15 %")
    table.add_row("memory", f"{seen.memory_mb:.0f} MB, {seen.added_mb:.0f} of it for them", "60 MB")
    table.add_row("p99 from the first watcher to another", f"{seen.p99_ms:.0f} ms", "250 ms")
    table.add_row("added to a turn, p99, without them", f"{seen.alone_p99_ms:.1f} ms")
    goal = f"{seen.alone_p99_ms + TURN_TARGET_MS:.1f} ms"
    table.add_row("added to a turn, p99, beside them", f"{seen.beside_p99_ms:.1f} ms", goal)
    _out.print(table)
    return {"web": {"pages": asdict(page), "watchers": asdict(seen)}}


def _cost(quick: bool, progress: Progress) -> dict[str, Any]:
    found = cost.measure(cost.CASES[:1] if quick else cost.CASES, progress)
    table = _table(
        f"Thousands of instructions a decision: {cost.build()}",
        *("case", "asks/frame", "counted", "budget", "over"),
    )
    for each in found:
        budget = "none" if each.budget is None else f"{each.budget / 1000:.1f}"
        over = "" if each.budget is None else f"{each.over:+.1%}"
        counted = f"{each.instructions / 1000:.1f}"
        table.add_row(each.case, f"{each.asks_per_frame:.1f}", counted, budget, over)
    _out.print(table)
    return {"cost": [asdict(each) for each in found]}


def _off_budget(found: list[dict[str, Any]]) -> str:
    """Why a run fails, in a sentence; empty if it does not."""
    costs = [cost.Cost(**one) for one in found]
    if over := [each for each in costs if not each.is_within]:
        cases = ", ".join(f"{each.case} by {each.over:.1%}" for each in over)
        return (
            f"over the budget of instructions by more than {cost.TOLERANCE:.1%}: {cases}. Find what "
            "costs more; or, if it must, raise the line in bench/budget.json and say why there"
        )
    if loose := [each for each in costs if each.is_loose]:
        cases = ", ".join(f"{each.case} to {each.instructions}" for each in loose)
        return (
            f"under the budget of instructions by more than {cost.SLACK:.0%}, where as much could "
            f"be lost again unnoticed. Lower the line in bench/budget.json: {cases}"
        )
    return ""


def _floor(quick: bool, paths: tuple[str, ...], progress: Progress) -> dict[str, Any]:
    rounds, seconds = (1, 0.7) if quick else (5, 1.5)
    found = floor.scan(paths, rounds, seconds, progress)
    table = _table(
        "Round trips a second of a bare grpc.aio ping-pong",
        *("grpcio", "streams", "round trips", "beside the first"),
    )
    for each in found:
        row = each.grpcio, str(each.streams), f"{each.per_s:,.0f}", f"{each.ratio:.2f}"
        table.add_row(*row)
    _out.print(table)
    return {"floor": [asdict(each) for each in found]}


def _sweeps(quick: bool, progress: Progress) -> dict[str, Any]:
    found = {}
    for name, (title, measure) in sweeps.SWEEPS.items():
        points = list(measure(quick, progress))
        heads, rows = sweeps.rows(points)
        table = _table(title, *heads)
        for row in rows:
            table.add_row(*row)
        _out.print(table)
        found[name] = [asdict(point) for point in points]
    return {"sweeps": found}


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first, no_wrap=True)
    for head in others:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _draw(file: Path, folder: Path) -> None:
    try:
        written = plots.draw(plots.read(file), folder)
    except plots.NoSweeps as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write to {folder}: {error.strerror}") from None
    for path in written:
        _out.print(str(path), soft_wrap=True, markup=False, highlight=False)


def _write(file: Path | None, found: dict[str, Any]) -> None:
    """Write the figures so far, if they are to be written."""
    if file is not None:
        try:
            file.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
        except OSError as error:
            raise click.ClickException(f"cannot write {file}: {error.strerror}") from None


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  python -m bench --json bench.json
  python -m bench --only wire
  python -m bench --only cost
  python -m bench --only sweeps --json sweeps.json
  python -m bench --plots sweeps.json docs/pictures
  python -m bench --only floor --grpcio /tmp/grpcio-1.75.1 --grpcio /tmp/grpcio-1.85.1
""",
)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the figures to FILE as well.", metavar="FILE")  # fmt: skip
@click.option("--only", type=click.Choice([*PARTS, *ASKED_FOR]), help="Run one part.")
@click.option("--quick", is_flag=True, help="One short round of each: to see that all runs.")
@click.option("--grpcio", "paths", multiple=True, metavar="FOLDER",
              help="With --only floor: measure the grpcio in FOLDER, made by"
              " `pip install --target FOLDER grpcio==VERSION`. May be repeated.")  # fmt: skip
@click.option("--plots", "drawn", nargs=2, metavar="FILE FOLDER",
              type=click.Path(path_type=Path),
              help="Measure nothing: draw the sweeps in FILE, written by"
              " `--only sweeps --json FILE`, as pictures in FOLDER.")  # fmt: skip
def main(
    file: Path | None,
    only: str | None,
    quick: bool,
    paths: tuple[str, ...],
    drawn: tuple[Path, Path] | None,
) -> None:
    """Measure the arena on this machine.

    Figures of a busy machine say little: ratios are measured in turns, the
    rest is not.
    """
    parts = {
        "cost": _cost,
        "wire": _wire,
        "encode": _encode,
        "end_to_end": _end_to_end,
        "rules": _rules,
        "hands": _hands,
        "local": _local,
        "clock": _clock,
        "metrics": _metrics,
        "ladder": _ladder,
        "playing": _playing,
        "sdks": _sdks,
        "web": _web,
        "sweeps": _sweeps,
    }
    if drawn is not None:
        if only or file or quick or paths:
            raise click.UsageError("--plots measures nothing, and goes alone")
        _draw(*drawn)
        return
    found: dict[str, Any] = {part: {} for part in PARTS} | {
        "peers": {},
        "playing": [],
        "sweeps": {},
        "versions": versions(),
        "date": _today(),
        "quick": quick,
    }
    if paths and only != "floor":
        raise click.UsageError("--grpcio goes with --only floor")
    with _err.status("measuring") as status:
        try:
            if only == "floor":
                found |= _floor(quick, paths, status.update)
                _write(file, found)
            else:
                for part in [only] if only else PARTS:
                    found |= parts[part](quick, status.update)
                    _write(file, found)  # one that fails later loses nothing
        except Failed as error:
            raise click.ClickException(str(error)) from None
    shown = ", ".join(f"{name} {value}" for name, value in found["versions"].items())
    _out.print(shown, soft_wrap=True)
    if why := _off_budget(found["cost"] or []):
        raise click.ClickException(why)


if __name__ == "__main__":
    main(prog_name="python -m bench")

"""`arena status`: the state of an arena, for a person or a program."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from arena.api.arena_status import NoStatus, Status, status_json, status_of_folder, status_of_page
from arena.api.status_page import Quantiles, StatusPage
from arena.cli.options import data_option, json_option, print_json, require_folder
from arena.cli.sandbox_options import LEVELS
from arena.cli.terminal.plain import say
from arena.errors import exits


@click.command(
    epilog="""\b
Examples:
  arena status
  arena status --data /var/lib/arena
  arena status --metrics 127.0.0.1:9464 --json

\b
The exit code is 0 if an arena is up, and 1 if not.
"""
)
@click.option(
    "--metrics", metavar="URL", help="Read the status at this address, not from a data folder."
)
@json_option
@data_option
def status(metrics: str | None, as_json: bool, data: Path) -> None:
    """Show whether an arena is up, its matches and its delays.

    Numbers count from the start of the arena. Times are medians and 99 % quantiles, rounded up to the
    bounds of histogram buckets.
    """
    if not metrics and not as_json:
        require_folder(data)
    try:
        shown = status_of_page(metrics) if metrics else status_of_folder(data)
    except NoStatus as error:
        if not as_json:
            raise click.ClickException(str(error)) from error
        print_json({"up": False, "why": str(error)})
        raise SystemExit(exits.FAILED) from None
    if as_json:
        print_json(status_json(shown))
        return
    for line in _lines(shown, datetime.now(UTC)):
        say(line)


def _lines(shown: Status, now: datetime) -> Iterator[str]:
    yield _headline(shown, now)
    notice = shown.notice
    if notice is not None:
        yield _row("address", notice.address)
        yield _row("metrics", notice.metrics or "none: only `arena serve` has them")
        if notice.sandbox:
            yield _row("sandbox", LEVELS.get(notice.sandbox, notice.sandbox))
    if shown.page is not None:
        yield from _numbers(shown.page)
    if shown.disk is not None:
        total_bytes, free_bytes = shown.disk
        yield _row("disk", f"{_bytes(free_bytes)} free, {free_bytes / max(1, total_bytes):.0%}")
    if shown.incidents:
        yield "Last errors in arena.log:"
        for incident in shown.incidents:
            words = (
                incident.time[:19].replace("T", " "),
                incident.event,
                incident.incident and f"incident {incident.incident}",
                incident.match and f"match {incident.match}",
                incident.competition,
                incident.error,
            )
            yield "  " + "  ".join(word for word in words if word)


def _headline(shown: Status, now: datetime) -> str:
    notice, page = shown.notice, shown.page
    if notice is not None:
        began, version = notice.started_unix_s, notice.version
    else:
        assert page is not None
        began, version = page.process["started_unix_s"], page.version
    since = datetime.fromtimestamp(began, UTC)
    what = "is draining, and was up" if page is not None and page.draining else "is up"
    who = f", process {notice.pid}" if notice is not None else ""
    up_for = _span((now - since).total_seconds())
    name = f"Card Arena {version}".rstrip()
    return f"{name} {what} since {since:%Y-%m-%d %H:%M:%S} UTC ({up_for}){who}"


def _numbers(page: StatusPage) -> Iterator[str]:
    matches = page.matches
    taken = "" if matches.taken else "; no new ones are taken just now"
    ends = _counts(matches.ended)
    ended = f"{sum(matches.ended.values())} ended{ends and f': {ends}'}"
    yield _row("matches", f"{matches.in_play} in play, {ended}{taken}")
    if matches.aborted:
        yield _row("aborted", _counts(matches.aborted))
    waits = f"; {_bytes(page.waiting_bytes)} wait to be sent" if page.waiting_bytes else ""
    yield _row("bots", f"{page.bots['connected']} connected, {page.bots['known']} known{waits}")
    flooded = f", {page.connections['cut']} cut, as they flooded" if page.connections["cut"] else ""
    yield _row("connections", f"{page.connections['open']} open{flooded}")
    by_game = _in_brackets(_counts(page.decisions, most=3))
    yield _row("decisions", f"{sum(page.decisions.values()):,}{by_game}")
    yield _row("bots' time", _times(page.times_ms["charged"]))
    yield _row("own time", _times(page.times_ms["turnaround"]))
    lag = page.lag
    pauses = (
        f"; {lag['pauses']} pauses, {lag['paused_s']:.1f} s in all, longest {lag['longest_pause_ms']:.0f} ms"
        if lag["pauses"]
        else "; never paused"
    )
    yield _row("late", f"{lag['late_p99_ms']:.0f} ms at p99 of the last 10 s{pauses}")
    yield _row("faults", _counts(page.faults) or "none")
    fixed, void = (page.deal_sets.get(step, 0) for step in ("fixed", "voided"))
    yield _row("deal-sets", f"{fixed} fixed, {void} void")
    refused = _counts({**page.refused["calls"], **page.refused["messages"]}, most=5)
    yield _row("refused", refused or "nothing")
    syncs = page.times_ms["journal_sync"]
    synced = f"; on disk within {_times(syncs)}" if syncs["count"] else ""
    yield _row("journal", f"{_bytes(page.journal['written_bytes'])} written{synced}")
    process = page.process
    yield _row(
        "process",
        f"{_bytes(process['resident_bytes'])}, {process['open_files']} files, "
        f"{process['threads']} threads, {_span(process['cpu_s'])} of processor time",
    )
    for placed in page.placements:
        waiting = f", {placed.pending} wait for a machine" if placed.pending else ""
        problem = f"; {placed.problem}" if placed.problem else ""
        yield _row(
            placed.engine,
            f"{placed.key}: {placed.running} of {placed.wanted} workers run{waiting}{problem}",
        )
    for worker in page.workers:
        again = f", started {worker.starts} times" if worker.starts > 1 else ""
        failed = f", {worker.failed_begins} begins failed" if worker.failed_begins else ""
        machine = (
            f", sandbox {worker.sandbox}, speed class {worker.speed_class}" if worker.name else ""
        )
        if not worker.number:
            yield _row(worker.name, f"has left{failed}")
            continue
        yield _row(
            worker.name or f"worker {worker.number}",
            f"{worker.matches} in play, {worker.decisions:,} decisions{failed}{machine}, process {worker.pid}{again}",
        )


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"


def _counts(counts: Mapping[str, int], most: int = 8) -> str:
    shown = [f"{name} {number:,}" for name, number in list(counts.items())[:most]]
    return ", ".join([*shown, "..."] if len(counts) > most else shown)


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def _times(times_ms: Quantiles) -> str:
    if not times_ms["count"]:
        return "nothing yet"
    p50, p99 = (
        "above the largest bucket" if bound_ms is None else f"{bound_ms:g} ms"
        for bound_ms in (times_ms["p50"], times_ms["p99"])
    )
    return f"{p50} at the median, {p99} at p99"


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def _span(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    if minutes < 2:
        return f"{seconds:.0f} s"
    if hours < 2:
        return f"{minutes:.0f} min"
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"

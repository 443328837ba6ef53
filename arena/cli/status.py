"""`arena status`: how the arena is doing, for a person or a program."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from arena.cli.arena_status import NoAnswer, Status, as_json, status_of_folder, status_of_page
from arena.cli.arguments import data_option
from arena.cli.jail import LEVELS
from arena.cli.named import require_folder
from arena.cli.terminal.plain import say


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
    "--metrics", metavar="URL", help="Ask the arena with its metrics there, not a data folder."
)
@click.option("--json", "as_data", is_flag=True, help="The same for a program.")
@data_option
def status(metrics: str | None, as_data: bool, data: Path) -> None:
    """Tell whether an arena is up, what is in play and how late it is.

    Numbers count from its start; a time is the bound below which half of all,
    or 99 % of all, were.
    """
    if not metrics and not as_data:
        require_folder(data)
    try:
        found = status_of_page(metrics) if metrics else status_of_folder(data)
    except NoAnswer as error:
        if not as_data:
            raise click.ClickException(str(error)) from error
        click.echo(json.dumps({"up": False, "why": str(error)}, indent=2))
        raise SystemExit(1) from None
    told = as_json(found)
    if as_data:
        click.echo(json.dumps(told, indent=2))
        return
    for line in _lines(found, told, datetime.now(UTC)):
        # What another program says could hold anything, such as orders to the terminal.
        say(line)


def _lines(found: Status, told: Mapping[str, Any], now: datetime) -> Iterator[str]:
    yield _headline(found, told, now)
    notice = found.notice
    if notice is not None:
        yield _row("address", notice.address)
        yield _row("metrics", notice.metrics or "none: only `arena serve` has them")
        if notice.jail:
            yield _row("jail", LEVELS.get(notice.jail, notice.jail))
    if found.page is not None:
        yield from _numbers(told)
    if "disk" in told:
        disk = told["disk"]
        share = disk["free_bytes"] / max(1, disk["total_bytes"])
        yield _row("disk", f"{_bytes(disk['free_bytes'])} free, {share:.0%}")
    if found.incidents:
        yield "Last errors in arena.log:"
        for each in found.incidents:
            words = (
                each.time[:19].replace("T", " "),
                each.event,
                each.incident and f"incident {each.incident}",
                each.match and f"match {each.match}",
                each.error,
            )
            yield "  " + "  ".join(word for word in words if word)


def _headline(found: Status, told: Mapping[str, Any], now: datetime) -> str:
    if found.notice is not None:
        began = found.notice.started_unix_s
    else:
        began = told["process"]["started_unix_s"]
    since = datetime.fromtimestamp(began, UTC)
    what = "is draining, and was up" if told.get("draining") else "is up"
    who = f", process {found.notice.pid}" if found.notice is not None else ""
    up_for = _span((now - since).total_seconds())
    version = f" {told['version']}" if told.get("version") else ""
    return f"Card Arena{version} {what} since {since:%Y-%m-%d %H:%M:%S} UTC ({up_for}){who}"


def _numbers(told: Mapping[str, Any]) -> Iterator[str]:
    matches, bots = told["matches"], told["bots"]
    ended = sum(matches["ended"].values())
    taken = "" if matches["taken"] else "; no new ones are taken just now"
    ends = _counts(matches["ended"])
    yield _row(
        "matches", f"{matches['in_play']} in play, {ended} ended{ends and f': {ends}'}{taken}"
    )
    if matches["aborted"]:
        yield _row("aborted", _counts(matches["aborted"]))
    waiting = told["waiting_bytes"]
    waits = f"; {_bytes(waiting)} wait to be sent" if waiting else ""
    yield _row("bots", f"{bots['connected']} connected, {bots['known']} known{waits}")
    connections = told["connections"]
    flooded = f", {connections['cut']} cut, as they flooded" if connections["cut"] else ""
    yield _row("connections", f"{connections['open']} open{flooded}")
    decisions = told["decisions"]
    yield _row(
        "decisions", f"{sum(decisions.values()):,}" + _in_brackets(_counts(decisions, most=3))
    )
    times = told["times_ms"]
    yield _row("bots' time", _times(times["charged"]))
    yield _row("own time", _times(times["turnaround"]))
    lag = told["lag"]
    pauses = (
        f"; {lag['pauses']} pauses, {lag['paused_s']:.1f} s in all, "
        f"longest {lag['longest_pause_ms']:.0f} ms"
        if lag["pauses"]
        else "; never paused"
    )
    yield _row("late", f"{lag['late_p99_ms']:.0f} ms at p99 of the last 10 s{pauses}")
    yield _row("faults", _counts(told["faults"]) or "none")
    deals = told["deal_sets"]
    yield _row("deal-sets", f"{deals.get('fixed', 0)} fixed, {deals.get('voided', 0)} void")
    refused = _counts({**told["refused"]["calls"], **told["refused"]["messages"]}, most=5)
    yield _row("refused", refused or "nothing")
    journal = told["journal"]
    syncs = times["journal_sync"]
    synced = f"; on disk within {_times(syncs)}" if syncs["count"] else ""
    yield _row("journal", f"{_bytes(journal['written_bytes'])} written{synced}")
    process = told["process"]
    yield _row(
        "process",
        f"{_bytes(process['resident_bytes'])}, {process['open_files']} files, "
        f"{process['threads']} threads, {_span(process['cpu_s'])} of processor time",
    )
    for each in told["playing"]:
        again = f", started {each['starts']} times" if each["starts"] > 1 else ""
        yield _row(
            f"playing {each['number']}",
            f"{each['matches']} in play, {each['decisions']:,} decisions, process {each['pid']}{again}",
        )


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"


def _counts(counts: Mapping[str, int], most: int = 8) -> str:
    shown = [f"{name} {number:,}" for name, number in list(counts.items())[:most]]
    return ", ".join([*shown, "..."] if len(counts) > most else shown)


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def _times(times_ms: Mapping[str, float | None]) -> str:
    if not times_ms["count"]:
        return "nothing yet"
    p50, p99 = (
        "more than is told apart" if bound_ms is None else f"{bound_ms:g} ms"
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

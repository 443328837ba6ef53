"""`arena why`: what went wrong for a bot at a match, in words."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.arguments import data_option
from arena.cli.named import REPLAYS, names_a_file, published, seat_of
from arena.cli.replay import plain_replay_errors
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.cli.terminal.why import Line, Output, printed_at, printed_with, tell
from arena.games.contract import Seat
from arena.jail import (
    Printed,
    between,
    instance_name,
    output_paths,
    read_output,
    without_others,
)
from arena.referee import AbortCause, Ending, FaultKind
from arena.replay.account import Account, account_of
from arena.replay.advice import advice
from arena.replay.export import plain_value
from arena.replay.journal.standing import Standing, State, standing_of
from arena.replay.notebook import notes_of
from arena.replay.read import Replay
from arena.replay.words import FAULT_WORDS, aborted_words, count
from arena.server.data_folder import playing_bots, playing_folders
from arena.server.session.seating import ask_id


@click.command(
    epilog="""\b
Examples:
  arena why last my_bot
  arena why 3f9a my_bot
  arena why data/replays/3f9a77c01b2d4e5f.replay 1
  arena why 3f9a77c01b2d4e5f my_bot --json | jq .faults
"""
)
@click.argument("match")
@click.argument("bot")
@click.option("--full", is_flag=True, help="Tell every fault in full, not the first few.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@data_option
def why(match: str, bot: str, full: bool, as_json: bool, data: Path) -> None:
    """Tell the owner of BOT what went wrong at MATCH, when, and what to do about it.

    MATCH is a match's id, a beginning of it, `last` or a replay file; BOT is a name, a
    seat, or what the bot's file or class is called. All is told from the bot's own seat: what it was asked, what came, its clock, its notes,
    and what it printed where the arena launched it.
    """
    path = Path(match) if names_a_file(match) else published(match, data)
    if path is None:
        _stands(match, bot, data, as_json=as_json)
        return
    if path.parent.name == REPLAYS:
        data = path.parent.parent
    _why(path, bot, data, full=full, as_json=as_json)


def _why(path: Path, bot: str, data: Path, *, full: bool, as_json: bool) -> None:
    """Tell what became of a bot, by a published replay."""
    with plain_replay_errors(path):
        replay = Replay.open(path)
        seat = seat_of(bot, replay.names, replay.opened.match_id)
        account = account_of(replay, seat, notes_of(path, replay, seat))
    logs = _logs(data, account)
    if as_json:
        told = _as_json(account, logs, _ask_ids(data, account))
        click.echo(json.dumps(told, indent=2))
        return
    console = PlainConsole(highlight=False, soft_wrap=False)
    output = _output(logs, _ask_ids(data, account))
    tell(account, console, output=output, replay=str(path), full=full)
    rest = [f"All that it printed: {log}" for log in logs]
    if account.incident:
        rest.append(f"What the arena's log says: grep {account.incident} {data / 'arena.log'}")
    if rest:
        say("\n" + "\n".join(rest))


def _standing(data: Path, match: str) -> tuple[Standing | None, Path]:
    """How a match stands, and the folder of the process whose journal has it: the arena's own if none has."""
    for folder in (data, *playing_folders(data)):
        with plain_replay_errors(folder / "journal"):
            standing = standing_of(folder / "journal", match)
        if standing is not None:
            return standing, folder
    return None, data


# What the bot printed.


def _logs(data: Path, account: Account) -> list[Path]:
    """The logs of the process that sat there, where the arena launched it."""
    standing, process = _standing(data, account.match_id)
    instances = r"\d+"
    if standing is not None and len(standing.seated) == len(account.names):
        instances = str(standing.seated[account.seat].instance)
    stem = re.escape(instance_name(account.bot, 0).removesuffix("0"))
    name = re.compile(rf"{stem}{instances}")
    begin = datetime.fromtimestamp(account.start_unix_ms / 1000, UTC)
    end = datetime.fromtimestamp(account.start_unix_ms / 1000 + account.end_us / 1e6, UTC)
    found = []
    for path in output_paths(data / "bots" if process == data else playing_bots(data, process)):
        if name.fullmatch(path.stem):
            lines = _read(path)
            # A name may stand in several folders: that of another time is not meant.
            if lines and lines[0].at <= end and lines[-1].at >= begin:
                found.append(path)
    return found


def _read(path: Path) -> list[Printed]:
    try:
        return read_output(path)
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from error


def _ask_ids(data: Path, account: Account) -> Callable[[int], int] | None:
    """The ask of each decision, as the bot's streams knew it; None if no journal says."""
    standing, _ = _standing(data, account.match_id)
    if standing is None or len(standing.seated) != len(account.names):
        return None
    number = standing.seated[account.seat].match
    return lambda decision: ask_id(number, decision)


def _output(logs: Sequence[Path], ask_ids: Callable[[int], int] | None) -> Output | None:
    if not logs:
        return None
    lines = sorted((line for path in logs for line in _read(path)), key=lambda line: line.at)

    def output(begin: datetime, end: datetime, decision: int) -> list[Printed]:
        found = between(lines, begin, end)
        return without_others(found, ask_ids(decision)) if decision and ask_ids else found

    return output


# Matches without a replay.


def _stands(match: str, bot: str, data: Path, *, as_json: bool) -> None:
    """Tell how far a match has come that has no replay yet."""
    standing, _ = _standing(data, match)
    if standing is None:
        text = f"there is no match {match!r} in {data}: neither a replay nor a journal has it"
        raise click.ClickException(text)
    seat = seat_of(bot, standing.names, match)
    own = [each for each in standing.decided if each.seat == seat]
    faults = [each for each in own if each.fault]
    lines = list(_how_it_stands(standing, seat))
    if as_json:
        told = {
            "match": match,
            "bot": standing.names[seat],
            "seat": seat,
            "state": standing.state.name.lower(),
            "published": False,
            "says": " ".join(lines),
            "decisions": len(own),
            "faults": [
                {
                    "decision": each.decision,
                    "kind": FaultKind(each.fault).name.lower(),
                    "reason": each.reason,
                }
                for each in faults
            ],
        }
        click.echo(json.dumps(told, indent=2))
        return
    for line in lines:
        say(line)
    for each in faults:
        what = FAULT_WORDS[FaultKind(each.fault)]
        say(f"  decision {each.decision}: it {what}: {each.reason}")


def _how_it_stands(standing: Standing, seat: Seat) -> list[str]:
    """Sentences about a match without a replay; they hold nothing of the cards."""
    opened, closed = standing.opened, standing.closed
    name = standing.names[seat]
    own = [each for each in standing.decided if each.seat == seat]
    faults = count(sum(1 for each in own if each.fault), "fault")
    so_far = f"{name} (seat {seat}) has made {count(len(own), 'decision')}, with {faults}."
    match = f"Match {opened.match_id}"
    if standing.state is State.IN_PLAY:
        return [f"{match} is in play.", so_far, _LATER]
    if closed is None:
        since = datetime.fromtimestamp(standing.written_unix_s, UTC)
        who = (
            "the command that plays it is run again"
            if standing.ordered_again
            else "the arena is back"
        )
        suspended = (
            f"{match} is suspended since {since:%Y-%m-%d %H:%M:%S} UTC, as the arena was stopped "
            f"or killed; it goes on where it stood when {who}."
        )
        return [suspended, so_far, _LATER]
    if closed.ending == Ending.ABORTED.value:
        cause = AbortCause(closed.cause) if closed.cause else None
        again = [f"It is played again, as part of the deal-set {opened.deal_set}."]
        return [
            match + ":",
            aborted_words(cause, closed.incident),
            *(again if opened.deal_set else []),
        ]
    place, score = closed.places[seat], closed.scores[seat]
    ended = f"{match} has ended: {name} (seat {seat}) is placed {place} of {len(closed.places)}"
    held = (
        f"Its deal-set {opened.deal_set} is still open: others play with the same cards, so the "
        "replay is published when the last of them has ended."
        if opened.deal_set
        else "Its replay was not written any more: the arena does that when it is started again."
    )
    return [f"{ended}, with a score of {score:+d} and {faults}.", held]


_LATER: Final = "What went wrong is told in full once it has ended and its replay is published."


# For programs.


def _as_json(
    account: Account, logs: Sequence[Path], ask_ids: Callable[[int], int] | None
) -> dict[str, Any]:
    output = _output(logs, ask_ids)
    faults = []
    for fault in account.faults:
        told = {**asdict(fault), "kind": fault.kind.name.lower(), "late_us": fault.late_us}
        told["view"] = plain_value(fault.view)
        lines = printed_at(account, fault, output) if output else []
        told["printed"] = _printed(lines)
        faults.append(told)
    exceptions = []
    for story in account.exceptions:
        told = {**asdict(story), "view": plain_value(story.view)}
        told["printed"] = _printed(printed_with(account, story, output) if output else [])
        exceptions.append(told)
    return {
        "match": account.match_id,
        "game": account.game.id,
        "bot": account.bot,
        "seat": account.seat,
        "state": State.ENDED.name.lower(),
        "published": True,
        "bots": account.names,
        "ending": account.ending.name.lower(),
        "cause": account.cause.name.lower() if account.cause else None,
        "incident": account.incident,
        "place": account.place or None,
        "places": account.places,
        "scores": account.scores,
        "forfeited": bool(account.forfeit or account.forfeited_before),
        "forfeited_at_decision": account.forfeit.decision if account.forfeit else None,
        "forfeited_before": account.forfeited_before,
        "decisions": account.decisions,
        "unasked": account.unasked,
        "faults": faults,
        "exceptions": exceptions,
        "advice": dict(advice(account)),
        "slowest": [asdict(each) for each in account.slowest],
        "costliest": [asdict(each) for each in account.costliest],
        "logs": [str(path) for path in logs],
    }


def _printed(lines: Sequence[Line]) -> list[dict[str, str]]:
    return [{"at": line.at.isoformat(), "text": line.text} for line in lines]

"""`arena match why`: the diagnosis of one bot's match for its owner."""

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.app.local_channel import local_channel
from arena.cli.arena_client import NoAnswer, ServiceClient
from arena.cli.lookup import (
    REPLAYS,
    names_a_file,
    newest_replays,
    plain_replay_errors,
    published,
    seat_of,
)
from arena.cli.options import data_option, json_option, print_json
from arena.cli.terminal.console import PlainConsole, print_table, progress
from arena.cli.terminal.plain import plain, program, say
from arena.cli.terminal.why import Line, Output, print_diagnosis, printed_at, with_queue
from arena.errors import refusal
from arena.games.contract import Seat
from arena.records.advice import advice
from arena.records.diagnosis import MatchDiagnosis, diagnose
from arena.records.export import plain_value
from arena.records.notes_file import notes_of
from arena.records.phrases import aborted, count, deed, reason_code
from arena.records.read import Replay
from arena.records.tendencies import OpponentTendencies, tendencies_of
from arena.referee.spec import AbortCause, FaultKind
from arena.referee.wire.enums import word_of
from arena.sandbox.house_levels import STEPS
from arena.sandbox.output import (
    Printed,
    between,
    instance_name,
    output_paths,
    read_output,
    without_other_asks,
)
from cardarena.v1 import game_pb2, replay_pb2
from cardarena.v1.replay_pb2_grpc import ReplayServiceStub

if TYPE_CHECKING:
    from arena.house.par import HouseComparison

OFF: Final = "off"
OPPONENT_MATCHES: Final = 20
"""The number of an opponent's matches that are read."""
MOST_TENDENCIES: Final = 12
"""Rows of what an opponent does in public."""
COMPARING: Final = tuple(level for level, steps in STEPS.items() if steps)
"""The levels of the house bot that search, the fastest first."""


@click.command(
    epilog="""\b
Examples:
  arena match why last my_bot
  arena match why 3f9a my_bot
  arena match why data/replays/3f9a77c01b2d4e5f.replay 1
  arena match why 3f9a77c01b2d4e5f my_bot --json | jq .faults
"""
)
@click.argument("match")
@click.argument("bot")
@click.option(
    "--house",
    "level",
    type=click.Choice([OFF, *COMPARING]),
    default=COMPARING[0],
    show_default=True,
    help="Compare with this level of the house bot: its score with the same cards, and its moves.",
)
@click.option(
    "--opponent",
    metavar="NAME",
    help="The public acts of this bot, compared with the others, in this match and its newest ones of the game.",
)
@click.option("--full", is_flag=True, help="Print every fault in full, not only the first three.")
@json_option
@data_option
def why(
    match: str, bot: str, level: str, opponent: str | None, full: bool, as_json: bool, data: Path
) -> None:
    """Explain the result and the faults of BOT at MATCH, and propose what to do.

    MATCH is a match's id, a beginning of it, `last` or a replay file; BOT is a name, a seat, or the
    name of the bot's file or class. The command shows the asks, answers, clock and notes of the bot's
    own seat, and the bot's output if the arena launched it. docs/errors.md explains the codes of
    faults.

    Par is the score of house bots at the bot's seat with the same cards. The costliest decisions are those at which the
    house bot finds a better move from the same view.

    Tendencies of an opponent are counted from events that every spectator receives, in published matches.
    """
    path = Path(match) if names_a_file(match) else published(match, data)
    if path is None:
        _unpublished(match, bot, data, as_json=as_json)
        return
    if path.parent.name == REPLAYS:
        data = path.parent.parent
    _why(path, bot, data, level, opponent, full=full, as_json=as_json)


def _why(
    path: Path, bot: str, data: Path, level: str, opponent: str | None, *, full: bool, as_json: bool
) -> None:
    with plain_replay_errors(path):
        replay = Replay.open(path)
        seat = seat_of(bot, replay.names, replay.opened.match_id)
        diagnosis = diagnose(replay, seat, notes_of(path, replay, seat))
    bot_process, folder = _process(data, diagnosis)
    logs = _logs(data / folder, diagnosis, bot_process)
    output = _output(logs, bot_process)
    if output is not None:
        diagnosis = with_queue(diagnosis, output)
    house = _house(replay, seat, level)
    tendencies = None if opponent is None else _tendencies(path, replay, opponent, data)
    if as_json:
        print_json(_as_json(diagnosis, logs, output, house, tendencies))
        return
    console = PlainConsole(highlight=False, soft_wrap=False)
    print_diagnosis(diagnosis, console, output=output, replay=str(path), house=house, full=full)
    if tendencies is not None:
        _print_tendencies(tendencies, console)
    rest = [f"The bot's whole output: {log}" for log in logs]
    if diagnosis.incident:
        log = shlex.quote(str(data / "arena.log"))
        rest.append(f"The arena's log: grep {diagnosis.incident} {log}")
    if rest:
        say("\n" + "\n".join(rest))


def _tendencies(path: Path, replay: Replay, opponent: str, data: Path) -> OpponentTendencies:
    name = replay.names[seat_of(opponent, replay.names, replay.opened.match_id)]
    files = dict.fromkeys(
        [path, *newest_replays(name, replay.opened.terms.game, OPPONENT_MATCHES, data)]
    )
    seated = []
    for file in files:
        with plain_replay_errors(file):
            other = Replay.open(file)
        seated += [(other, Seat(at)) for at, sat in enumerate(other.names) if sat == name][:1]
    with plain_replay_errors(path):
        return OpponentTendencies(name, len(seated), tendencies_of(seated))


def _house(replay: Replay, seat: Seat, level: str) -> "HouseComparison | None":
    """Return the comparison with the house bot; None if it is not requested, or not possible."""
    if level == OFF:
        return None
    from arena.house.par import CannotCompare, compare

    with progress("Comparing with the house bot", quiet=not sys.stderr.isatty()) as show:

        def told(done: int, total: int) -> None:
            show(f"Comparing with the house bot: {done} of {total} decisions")

        try:
            return compare(replay, seat, STEPS[level], told)
        except CannotCompare:
            return None


def _journaled(data: Path, match: str) -> replay_pb2.InspectMatchResponse | None:
    """Return a match from the journal; None if the journal does not have it."""
    with plain_replay_errors(data / "journal"), local_channel(data) as channel:
        replays = ServiceClient(ReplayServiceStub(channel), None)
        request = replay_pb2.InspectMatchRequest(match_id=match)
        try:
            return replays.call(replays.stub.InspectMatch, request)
        except NoAnswer as error:
            if error.reason != "UNKNOWN_MATCH":
                raise
            return None


# The bot's output.


def _process(data: Path, diagnosis: MatchDiagnosis) -> tuple[replay_pb2.BotProcess | None, str]:
    journaled = _journaled(data, diagnosis.match_id)
    if journaled is None or len(journaled.processes) != len(diagnosis.names):
        return None, "bots"
    return journaled.processes[diagnosis.seat], journaled.bots_folder


def _logs(
    folder: Path, diagnosis: MatchDiagnosis, bot_process: replay_pb2.BotProcess | None
) -> list[Path]:
    instances = r"\d+" if bot_process is None else str(bot_process.instance)
    stem = re.escape(instance_name(diagnosis.bot, 0).removesuffix("0"))
    name = re.compile(rf"{stem}{instances}")
    begin = datetime.fromtimestamp(diagnosis.start_unix_ms / 1000, UTC)
    end = datetime.fromtimestamp(diagnosis.start_unix_ms / 1000 + diagnosis.end_us / 1e6, UTC)
    logs = []
    for path in output_paths(folder):
        if name.fullmatch(path.stem):
            lines = _read(path)
            # Several folders may have a log of this name; the one from the time of the match counts.
            if lines and lines[0].at <= end and lines[-1].at >= begin:
                logs.append(path)
    return logs


def _read(path: Path) -> list[Printed]:
    try:
        return read_output(path)
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from error


def _output(
    logs: Sequence[Path], bot_process: replay_pb2.BotProcess | None = None
) -> Output | None:
    """Return the bot's output in a span of time, without exceptions at other asks if its process is known."""
    if not logs:
        return None
    lines = sorted((line for path in logs for line in _read(path)), key=lambda line: line.at)

    def output(begin: datetime, end: datetime, decision: int) -> list[Printed]:
        printed = between(lines, begin, end)
        if not decision or bot_process is None:
            return printed
        return without_other_asks(printed, bot_process.first_ask + decision)

    return output


# Matches without a replay.


def _unpublished(match: str, bot: str, data: Path, *, as_json: bool) -> None:
    journaled = _journaled(data, match)
    if journaled is None:
        detail = f"{match!r} in {data}, as a replay or in a journal"
        cure = f"; if another arena played it: {program()} replay download {match}"
        raise click.ClickException(refusal("UNKNOWN_MATCH").message(detail) + cure)
    seat = seat_of(bot, journaled.bots, match)
    faults = [fault for fault in journaled.faults if fault.seat == seat]
    lines = _state(match, journaled, seat, len(faults))
    if as_json:
        fields = {
            "match": match,
            "bot": journaled.bots[seat],
            "seat": seat,
            "state": word_of(journaled, "state"),
            "published": False,
            "says": " ".join(lines),
            "decisions": journaled.decisions[seat],
            "faults": [
                {
                    "decision": fault.decision,
                    "kind": word_of(fault, "kind"),
                    "code": reason_code(FaultKind(fault.kind), fault.reason),
                    "reason": fault.reason,
                }
                for fault in faults
            ],
        }
        print_json(fields)
        return
    for line in lines:
        say(line)
    for fault in faults:
        say(f"  decision {fault.decision}: it {deed(FaultKind(fault.kind), fault.reason)}")


def _state(
    match_id: str, journaled: replay_pb2.InspectMatchResponse, seat: Seat, faulted: int
) -> list[str]:
    """Return sentences about a match without a replay, which reveal no cards."""
    name, match, faults = journaled.bots[seat], f"Match {match_id}", count(faulted, "fault")
    decisions = count(journaled.decisions[seat], "decision")
    so_far = f"{name} (seat {seat}) has made {decisions}, with {faults}."
    if journaled.state == replay_pb2.JOURNAL_STATE_IN_PLAY:
        return [f"{match} is in play.", so_far, _LATER]
    if journaled.state == replay_pb2.JOURNAL_STATE_SUSPENDED:
        since = datetime.fromtimestamp(journaled.written_unix_ms / 1000, UTC)
        who = (
            "the command that plays it is run again"
            if journaled.ordered_again
            else "the arena is started again"
        )
        suspended = (
            f"{match} is suspended since {since:%Y-%m-%d %H:%M:%S} UTC, because the arena was "
            f"stopped or killed; it continues when {who}."
        )
        return [suspended, so_far, _LATER]
    if journaled.ending == game_pb2.ENDING_ABORTED:
        cause = AbortCause(journaled.cause) if journaled.cause else None
        again = [f"It is played again as part of the deal-set {journaled.deal_set}."]
        return [
            match + ":",
            aborted(cause, journaled.incident),
            *(again if journaled.deal_set else []),
        ]
    place, score = journaled.places[seat], journaled.scores[seat]
    ended = f"{match} has ended: {name} (seat {seat}) is placed {place} of {len(journaled.places)}"
    published = (
        f"Its deal-set {journaled.deal_set} is still open: other matches use the same cards, so the "
        "replay is published when the last of them has ended."
        if journaled.deal_set
        else "Its replay was not written: the arena writes it when it is started again."
    )
    return [f"{ended}, with a score of {score:+d} and {faults}.", published]


_LATER: Final = (
    "The whole diagnosis is available when the match has ended and its replay is published."
)


# For programs.


def _as_json(
    diagnosis: MatchDiagnosis,
    logs: Sequence[Path],
    output: Output | None,
    house: "HouseComparison | None",
    tendencies: OpponentTendencies | None,
) -> dict[str, Any]:
    faults = []
    for fault in diagnosis.faults:
        fields = {**asdict(fault), "kind": fault.kind.name.lower(), "late_us": fault.late_us}
        fields["code"] = reason_code(fault.kind, fault.reason)
        fields["view"] = plain_value(fault.view)
        fields["printed"] = _printed(printed_at(diagnosis, fault, output) if output else [])
        faults.append(fields)
    return {
        "match": diagnosis.match_id,
        "game": diagnosis.game.id,
        "bot": diagnosis.bot,
        "seat": diagnosis.seat,
        "state": "ended",
        "published": True,
        "bots": diagnosis.names,
        "worker": diagnosis.worker or None,
        "ending": diagnosis.ending.name.lower(),
        "cause": diagnosis.cause.name.lower() if diagnosis.cause else None,
        "incident": diagnosis.incident,
        "place": diagnosis.place or None,
        "places": diagnosis.places,
        "ended_by_limit": diagnosis.ended_by_limit,
        "scores": diagnosis.scores,
        "forfeited": bool(diagnosis.forfeit or diagnosis.forfeited_before),
        "forfeited_at_decision": diagnosis.forfeit.decision if diagnosis.forfeit else None,
        "forfeited_before": diagnosis.forfeited_before,
        "decisions": diagnosis.decisions,
        "unasked": diagnosis.unasked,
        "faults": faults,
        "advice": dict(advice(diagnosis)),
        "slowest": [asdict(decision) for decision in diagnosis.slowest],
        "phases": [asdict(phase) for phase in diagnosis.phases],
        "time": asdict(diagnosis.time) if diagnosis.time else None,
        "costliest": [asdict(decision) for decision in diagnosis.costliest],
        "house": asdict(house) if house else None,
        "opponent": asdict(tendencies) if tendencies else None,
        "logs": [str(path) for path in logs],
    }


def _printed(lines: Sequence[Line]) -> list[dict[str, str]]:
    return [{"at": line.at.isoformat(), "text": line.text} for line in lines]


def _print_tendencies(opponent: OpponentTendencies, console: PlainConsole) -> None:
    """Print the acts of an opponent, those that differ most from the others' first."""
    matches = "1 match" if opponent.matches == 1 else f"{opponent.matches} matches"
    name = plain(opponent.bot)
    if not opponent.tendencies:
        say(f"\nIn {matches}, {name} had one thing to do in each phase in public.")
        return
    say(f"\nWhat {name} does in public, in {matches}:")
    rows = [
        (
            row.phase,
            row.act,
            f"{row.share:.0%} of {count(row.of, 'decision')}",
            f"{row.others_share:.0%} of {row.others_of}",
        )
        for row in opponent.tendencies[:MOST_TENDENCIES]
    ]
    print_table(("phase", "act", name, "the others"), rows, console=console)

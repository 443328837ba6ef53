"""`arena bots`: an owner submits bots and manages their versions, and lists connected bots."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click
from google.protobuf.message import Message
from rich.progress import BarColumn, DownloadColumn, Progress

from arena.cli.arena_client import (
    OWNERS_KEY,
    NoAnswer,
    Server,
    ServiceClient,
    owner_options,
    patiently,
    service_client,
)
from arena.cli.check import bot_archive
from arena.cli.command_group import CommandGroup
from arena.cli.connected_bots import list_bots
from arena.cli.options import json_option, print_json
from arena.cli.owner_keys import token_option
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import program, say
from arena.cli.terminal.report import print_report
from arena.errors import exits
from arena.referee.wire.enums import word_of
from arena.referee.wire.message_json import message_json
from arena.results.qualification_report import Check, QualificationReport
from arena.results.think_times import PhaseTimes, SdkTimes, TimeSpent
from cardarena.v1 import bots_pb2
from cardarena.v1.bots_pb2_grpc import BotServiceStub

UPLOAD_S: Final = 320.0
"""The time-out of an upload in seconds, which is a little longer than the arena's."""
PIECE_BYTES: Final = 64 << 10
POLL_S: Final = 1.0
PATIENCE_S: Final = 600.0
"""Seconds for which a report is awaited; other bots may be qualified first."""
_VERSION: Final = re.compile(r"(?P<bot>[^@]+)(@(?P<number>[1-9][0-9]{0,8}))?")

Bots = ServiceClient[BotServiceStub]
T = TypeVar("T")


class VersionType(click.ParamType[tuple[str, int]]):
    """A version, such as `my-bot@7`; without a number it is the newest."""

    name = "version"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        parts = _VERSION.fullmatch(value)
        if parts is None:
            self.fail("give a bot, or one version of it as in my-bot@7", param, ctx)
        return parts["bot"], int(parts["number"] or 0)


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena bots list
  arena bots owned
  arena bots submit my-bot ./my-bot
  arena bots activate my-bot@1
  arena bots logs my-bot@1 --errors

\b
`arena new` creates a bot, and `arena check` tests it. docs/competing.md has all steps.
""",
)
def bots() -> None:
    """Submit bots and manage their versions, or list connected bots."""


@bots.command(epilog="\b\nExamples:\n  arena bots owned\n  arena bots owned --json")
@json_option
@owner_options
def owned(*, as_json: bool, server: Server) -> None:
    """List your own bots, by name, connected or not."""
    with _own_bots(server) as arena:
        listed = arena.call(arena.stub.ListOwnedBots, bots_pb2.ListOwnedBotsRequest())
    if as_json:
        print_json(message_json(listed))
        return
    if not listed.bots:
        say(f"You have no bot there. Submit one: {program()} bots submit BOT PATH")
        return
    rows = [
        (
            bot.bot,
            word_of(bot, "kind"),
            f"{bot.bot}@{bot.active}" if bot.active else "",
            f"{bot.bot}@{bot.newest.version}, {_state(bot.newest)}" if bot.newest.version else "",
        )
        for bot in listed.bots
    ]
    print_table(("bot", "kind", "active", "newest"), rows, wrapped=("newest",))


# Submissions.


@contextlib.contextmanager
def _own_bots(server: Server) -> Iterator[Bots]:
    with service_client(server, BotServiceStub, OWNERS_KEY) as arena:
        yield arena


def _created_first(
    arena: Bots, bot: str, kind: bots_pb2.BotKind.ValueType, act: Callable[[], Any]
) -> Any:
    """Act on a bot; if the arena has no such bot, create it and act again."""
    try:
        return act()
    except NoAnswer as error:
        if error.reason != "UNKNOWN_BOT":
            raise
    arena.call(arena.stub.CreateBot, bots_pb2.CreateBotRequest(bot=bot, kind=kind))
    return act()


@bots.command(
    epilog="""\b
Examples:
  arena bots submit my-bot ./my-bot
  arena bots submit my-bot my-bot.zip --no-wait

\b
Exit codes:
  0  submitted, and qualified unless --no-wait was given
  1  not submitted            3  submitted, and not qualified
"""
)
@click.argument("bot")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--wait/--no-wait", default=True, help="Whether to wait for the report.")
@json_option
@owner_options
def submit(*, bot: str, path: Path, wait: bool, as_json: bool, server: Server) -> None:
    """Submit PATH, a folder or a zip, as the next version of BOT.

    The first submission creates the bot. The arena qualifies the version; `arena bots activate`
    lets it play.
    """
    with bot_archive(path) as archive, _own_bots(server) as arena:
        size_bytes = archive.path.stat().st_size
        with _sending(size_bytes, quiet=as_json) as sent:

            def upload() -> bots_pb2.SubmitVersionResponse:
                return arena.call(
                    arena.stub.SubmitVersion,
                    lambda: _pieces(bot, archive.path, sent),
                    longest_s=UPLOAD_S,
                )

            kind = bots_pb2.BOT_KIND_UPLOADED
            version = _created_first(arena, bot, kind, upload).version
        name = f"{version.bot}@{version.version}"
        if not wait:
            if as_json:
                print_json(message_json(version))
            else:
                say(f"{name} is submitted. Its report: {program()} bots report {name}")
            return
        if not as_json:
            say(
                f"{name} is submitted, and will be qualified; this takes up to two minutes.",
                err=True,
            )
        answer = _awaited(arena, version)
    _print_report(answer, as_json=as_json)


def _pieces(
    bot: str, archive: Path, sent: Callable[[int], None]
) -> Iterator[bots_pb2.SubmitVersionRequest]:
    """Yield the requests of an upload; `sent` gets the bytes of each piece."""
    yield bots_pb2.SubmitVersionRequest(bot=bot)
    with archive.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield bots_pb2.SubmitVersionRequest(piece=piece)
            sent(len(piece))


def _awaited(arena: Bots, version: bots_pb2.VersionInfo) -> bots_pb2.GetReportResponse:
    request = bots_pb2.GetReportRequest(bot=version.bot, version=version.version)
    until_s = time.monotonic() + PATIENCE_S
    while True:
        answer = patiently(lambda: arena.call(arena.stub.GetReport, request))
        if answer.HasField("report") or time.monotonic() > until_s:
            return answer
        time.sleep(POLL_S)


@contextlib.contextmanager
def _sending(size_bytes: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    console = PlainConsole(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with Progress("sending", BarColumn(), DownloadColumn(), console=console) as progress:
        task = progress.add_task("", total=size_bytes)
        yield lambda sent: progress.advance(task, sent)


@bots.command(
    epilog="""\b
Examples:
  arena bots report my-bot@7
  arena bots report my-bot          # of the newest version
  arena bots report my-bot@7 --json | jq '.report.checks[] | select(.passed | not)'

\b
Exit codes: 0, or 3 if the version did not qualify.
"""
)
@click.argument("version", type=VersionType(), metavar="BOT[@N]")
@json_option
@owner_options
def report(*, version: tuple[str, int], as_json: bool, server: Server) -> None:
    """Print the report of a version's qualification."""
    bot, number = version
    with _own_bots(server) as arena:
        request = bots_pb2.GetReportRequest(bot=bot, version=number)
        answer = arena.call(arena.stub.GetReport, request)
    _print_report(answer, as_json=as_json)


def _print_report(answer: bots_pb2.GetReportResponse, *, as_json: bool) -> None:
    version = answer.version
    name = f"{version.bot}@{version.version}"
    result = _report(answer.report) if answer.HasField("report") else None
    if as_json:
        print_json(message_json(answer))
    elif result is None:
        say(f"{name} is {_state(version)}: there is no report yet.")
    else:
        print_report(result, name)
        if result.qualified and version.state == bots_pb2.VERSION_STATE_QUALIFIED:
            say(f"Next: {program()} bots activate {name}")
    if result is not None and not result.qualified:
        raise SystemExit(exits.BOT_FAILED)


def _report(message: bots_pb2.Report) -> QualificationReport:
    return QualificationReport(
        sha256=message.sha256,
        seed=message.seed,
        took_s=message.took_ms / 1000,
        checks=tuple(
            Check(
                name=check.name,
                passed=check.passed,
                took_s=check.took_ms / 1000,
                seats=check.seats,
                problem=check.problem,
                ask=check.ask,
                answered=check.answered,
                offered=tuple(check.offered),
                last_lines=tuple(check.last_lines),
                again=check.again,
                asks=check.asks,
                phases=tuple(_same(PhaseTimes, row) for row in check.phases),
                time=_time(check.time) if check.HasField("time") else None,
            )
            for check in message.checks
        ),
    )


def _same(kind: type[T], message: Message) -> T:
    """Return the values of a message as a dataclass whose fields have the same names."""
    return kind(*(getattr(message, field.name) for field in fields(cast("Any", kind))))


def _time(message: bots_pb2.TimeSpent) -> TimeSpent:
    by_sdk = _same(SdkTimes, message.by_sdk) if message.HasField("by_sdk") else None
    return replace(_same(TimeSpent, message), by_sdk=by_sdk)


# Versions.


@bots.command(epilog="\b\nExamples:\n  arena bots versions my-bot")
@click.argument("bot")
@json_option
@owner_options
def versions(*, bot: str, as_json: bool, server: Server) -> None:
    """List the versions of BOT, newest first."""
    with _own_bots(server) as arena:
        request = bots_pb2.ListVersionsRequest(bot=bot)
        listed = arena.pages(arena.stub.ListVersions, request, "versions")
    if as_json:
        print_json(message_json(bots_pb2.ListVersionsResponse(versions=listed)))
        return
    if not listed:
        say(f"{bot} has no version yet.")
        return
    rows = [
        (
            f"{version.bot}@{version.version}",
            _state(version),
            f"{datetime.fromtimestamp(version.state_unix_ms / 1000, UTC):%Y-%m-%d %H:%M}",
            f"{version.sha256[:12]}…",
            f"says {version.declared}, not verified" if version.declared else version.reason,
        )
        for version in listed
    ]
    print_table(heads := ("version", "state", "since", "sha256", ""), rows, wrapped=heads)


def _setting(
    name: str, state: bots_pb2.VersionState.ValueType, words: str, text: str
) -> click.Command:
    @bots.command(name, help=text, epilog=f"\b\nExamples:\n  arena bots {name} my-bot@7")
    @click.argument("version", type=VersionType(), metavar="BOT@N")
    @json_option
    @owner_options
    def command(*, version: tuple[str, int], as_json: bool, server: Server) -> None:
        bot, number = version
        if not number:
            raise click.UsageError(f"say which version, as in {bot}@7")
        request = bots_pb2.SetVersionStateRequest(bot=bot, version=number, state=state)
        with _own_bots(server) as arena:
            changed = arena.call(arena.stub.SetVersionState, request).version
        if as_json:
            print_json(message_json(changed))
        else:
            say(f"{bot}@{number} {words}.")
            if state == bots_pb2.VERSION_STATE_ACTIVE:
                at = f"--server {server.address}"
                say(
                    f"Next: {program()} competition list {at}\n"
                    f"      {program()} competition enter COMPETITION {bot} {at}"
                )

    return command


activate = _setting(
    "activate",
    bots_pb2.VERSION_STATE_ACTIVE,
    "is active: it plays for its bot from now on",
    "Let a qualified version play for its bot, in place of the active one.",
)
deactivate = _setting(
    "deactivate",
    bots_pb2.VERSION_STATE_INACTIVE,
    "is inactive: it can be made active again",
    "Stop an active version from playing.",
)
retire = _setting(
    "retire", bots_pb2.VERSION_STATE_RETIRED, "is retired for good", "Withdraw a version for good."
)


@bots.command(
    epilog="""\b
Examples:
  arena bots logs my-bot@7               # all logs and their text
  arena bots logs my-bot@7 --errors      # only exceptions of the bot
  arena bots logs my-bot@7 --match soko  # logs with `soko` in their names
  arena bots logs my-bot@7 --names --json
"""
)
@click.argument("version", type=VersionType(), metavar="BOT[@N]")
@click.option("--errors", is_flag=True, help="Only exceptions and the SDK's lines about faults.")
@click.option("--match", metavar="M", help="Only logs with this in their names.")
@click.option("--names", is_flag=True, help="Only the names and sizes of the logs.")
@json_option
@owner_options
def logs(
    *,
    version: tuple[str, int],
    errors: bool,
    match: str | None,
    names: bool,
    as_json: bool,
    server: Server,
) -> None:
    """Print the output of a version in the processes that the arena started. Only its owner can read it."""
    bot, number = version
    with _own_bots(server) as arena:
        wanted = bots_pb2.ListLogsRequest(bot=bot, version=number)
        listed = arena.pages(arena.stub.ListLogs, wanted, "logs")
        listed = [log for log in listed if (match or "") in log.log]
        texts = {log.log: "" if names else _log_text(arena, bot, number, log.log) for log in listed}
    if errors:
        texts = {name: _errors_of(text) for name, text in texts.items()}
        texts = {name: text for name, text in texts.items() if text}
    if as_json:
        rows = [
            {"log": log.log, "size_bytes": log.size_bytes}
            | ({} if names else {"text": texts[log.log]})
            for log in listed
            if log.log in texts
        ]
        print_json({"logs": rows})
        return
    if not texts:
        say("There is no such log." if match or errors else "There are no logs yet.")
    for name, text in texts.items():
        say(f"== {name}")
        say(text.rstrip("\n"))


def _log_text(arena: Bots, bot: str, version: int, name: str) -> str:
    request = bots_pb2.GetLogRequest(bot=bot, version=version, log=name)
    pieces = arena.stream(arena.stub.GetLog, request, longest_s=UPLOAD_S)
    return b"".join(piece.piece for piece in pieces).decode("utf-8", "replace")


def _errors_of(text: str) -> str:
    kept, within = [], False
    for line in text.splitlines():
        printed = line.partition(" | ")[2]
        begins = printed.startswith(("cardarena: ", "Traceback"))
        within = begins or (within and printed.startswith(" "))
        if within:
            kept.append(line)
    return "\n".join(kept)


@bots.command(
    epilog="""\b
Examples:
  arena bots token my-bot
  export CARDARENA_TOKEN=$(arena bots token my-bot)
  python bot.py --address https://arena.example:7654
"""
)
@click.argument("bot")
@token_option
@json_option
@owner_options
def token(*, bot: str, as_json: bool, server: Server, keep: Callable[[str], object] | None) -> None:
    """Create a token with which BOT connects from your own machine, and print it once.

    The first token creates the bot. The text that the bot declares as its version becomes a version of it, which is
    marked "not verified".
    """
    request = bots_pb2.CreateTokenRequest(bot=bot)
    with _own_bots(server) as arena:
        kind = bots_pb2.BOT_KIND_REMOTE
        made = _created_first(arena, bot, kind, lambda: arena.call(arena.stub.CreateToken, request))
    token = made.token
    if keep is not None:
        keep(token)
        made.ClearField("token")
    if as_json:
        print_json(message_json(made))
        return
    shown = "" if keep else " Its token is shown only now:"
    say(f"Key {made.key_id} for {bot}.{shown}", err=True)
    if keep is None:
        click.echo(token)


def _state(version: bots_pb2.VersionInfo) -> str:
    return word_of(version, "state")


bots.add_command(list_bots)

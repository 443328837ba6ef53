"""`arena bots`: an owner submits bots and looks after their versions; and the bots that are connected."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
from google.protobuf.json_format import MessageToDict
from rich.progress import BarColumn, DownloadColumn, Progress

from arena.cli.arena_client import (
    OWNERS_KEY,
    PAGE,
    NoAnswer,
    Server,
    ServiceClient,
    owner_options,
    patiently,
    server_options,
    service_client,
)
from arena.cli.check import bot_archive
from arena.cli.command_group import CommandGroup
from arena.cli.options import json_option, print_json
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import program, say
from arena.errors import exits
from arena.store.names import NAME
from arena.submission.report import Check, QualificationReport
from cardarena.v1 import bots_pb2, lobby_pb2
from cardarena.v1.bots_pb2_grpc import BotServiceStub
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub

UPLOAD_S: Final = 320.0
"""Timeout of an upload: a little more than the arena's."""
PIECE_BYTES: Final = 64 << 10
POLL_S: Final = 1.0
"""Time between two polls for a report."""
PATIENCE_S: Final = 600.0
"""Time for which a report is awaited; other bots may be qualified first."""
_VERSION: Final = re.compile(r"(?P<bot>[^@]+)(@(?P<number>[1-9][0-9]{0,8}))?")

Bots = ServiceClient[BotServiceStub]


class VersionType(click.ParamType[tuple[str, int]]):
    """A version, such as `my-bot@7`; without a number it is the newest."""

    name = "version"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        found = _VERSION.fullmatch(value)
        if found is None or not NAME.fullmatch(found["bot"]):
            self.fail("give a bot, or one version of it as in my-bot@7", param, ctx)
        return found["bot"], int(found["number"] or 0)


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena bots list
  arena bots submit my-bot ./my-bot
  arena bots activate my-bot@1
  arena bots logs my-bot@1 --errors

\b
`arena new` creates a bot, and `arena check` tests it. docs/competing.md has all steps.
""",
)
def bots() -> None:
    """Submit bots and look after their versions, or list connected bots."""


@bots.command(
    "list",
    epilog="""\b
Examples:
  arena bots list
  arena bots list --game klaberjass
  arena bots list --server https://arena.example:7654 --ca arena.crt
  arena bots list --json | jq -r '.bots[].bot'
""",
)
@click.option("--game", metavar="GAME", help="Only bots that play this game.")
@json_option
@server_options
def list_bots(*, game: str | None, as_json: bool, server: Server) -> None:
    """List the bots that are connected to an arena, by name."""
    with service_client(server, LobbyServiceStub) as lobby:
        games = lobby.call(lobby.stub.ListGames, lobby_pb2.ListGamesRequest()).games
        known = [each.game for each in games]
        if game and game not in known:
            raise click.ClickException(f"there is no game {game!r} there; {nearest(game, known)}")
        found = [
            bot
            for bot in connected_bots(lobby)
            if not game or any(played.game == game for played in bot.games)
        ]
    if as_json:
        print_json({"bots": [_bot_json(bot) for bot in found]})
        return
    if not found:
        who = f"No bot that plays {game}" if game else "No bot"
        say(f"{who} is connected to {server.address}.")
        return
    rows = [(bot.bot, _plays(bot, known), f"{bot.matches} of {bot.max_matches}") for bot in found]
    print_table(("bot", "plays", "matches"), rows, wrapped=("plays",))


def _plays(bot: lobby_pb2.BotInfo, known: Sequence[str]) -> str:
    games = [played.game for played in bot.games]
    return "every game" if len(games) == len(known) else ", ".join(games) or "no game of this arena"


def connected_bots(lobby: ServiceClient[LobbyServiceStub]) -> list[lobby_pb2.BotInfo]:
    """The bots that are connected to an arena, by name."""
    return lobby.pages(lobby.stub.ListBots, lobby_pb2.ListBotsRequest(page_size=PAGE), "bots")


def _bot_json(bot: lobby_pb2.BotInfo) -> dict[str, Any]:
    return {
        "bot": bot.bot,
        "games": [{"game": each.game, "seats": list(each.seats) or None} for each in bot.games],
        "matches": bot.matches,
        "max_matches": bot.max_matches,
    }


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
                print_json(_version_json(version))
            else:
                say(f"{name} is submitted. Its report: {program()} bots report {name}")
            return
        if not as_json:
            say(f"{name} is submitted, and will be qualified; this takes a minute.", err=True)
        answer = _awaited(arena, version)
    _print_report(answer, as_json=as_json)


def _pieces(
    bot: str, archive: Path, sent: Callable[[int], None]
) -> Iterator[bots_pb2.SubmitVersionRequest]:
    """The requests of an upload; `sent` gets the bytes of each piece."""
    yield bots_pb2.SubmitVersionRequest(bot=bot)
    with archive.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield bots_pb2.SubmitVersionRequest(piece=piece)
            sent(len(piece))


def _awaited(arena: Bots, version: bots_pb2.VersionInfo) -> bots_pb2.GetReportResponse:
    """Poll for the report of a version until the arena has one."""
    request = bots_pb2.GetReportRequest(bot=version.bot, version=version.version)
    until_s = time.monotonic() + PATIENCE_S
    while True:
        answer = patiently(lambda: arena.call(arena.stub.GetReport, request))
        if answer.HasField("report") or time.monotonic() > until_s:
            return answer
        time.sleep(POLL_S)


@contextlib.contextmanager
def _sending(size_bytes: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar of the upload, on a terminal."""
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
    found = _report(answer.report) if answer.HasField("report") else None
    if as_json:
        print_json(_version_json(version) | {"report": found and found.as_json()})
    elif found is None:
        say(f"{name} is {_state(version)}: there is no report yet.")
    else:
        for line in found.words(name):
            say(line)
        if found.qualified and version.state == bots_pb2.VERSION_STATE_QUALIFIED:
            say(f"Next: {program()} bots activate {name}")
    if found is not None and not found.qualified:
        raise SystemExit(exits.BOT_FAILED)


def _report(message: bots_pb2.Report) -> QualificationReport:
    return QualificationReport(
        sha256=message.sha256,
        seed=message.seed,
        took_s=message.took_ms / 1000,
        checks=tuple(
            Check(
                name=each.name,
                passed=each.passed,
                took_s=each.took_ms / 1000,
                seats=each.seats,
                problem=each.problem,
                ask=each.ask,
                answered=each.answered,
                offered=tuple(each.offered),
                last_lines=tuple(each.last_lines),
                again=each.again,
                asks=each.asks,
            )
            for each in message.checks
        ),
    )


# Versions.


@bots.command(epilog="\b\nExamples:\n  arena bots versions my-bot")
@click.argument("bot")
@json_option
@owner_options
def versions(*, bot: str, as_json: bool, server: Server) -> None:
    """List the versions of BOT, newest first."""
    with _own_bots(server) as arena:
        request = bots_pb2.ListVersionsRequest(bot=bot)
        found = arena.pages(arena.stub.ListVersions, request, "versions")
    if as_json:
        print_json({"versions": [_version_json(each) for each in found]})
        return
    if not found:
        say(f"{bot} has no version yet.")
        return
    rows = [
        (
            f"{each.bot}@{each.version}",
            _state(each),
            f"{datetime.fromtimestamp(each.state_unix_ms / 1000, UTC):%Y-%m-%d %H:%M}",
            f"{each.sha256[:12]}…",
            f"says {each.declared}, not verified" if each.declared else each.reason,
        )
        for each in found
    ]
    print_table(heads := ("version", "state", "since", "sha256", ""), rows, wrapped=heads)


def _setting(
    name: str, state: bots_pb2.VersionState.ValueType, words: str, text: str
) -> click.Command:
    """A command that changes the state of a version."""

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
            print_json(_version_json(changed))
        else:
            say(f"{bot}@{number} {words}.")

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
    "retire",
    bots_pb2.VERSION_STATE_RETIRED,
    "is retired for good",
    "Withdraw a version for good.",
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
    """Print the output of a version where the arena started it. Only its owner can read it."""
    bot, number = version
    with _own_bots(server) as arena:
        wanted = bots_pb2.ListLogsRequest(bot=bot, version=number)
        found = arena.pages(arena.stub.ListLogs, wanted, "logs")
        found = [each for each in found if (match or "") in each.log]
        texts = {
            each.log: "" if names else _log_text(arena, bot, number, each.log) for each in found
        }
    if errors:
        texts = {name: _errors_of(text) for name, text in texts.items()}
        texts = {name: text for name, text in texts.items() if text}
    if as_json:
        rows = [
            {"log": each.log, "size_bytes": each.size_bytes}
            | ({} if names else {"text": texts[each.log]})
            for each in found
            if each.log in texts
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
    return b"".join(each.piece for each in pieces).decode("utf-8", "replace")


def _errors_of(text: str) -> str:
    """The lines of a log about errors, with the tracebacks that follow."""
    kept, within = [], False
    for line in text.splitlines():
        said = line.partition(" | ")[2]
        begins = said.startswith(("cardarena: ", "Traceback"))
        within = begins or (within and said.startswith(" "))
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
@json_option
@owner_options
def token(*, bot: str, as_json: bool, server: Server) -> None:
    """Create a token with which BOT connects from your own machine, and print it once.

    The first token creates the bot. The text that the bot gives as its version becomes a version of
    it, marked "not verified".
    """
    request = bots_pb2.CreateTokenRequest(bot=bot)
    with _own_bots(server) as arena:
        kind = bots_pb2.BOT_KIND_REMOTE
        made = _created_first(arena, bot, kind, lambda: arena.call(arena.stub.CreateToken, request))
    if as_json:
        print_json({"bot": bot, "token": made.token, "key": made.key_id})
        return
    say(f"Key {made.key_id} for {bot}. Its token is shown only now:", err=True)
    click.echo(made.token)


def _state(version: bots_pb2.VersionInfo) -> str:
    name = bots_pb2.VersionState.Name(version.state)
    return name.removeprefix("VERSION_STATE_").lower()


def _version_json(version: bots_pb2.VersionInfo) -> dict[str, Any]:
    found: dict[str, Any] = MessageToDict(version, preserving_proto_field_name=True)
    return found | {"state": _state(version), "state_unix_ms": version.state_unix_ms}

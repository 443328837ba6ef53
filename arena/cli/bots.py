"""`arena bots`: an author's bots, from the first file to the table; and who is there to play with."""

import contextlib
import copy
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click
from google.protobuf.json_format import MessageToDict
from rich.progress import BarColumn, DownloadColumn, Progress
from rich.table import Table
from rich.text import Text

from arena.cli.arguments import data_folder, log_to, plain_errors
from arena.cli.jail import jailed, walled
from arena.cli.lobby import Lobby, Server, lobby_of, patiently, server_options
from arena.cli.near import nearest
from arena.cli.new import new
from arena.cli.owning import Owning, owner_options, owning_of
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say
from arena.competition.archive import Archive, BadArchive, pack, read_archive
from arena.competition.manifest import BadManifest, read_manifest
from arena.competition.report import Check, Report
from arena.competition.wheels import read_wheels
from arena.server.submissions.built_runtimes import BuiltRuntimes
from arena.store.keys import NAME
from cardarena.v1 import bots_pb2, lobby_pb2

EXIT_NOT_QUALIFIED: Final = 3
"""It was looked at, and may not play."""
LOOK_S: Final = 1.0
"""Between two looks at whether a version is qualified."""
PATIENCE_S: Final = 600.0
"""How long a report is waited for: others may be qualified first."""
_VERSION: Final = re.compile(r"(?P<bot>[^@]+)(@(?P<number>[1-9][0-9]{0,8}))?")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
game_option = click.option(
    "--game", default="", metavar="GAME", help="Only bots that play this game."
)


class VersionType(click.ParamType[tuple[str, int]]):
    """A version, as `my-bot@7`; without a number it is the newest."""

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
    invoke_without_command=True,
    epilog="""\b
Examples:
  arena bots new my-bot
  arena bots check ./my-bot
  arena bots submit my-bot ./my-bot
  arena bots activate my-bot@1
  arena bots logs my-bot@1 --errors
  arena bots                     # who is connected, as `arena bots list`

\b
docs/competing.md leads from nothing to a bot that plays.
""",
)
@game_option
@json_option
@server_options
@click.pass_context
def bots(context: click.Context, *, game: str, as_json: bool, server: Server) -> None:
    """Make, check, submit and look after your bots; or list those that are connected."""
    if context.invoked_subcommand is None:
        _list_connected(game, server, as_json=as_json)


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
@game_option
@json_option
@server_options
def list_bots(*, game: str, as_json: bool, server: Server) -> None:
    """List the bots that are connected to an arena, by name."""
    _list_connected(game, server, as_json=as_json)


def _list_connected(game: str, server: Server, *, as_json: bool) -> None:
    with lobby_of(server) as lobby:
        known = [each.game for each in lobby.games()]
        if game and game not in known:
            raise click.ClickException(f"there is no game {game!r} there; {nearest(game, known)}")
        found = _playing(lobby, game)
    if as_json:
        click.echo(json.dumps({"bots": [_as_json(bot) for bot in found]}, indent=2))
        return
    if not found:
        who = f"No bot that plays {game}" if game else "No bot"
        say(f"{who} is connected to {server.address}.")
        return
    console = PlainConsole()
    table = Table(box=None, pad_edge=False)
    for name in ("bot", "plays", "matches"):
        table.add_column(name, no_wrap=name != "plays")
    for bot in found:
        matches = f"{bot.matches} of {bot.max_matches}"
        table.add_row(Text(plain(bot.bot)), _games(bot, len(known)), matches)
    console.print(table)


def _playing(lobby: Lobby, game: str) -> list[lobby_pb2.BotInfo]:
    return [
        bot for bot in lobby.bots() if not game or any(played.game == game for played in bot.games)
    ]


def _games(bot: lobby_pb2.BotInfo, known: int) -> str:
    games = [played.game for played in bot.games]
    if len(games) == known:
        return "every game"
    return ", ".join(games) or "no game of this arena"


def _as_json(bot: lobby_pb2.BotInfo) -> dict[str, Any]:
    return {
        "bot": bot.bot,
        "games": [{"game": each.game, "seats": list(each.seats) or None} for each in bot.games],
        "matches": bot.matches,
        "max_matches": bot.max_matches,
    }


# On one's own machine.


_new = copy.copy(new)
_new.epilog = str(new.epilog).replace("arena new", "arena bots new")
bots.add_command(_new)


@bots.command(
    epilog="""\b
Examples:
  arena bots check ./my-bot
  arena bots check ./my-bot --only klaberjass
  arena bots check ./my-bot --only soko --seats 4 --seed q7
  arena bots check my-bot.zip --json

\b
Exit codes:
  0  it would be qualified    2  called wrongly
  1  could not be checked     3  it would not be; or with --only, something failed
"""
)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--only",
    multiple=True,
    metavar="CHECK",
    help="A game, or a check that failed; may be repeated.",
)
@click.option("--seats", type=click.IntRange(2, 10), help="Only with so many seats.")
@click.option("--seed", default="q7", show_default=True, help="Repeats the deals.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="Keep replays and logs in this folder, which must not be there yet.",
)
@data_folder("Folder of the runtimes that were built here.")
@jailed
@json_option
def check(
    *,
    path: Path,
    only: tuple[str, ...],
    seats: int | None,
    seed: str,
    keep: Path | None,
    data: Path,
    demand: str,
    read_only: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Find out in a minute whether the bot in PATH, a folder or a zip, would be qualified.

    It is what an arena does with a bot that is submitted: the manifest is read, the bot is started
    behind a wall, plays each of its games against a sample and a random bot, and has to stand what
    every bot meets.
    """
    from arena.qualification import Shelves, Wanted, qualify
    from arena.qualification.robustness import NAMES

    with _archive(path) as archive, tempfile.TemporaryDirectory(prefix="check-") as folder:
        manifest = read_manifest(archive.manifest, archive.paths)
        if manifest.is_built:
            _require_built(manifest.runtime, data)
        declared = [each.game.id for each in manifest.games]
        known = ["start", *declared, *NAMES]
        for each in only:
            if each not in known:
                text = f"there is no check {each!r} of this bot; {nearest(each, known)}"
                raise click.ClickException(text)
        work = keep or Path(folder) / "work"
        if work.exists():
            raise click.ClickException(f"{work} is there already: --keep makes it")
        log_to(Path(folder))
        if not as_json:
            say(f"Checking {path}; this takes up to a minute.", err=True)
        shown: Callable[[str], None] = (lambda _: None) if as_json else _say_done
        wanted = Wanted(again=str(path), seed=seed, only=only, seats=seats)
        try:
            hidden = work.absolute() / "data"
            with plain_errors(), walled(demand, hidden, read_only, ()) as wall:
                report = qualify(archive.path, work, wanted, shown, wall, Shelves(data))
        except KeyboardInterrupt:
            raise click.ClickException("stopped before it was over") from None
        finally:
            _open_up(work)
    _tell(report, path.name.removesuffix(".zip"), as_json=as_json)
    passed = not report.failed if report.partial else report.qualified
    if not passed:
        raise SystemExit(EXIT_NOT_QUALIFIED)


def _require_built(name: str, data: Path) -> None:
    """Require that this machine has the runtime that a bot asks for."""
    found = BuiltRuntimes(data).named(name)
    if found is None:
        raise click.ClickException(
            f"the bot is run by the runtime {name}, which was not built here: get {name}.toml and "
            f"{name}.lock from the arena's organiser, and `arena runtimes build {name}.toml`"
        )
    if found.lacks:
        raise click.ClickException(f"the bot cannot be checked: {found.lacks}")


def _say_done(title: str) -> None:
    say(f"  {title}", err=True)


def _open_up(work: Path) -> None:
    """Let the folder be removed: the bot's files are there for reading alone."""
    for folder in (work / "bot", *(each for each in (work / "bot").rglob("*") if each.is_dir())):
        with contextlib.suppress(OSError):
            folder.chmod(0o755)


@contextlib.contextmanager
def _archive(path: Path) -> Iterator[Archive]:
    """What would be submitted, all its problems told at once."""
    with tempfile.TemporaryDirectory(prefix="bot-") as folder:
        packed = Path(folder) / "bot.zip"
        try:
            if path.is_dir():
                pack(path, packed)
            else:
                shutil.copyfile(path, packed)
            archive = read_archive(packed)
            if read_manifest(archive.manifest, archive.paths).runs_python:
                read_wheels(archive)
        except (BadArchive, BadManifest) as error:
            lines = "".join(f"\n  {each}" for each in error.problems)
            raise click.ClickException(f"{path} cannot be submitted:{lines}") from None
        except OSError as error:
            raise click.ClickException(f"cannot read {path}: {error.strerror}") from error
        yield archive


def _tell(report: Report, name: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"name": name} | report.as_json(), indent=2))
        return
    for line in report.words(name):
        say(line)


# At an arena.


@bots.command(
    epilog="""\b
Examples:
  arena bots submit my-bot ./my-bot
  arena bots submit my-bot my-bot.zip --no-wait

\b
Exit codes:
  0  submitted, and qualified if it was waited for
  1  not submitted            3  submitted, and not qualified
"""
)
@click.argument("bot")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--wait/--no-wait", default=True, help="Whether to wait for the report.")
@json_option
@owner_options
def submit(*, bot: str, path: Path, wait: bool, as_json: bool, server: Server) -> None:
    """Submit what is in PATH, a folder or a zip, as the next version of BOT.

    A bot that is not there yet is made. The arena qualifies the version; `arena bots activate` lets it
    play.
    """
    with _archive(path) as archive, owning_of(server) as owning:
        size_bytes = archive.path.stat().st_size
        with _sending(size_bytes, quiet=as_json) as sent:
            version = owning.submit(bot, archive.path, sent)
        name = f"{version.bot}@{version.version}"
        if not wait:
            if as_json:
                click.echo(json.dumps(_version_json(version), indent=2))
            else:
                say(f"{name} is submitted. How it fares: arena bots report {name}")
            return
        if not as_json:
            say(f"{name} is submitted, and will be qualified; this takes a minute.", err=True)
        answer = _awaited(owning, version)
    _tell_answer(answer, as_json=as_json)


def _awaited(owning: Owning, version: bots_pb2.VersionInfo) -> bots_pb2.GetReportResponse:
    """The report of a version, as soon as there is one."""
    until_s = time.monotonic() + PATIENCE_S
    while True:
        answer = patiently(lambda: owning.report(version.bot, version.version))
        if answer.HasField("report") or time.monotonic() > until_s:
            return answer
        time.sleep(LOOK_S)


@contextlib.contextmanager
def _sending(size_bytes: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar of how much is sent, where somebody looks."""
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
    """Tell what the qualification of a version found."""
    with owning_of(server) as owning:
        answer = owning.report(*version)
    _tell_answer(answer, as_json=as_json)


def _tell_answer(answer: bots_pb2.GetReportResponse, *, as_json: bool) -> None:
    version = answer.version
    name = f"{version.bot}@{version.version}"
    found = _report(answer.report) if answer.HasField("report") else None
    if as_json:
        told = _version_json(version) | {"report": None if found is None else found.as_json()}
        click.echo(json.dumps(told, indent=2))
    elif found is None:
        say(f"{name} is {_state(version)}: there is no report yet.")
    else:
        for line in found.words(name):
            say(line)
        if found.qualified and version.state == bots_pb2.VERSION_STATE_QUALIFIED:
            say(f"Next: arena bots activate {name}")
    if found is not None and not found.qualified:
        raise SystemExit(EXIT_NOT_QUALIFIED)


def _report(message: bots_pb2.Report) -> Report:
    """A report as it was made."""
    return Report(
        sha256=message.sha256,
        seed=message.seed,
        took_s=message.took.ToMilliseconds() / 1000,
        checks=tuple(
            Check(
                name=each.name,
                passed=each.passed,
                took_s=each.took.ToMilliseconds() / 1000,
                seats=each.seats,
                problem=each.problem,
                ask=each.ask,
                answered=each.answered,
                offered=tuple(each.offered),
                last_lines=tuple(each.last_lines),
                again=each.again,
            )
            for each in message.checks
        ),
    )


@bots.command(epilog="\b\nExamples:\n  arena bots versions my-bot")
@click.argument("bot")
@json_option
@owner_options
def versions(*, bot: str, as_json: bool, server: Server) -> None:
    """List the versions of BOT, newest first."""
    with owning_of(server) as owning:
        found = owning.versions(bot)
    if as_json:
        click.echo(json.dumps({"versions": [_version_json(each) for each in found]}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("version", "state", "since", "sha256", ""):
        table.add_column(column)
    for each in found:
        since = each.state_time.ToDatetime().strftime("%Y-%m-%d %H:%M")
        said = each.said and f"says {each.said}, not verified"
        why = plain(said or each.reason)
        name = f"{each.bot}@{each.version}"
        table.add_row(name, _state(each), since, f"{each.sha256[:12]}…", Text(why))
    PlainConsole().print(table if found else f"{bot} has no version yet.")


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
        with owning_of(server) as owning:
            changed = owning.set_state(bot, number, state)
        if as_json:
            click.echo(json.dumps(_version_json(changed), indent=2))
        else:
            say(f"{bot}@{number} {words}.")

    return command


activate = _setting(
    "activate",
    bots_pb2.VERSION_STATE_ACTIVE,
    "is active: it plays for its bot from now on",
    "Let a qualified version play for its bot; the one before steps back.",
)
deactivate = _setting(
    "deactivate",
    bots_pb2.VERSION_STATE_INACTIVE,
    "is inactive: it can be made active again",
    "Let an active version step back.",
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
  arena bots logs my-bot@7               # which there are, and all that they hold
  arena bots logs my-bot@7 --errors      # exceptions of the bot alone
  arena bots logs my-bot@7 --match soko  # those with `soko` in their names
  arena bots logs my-bot@7 --names --json
"""
)
@click.argument("version", type=VersionType(), metavar="BOT[@N]")
@click.option("--errors", is_flag=True, help="Only exceptions and what the SDK says of faults.")
@click.option("--match", default="", metavar="M", help="Only logs with this in their names.")
@click.option("--names", is_flag=True, help="Only which logs there are.")
@json_option
@owner_options
def logs(
    *,
    version: tuple[str, int],
    errors: bool,
    match: str,
    names: bool,
    as_json: bool,
    server: Server,
) -> None:
    """Print what a version printed where the arena started it. Only its owner sees that."""
    with owning_of(server) as owning:
        found = [each for each in owning.logs(*version) if match in each.log]
        texts = {
            each.log: "" if names else owning.log(*version, each.log).decode("utf-8", "replace")
            for each in found
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
        click.echo(json.dumps({"logs": rows}, indent=2))
        return
    if not texts:
        say("There is no such log." if match or errors else "There are no logs yet.")
    for name, text in texts.items():
        say(f"== {name}")
        say(text.rstrip("\n"))


def _errors_of(text: str) -> str:
    """The lines of a log that tell of something wrong, with the tracebacks that follow."""
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
    """Make a token for BOT, with which it dials in from your own machine, and print it, once.

    A bot that is not there yet is made. What it says that its version is becomes a version of it that
    is "not verified".
    """
    with owning_of(server) as owning:
        made = owning.token(bot)
    if as_json:
        told = {"bot": bot, "token": made.token, "key": made.key_id}
        click.echo(json.dumps(told, indent=2))
        return
    say(f"Key {made.key_id} for {bot}. Its token is shown only now:", err=True)
    click.echo(made.token)


def _state(version: bots_pb2.VersionInfo) -> str:
    name = bots_pb2.VersionState.Name(version.state)
    return name.removeprefix("VERSION_STATE_").lower()


def _version_json(version: bots_pb2.VersionInfo) -> dict[str, Any]:
    found: dict[str, Any] = MessageToDict(version, preserving_proto_field_name=True)
    return found | {"state": _state(version)}

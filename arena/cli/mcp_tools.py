"""The tools of `arena mcp`: most are rows that name a command, whose parameters and help are the schema and the text."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from arena.cli import main
from arena.cli.arena_client import Server
from arena.cli.options import GameType
from arena.errors import exits
from arena.games.catalogue import GAMES

COMMAND_S: Final = 600.0
"""The longest run of a command, in seconds."""
MAX_CHARS: Final = 60_000
"""The maximal number of characters of a result; the rest is left out."""
MAX_FILE_BYTES: Final = 1 << 20
_RESULTS: Final = (0, exits.BOT_FAILED, exits.UNDECIDED)
"""Exit codes of commands that succeeded."""

Json: TypeAlias = dict[str, Any]


class ToolError(Exception):
    """A tool has failed. The text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool of an agent."""

    name: str
    text: str
    schema: Json
    """The JSON schema of its arguments."""
    example: Json
    """Arguments with which it may be called."""
    call: Callable[[Json], Awaitable[str]]
    """Returns the result of a call; raises ToolError."""

    @property
    def description(self) -> str:
        return f"{self.text}\n\nExample: {json.dumps(self.example)}"


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    command: str
    """The words after `arena`."""
    example: Json
    params: Sequence[str] = ()
    """The names of the parameters that a caller may give, besides those in the example."""
    fixed: Sequence[str] = ()
    """Arguments that are always given; `{server}` is the arena's address, `{sandbox}` is the sandbox of checks."""
    text: str = ""
    """The text of the tool in place of the help of the command."""


# fmt: off
ROWS: Final = (
    _Row("read_rules", "games show", {"game": "jam"}),
    _Row("register", "owners register", {"code": "7Q4K-M2XW-9TRA"}, fixed=["{server}"],
         text="Register at the arena as an owner of bots, with the code of an invitation. The key is kept on this machine."),
    _Row("list_competitions", "competition list", {}, fixed=["--json"]),
    _Row("show_competition", "competition show", {"name": "autumn"}, ["pairs", "number"], ["--json"]),
    _Row("enter_competition", "competition enter", {"name": "autumn", "bot": "my-bot"}, fixed=["--json"]),
    _Row("challenge", "challenge", {"bot": "my-bot", "opponent": "house-sample", "game": "jam"}, ["seats", "deal_sets", "option", "follow", "received", "decline"], ["--json"]),
    _Row("list_matches", "match list", {"bot": ["my-bot"], "limit": 5}, ["game", "competition", "ending", "faulted", "published"], ["--json"]),
    _Row("download_replay", "replay download", {"match": "3f9a77c01b2d4e5f"}),
    _Row("read_replay", "replay show", {"match": "3f9a77c01b2d4e5f.replay", "hand": 0, "brief": True}, ["seat", "spectator", "step"], ["--print", "--data=."]),
    _Row("explain_match", "match why", {"match": "3f9a77c01b2d4e5f.replay", "bot": "my-bot"}, ["house", "full"], ["--data=."]),
    _Row("new_bot", "new", {"folder": "my-bot", "lang": "python", "game": "jam"}),
    _Row("check_bot", "check", {"path": "my-bot"}, ["only", "seats", "seed"], ["--sandbox={sandbox}"]),
    _Row("submit_bot", "bots submit", {"bot": "my-bot", "path": "my-bot"}, fixed=["--no-wait"]),
    _Row("bot_report", "bots report", {"version": "my-bot@1"}, fixed=["--json"]),
    _Row("activate_bot", "bots activate", {"version": "my-bot@1"}),
)
# fmt: on


class AgentCommands:
    """Runs commands in the folder of an agent, for an arena."""

    def __init__(self, folder: Path, server: Server, sandbox: str = "auto") -> None:
        """Run commands in `folder` for an arena; bots are checked in this sandbox, see `arena check --sandbox`."""
        self.folder: Final = folder
        self._sandbox = sandbox
        self._server = server

    def tools(self) -> list[AgentTool]:
        """Return the tools that are commands, and the one for files."""
        return [*map(self._tool, ROWS), self._file_tool()]

    def _tool(self, row: _Row) -> AgentTool:
        command = _command(row.command)
        names = {*row.example, *row.params}
        params = [param for param in command.params if name_of(param) in names]
        missing = names - {*map(name_of, params)}
        assert not missing, f"{row.name} names {missing}, which `arena {row.command}` has not"
        given = [*row.command.split(), *self._arguments(command), *self._fixed(row)]

        async def call(arguments: Json) -> str:
            return await self.run([*given, *words(params, arguments, self.folder)])

        text = row.text or " ".join((command.help or "").replace("\b", "").split())
        return AgentTool(row.name, text, schema_of(params), row.example, call)

    def _arguments(self, command: click.Command) -> list[str]:
        known = {*map(name_of, command.params)}
        values: Mapping[str, str | None] = {
            "server": self._server.address,
            "ca": self._server.ca,
            "client_cert": self._server.client_cert,
            "client_key": self._server.client_key,
        }
        given = [
            f"--{name.replace('_', '-')}={value}"
            for name, value in values.items()
            if name in known and value
        ]
        return [*given, *["--insecure"] * (self._server.insecure and "insecure" in known)]

    def _fixed(self, row: _Row) -> list[str]:
        return [
            word.format(server=self._server.address, sandbox=self._sandbox) for word in row.fixed
        ]

    async def token_of(self, bot: str) -> str:
        """Return a new token of an owner's bot, which no result shows."""
        out = await self.run(
            ["bots", "token", bot, "--json", *self._arguments(_command("bots token"))]
        )
        token: str = json.loads(out)["token"]
        return token

    async def run(self, words: Sequence[str]) -> str:
        """Run a command, and return its output. Raises `ToolError` if it fails; the text is its message."""
        environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
        if self._server.token:
            tokens = dict.fromkeys(("CARDARENA_TOKEN", "CARDARENA_OWNER_TOKEN"), self._server.token)
            environment |= tokens
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "arena", *words),
            cwd=self.folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(COMMAND_S):
                out, errors = await process.communicate()
        except TimeoutError:
            raise ToolError(f"the command took longer than {COMMAND_S:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        return output_of(process.returncode or 0, out, errors)

    def _file_tool(self) -> AgentTool:
        async def call(arguments: Json) -> str:
            require_only(arguments, ("path", "text"))
            return self._file(arguments.get("path", "."), arguments.get("text"))

        return AgentTool(
            "file",
            "Read a file of your folder, list a folder in it, or write a file: give its `text` to write it.",
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Relative to your folder."},
                    "text": {"type": "string", "description": "The whole new text of the file."},
                },
                "required": ["path"],
                "additionalProperties": False,
            },
            {"path": "my-bot/bot.py"},
            call,
        )

    def _file(self, name: object, text: object) -> str:
        if not isinstance(name, str) or not (text is None or isinstance(text, str)):
            raise ToolError("`path` and `text` are texts")
        path = inside(self.folder, name)
        try:
            if text is not None:
                if len(text.encode("utf-8", "replace")) > MAX_FILE_BYTES:
                    raise ToolError(f"a file has at most {MAX_FILE_BYTES} bytes")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
                return f"wrote {name}"
            if path.is_dir():
                return "\n".join(
                    sorted(
                        f"{entry.name}/" if entry.is_dir() else entry.name
                        for entry in path.iterdir()
                    )
                )
            return cut(path.read_text("utf-8"))
        except UnicodeDecodeError:
            raise ToolError(f"{name} is no text in UTF-8") from None
        except (OSError, UnicodeEncodeError, ValueError) as error:
            raise ToolError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def _command(words: str) -> click.Command:
    command: click.Command = main
    for word in words.split():
        assert isinstance(command, click.Group)
        subcommand = command.get_command(click.Context(command), word)
        assert subcommand is not None, f"there is no command `arena {words}`"
        command = subcommand
    return command


def name_of(param: click.Parameter) -> str:
    """Return the name of a parameter as its user writes it: `bot` of `--bot`."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len).lstrip("-").replace("-", "_")
    return str(param.name)


def schema_of(params: Sequence[click.Parameter]) -> Json:
    """Return the JSON schema of a command's parameters."""
    return {
        "type": "object",
        "properties": {name_of(param): _property(param) for param in params},
        "required": [name_of(param) for param in params if param.required],
        "additionalProperties": False,
    }


def _property(param: click.Parameter) -> Json:
    kind = param.type
    value: Json = {"type": "string"}
    if isinstance(param, click.Option) and param.is_flag:
        value = {"type": "boolean"}
    elif isinstance(kind, click.IntRange):
        bounds = {"minimum": kind.min, "maximum": kind.max}
        value = {"type": "integer"} | {name: at for name, at in bounds.items() if at is not None}
    elif isinstance(kind, click.types.IntParamType):
        value = {"type": "integer"}
    elif isinstance(kind, click.Choice):
        value = {"type": "string", "enum": [*map(str, kind.choices)]}
    elif isinstance(kind, GameType):
        value = {"type": "string", "enum": [game.id for game in GAMES]}
    if param.multiple or param.nargs != 1:
        value = {"type": "array", "items": value}
    help_text = param.help if isinstance(param, click.Option) else None
    value["description"] = help_text or f"{name_of(param).upper()} of the text above."
    return value


def words(params: Sequence[click.Parameter], arguments: Json, folder: Path) -> list[str]:
    """Return the words of a command line for the arguments of a call.

    Raises `ToolError` if an argument is unknown, missing or of the wrong type, or a path out of the folder;
    click checks its value otherwise.
    """
    require_only(arguments, [*map(name_of, params)])
    options, positional = [], []
    for param in params:
        name = name_of(param)
        value = arguments.get(name)
        if value is None or value is False:
            if param.required:
                raise ToolError(f"`{name}` is missing")
            continue
        values = value if isinstance(value, list) else [value]
        if isinstance(param, click.Option) and param.is_flag:
            options.append(max(param.opts, key=len))
            continue
        for one in values:
            if isinstance(one, bool) or not isinstance(one, (str, int)):
                raise ToolError(f"`{name}` is a text or a number, not {one!r}")
            inside(folder, str(one))  # any text may be read as a path, and a name may be a link
            if isinstance(param, click.Option):
                options.append(f"{max(param.opts, key=len)}={one}")
            else:
                positional.append(str(one))
    return [*options, "--", *positional]


def inside(folder: Path, name: str) -> Path:
    """Return a path of the agent's folder. Raises `ToolError` if it is outside."""
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise ToolError(f"{name!r} is no path: {error}") from None
    if not path.is_relative_to(folder.resolve()):
        raise ToolError(
            f"{name} is outside of your folder; give a path in it, such as my-bot/bot.py"
        )
    return path


def require_only(arguments: Json, names: Sequence[str]) -> None:
    """Require that a call has these arguments and no others. Raises `ToolError` if it has another."""
    for name in arguments:
        if name not in names:
            raise ToolError(
                f"there is no argument {name!r}; there are: {', '.join(names) or 'none'}"
            )


def output_of(code: int, out: bytes, errors: bytes) -> str:
    """Return the output of a command; standard error is included only if there is no other output, or the bot failed.

    Raises `ToolError` if the exit code says that it failed.
    """
    text, error = (part.decode("utf-8", "replace").strip() for part in (out, errors))
    if code not in _RESULTS:
        raise ToolError(error.removeprefix("Error: ") or f"exit code {code}")
    return cut("\n".join(part for part in (text, error) if part) if code or not text else text)


def cut(text: str) -> str:
    """Return a result without spaces at the ends of its lines, shortened to `MAX_CHARS`."""
    text = "\n".join(map(str.rstrip, text.split("\n")))
    if len(text) <= MAX_CHARS:
        return text
    return (
        f"{text[:MAX_CHARS]}\n… {len(text) - MAX_CHARS} more characters are left out: ask for less"
    )

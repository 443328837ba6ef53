"""`arena mcp`: the arena as tools for agents, over standard input and output or over HTTP."""

import asyncio
import functools
import hmac
import json
import secrets
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from socket import create_server
from typing import Any, Final

import click

from arena.cli.arena_client import Server, owner_options
from arena.cli.mcp_seat import AgentSeats
from arena.cli.mcp_tools import AgentCommands, AgentTool, Json, ToolError, require_only
from arena.cli.owner_keys import KeyFile
from arena.cli.terminal.plain import say
from arena.games.catalogue import GAMES

LONGEST_WAIT_S: Final = 50
"""The longest wait in seconds, because clients of MCP commonly give up a call after a minute."""
PATH: Final = "/mcp"
MOST_CONNECTIONS: Final = 128
"""One more closes the connection that was unused for the longest time: other users of the machine can connect, too."""
HEAD_S: Final = 10.0
ANSWER_S: Final = 3_600.0
"""A client may keep a stream of events open; it connects again."""
LOOPBACK: Final = ("127.0.0.1", "localhost")
INSTRUCTIONS: Final = """\
Card Arena: bots play card games against each other. You can play a seat yourself: take_seat, then wait_for_turn and move by \
turns until the match has ended. Or write a bot that is rated: new_bot, file, check_bot, submit_bot, bot_report, activate_bot, \
enter_competition; then read why it won or lost with list_matches, download_replay, read_replay and explain_match. \
Paths are relative to your folder."""


@click.command(
    epilog="""\b
Examples:
  arena mcp
  arena mcp --server https://arena.example:7654 --folder bots
  arena mcp --http 127.0.0.1:7700

\b
A client that starts its servers itself is configured with the command `arena mcp`. Over HTTP the
address is http://HOST:PORT/mcp, and each request has the token of the owner, or the one that is printed if
there is none, as `Authorization: Bearer TOKEN`. The server needs: pip install 'cardarena-engine[mcp]'
"""
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("bots"),
    help="The agent's folder, for bots and replays; it reads and writes no other.",
)
@click.option(
    "--http",
    metavar="HOST:PORT",
    help="Serve over HTTP at this address of this machine, instead of standard input and output.",
)
@owner_options
def mcp(*, folder: Path, http: str | None, server: Server) -> None:
    """Serve the arena to an agent, as tools of the Model Context Protocol.

    The agent registers, lists competitions, plays seats by waiting for its turn and moving, reads rules, replays
    and reports, and writes, checks and submits bots, with the owner's key of this machine.
    """
    try:
        import mcp as _  # noqa: F401
    except ImportError:
        raise click.ClickException(
            "the Model Context Protocol is not installed: pip install 'cardarena-engine[mcp]'"
        ) from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot make {folder}: {error.strerror}") from None
    commands = AgentCommands(folder.resolve(), server, "auto" if http is None else "require")
    tools = agent_tools(commands, AgentSeats(), server)
    if http is None:
        asyncio.run(_serve_stdio(tools))
    else:
        _serve_http(tools, http, server.token)


def agent_tools(commands: AgentCommands, seats: AgentSeats, server: Server) -> dict[str, AgentTool]:
    """Return all tools by name."""

    async def take_seat(arguments: Json) -> str:
        require_only(arguments, ("bot", "games"))
        bot, games = arguments.get("bot", "agent"), arguments.get("games", [])
        known = [game.id for game in GAMES]
        if not isinstance(bot, str) or not isinstance(games, list):
            raise ToolError("`bot` is a name, and `games` is a list")
        if unknown := [game for game in games if game not in known]:
            raise ToolError(f"there is no game {unknown[0]!r}; there are: {', '.join(known)}")
        is_owner = server.token or KeyFile().token_at(server.address)
        token = await commands.token_of(bot) if is_owner else f"guest:{bot}"
        seats.take(
            bot,
            games,
            token,
            address=server.address,
            ca_file=server.ca,
            client_cert=server.client_cert,
            client_key=server.client_key,
            insecure=server.insecure,
        )
        return f"{bot} connects; call wait_for_turn"

    async def wait_for_turn(arguments: Json) -> str:
        require_only(arguments, ("longest_s",))
        longest_s = arguments.get("longest_s", 30)
        if not isinstance(longest_s, int) or not 0 <= longest_s <= LONGEST_WAIT_S:
            raise ToolError(f"`longest_s` is a whole number from 0 to {LONGEST_WAIT_S}")
        return await asyncio.to_thread(seats.wait, longest_s)

    async def move(arguments: Json) -> str:
        require_only(arguments, ("ask", "move"))
        ask, chosen = arguments.get("ask"), arguments.get("move")
        if not isinstance(ask, int) or not isinstance(chosen, (int, str)):
            raise ToolError(
                "give `ask`, the number that wait_for_turn names, and `move`, a number of its list or a move"
            )
        return seats.move(ask, str(chosen))

    async def leave_seat(arguments: Json) -> str:
        require_only(arguments, ())
        await asyncio.to_thread(seats.leave)
        return "left; for matches in play the arena plays the fallback, and you may forfeit"

    games: Json = {
        "type": "array",
        "items": {"type": "string", "enum": [game.id for game in GAMES]},
    }
    text: Json = {"type": "string"}
    seat_tools = (
        _tool(
            take_seat,
            "Connect a bot whose moves you give yourself, to play the matches that the arena seats it at.",
            {"bot": text | {"description": "Its name."}, "games": games | {"description": "By default all."}},
            {"bot": "my-agent", "games": ["jam"]},
        ),
        _tool(
            wait_for_turn,
            "Wait until it is your turn or something has happened. Returns the table, the news and your moves with their "
            "numbers. Your clock runs while you think.",
            {"longest_s": {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT_S, "default": 30}},
            {"longest_s": 30},
        ),
        _tool(
            move,
            "Give your move at an ask. One that is not legal is not sent, and you may give another.",
            {
                "ask": {"type": "integer", "description": "The number of the ask."},
                "move": {"type": ["integer", "string"], "description": "Its number, or the move as it is listed."},
            },
            {"ask": 1048577, "move": 0},
            required=("ask", "move"),
        ),
        _tool(leave_seat, "Disconnect the bot whose moves you give.", {}, {}),
    )  # fmt: skip
    return {tool.name: tool for tool in (*commands.tools(), *seat_tools)}


def _tool(
    call: Callable[[Json], Awaitable[str]],
    text: str,
    properties: Json,
    example: Json,
    required: Sequence[str] = (),
) -> AgentTool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }
    return AgentTool(getattr(call, "__name__", ""), text, schema, example, call)


async def result_of(tools: dict[str, AgentTool], name: str, arguments: Json) -> tuple[str, bool]:
    """Call a tool; return its result or its error, and whether it is an error."""
    tool = tools.get(name)
    if tool is None:
        return f"there is no tool {name!r}; there are: {', '.join(tools)}", True
    try:
        return await tool.call(arguments), False
    except (ToolError, click.ClickException) as error:
        return str(error), True
    except Exception:  # its text may have data that clients must not see
        traceback.print_exc(file=sys.stderr)
        return "an internal error; the standard error of `arena mcp` has it", True


def _protocol_server(tools: dict[str, AgentTool]) -> Any:
    from mcp import types
    from mcp.server import Server as ProtocolServer

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema)
                for tool in tools.values()
            ]
        )

    async def called(_context: Any, params: Any) -> types.CallToolResult:
        text, failed = await result_of(tools, params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=failed
        )

    return ProtocolServer(
        "card-arena", instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called
    )


async def _serve_stdio(tools: dict[str, AgentTool]) -> None:
    from mcp.server.stdio import stdio_server

    server = _protocol_server(tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _serve_http(tools: dict[str, AgentTool], address: str, owner_token: str) -> None:
    import uvicorn

    from arena.api.admission.http_connections import BoundedConnection, HttpLimits, Places

    host, _, port = address.rpartition(":")
    if host not in LOOPBACK or not port.isdecimal():
        raise click.UsageError(
            "--http takes an address of this machine, such as 127.0.0.1:7700: agents on other machines reach it "
            "through a proxy with TLS, or ssh"
        )
    token = owner_token or secrets.token_urlsafe(32)
    try:
        socket = create_server((host, int(port)))
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise click.ClickException(f"cannot listen on {address}: {why}") from None
    if not owner_token:
        say(f"Authorization: Bearer {token}", err=True)
    say(f"Agents connect to http://{host}:{socket.getsockname()[1]}{PATH} until Ctrl-C.", err=True)
    app = require_bearer(_protocol_server(tools).streamable_http_app(host=host), token)
    limits = HttpLimits(0, 0, local=MOST_CONNECTIONS, head_s=HEAD_S, answer_s=ANSWER_S)
    connection: Any = functools.partial(BoundedConnection, Places(limits))
    config = uvicorn.Config(app, http=connection, log_level="warning")
    uvicorn.Server(config).run(sockets=[socket])


def require_bearer(app: Any, token: str) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Return an ASGI application that answers 401 to requests without the token."""
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                body = json.dumps(
                    {"error": "send the owner's token as Authorization: Bearer TOKEN"}
                )
                head = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": head})
                await send({"type": "http.response.body", "body": body.encode()})
                return
        await app(scope, receive, send)

    return guarded

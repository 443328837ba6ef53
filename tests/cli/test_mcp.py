"""`arena mcp`: its tools and their arguments, an agent's folder and seats, and both ways to serve them."""

import asyncio
import contextlib
import json
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import cardarena
from arena.cli import mcp as served_tools
from arena.cli.arena_client import Server, service_client
from arena.cli.connected_bots import connected_bots
from arena.cli.mcp import MOST_CONNECTIONS, agent_tools, require_bearer, result_of
from arena.cli.mcp_seat import AgentAsk, AgentSeats
from arena.cli.mcp_tools import (
    MAX_CHARS,
    ROWS,
    AgentCommands,
    AgentTool,
    ToolError,
    _command,
    cut,
    name_of,
    output_of,
    words,
)
from arena.games.catalogue import GAMES
from arena.local.words import Words
from cardarena import local
from cardarena.llm import Reply, chosen
from cardarena.v1 import game_pb2, lobby_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub
from tests.cli.serving import served
from tests.rows import EACH_GAME, OF_EACH_KIND

SAMPLE = str(Path(__file__).parents[2] / "sample_bots" / "random_bot.py")


@pytest.fixture
def tools(tmp_path):
    server = Server("localhost:1", "")
    return agent_tools(AgentCommands(tmp_path, server), AgentSeats(), server)


def called(tools, name, **arguments):
    return asyncio.run(result_of(tools, name, arguments))


def test_there_are_at_most_twenty_tools_each_with_a_text_a_schema_and_a_fitting_example(tools):
    assert len(tools) <= 20, "agents choose badly among more: a new tool takes the place of another"
    kinds = {"string": str, "integer": int, "array": list, "boolean": bool}
    for tool in tools.values():
        properties = tool.schema["properties"]
        assert len(tool.text.split()) > 2, tool.name
        assert set(tool.schema["required"]) <= set(tool.example) <= set(properties), tool.name
        assert json.dumps(tool.example) in tool.description
        for name, value in tool.example.items():
            listed = properties[name]["type"]
            allowed = [listed] if isinstance(listed, str) else listed
            assert isinstance(value, tuple(kinds[kind] for kind in allowed)), (tool.name, name)


def test_the_page_lists_all_tools(tools):
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
    _, _, table = page.partition("## Tools")
    cells = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
    listed = set(re.findall(r"`(\w+)`", " ".join(cells)))
    assert listed == set(tools), "docs/mcp.md, Tools, has a row with each tool, and no other"


def test_no_tool_shows_or_takes_a_token(tools):
    assert not [tool.name for tool in tools.values() if "token" in tool.schema["properties"]]
    assert "--json" not in next(row for row in ROWS if row.name == "register").fixed


# fmt: off
WORDS = [
    # command        arguments                             words or what is said                        why
    ("match list",   {"bot": ["a", "b"], "limit": 5},      ["--bot=a", "--bot=b", "--limit=5", "--"],   "several of an option, and a number"),
    ("match list",   {"faulted": True},                    ["--faulted", "--"],                         "a flag"),
    ("match list",   {"faulted": False},                   ["--"],                                      "a flag that is not set"),
    ("match list",   {"game": "--data=x"},                 ["--game=--data=x", "--"],                   "an option within an option"),
    ("games show",   {"game": "--json"},                   ["--", "--json"],                            "an argument that looks like an option"),
    ("check",        {"path": "my-bot"},                   ["--", "my-bot"],                            "a name in the folder"),
    ("check",        {"path": "../other"},                 "outside of your folder",                    "a path above it"),
    ("check",        {"path": "/etc"},                     "outside of your folder",                    "another path"),
    ("check",        {"path": ".."},                       "outside of your folder",                    "the folder above"),
    ("check",        {},                                   "`path` is missing",                         "an argument that is missing"),
    ("check",        {"path": "b", "ro": "/"},             "there is no argument 'ro'",                 "a parameter that is not offered"),
    ("check",        {"path": {"a": 1}},                   "is a text or a number",                     "an object"),
    ("check",        {"path": "b\0c/d"},                   "is no path",                                "a path with a zero byte"),
]
FILES = [
    # arguments                                            result, and whether it failed                why
    ({"path": "bot/a.py", "text": "x = 1\n"},              ("wrote bot/a.py", False),                   "a new file in a new folder"),
    ({"path": "kept.txt"},                                 ("kept", False),                             "a file"),
    ({"path": "."},                                        ("bin\nfolder/\nkept.txt\nlink/", False),     "a folder"),
    ({"path": "link/passwd"},                              ("link/passwd is outside of your folder; give a path in it, such as my-bot/bot.py", True), "a link that leads out"),
    ({"path": "nosuch"},                                   ("nosuch: No such file or directory", True), "no file"),
    ({"path": "bin"},                                      ("bin is no text in UTF-8", True),           "no text"),
    ({"path": "folder", "text": ""},                       ("folder: Is a directory", True),            "a folder written over"),
    ({"path": 7},                                          ("`path` and `text` are texts", True),       "a number"),
    ({"path": "a", "mode": "w"},                           ("there is no argument 'mode'; there are: path, text", True), "an unknown argument"),
]
# fmt: on


# fmt: off
OUTPUTS = [
    # code  output    errors               result, or what is said        why
    (0,     b"{}\n",  b"trying again\n",   "{}",                          "JSON stays JSON beside what is said meanwhile"),
    (0,     b"",      b"submitted\n",      "submitted",                   "all that there is"),
    (3,     b"{}",    b"not qualified",    "{}\nnot qualified",           "the bot failed, which is a result"),
    (1,     b"",      b"Error: no arena",  ToolError("no arena"),         "the command failed"),
    (-9,    b"",      b"",                 ToolError("exit code -9"),     "it was killed"),
]
# fmt: on


@pytest.mark.parametrize(
    ("code", "output", "errors", "expected", "why"), OUTPUTS, ids=[row[-1] for row in OUTPUTS]
)
def test_the_output_of_a_command_is_a_result_or_an_error(code, output, errors, expected, why):
    if isinstance(expected, ToolError):
        with pytest.raises(ToolError, match=f"^{expected}$"):
            output_of(code, output, errors)
    else:
        assert output_of(code, output, errors) == expected


@pytest.mark.parametrize(
    ("command", "arguments", "expected", "why"), WORDS, ids=[row[-1] for row in WORDS]
)
def test_arguments_become_words_of_a_command(command, arguments, expected, why, tmp_path):
    params = [param for param in _command(command).params if name_of(param) != "ro"]
    if isinstance(expected, str):
        with pytest.raises(ToolError, match=re.escape(expected)):
            words(params, arguments, tmp_path)
    else:
        assert words(params, arguments, tmp_path) == expected


@pytest.mark.parametrize(("arguments", "expected", "why"), FILES, ids=[row[-1] for row in FILES])
def test_an_agent_reads_and_writes_its_folder_alone(arguments, expected, why, tools, tmp_path):
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "bin").write_bytes(b"\xff")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    assert called(tools, "file", **arguments) == expected


def test_a_link_that_leads_out_of_the_folder_is_no_argument(tmp_path):
    (tmp_path / "link").symlink_to("/etc")
    with pytest.raises(ToolError, match="outside of your folder"):
        words(_command("bots submit").params, {"bot": "my-bot", "path": "link"}, tmp_path)


def test_a_result_has_no_spaces_at_the_ends_of_its_lines():
    assert cut("  a  \nb \n") == "  a\nb\n"


def test_a_long_result_says_that_it_was_cut():
    assert cut("x" * MAX_CHARS) == "x" * MAX_CHARS
    assert cut("x" * (MAX_CHARS + 5)).endswith("5 more characters are left out: ask for less")


def test_an_internal_error_does_not_show_its_text(capsys):
    async def broken(_):
        raise RuntimeError("/secret/path")

    tools = {"broken": AgentTool("broken", "breaks", {}, {}, broken)}
    text, failed = called(tools, "broken")
    assert failed
    assert "secret" not in text
    assert "/secret/path" in capsys.readouterr().err
    assert called(tools, "nosuch") == ("there is no tool 'nosuch'; there are: broken", True)


def test_a_command_that_fails_says_why_as_on_a_terminal(tools):
    text, failed = called(tools, "read_replay", match="nosuch")
    assert failed
    assert "nosuch" in text
    assert "Traceback" not in text


# Seats.


def test_an_agent_waits_for_its_turn_and_gives_a_move():
    seats, choices = AgentSeats(), []

    class Agent(cardarena.Bot):
        def move(self, ask):
            listed_words = Words(self.start).of(ask)

            def read_move(text):
                return chosen(Reply(f"MOVE: {text}"), listed_words.moves, lambda _: None)

            if not choices:
                choices.append(seats.play(AgentAsk(ask, listed_words, read_move)))
                return choices[0]
            return 0

    playing = threading.Thread(
        target=local.play, args=("abstrac", [Agent, SampleFirst]), kwargs={"seed": "7"}
    )
    playing.start()
    turn = seats.wait(30)
    (number,) = map(int, re.findall(r"ask (\d+) of match", turn))
    assert "you are seat 0" in turn
    assert "1: Take Ad Qh\n" in turn
    with pytest.raises(ToolError, match="there is no move 9"):
        seats.move(number, "9")
    with pytest.raises(ToolError, match=f"ask 5 does not wait for a move; these do: {number}"):
        seats.move(5, "0")
    assert seats.move(number, "take ad qh") == "sent; call wait_for_turn"
    playing.join()
    assert choices == [1]
    with pytest.raises(ToolError, match="these do: none"):
        seats.move(number, "0")


class SampleFirst(cardarena.Bot):
    def move(self, ask):
        return 0


def test_without_a_bot_there_is_nothing_to_wait_for(tools):
    assert called(tools, "wait_for_turn", longest_s=0) == (
        "No bot is connected: call take_seat.",
        False,
    )


def test_a_seat_is_taken_in_games_that_there_are(tools):
    text, failed = called(tools, "take_seat", games=["whist"])
    assert (text.partition(";")[0], failed) == ("there is no game 'whist'", True)


# Requests over HTTP.

# fmt: off
HEADERS = [
    # authorization            passes  why
    (b"Bearer secret",         True,   "the token"),
    (b"Bearer Secret",         False,  "another token"),
    (b"secret",                False,  "no scheme"),
    (None,                     False,  "no header"),
]
# fmt: on


@pytest.mark.parametrize(("header", "passes", "why"), HEADERS, ids=[row[-1] for row in HEADERS])
def test_a_request_needs_the_token(header, passes, why):
    reached, sent = [], []

    async def app(scope, receive, send):
        reached.append(scope["type"])

    async def send(message):
        sent.append(message)

    headers = [] if header is None else [(b"authorization", header)]
    scope = {"type": "http", "headers": headers}
    asyncio.run(require_bearer(app, "secret")(scope, None, send))
    assert bool(reached) is passes
    assert [message["status"] for message in sent if "status" in message] == [401] * (not passes)


def test_http_is_served_on_this_machine_alone():
    with pytest.raises(Exception, match="an address of this machine"):
        served_tools._serve_http({}, "0.0.0.0:7700", "token")


# Scripted agents, which need the package.


@contextlib.contextmanager
def bots_connected(address, count):
    """Connect bots `other-1`, `other-2` and so on, that play by chance."""
    with contextlib.ExitStack() as stack:
        for number in range(1, count + 1):
            token = f"guest:other-{number}"
            command = [sys.executable, SAMPLE, "--address", address, "--token", token]
            bot = stack.enter_context(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            stack.callback(bot.kill)
        yield


def arena(*words):
    done = subprocess.run(
        [sys.executable, "-m", "arena", *words], capture_output=True, text=True, check=True
    )
    return done.stdout


async def text_of(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text
    return result.content[0].text


async def play_as_agent(client, lobby, game):
    """Play a short match against connected bots by the tools; returns its end, and how many moves were given."""
    seats = game.seats[0]
    bots = ["my-agent", *(f"other-{number}" for number in range(1, seats))]
    hands = game_pb2.Setting(name="hands", number=seats)
    time_control = game_pb2.TimeControl(move_ms=60_000)
    terms = game_pb2.MatchTerms(
        game=game.id, seats=seats, options=[hands], time_control=time_control
    )
    lobby.call(lobby.stub.CreateMatch, lobby_pb2.CreateMatchRequest(terms=terms, bots=bots))
    given = 0
    while True:
        news = await text_of(client, "wait_for_turn", longest_s=30)
        if "has ended" in news:
            return news, given
        if asked := re.search(r"Your turn: ask (\d+)", news):
            moves = re.findall(r"^(\d+): ", news, re.MULTILINE)
            await text_of(client, "move", ask=int(asked[1]), move=int(moves[-1]))
            given += 1


@pytest.fixture
def client_kind():
    return pytest.importorskip("mcp", reason="needs cardarena-engine[mcp]").Client


OF_KINDS = [game for game in GAMES if game.id in OF_EACH_KIND]
OTHERS = [game for game in GAMES if game not in OF_KINDS]


@pytest.mark.slow
@pytest.mark.parametrize(
    "games",
    [OF_KINDS, *(pytest.param(OTHERS[at::3], marks=EACH_GAME) for at in range(3))],
    ids=lambda games: "-".join(game.id for game in games),
)
def test_an_agent_plays_every_game_and_reads_a_replay_over_stdio(games, client_kind, tmp_path):
    from mcp.client.stdio import StdioServerParameters

    most = max(game.seats[0] for game in games)

    async def main(address, lobby):
        command = ["-m", "arena", "mcp", "--server", address, "--folder", str(tmp_path / "bots")]
        parameters = StdioServerParameters(command=sys.executable, args=command)
        async with client_kind(parameters) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert len(names) == len(set(names)) <= 20
            assert "one colour" in await text_of(client, "read_rules", game="jam")
            await text_of(client, "take_seat", bot="my-agent")
            while len(connected_bots(lobby)) < most:
                await text_of(client, "wait_for_turn", longest_s=1)
            for game in games:
                ended, given = await play_as_agent(client, lobby, game)
                assert "ended (completed)" in ended, game.id
                assert "your faults 0" in ended, game.id
                assert given, game.id
            listed = await text_of(client, "list_matches", bot=["my-agent"], game=games[0].id)
            (match,) = json.loads(listed)["matches"]
            name = match["match_id"]
            await text_of(client, "download_replay", match=name)
            shown = await text_of(client, "read_replay", match=f"{name}.replay", hand=0, brief=True)
            assert "step 1 " in shown
            file = f"{name}.replay"
            why = await text_of(client, "explain_match", match=file, bot="my-agent", house="off")
            assert "my-agent" in why
            await text_of(client, "leave_seat")

    with (
        served(tmp_path / "data") as (address, _),
        bots_connected(address, most - 1),
        service_client(Server(address, ""), LobbyServiceStub) as lobby,
    ):
        asyncio.run(main(address, lobby))


@pytest.mark.slow
def test_an_agent_registers_and_submits_a_bot_over_http(client_kind, tmp_path, monkeypatch):
    httpx2 = pytest.importorskip("httpx2", reason="needs cardarena-engine[mcp]")
    from mcp.client.streamable_http import streamable_http_client

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    data = tmp_path / "data"
    token = arena("keys", "new", "organiser", "--owner", "olga", "--data", str(data)).strip()

    async def main(address, url, bearer):
        headers = {"Authorization": f"Bearer {bearer}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            client_kind(streamable_http_client(url, http_client=http)) as client,
        ):
            code = json.loads(
                arena("owners", "invite", "ann", "--server", address, "--token", token, "--json")
            )["code"]
            assert "You are ann" in await text_of(client, "register", code=code)
            await text_of(client, "new_bot", folder="my-bot", lang="python", game="jam")
            program = await text_of(client, "file", path="my-bot/bot.py")
            await text_of(client, "file", path="my-bot/bot.py", text=f"{program}\n# better\n")
            checked = await text_of(client, "check_bot", path="my-bot", only=["manifest"])
            assert "my-bot" in checked
            await text_of(client, "submit_bot", bot="my-bot", path="my-bot")
            report = json.loads(await text_of(client, "bot_report", version="my-bot@1"))
            assert report["version"]["bot"] == "my-bot"
            assert json.loads(await text_of(client, "list_competitions"))["competitions"] == []

    with (
        served(data, "--no-guests") as (address, _),
        agent_server(tmp_path, address) as (url, bearer),
    ):
        asyncio.run(main(address, url, bearer))
        request = httpx2.post(url, json={}, headers={"Authorization": "Bearer no"})
        assert request.status_code == 401


@pytest.mark.slow
def test_silent_connections_keep_no_agent_out(tmp_path):
    pytest.importorskip("mcp", reason="needs cardarena-engine[mcp]")
    with agent_server(tmp_path, "localhost:1") as (url, _), contextlib.ExitStack() as opened:
        where = urlsplit(url)
        first, *_ = [
            opened.enter_context(socket.create_connection((where.hostname, where.port)))
            for _ in range(MOST_CONNECTIONS + 1)
        ]
        first.settimeout(60)
        with contextlib.suppress(ConnectionResetError):
            assert first.recv(1) == b""


@contextlib.contextmanager
def agent_server(tmp_path, address):
    """Run `arena mcp --http`; gives its address and the token that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "mcp", "--http", "127.0.0.1:0", "--server", address,
         "--folder", str(tmp_path / "bots")],
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        bearer = process.stderr.readline().split()[-1]
        url = re.search(r"http://\S+", process.stderr.readline())[0]
        yield url, bearer
    finally:
        process.kill()
        process.communicate()

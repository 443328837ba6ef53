"""Bots over WebSockets: what is passed on, the first message, limits and ends, and that matches are played."""

import asyncio
import contextlib
import dataclasses
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from arena.cli.arena_client import Server, service_client
from arena.cli.connected_bots import connected_bots
from arena.games.catalogue import GAMES
from arena.testing.conformance.play import judge
from arena.web.sockets import process as sockets_process
from arena.web.sockets.bot import MOST_FRAME_BYTES, Hello, SocketLimits, play, refuse
from arena.web.sockets.passing import MOST_HEAD_BYTES, SocketPassing
from arena.web.sockets.process import BEGUN, MOST_OF_ADDRESS, MOST_SOCKETS, SocketPlaces
from arena.web.subscribers import EXTENSION
from cardarena.v1 import game_pb2, lobby_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub
from tests.cli.serving import served
from tests.rows import OF_EACH_KIND
from tests.sdk.kit import KIT, case_of
from tests.web.bot_socket import HEAD, NOBODY, opened

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "arena" / "web" / "static" / "seat.js"
PATIENCE_S = 120.0
"""How long a busy machine may take."""
HELLO = json.dumps({"hello": {"token": "arena_x"}})


# One socket.


def end_of(websocket):
    """The code and the reason of a socket's end."""
    while True:
        try:
            websocket.recv(20)
        except ConnectionClosed as closed:
            return closed.rcvd.code, closed.rcvd.reason


# fmt: off
FIRST = [
    # first message                                         reason                          why
    ("hello",                                               "no JSON object",               "no JSON"),
    ("[" * 5000,                                            "no JSON object",               "nested deeply"),
    ("[]",                                                  "no hello",                     "a list"),
    ('{"ask_id": "7", "index": 0}',                         "no hello: hello",              "an answer"),
    ('{"hello": {}}',                                       "no hello: hello.token",        "without a token"),
    ('{"hello": {"token": "x", "max_matches": 65}}',        "no hello: hello.max_matches",  "too many matches"),
    ('{"hello": {"token": "x", "game": "jam"}}',            "no key 'game'; did you mean games?", "a field that there is not"),
    ('{"hello": {"token": "guest:eve"}}',                   "guests play from",             "a guest from another machine"),
]
# fmt: on


@pytest.mark.parametrize(("text", "reason", "why"), FIRST, ids=[row[-1] for row in FIRST])
def test_a_first_message_is_refused(text, reason, why):
    with opened(SocketLimits()) as websocket:
        websocket.send(text)
        code, given = end_of(websocket)
    assert code == 1008
    assert reason in given


def test_a_socket_without_a_first_message_is_closed():
    with opened(SocketLimits(hello_s=0.01)) as websocket:
        assert end_of(websocket) == (1008, "no hello came in time")


def test_a_message_that_is_too_long_is_not_read():
    with opened(SocketLimits()) as websocket:
        websocket.send("x" * (MOST_FRAME_BYTES + 1))
        assert end_of(websocket)[0] == 1009


# fmt: off
FAST = [
    # limits                          messages           code, reason                                why
    ({"idle_s": 0.01},                [],                (1000, "idle for too long; connect again"), "idle"),
    ({"lines": 2},                    ["{}"] * 9,        (1008, "too many messages"),                "messages"),
    ({"burst_bytes": 4 << 10},        ["x" * 5_000],     (1008, "too many messages or bytes"),       "bytes"),
]
# fmt: on


@pytest.mark.parametrize(("limits", "messages", "end", "why"), FAST, ids=[row[-1] for row in FAST])
def test_a_bot_that_is_idle_or_too_fast_is_closed(limits, messages, end, why):
    slow = {"lines_per_s": 0.0, "bytes_per_s": 0.0, **limits}
    with opened(SocketLimits(**slow)) as websocket, contextlib.suppress(ConnectionClosed):
        websocket.send(HELLO)
        for message in messages:
            websocket.send(message)
        code, reason = end_of(websocket)
        assert code == end[0]
        assert reason.startswith(end[1])


# fmt: off
FRAMES = [
    # what is sent                                                       why
    (lambda websocket: [websocket.ping() for _ in range(9)],             "pings"),
    (lambda websocket: websocket.send(iter(HELLO)),                      "a message in pieces of a letter"),
]
# fmt: on


@pytest.mark.parametrize(("send", "why"), FRAMES, ids=[row[-1] for row in FRAMES])
def test_frames_that_are_no_messages_are_bounded(send, why):
    with opened(SocketLimits(lines=3, lines_per_s=0.0)) as websocket:
        with contextlib.suppress(ConnectionClosed):
            send(websocket)
        assert end_of(websocket) == (1002, "too many frames a second"), why


def test_a_head_without_a_websocket_is_answered_and_closed():
    here, there = socket.socketpair()
    with here, there:
        play(there, HEAD.replace(b"sec-websocket-version: 13\r\n", b""), NOBODY, SocketLimits())
        assert here.recv(100).startswith(b"HTTP/1.1 4")
        refuse(there, "one too many")
        assert b"One too many." in here.recv(4_000).split(b"429")[1]


# Places.


def test_places_are_bounded_by_address_by_time_and_in_all():
    now_s = [0.0]
    places = SocketPlaces(lambda: now_s[0])
    assert [places.enter("192.0.2.7", local=False) for _ in range(MOST_OF_ADDRESS)] == [""] * 16
    assert "of your address" in places.enter("192.0.2.7", local=False)
    places.leave("192.0.2.7")
    assert places.enter("192.0.2.7", local=False) == ""
    for _ in range(BEGUN - MOST_OF_ADDRESS - 2):
        places.enter("192.0.2.7", local=False)
    assert "a minute" in places.enter("192.0.2.7", local=False)
    now_s[0] = 60.0
    assert "of your address" in places.enter("192.0.2.7", local=False)
    for _ in range(MOST_SOCKETS - MOST_OF_ADDRESS):
        assert places.enter("this machine", local=True) == ""
    assert "which is the most" in places.enter("this machine", local=True)


# What the process of the pages passes on.


class Transport(asyncio.Transport):
    """The connection of a client, as uvicorn has it."""

    def __init__(self, client):
        super().__init__({"socket": client})

    def abort(self):
        self.get_extra_info("socket").close()


@pytest.fixture
def passed(tmp_path):
    """Pass a request on; returns the status of an answer, or the message and the socket that came over."""
    path = tmp_path / "s"
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    bound.bind(str(path))
    bound.listen()
    process = SimpleNamespace(path=path, secret="s3cret")

    def ask(headers=(), *, method="GET", scheme="https", client="192.0.2.7", at="/seat"):
        sent = []
        here, there = socket.socketpair()

        async def send(message):
            sent.append(message.get("status"))

        async def pages(scope, receive, send):
            sent.append("a page")

        def hand_over(protocol):
            protocol.connection_made(Transport(there))

        scope = {
            "type": "http",
            "method": method,
            "scheme": scheme,
            "path": at,
            "raw_path": at.encode(),
            "client": (client, 9),
            "headers": [(n.encode(), v.encode()) for n, v in {**WANTED, **dict(headers)}.items()],
            "extensions": {EXTENSION: SimpleNamespace(hand_over=hand_over)},
        }
        app = SocketPassing(pages, process, ["https://bots.example"])
        asyncio.run(app(scope, None, send))
        if sent:
            here.close()
            there.close()
            return sent[0]
        with here:
            client, given, head = sockets_process._received(bound)
            with client:
                client.sendall(b"over there")
                assert here.recv(10) == b"over there"
        return given, head

    yield ask
    bound.close()


WANTED = {"host": "arena.example", "connection": "Upgrade", "upgrade": "websocket"}


def test_a_socket_is_passed_on_with_its_head_and_its_visitor(passed):
    given, head = passed({"origin": "https://arena.example"})
    assert given == {"secret": "s3cret", "visitor": "192.0.2.7", "local": False}
    assert head.startswith(b"GET /seat HTTP/1.1\r\nhost: arena.example\r\n")
    assert head.endswith(b"\r\n\r\n")


# fmt: off
ASKED = [
    # headers                                   about                                              answer     why
    ({},                                        {},                                                None,      "a program names no origin"),
    ({"origin": "https://bots.example"},        {},                                                None,      "a site that the organiser allows"),
    ({"origin": "https://evil.example"},        {},                                                403,       "another site"),
    ({"origin": "null"},                        {},                                                403,       "a page of no site"),
    ({"origin": "http://arena.example"},        {},                                                403,       "the same host in plain text"),
    ({},                                        {"scheme": "http"},                                421,       "plain text over the network"),
    ({"host": "localhost:1"},                   {"scheme": "http", "client": "127.0.0.1"},         None,      "plain text on this machine"),
    ({"host": "evil.example"},                  {"scheme": "http", "client": "127.0.0.1"},         421,       "another name of this machine"),
    ({"upgrade": "h2c"},                        {},                                                426,       "another protocol"),
    ({},                                        {"method": "POST"},                                426,       "no GET"),
    ({"cookie": "x" * MOST_HEAD_BYTES},         {},                                                431,       "a long head"),
    ({},                                        {"at": "/seats"},                                  "a page",  "another path"),
]
# fmt: on


@pytest.mark.parametrize(
    ("headers", "about", "answer", "why"), ASKED, ids=[row[-1] for row in ASKED]
)
def test_what_is_passed_on(passed, headers, about, answer, why):
    given = passed(headers, **about)
    if answer is None:
        assert given[0]["local"] is (about.get("client") == "127.0.0.1")
    else:
        assert given == answer


def test_a_process_that_does_not_listen_is_not_waited_for(passed, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.web.sockets.passing.START_S", 0.0)
    (tmp_path / "s").unlink()
    assert passed() == 503


# The page.


def test_the_page_of_the_documentation_has_the_bot():
    page = (ROOT / "docs" / "websocket.md").read_text("utf-8")
    script = SCRIPT.read_text("utf-8")
    assert script in page
    assert len(script.splitlines()) <= 30
    for field in dataclasses.fields(Hello):
        assert f"| `{field.name}` |" in page, field.name


# Matches.


@pytest.mark.slow
@pytest.mark.parametrize("case", ["C2-games", "C3", "C7", "C27", "C28"])
def test_cases_of_the_kit_hold_over_a_websocket(case):
    client = [sys.executable, "-m", "tests.web.socket_client"]
    verdict = judge(case_of(case), client, KIT)
    assert verdict.passed, verdict.sentence


@contextlib.contextmanager
def pages_of(data):
    """The address of the pages of a folder."""
    command = [sys.executable, "-m", "arena", "web", "--data", str(data), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split("http://")[1].split("/")[0]
            until = time.monotonic() + PATIENCE_S
            while True:  # its process may be starting
                with (
                    contextlib.suppress(InvalidStatus),
                    connect(f"ws://{address}/seat", open_timeout=PATIENCE_S),
                ):
                    break
                assert time.monotonic() < until
            yield address
        finally:
            process.terminate()


@contextlib.contextmanager
def browser_bots(pages, names):
    """The bot of the page, under some names, in programs of Node."""
    script = f"{SCRIPT.read_text('utf-8')}\nplay(process.argv[1], JSON.parse(process.argv[2]), console.error);"
    with contextlib.ExitStack() as stack:
        for name in names:
            hello = json.dumps({"token": f"guest:{name}"})
            words = ["-e", script, f"ws://{pages}/seat", hello]
            program = ["node", "--no-warnings", "--experimental-websocket", *words]
            bot = stack.enter_context(subprocess.Popen(program, cwd=ROOT))
            stack.callback(bot.kill)
        yield


@pytest.mark.slow
def test_the_bot_of_the_page_plays_games_of_each_kind_without_a_fault(tmp_path):
    """From a browser's WebSocket by the pages to the arena."""
    games = [game for game in GAMES if game.id in OF_EACH_KIND]
    most = max(game.seats[0] for game in games)
    names = [f"page-{number}" for number in range(most)]
    with (
        served(tmp_path / "data") as (address, _),
        pages_of(tmp_path / "data") as pages,
        browser_bots(pages, names),
        service_client(Server(address, ""), LobbyServiceStub) as lobby,
    ):
        until = time.monotonic() + PATIENCE_S
        while len(connected_bots(lobby)) < most and time.monotonic() < until:
            time.sleep(0.1)
        for game in games:
            seats = game.seats[0]
            hands = game_pb2.Setting(name="hands", number=seats)
            clock = game_pb2.TimeControl(move_ms=60_000)
            terms = game_pb2.MatchTerms(
                game=game.id, seats=seats, options=[hands], time_control=clock
            )
            order = lobby_pb2.CreateMatchRequest(terms=terms, bots=names[:seats])
            match_id = lobby.call(lobby.stub.CreateMatch, order).match.match_id
            match = ended(lobby, match_id)
            assert match.ending == game_pb2.ENDING_COMPLETED, game.id
            assert not [count for seat in match.faults for count in seat.counts], game.id


def ended(lobby, match_id):
    """A match once it has ended."""
    while True:
        match = lobby.call(lobby.stub.GetMatch, lobby_pb2.GetMatchRequest(match_id=match_id)).match
        if match.ending:
            return match
        time.sleep(0.05)

"""The real server, real sockets: what a client sees of the arena from outside."""

import errno
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import pytest
import trio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from arena.api import lobby, play, replays
from arena.api.admission.connections import RECEIVE_BYTES, _sockets
from arena.app.arena_process import ServerSettings, serve
from arena.bots.tokens import Tokens
from arena.durable_files import Unwritten
from arena.errors import refusal
from arena.games.abstrac import rules as abstrac
from arena.games.catalogue import GAMES
from arena.live.listen import CannotServe
from arena.live.session.messages import IncomingMessages
from arena.live.session.session import Session
from arena.records.verify import verify_file
from arena.referee.spec import Ending
from arena.testing.orders import match_request
from cardarena.v1 import game_pb2, lobby_pb2, play_pb2, replay_pb2
from tests.attack.http2 import Wire
from tests.cli.serving import ended
from tests.doubles.streams import PATIENCE_S, PLAY, Client, Stream, eventually, reason_of
from tests.live.running import running
from tests.rows import EACH_GAME, slow_unless, slow_unless_of_each_kind

CANARY = "canary 2c7e"
GAMES_OF_A_BOT = [play_pb2.GameSupport(game=game.id) for game in GAMES]
QUICK = {"move_ms": 10_000}
NOT_FOUND, INVALID = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT
NOT_NOW = grpc.StatusCode.FAILED_PRECONDITION


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with running(tmp_path_factory.mktemp("arena"), Tokens(guests=True)) as arena:
        yield arena


@pytest.fixture
def client(arena):
    with Client(arena.address) as client:
        yield client


@contextmanager
def seated(arena, *names, **hello):
    """Bots that have said hello, each over a channel of its own."""
    with ExitStack() as stack:
        streams = []
        for name in names:
            client = stack.enter_context(Client(arena.address))
            said = {"games": GAMES_OF_A_BOT, "max_matches": 8, "max_open_asks": 8, **hello}
            streams.append(client.stream(f"guest:{name}", **said))
            streams[-1].expect("welcome")
        yield streams


def create(client, *names, game="abstrac", options=(), seed="s", **request):
    wanted = match_request(game, names, dict(options), seed=seed, **request)
    return client.lobby.CreateMatch(wanted).match


def played(*streams):
    """Play all streams, each on a thread, until the match of each has ended."""
    ends = {}

    def run(stream):
        ends[id(stream)] = stream.play()

    threads = [threading.Thread(target=run, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    return [ends[id(stream)] for stream in streams]


# Matches.


@pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, EACH_GAME), ids=[game.id for game in GAMES]
)
def test_bots_play_a_match_from_end_to_end(arena, client, game):
    seats = game.seats[0]
    names = [f"p{seat} {game.id}"[:32] for seat in range(seats)]
    with seated(arena, *names) as streams:
        match = create(client, *names, game=game.id, options=[("hands", seats)])
        assert match.status == lobby_pb2.MATCH_STATUS_RUNNING
        ends = played(*streams)
        assert all(end.ending == Ending.COMPLETED for end in ends)
        assert len({tuple(end.scores) for end in ends}) == 1
        assert not any(end.faults for end in ends)
    known = client.lobby.GetMatch(lobby_pb2.GetMatchRequest(match_id=match.match_id)).match
    assert known.status == lobby_pb2.MATCH_STATUS_ENDED
    assert list(known.scores) == list(ends[0].scores)
    assert list(known.bots) == names


def fetched(client, replay_id):
    """A replay's bytes; none if it is not there yet."""
    try:
        request = replay_pb2.GetReplayRequest(replay_id=replay_id)
        return b"".join(piece.piece for piece in client.replays.GetReplay(request))
    except grpc.RpcError as error:
        if reason_of(error) != (NOT_FOUND, "UNKNOWN_REPLAY"):
            raise
        return b""


def listed(client, replay_id):
    """What the list of matches with replays says of one; None if it is not there yet."""
    published = lobby_pb2.ListMatchesRequest(ended=lobby_pb2.MatchFilter(published=True))
    matches = client.lobby.ListMatches(published).matches
    return next((match for match in matches if match.match_id == replay_id), None)


def test_a_match_leaves_a_replay_that_anyone_can_fetch(arena, client):
    with seated(arena, "r1", "r2") as streams:
        match = create(client, "r1", "r2")
        played(*streams)
    data = eventually(lambda: fetched(client, match.match_id))
    assert data == (arena.replays / f"{match.match_id}.replay").read_bytes()
    assert data.startswith(b"cardarena replay 1\n")
    info = eventually(lambda: listed(client, match.match_id))
    assert (info.game, list(info.bots)) == ("abstrac", ["r1", "r2"])


def test_a_bot_that_is_cut_off_comes_back_and_plays_on(arena, client):
    with seated(arena, "c1", "c2") as (first, second):
        create(client, "c1", "c2", time_control=QUICK)
        second.expect("match_start")
        asks = second.expect("asks")
        second.hang_up()
        with Client(arena.address) as again:
            back = again.stream("guest:c2", games=GAMES_OF_A_BOT)
            welcome = back.expect("welcome")
            assert welcome.epoch == 2
            assert [ask.ask_id for ask in welcome.open_asks] == [asks.asks[0].ask_id]
            back.answer(play_pb2.Answer(ask_id=asks.asks[0].ask_id, index=0))
            ends = played(first, back)
    assert all(end.ending == Ending.COMPLETED and not end.faults for end in ends)


def test_nobody_takes_a_guests_seat_who_does_not_know_its_secret(arena, client):
    with seated(arena, "v1:its0secret", "v2") as (victim, other), Client(arena.address) as thief:
        create(client, "v1", "v2")
        victim.expect("match_start")
        for token in ("guest:v1", "guest:v1:guessed"):
            stolen = thief.stream(token, games=GAMES_OF_A_BOT)
            assert reason_of(stolen.error()) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_YOURS")
        assert not any(end.faults for end in played(victim, other))


def test_a_second_stream_takes_over_and_the_first_is_told(arena, client):
    with seated(arena, "t1") as (first,), Client(arena.address) as other:
        second = other.stream("guest:t1", games=GAMES_OF_A_BOT)
        assert second.expect("welcome").epoch == 2
        assert reason_of(first.error()) == (grpc.StatusCode.ABORTED, "TAKEN_OVER")


@pytest.mark.slow
def test_a_bot_that_does_not_come_back_is_played_for(arena, client):
    hurry = {"move_ms": 1}
    with seated(arena, "g1", "g2") as (first, second):
        create(client, "g1", "g2", time_control=hurry)
        second.expect("match_start")
        second.hang_up()
        end = first.play()
    assert end.ending == Ending.FORFEIT
    gone = [fault for fault in end.faults if fault.seat == 1]
    assert {fault.kind for fault in gone} == {game_pb2.FAULT_KIND_GONE}
    assert not any(fault.reason for fault in gone), "why is for the seat's own eyes"


# Streams that are refused.

HELLO = play_pb2.BotMessage(hello=play_pb2.Hello(token="guest:x")).SerializeToString()
TOO_MANY = play_pb2.Hello(token="guest:x", games=[play_pb2.GameSupport(game="abstrac")] * 101)
READY = play_pb2.BotMessage(ready=play_pb2.Ready()).SerializeToString()

# fmt: off
REFUSED = [
    (play_pb2.Hello(token="wrong"),  grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", "a wrong token"),
    (play_pb2.Hello(),               grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN", "no token"),
    (play_pb2.Hello(token="guest:"), INVALID, "BAD_NAME",     "a guest without a name"),
    (TOO_MANY,                       INVALID, "TOO_MANY_GAMES", "more games than there will be"),
    (READY,                          NOT_NOW, "NO_HELLO",     "ready before hello"),
    (b"",                            NOT_NOW, "NO_HELLO",     "an empty message"),
    (b"\xff\xff",                    INVALID, "MALFORMED",    "bytes that are no message"),
    (None,                           NOT_NOW, "NO_HELLO",     "nothing at all"),
]
# fmt: on


@pytest.mark.parametrize(("said", "code", "reason", "why"), REFUSED, ids=[r[-1] for r in REFUSED])
def test_a_stream_is_refused_with_a_reason(client, said, code, reason, why):
    stream = client.stream()
    if isinstance(said, play_pb2.Hello):
        stream.say(hello=said)
    else:
        stream.send(said)
    error = stream.error()
    assert reason_of(error) == (code, reason)
    assert error.details()


# fmt: off
CARRIED = [
    # in the metadata      in hello      the end                 why
    ("Bearer guest:m1",    "",           None,                   "the token as call metadata"),
    ("Bearer guest:m2",    "guest:m2",   None,                   "in both places"),
    ("Bearer guest:m3",    "guest:m4",   "BAD_TOKEN",            "two tokens"),
    ("Basic guest:m5",     "",           "BAD_TOKEN",            "another scheme"),
]
# fmt: on


@pytest.mark.parametrize(
    ("metadata", "token", "reason", "why"), CARRIED, ids=[row[-1] for row in CARRIED]
)
def test_a_token_may_be_carried_as_in_the_lobby(client, metadata, token, reason, why):
    stream = Stream(client.channel, metadata=(("authorization", metadata),))
    stream.say(hello=play_pb2.Hello(token=token))
    if reason is None:
        stream.expect("welcome")
        stream.end()
    else:
        assert reason_of(stream.error()) == (grpc.StatusCode.UNAUTHENTICATED, reason)


def test_a_stream_that_never_says_hello_is_closed(client, monkeypatch):
    monkeypatch.setattr(play, "HELLO_S", 0.05)
    assert reason_of(client.stream().error()) == (
        grpc.StatusCode.DEADLINE_EXCEEDED,
        "NO_HELLO",
    )


@pytest.mark.parametrize(
    ("size", "reason"),
    [(65_537, "MESSAGE_TOO_LONG"), (131_072, "MESSAGE_TOO_LONG"), (131_073, "")],
    ids=["one byte too many", "twice as long", "too long even for gRPC, which names no reason"],
)
def test_an_oversized_message_ends_its_stream_and_no_other(arena, client, size, reason):
    names = f"o1 {size}", f"o2 {size}"
    with seated(arena, *names) as (first, second):
        create(client, *names, time_control=QUICK)
        second.expect("match_start")
        second.expect("asks")
        second.send(b"\0" * size)
        assert reason_of(second.error()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, reason)
        with Client(arena.address) as again:
            back = again.stream(f"guest:{names[1]}", games=GAMES_OF_A_BOT)
            (ask,) = back.expect("welcome").open_asks
            back.answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
            ends = played(first, back)
    assert all(end.ending == Ending.COMPLETED and not end.faults for end in ends)


def test_a_message_of_the_greatest_length_is_read(arena):
    with seated(arena, "l1") as (stream,):
        note = "x" * 65_000
        answers = play_pb2.Answers(answers=[play_pb2.Answer(ask_id=1, index=0, note=note)])
        message = play_pb2.BotMessage(answers=answers)
        message.answers.answers[0].note += "x" * (65_536 - message.ByteSize())
        assert message.ByteSize() == 65_536
        stream.send(message.SerializeToString())
        assert stream.expect("refusal").reason == play_pb2.REFUSAL_REASON_UNKNOWN_ASK


def test_a_flood_of_nonsense_ends_its_stream(arena):
    with seated(arena, "f1") as (stream,):
        for _ in range(50):
            stream.send(b"\xff")
        code, reason = reason_of(stream.error())
        assert (code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REFUSALS")


def test_a_stream_that_the_bot_ends_ends_in_order(arena):
    with seated(arena, "e1") as (stream,):
        stream.end()


# The lobby.


def test_all_games_are_listed_with_their_options(client):
    infos = client.lobby.ListGames(lobby_pb2.ListGamesRequest()).games
    assert [info.game for info in infos] == [game.id for game in GAMES]
    for info, game in zip(infos, GAMES, strict=True):
        assert (info.title, tuple(info.seats)) == (game.title, game.seats)
        assert [option.default_setting.name for option in info.options] == [
            setting.name for setting in game.settings
        ]
        hands = info.options[0]
        assert hands.minimum == 0
        assert hands.maximum >= 2
        assert hands.meaning


# fmt: off
WRONG = [
    ({"game_id": "bridge"},                        NOT_FOUND, "UNKNOWN_GAME",  "no such game"),
    ({"bots": ["w1", "nobody"]},                NOT_FOUND, "UNKNOWN_BOT",   "a bot that is not there"),
    ({"bots": ["w1"]},                          INVALID,   "BAD_SEATS",     "too few seats"),
    ({"bots": ["w1"] * 9},                      INVALID,   "BAD_SEATS",     "too many seats"),
    ({"bots": []},                              INVALID,   "BAD_SEATS",     "nobody"),
    ({"options": {"hands": 2, "target": 9}},  INVALID,   "BAD_OPTIONS",   "options that contradict each other"),
    ({"options": {"hands": -1}},              INVALID,   "BAD_OPTIONS",   "an option out of its range"),
    ({"options": {"cards": 3}},               INVALID,   "BAD_OPTIONS",   "an option that there is not"),
    ({"options": {"hands": None}},            INVALID,   "BAD_OPTIONS",   "an option without a value"),
    ({"options": {"variant": "suit"}},        INVALID,   "BAD_OPTIONS",   "an option that is preset"),
    ({"time_control": {"move_ms": 0}},          INVALID,   "BAD_TIME_CONTROL", "no time for a move"),
    ({"time_control": {"move_ms": 1, "increment_ms": 2**32 - 1}},
                                                INVALID,   "BAD_TIME_CONTROL", "more than a day"),
    ({"bots": ["w1", "w3"]},                    NOT_NOW,   "BOT_NOT_AVAILABLE", "a bot that plays another game"),
    ({"bots": ["w1", "w4"]},                    NOT_NOW,   "BOT_NOT_AVAILABLE", "a bot that takes no matches"),
    ({"bots": ["w2", "w2"]},                    NOT_NOW,   "BOT_NOT_AVAILABLE", "a bot that takes one, twice"),
    ({"game_id": "x" * 50_000},                    NOT_FOUND, "UNKNOWN_GAME",  "a very long name of a game"),
    ({"bots": ["w1", "♠" * 20_000]},            NOT_FOUND, "UNKNOWN_BOT",   "a very long name of a bot"),
]
# fmt: on


@pytest.fixture(scope="module")
def four(arena):
    with (
        seated(arena, "w1") as (first,),
        seated(arena, "w2", max_matches=1) as (second,),
        seated(arena, "w3", games=[play_pb2.GameSupport(game="democracy")]),
        seated(arena, "w4") as (fourth,),
    ):
        fourth.say(ready=play_pb2.Ready(max_matches=0))
        fourth.send(b"")  # the refusal says that what came before was read
        fourth.expect("refusal")
        yield first, second


@pytest.mark.parametrize(("change", "code", "reason", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_match_that_cannot_be_is_refused(client, four, change, code, reason, why):
    wanted = {"game_id": "abstrac", "bots": ["w1", "w2"], **change}
    with pytest.raises(grpc.RpcError) as refused:
        client.lobby.CreateMatch(match_request(**wanted))
    assert reason_of(refused.value) == (code, reason)
    assert 10 < len(refused.value.details()) <= 400


def test_a_bot_is_seated_at_no_more_matches_than_it_takes(client, four):
    create(client, "w1", "w2")
    with pytest.raises(grpc.RpcError) as refused:
        create(client, "w1", "w2")
    assert reason_of(refused.value) == (NOT_NOW, "BOT_NOT_AVAILABLE")
    played(*four)


def test_a_match_that_there_is_not(client):
    with pytest.raises(grpc.RpcError) as refused:
        client.lobby.GetMatch(lobby_pb2.GetMatchRequest(match_id="nope"))
    assert reason_of(refused.value) == (NOT_FOUND, "UNKNOWN_MATCH")
    assert "'nope'" in refused.value.details()


def test_matches_are_listed_in_pages_newest_first(arena, client):
    with seated(arena, "m1", "m2") as streams:
        made = []
        for _ in range(5):
            made.append(create(client, "m1", "m2").match_id)
            played(*streams)
    # While one is still in play when a page is asked for, the pages after may show it again.
    asks = [lobby_pb2.GetMatchRequest(match_id=match_id) for match_id in made]
    eventually(lambda: all(client.lobby.GetMatch(ask).match.ended_unix_ms for ask in asks))
    listed, token = [], ""
    while True:
        request = lobby_pb2.ListMatchesRequest(page_size=2, page_token=token)
        page = client.lobby.ListMatches(request)
        assert len(page.matches) <= 2
        listed += [match.match_id for match in page.matches]
        token = page.next_page_token
        if not token:
            break
    assert listed[:5] == made[::-1]
    assert len(set(listed)) == len(listed) >= 5
    with pytest.raises(grpc.RpcError) as refused:
        client.lobby.ListMatches(lobby_pb2.ListMatchesRequest(page_token="nope"))
    assert reason_of(refused.value) == (INVALID, "BAD_PAGE_TOKEN")


@pytest.mark.parametrize("replay_id", ["nope", "", "../journal/deal-keys", "a/b", "x" * 60_000])
def test_a_replay_that_there_is_not(client, replay_id):
    request = replay_pb2.GetReplayRequest(replay_id=replay_id)
    with pytest.raises(grpc.RpcError) as refused:
        list(client.replays.GetReplay(request))
    assert reason_of(refused.value) == (NOT_FOUND, "UNKNOWN_REPLAY")


@pytest.mark.parametrize("call", ["LobbyService/CreateMatch", "LobbyService/GetMatch"])
def test_a_request_that_cannot_be_read_is_refused_in_our_own_words(client, call):
    with pytest.raises(grpc.RpcError) as refused:
        client.channel.unary_unary(f"/cardarena.v1.{call}")(b"\xff\xff\xff")
    assert reason_of(refused.value) == (INVALID, "MALFORMED")
    assert refused.value.details() == refusal("MALFORMED").message()


def test_a_call_that_there_is_not(client):
    with pytest.raises(grpc.RpcError) as refused:
        client.channel.unary_unary("/cardarena.v1.LobbyService/Nope")(b"")
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_health_and_reflection_answer(client):
    health = health_pb2_grpc.HealthStub(client.channel)
    answer = health.Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    reflection = reflection_pb2_grpc.ServerReflectionStub(client.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (response,) = reflection.ServerReflectionInfo(iter([request]))
    names = {service.name for service in response.list_services_response.service}
    assert names >= {f"cardarena.v1.{name}Service" for name in ("Play", "Lobby", "Replay")}


# Errors of the arena's own.


def fail(*args, **kwargs):
    raise RuntimeError(f"{CANARY} {args}")


def assert_hidden(error, caplog):
    """The client gets an incident's number, and what happened stands in the log."""
    assert reason_of(error) == (grpc.StatusCode.INTERNAL, "INCIDENT")
    incident = re.fullmatch(
        r"an error in the arena: incident (\w+) \(R-INCIDENT\)", error.details()
    )[1]
    assert CANARY not in str(error)
    assert incident in [getattr(record, "incident", None) for record in caplog.records]
    assert CANARY in caplog.text


def test_an_error_in_a_call_does_not_show_its_text(client, monkeypatch, caplog):
    monkeypatch.setattr(lobby, "page_size", fail)
    with pytest.raises(grpc.RpcError) as failed:
        client.lobby.ListMatches(lobby_pb2.ListMatchesRequest())
    assert_hidden(failed.value, caplog)


def test_an_error_in_a_streamed_answer_does_not_show_its_text(client, monkeypatch, caplog):
    monkeypatch.setattr(replays, "Refused", fail)
    with pytest.raises(grpc.RpcError) as failed:
        list(client.replays.GetReplay(replay_pb2.GetReplayRequest(replay_id="x")))
    assert_hidden(failed.value, caplog)


@pytest.mark.parametrize(
    ("owner", "place"), [(Session, "attach"), (IncomingMessages, "deliver")], ids=["hello", "later"]
)
def test_an_error_on_a_stream_does_not_show_its_text(
    arena, client, monkeypatch, caplog, owner, place
):
    with seated(arena, f"n1 {place}") as (before,):
        monkeypatch.setattr(owner, place, fail)
        if place == "attach":
            stream = client.stream("guest:n2", games=GAMES_OF_A_BOT)
        else:
            stream = before  # its reader took the method that was there
            stream = client.stream("guest:n3", games=GAMES_OF_A_BOT)
            stream.expect("welcome")
            stream.say(ready=play_pb2.Ready())
        assert_hidden(stream.error(), caplog)
        monkeypatch.undo()
        before.say(hello=play_pb2.Hello())
        assert before.expect("refusal").reason == play_pb2.REFUSAL_REASON_OUT_OF_ORDER


def test_an_error_in_the_rules_ends_the_match_and_nothing_of_it_reaches_a_bot(
    arena, client, monkeypatch, caplog
):
    real, steps = abstrac.step, []

    def step(*args):
        steps.append(args)
        return fail(*args) if len(steps) == 5 else real(*args)

    with seated(arena, "x1", "x2") as streams:
        monkeypatch.setattr(abstrac, "step", step)
        match = create(client, "x1", "x2")
        ends = played(*streams)
        assert all(end.ending == Ending.ABORTED and not end.faults for end in ends)
        assert CANARY in caplog.text
        for stream in streams:
            assert b"canary" not in b"".join(stream.received)
        # The replay is under another name until it is whole.
        assert eventually((arena.replays / f"{match.match_id}.replay").is_file)
        files = [path for path in arena.replays.parent.rglob("*") if path.is_file()]
        assert not [path for path in files if b"canary" in path.read_bytes()]
        monkeypatch.undo()
        create(client, "x1", "x2")
        assert all(end.ending == Ending.COMPLETED for end in played(*streams))


# Starting and stopping.


def test_a_port_in_use_is_said_in_a_sentence(arena, tmp_path):
    port = int(arena.address.rpartition(":")[2])

    async def ends(_):
        """At once, or a second arena on the port would be there for ever."""

    with pytest.raises(
        CannotServe, match=f"^cannot listen on 127.0.0.1:{port}: the port is in use"
    ):
        serve(ServerSettings(tmp_path, port=port), Tokens(), ends)


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe, match=r"^cannot write in .*file: Not a directory"):
        serve(ServerSettings(tmp_path / "file"), Tokens(), trio.sleep_forever)


def test_what_main_returns_and_raises_comes_out(tmp_path):
    async def returns(arena):
        return arena.address

    async def raises(arena):
        raise LookupError("main's own")

    assert serve(ServerSettings(tmp_path), Tokens(), returns).startswith("127.0.0.1:")
    with pytest.RaisesGroup(LookupError, flatten_subgroups=True):
        serve(ServerSettings(tmp_path), Tokens(), raises)


def test_a_full_disk_stops_the_arena_with_a_sentence(tmp_path, monkeypatch, caplog):
    """Bots of a match in play are not told of any result."""
    caplog.set_level(logging.CRITICAL)
    received, ends = [], []

    def bots(address):
        with Client(address) as client, Client(address) as one, Client(address) as other:
            streams = [
                each.stream(f"guest:d{at}", games=GAMES_OF_A_BOT)
                for at, each in enumerate((one, other))
            ]
            for stream in streams:
                stream.expect("welcome")
            create(client, "d0", "d1")
            for stream in streams:
                stream.expect("match_start")
            (ask,) = streams[1].expect("asks").asks

            def write(fd, data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            monkeypatch.setattr(os, "write", write)
            streams[1].answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
            for stream in streams:
                message = stream.next()
                while isinstance(message, play_pb2.ArenaMessage):
                    received.append(message)
                    message = stream.next()
                ends.append(reason_of(message))

    async def main(arena):
        await trio.to_thread.run_sync(bots, arena.address, abandon_on_cancel=True)
        await trio.sleep_forever()

    with pytest.raises(Unwritten, match=r"cannot be written: No space left on device$"):
        serve(ServerSettings(tmp_path), Tokens(guests=True), main)
    # The match goes on when the arena is back, so nobody may have been told that it is over.
    assert "match_end" not in [each.WhichOneof("body") for each in received]
    assert ends == [(grpc.StatusCode.UNAVAILABLE, "SUSPENDED")] * 2


@contextmanager
def process(folder, *arguments):
    root = Path(__file__).resolve().parent.parent.parent
    command = [sys.executable, "-m", "tests.live.serving", str(folder), *arguments]
    running = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield running, running.stdout.readline().strip()
    finally:
        running.kill()
        running.communicate()


def test_little_of_a_connection_waits_to_be_read(arena):
    port = int(arena.address.rpartition(":")[2])
    with seated(arena, "reader"):
        sizes = {
            own.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            for own in _sockets(port)
            if not own.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        }
    assert sizes == {2 * RECEIVE_BYTES}  # Linux counts as much again for what it needs itself


@pytest.mark.slow
def test_silent_connections_take_no_descriptor_that_is_needed(tmp_path):
    """There are more than there may be: bots come and play, and the replay is written."""
    with process(tmp_path, "300") as (_, address), ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(Wire(address))  # it shakes hands, and may then stay for a minute
        streams, ask, _, match_id = start_match(address, stack)
        streams[1].answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
        for end in played(*streams):
            assert end.ending == Ending.COMPLETED
        eventually((tmp_path / "replays" / f"{match_id}.replay").exists)


def start_match(address, stack):
    """Two bots at a match in which the second is asked; the streams, the ask and its client."""
    clients = [stack.enter_context(Client(address)) for _ in range(3)]
    streams = [
        client.stream(f"guest:b{at}", games=GAMES_OF_A_BOT) for at, client in enumerate(clients[:2])
    ]
    for stream in streams:
        stream.expect("welcome")
    match = create(clients[2], "b0", "b1")
    for stream in streams:
        stream.expect("match_start")
    (ask,) = streams[1].expect("asks").asks
    return streams, ask, clients[2], match.match_id


def test_sigterm_drains(tmp_path):
    """Nothing new begins, health says so, and what is in play is played to its end."""
    with process(tmp_path) as (running, address), ExitStack() as stack:
        streams, ask, client, match_id = start_match(address, stack)
        running.send_signal(signal.SIGTERM)
        for stream in streams:
            assert stream.expect("drain").deadline_ms == 120_000
        health = health_pb2_grpc.HealthStub(client.channel)
        answer = health.Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
        draining = (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        with pytest.raises(grpc.RpcError) as refused:
            create(client, "b0", "b1")
        assert reason_of(refused.value) == draining
        assert reason_of(client.stream("guest:late").error()) == draining
        running.send_signal(signal.SIGTERM)  # a second one changes nothing

        streams[1].answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
        ends = played(*streams)
        assert all(end.ending == Ending.COMPLETED for end in ends)
        for stream in streams:
            assert stream.next() is None, "the stream ends in order"
        out, err = ended(running)
    assert (running.returncode, out, err) == (0, "drained\n", "")
    assert (tmp_path / "replays" / f"{match_id}.replay").exists()


# What a bot hears before a stop, and whether anything is said of the stop.
STOPS = [
    (signal.SIGINT, "SUSPENDED", "stopped by Ctrl-C"),
    (signal.SIGKILL, "", "killed"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "reason", "why"),
    slow_unless(lambda number, reason, why: why == "killed", STOPS),
    ids=[row[-1] for row in STOPS],
)
def test_a_match_goes_on_after_the_arena_was(number, reason, why, tmp_path):
    """With the same number, the same ask to the byte, and everything that was played."""
    with process(tmp_path) as (running, address), ExitStack() as stack:
        streams, ask, _, match_id = start_match(address, stack)
        streams[1].answer(play_pb2.Answer(ask_id=ask.ask_id, index=1))
        (waiting,) = streams[0].expect("asks").asks
        running.send_signal(number)
        for stream in streams:
            code, said = reason_of(stream.error())
            assert (code, said) == (grpc.StatusCode.UNAVAILABLE, reason)
        out, err = ended(running)
        assert (out, err) == ("interrupted\n" if reason else "", "")

    with process(tmp_path) as (_, address), ExitStack() as stack:
        clients = [stack.enter_context(Client(address)) for _ in range(2)]
        streams = [
            client.stream(f"guest:b{at}", games=GAMES_OF_A_BOT) for at, client in enumerate(clients)
        ]
        welcomes = [stream.expect("welcome") for stream in streams]
        assert [welcome.epoch for welcome in welcomes] == [2, 2]
        assert [[match.match for match in welcome.matches] for welcome in welcomes] == [[1], [1]]
        assert not welcomes[1].open_asks
        (again,) = welcomes[0].open_asks
        assert again.clock.move_ms == waiting.clock.move_ms, "the arena's absence costs no time"
        for each in (again, waiting):
            each.ClearField("clock")
        assert again.SerializeToString() == waiting.SerializeToString()
        repeated, other = (play_pb2.Answer(ask_id=ask.ask_id, index=at) for at in (1, 0))
        streams[1].answer(repeated)
        streams[1].answer(other)
        refusal = streams[1].expect("refusal")
        assert refusal.reason == play_pb2.REFUSAL_REASON_ALREADY_ANSWERED
        streams[0].answer(play_pb2.Answer(ask_id=again.ask_id, index=0))
        ends = played(*streams)
        assert all(end.ending == Ending.COMPLETED and not end.faults for end in ends)
        path = tmp_path / "replays" / f"{match_id}.replay"
        eventually(path.exists)
        verdict = verify_file(path)
        assert verdict.ok, verdict.problem


@pytest.mark.slow
def test_sigint_before_anybody_came(tmp_path):
    with process(tmp_path) as (running, _):
        running.send_signal(signal.SIGINT)
        out, err = ended(running)
    assert (running.returncode, out, err) == (0, "interrupted\n", "")


def test_play_is_where_the_proto_says():
    service = play_pb2.DESCRIPTOR.services_by_name["PlayService"]
    assert f"/{service.full_name}/{service.methods[0].name}" == PLAY

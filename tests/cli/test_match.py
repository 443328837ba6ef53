"""`arena match create` and `arena bots list`: connected bots play, and a mistake is told in a sentence."""

import json
import threading
from contextlib import contextmanager

import grpc
import pytest

from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, new_token
from arena.cli.arena_client import PATIENCE_S as AWAY_S
from arena.cli.arena_client import NoAnswer, Server, ServiceClient, patiently
from arena.cli.match_create import _followed, follow
from arena.cli.terminal.plain import Interrupted
from cardarena.v1 import lobby_pb2, play_pb2
from tests.cli.serving import served
from tests.cli.test_expected_errors import arena as command
from tests.doubles.fake_arena import FakeArena
from tests.doubles.streams import Client
from tests.live.running import running
from tests.live.test_sockets import seated


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with running(tmp_path_factory.mktemp("arena"), Tokens(guests=True)) as arena:
        yield arena


@pytest.fixture
def at(arena):
    """A command that asks this arena."""

    def invoke(*arguments):
        return command(*arguments, "--server", arena.address)

    return invoke


@contextmanager
def playing(arena, *names, **hello):
    """Bots that play the first move offered, for one match."""
    with seated(arena, *names, **hello) as streams:
        threads = [threading.Thread(target=stream.play, daemon=True) for stream in streams]
        for thread in threads:
            thread.start()
        yield
        for thread in threads:
            thread.join(20)


# Who is there.


def test_the_bots_are_listed_by_name_with_what_they_play(arena, at):
    two = [play_pb2.GameSupport(game="loo"), play_pb2.GameSupport(game="jam", seats=[3, 2])]
    with seated(arena, "zoe"), seated(arena, "ann", games=two, max_matches=1):
        lines = at("bots", "list").stdout.splitlines()
        page = json.loads(at("bots", "list", "--json").stdout)
    assert [line.split() for line in lines] == [
        ["bot", "plays", "matches"],
        ["ann", "jam,", "loo", "0", "of", "1"],
        ["zoe", "every", "game", "0", "of", "8"],
    ]
    assert page["bots"][0] == {
        "bot": "ann",
        "games": [{"game": "jam", "seats": [2, 3]}, {"game": "loo", "seats": []}],
        "matches": 0,
        "max_matches": 1,
    }


def test_those_that_play_a_game(arena, at):
    with seated(arena, "b1"), seated(arena, "b2", games=[play_pb2.GameSupport(game="loo")]):
        listed = json.loads(at("bots", "list", "--game", "jam", "--json").stdout)
    assert [bot["bot"] for bot in listed["bots"]] == ["b1"]


def test_that_nobody_is_there_is_said(arena, at):
    assert at("bots", "list").stdout == f"No bot is connected to {arena.address}.\n"
    said = at("bots", "list", "--game", "loo").stdout
    assert said == f"No bot that plays loo is connected to {arena.address}.\n"


def test_who_cannot_be_seated_by_hand_is_not_listed(arena, at):
    """A bot that has left, and the second process of a bot that somebody has launched."""
    token = new_token()
    arena.tokens.add(token, BotId("launched", 1))
    with seated(arena, "left") as (stream,), Client(arena.address) as client:
        second = client.stream(token)
        second.expect("welcome")
        stream.end()
        assert "No bot is connected" in at("bots", "list").stdout


def test_bots_come_in_pages(arena):
    names = [f"p{number}" for number in range(5)]
    listed, token = [], ""
    with seated(arena, *names), Client(arena.address) as client:
        while True:
            request = lobby_pb2.ListBotsRequest(page_size=2, page_token=token)
            page = client.lobby.ListBots(request)
            assert len(page.bots) <= 2
            listed += [bot.bot for bot in page.bots]
            token = page.next_page_token
            if not token:
                break
    assert listed == names


def test_a_page_goes_on_after_a_bot_that_has_left(arena):
    with seated(arena, "q1", "q3"), Client(arena.address) as client:
        page = client.lobby.ListBots(lobby_pb2.ListBotsRequest(page_token="q2"))
    assert [bot.bot for bot in page.bots] == ["q3"]


def test_a_bot_of_other_rules_is_said_to_play_nothing(arena, at):
    with seated(arena, "old", games=[play_pb2.GameSupport(game="loo", rules_version=99)]):
        assert "no game of this arena" in at("bots", "list").stdout


# A match.


def test_a_match_is_made_and_followed_to_its_result(arena, at):
    with playing(arena, "m1", "m2"):
        result = at("match", "create", "abstrac", "m1", "m2", "-o", "hands=2", "--seed", "s")
    assert result.exit_code == 0, result.output
    assert "begins: m1, m2." in result.stderr
    assert "│ 1     │ m" in result.stdout
    with Client(arena.address) as client:
        (match,) = client.lobby.ListMatches(lobby_pb2.ListMatchesRequest(page_size=1)).matches
    assert f"arena replay show {match.match_id}" in result.stdout
    assert f"arena replay download {match.match_id} --server {arena.address}\n" in result.stdout


def test_a_program_is_told_the_result_alone(arena, at):
    with playing(arena, "j1", "j2"):
        result = at("match", "create", "abstrac", "j1", "j2", "--json")
    result = json.loads(result.output)
    assert (result["game"], result["bots"]) == ("abstrac", ["j1", "j2"])
    assert (result["status"], result["ending"]) == ("MATCH_STATUS_ENDED", "ENDING_COMPLETED")
    assert sorted(result["places"]) in ([1, 2], [1, 1])
    assert result["decisions"] > 0


def test_a_match_need_not_be_waited_for(arena, at):
    with playing(arena, "n1", "n2"):
        made = at("match", "create", "abstrac", "n1", "n2", "--no-wait").stdout.strip()
        with Client(arena.address) as client:
            request = lobby_pb2.GetMatchRequest(match_id=made)
            assert client.lobby.GetMatch(request).match.bots == ["n1", "n2"]


# fmt: off
MISTAKES = [
    (("match", "create", "abstrak", "w1", "w2"),            "there is no game 'abstrak' there; perhaps 'abstrac'",    "an unknown game"),
    (("match", "create", "abstrac", "w1", "W2"),            "no bot named 'W2' is connected; perhaps 'w2' is meant",  "a bot in other letters"),
    (("match", "create", "abstrac", "w1", "nobody"),        "no bot named 'nobody' is connected; there are w1, w2",   "an unknown bot"),
    (("match", "create", "abstrac", "w1", "w2", "-o", "cards=3"), "there is no option 'cards'; the options are: hands",   "an unknown option"),
    (("match", "create", "abstrac", "w1", "w2", "-o", "hands=x"), "hands is a whole number, not 'x'",                 "no number"),
    (("match", "create", "abstrac", "w1", "w2", "-o", "hands"),   "an option is NAME=VALUE, not 'hands'",              "no value"),
    (("match", "create", "abstrac", "w1"),                  "abstrac is played by 2 seats, not 1",                    "too few bots"),
    (("match", "create", "abstrac"),                        "Missing argument 'BOT...'",                              "no bots"),
    (("match", "create", "abstrac", "w1", "w2", "--move", "0"), "a move needs at least 1 ms",                         "no time"),
    (("bots", "list", "--game", "lou"),           "there is no game 'lou' there; perhaps 'loo' is meant",   "bots of an unknown game"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(arguments, words, why, arena, at):
    with seated(arena, "w1", "w2"):
        result = at(*arguments)
    assert result.exit_code != 0
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


# fmt: off
NOT_THERE = [
    ("localhost:1",       "no arena answers at localhost:1: ",           "nobody listens"),
    ("example.test:7654", "the token would go to example.test:7654 in plain text", "in plain text over a network"),
    ("unix:/nosuch/sock", "no arena answers at unix:/nosuch/sock",       "no socket file"),
]
# fmt: on


@pytest.mark.parametrize(("address", "words", "why"), NOT_THERE, ids=[row[-1] for row in NOT_THERE])
def test_where_no_arena_is_that_is_said(address, words, why):
    result = command("bots", "list", "--server", address)
    assert result.exit_code != 0
    assert words in " ".join(result.stderr.split())


def test_what_is_no_arena_is_said_to_be_none():
    with FakeArena() as other:
        result = command("bots", "list", "--server", other.address)
    assert (
        f"what answers at {other.address} is no arena, or one of another version" in result.stderr
    )


# Who may.

# fmt: off
TOKENS = [
    ("organiser", 0, "No bot is connected",                      "an organiser's"),
    ("",          1, "give an organiser's token with --token or CARDARENA_TOKEN", "none"),
    ("wrong",     1, "give an organiser's token with --token or CARDARENA_TOKEN", "one that is not known"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("way", ["--token", "CARDARENA_TOKEN"])
def test_a_token_opens_an_arena_without_guests(way, tmp_path, monkeypatch):
    made = command("keys", "new", "organiser", "--owner", "ann", "--data", tmp_path)
    tokens = {"organiser": made.stdout.strip(), "": "", "wrong": new_token()}
    with served(tmp_path, "--no-guests") as (address, _):
        for name, code, words, why in TOKENS:
            given = ("--token", tokens[name]) if way == "--token" else ()
            if way != "--token":
                monkeypatch.setenv(way, tokens[name])
            result = command("bots", "list", "--server", address, *given)
            assert (result.exit_code, words in result.output) == (code, True), why


# An arena that is away for a while.


class Stub:
    """Answers `GetMatch` with what it was given, one after the other."""

    def __init__(self, *answers):
        self._answers = iter(answers)

    def GetMatch(self, request, **_):
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        match = lobby_pb2.MatchInfo(match_id=request.match_id, status=answer)
        return lobby_pb2.GetMatchResponse(match=match)


class Slept(list):
    """A clock that goes on only by sleeping."""

    def now_s(self):
        return sum(self)


RUNNING = lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING
ENDED = lobby_pb2.MatchStatus.MATCH_STATUS_ENDED


@pytest.fixture
def away():
    """The error of a call to nobody."""
    server = Server("localhost:1", "")
    with grpc.insecure_channel("localhost:1") as channel:
        call = channel.unary_unary("/x")
        with pytest.raises(grpc.RpcError) as raised:
            call(b"")
    return server, raised.value


def test_a_match_is_followed_over_a_restart_of_the_arena(away):
    server, gone = away
    clock = Slept()
    stub = Stub(RUNNING, gone, gone, RUNNING, ENDED)
    matches = follow(ServiceClient(stub, server), "m1", now_s=clock.now_s, sleep=clock.append)
    assert [match.status for match in matches] == [RUNNING, RUNNING, ENDED]


def test_an_arena_that_stays_away_is_given_up(away):
    server, gone = away
    clock = Slept()
    lobby = ServiceClient(Stub(RUNNING, *[gone] * 999), server)
    with pytest.raises(NoAnswer, match="no arena answers at localhost:1"):
        list(follow(lobby, "m1", now_s=clock.now_s, sleep=clock.append))
    assert AWAY_S < clock.now_s() < AWAY_S + 2


def test_an_arena_that_is_busy_is_asked_again_and_that_is_told_once():
    clock, told = Slept(), []
    looks = iter([*[NoAnswer("late", grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY")] * 3, "found"])

    def look():
        answer = next(looks)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    assert patiently(look, told=told.append, now_s=clock.now_s, sleep=clock.append) == "found"
    assert [error.message for error in told] == ["late"]
    assert len(clock) == 3


def test_what_does_not_pass_is_not_waited_for():
    def look():
        raise NoAnswer("no such match", grpc.StatusCode.NOT_FOUND, "UNKNOWN_MATCH")

    with pytest.raises(NoAnswer, match="no such match"):
        patiently(look, sleep=None)


def test_ctrl_c_leaves_the_match_in_play_and_says_so(away):
    def interrupted(_):
        raise KeyboardInterrupt

    server, _ = away
    lobby = ServiceClient(Stub(RUNNING), server)
    made = lobby_pb2.MatchInfo(match_id="m1", bots=["ann", "bob"])
    with pytest.raises(Interrupted, match="stopped following match m1, which continues"):
        _followed(lobby, made, quiet=True, sleep=interrupted)

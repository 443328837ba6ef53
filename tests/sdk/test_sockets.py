"""The SDK over real sockets, against a tiny arena in the same process."""

import re
import threading
from random import Random

import grpc
import pytest

import cardarena
from cardarena.v1.play_pb2 import Capability, GameAdmission, GameRefusal
from tests.doubles.fake_arena import PATIENCE_S, FakeArena
from tests.sdk.messages import (
    ask,
    ask_closed,
    asks,
    match_end,
    match_start,
    redirect,
    welcome,
)


class NoWait(Random):
    def uniform(self, a, b):
        return 0.0


class Second(cardarena.Bot):
    """Always plays the second move."""

    max_matches = 8

    def move(self, ask):
        return ask.moves[1]


def play(bot, arena):
    cardarena.play(bot, address=arena.address, token="me", once=True, random=NoWait())


def test_eight_matches_are_played_on_one_stream():
    def script(arena, stream, hello):
        arena.heard.append((hello.token, hello.sdk.partition("/")[0], hello.max_matches))
        yield welcome()
        for match in range(1, 9):
            yield match_start(match)
        yield asks(*(ask(match, match) for match in range(1, 9)))
        told = []
        while len(told) < 8:
            told += stream.answers()
        arena.heard.append(told)
        for match in range(1, 9):
            yield match_end(match)

    with FakeArena(script) as arena:
        play(Second, arena)
    assert arena.heard == [("me", "cardarena-python", 8), [(n, 1) for n in range(1, 9)]]


def test_a_bot_comes_back_after_a_loss_and_answers_what_is_still_asked():
    thinking, lost = threading.Event(), threading.Event()

    class Slow(cardarena.Bot):
        def move(self, ask):
            thinking.set()
            assert lost.wait(PATIENCE_S)
            return ask.moves[1]

    def breaks_off(arena, stream, hello):
        yield welcome()
        yield match_start(1)
        yield asks(ask(1))
        assert thinking.wait(PATIENCE_S)
        stream.abort(grpc.StatusCode.UNAVAILABLE, "restarting")

    def goes_on(arena, stream, hello):
        lost.set()
        yield welcome([1], [ask(1)], epoch=2)
        arena.heard.append(stream.answers())
        yield match_end(1)

    with FakeArena(breaks_off, goes_on) as arena:
        play(Slow, arena)
    assert arena.heard == [[(1, 1)]]


def test_a_long_think_misses_nothing():
    thinking, enough = threading.Event(), threading.Event()
    given = []

    class Slow(cardarena.Bot):
        def move(self, ask):
            given.append(ask.ask_id)
            thinking.set()
            assert enough.wait(PATIENCE_S)
            return 0

    def script(arena, stream, hello):
        yield welcome()
        for match in (1, 2, 3, 4):
            yield match_start(match)
        yield asks(ask(1, 1))
        assert thinking.wait(PATIENCE_S)
        yield asks(ask(2, 2), ask(3, 3))
        yield ask_closed(2)
        yield asks(ask(4, 4, moves=1))
        arena.heard.append(stream.answers())  # the only move of match 4, while the bot thinks
        enough.set()
        while len(arena.heard) < 3:
            arena.heard += stream.answers()

    with FakeArena(script) as arena:
        play(Slow, arena)
    assert arena.heard == [[(4, 0)], (1, 0), (3, 0)]
    assert given == [1, 3]


def test_an_answer_goes_out_while_the_bot_thinks_of_the_next():
    enough = threading.Event()

    class Slow(cardarena.Bot):
        def move(self, ask):
            assert ask.ask_id == 1 or enough.wait(PATIENCE_S)
            return 0

    def script(arena, stream, hello):
        yield welcome()
        yield match_start(1)
        yield match_start(2)
        yield asks(ask(1, 1), ask(2, 2))
        arena.heard += stream.answers()
        enough.set()
        arena.heard += stream.answers()

    with FakeArena(script) as arena:
        play(Slow, arena)
    assert arena.heard == [(1, 0), (2, 0)]


def test_a_redirect_is_followed_with_the_same_token():
    streams = []

    def second(arena, stream, hello):
        assert streams[0].hung_up.wait(PATIENCE_S), "the bot leaves the first arena"
        arena.heard.append(hello.token)
        yield welcome()

    with FakeArena(second) as there:

        def first(arena, stream, hello):
            streams.append(stream)
            yield welcome()
            yield redirect(there.address)
            stream.hung_up.wait(PATIENCE_S)

        with FakeArena(first) as here:
            play(Second, here)
    assert there.heard == ["me"]


def test_a_guest_says_a_secret_of_its_run():
    def script(arena, stream, hello):
        arena.heard.append(hello.token)
        yield welcome()

    with FakeArena(script) as first, FakeArena(script) as second:
        for arena in (first, second):
            token = "guest:ann"
            cardarena.play(Second, address=arena.address, token=token, once=True, random=NoWait())
    (one,), (other,) = first.heard, second.heard
    assert re.fullmatch(r"guest:ann:[0-9a-f]{32}", one)
    assert one != other, "each run has its own"


def test_where_nobody_is_at_the_new_endpoint_the_bot_goes_back_to_the_first():
    with FakeArena(unknown_token) as gone:
        nobody = gone.address

    def first(arena, stream, hello):
        arena.heard.append(list(hello.capabilities))
        yield welcome()
        yield redirect(nobody)
        stream.hung_up.wait(PATIENCE_S)

    def again(arena, stream, hello):
        arena.heard.append(hello.token)
        yield welcome()

    with FakeArena(first, again) as here:
        play(Second, here)
    assert here.heard == [[Capability.CAPABILITY_REDIRECT], "me"]


def test_a_bot_none_of_whose_games_is_taken_does_not_wait_in_vain(capsys):
    def script(arena, stream, hello):
        assert hello.contract == 1
        refused = GameAdmission(
            game="abstrac", refusal=GameRefusal.GAME_REFUSAL_UNKNOWN_GAME, text="no such game"
        )
        yield welcome(games=[refused])
        stream.hung_up.wait(PATIENCE_S)

    with FakeArena(script) as arena, pytest.raises(SystemExit) as ended:
        cardarena.run(Second, argv=["--address", arena.address, "--token", "me"])
    assert ended.value.code == 2
    assert "seats this bot at none of its games: no such game" in capsys.readouterr().err


def test_an_ask_is_closed_when_play_is_over():
    given = []

    class Keeping(cardarena.Bot):
        def move(self, ask):
            given.append(ask)
            return 0

    def script(arena, stream, hello):
        yield welcome()
        yield match_start(1)
        yield asks(ask(1))
        stream.answers()

    with FakeArena(script) as arena:
        play(Keeping, arena)
    assert [one.open for one in given] == [False]


def test_garbage_from_the_arena_is_a_broken_stream():
    def garbage(arena, stream, hello):
        yield b"\xff" * 8
        assert stream.read() is None  # the bot hangs up

    def fine(arena, stream, hello):
        arena.heard.append("came back")
        yield welcome()

    with FakeArena(garbage, fine) as arena:
        play(Second, arena)
    assert arena.heard == ["came back"]


def unknown_token(arena, stream, hello):
    stream.abort(grpc.StatusCode.UNAUTHENTICATED, f"no bot has the token {hello.token}")
    yield


def test_a_refused_bot_ends_with_a_sentence_and_code_2(capsys):
    with FakeArena(unknown_token) as arena, pytest.raises(SystemExit) as ended:
        cardarena.run(Second, argv=["--address", arena.address, "--token", "nobody"])
    assert ended.value.code == 2
    line = "cardarena: the arena does not take this token (no bot has the token nobody)\n"
    assert capsys.readouterr().err == line


def test_the_environment_says_where_and_as_whom(monkeypatch):
    def script(arena, stream, hello):
        arena.heard.append(hello.token)
        yield welcome()

    with FakeArena(script) as arena:
        monkeypatch.setenv("CARDARENA_ADDRESS", arena.address)
        monkeypatch.setenv("CARDARENA_TOKEN", "from the environment")
        monkeypatch.setenv("CARDARENA_ONCE", "1")
        cardarena.run(Second, argv=[])
    assert arena.heard == ["from the environment"]


def test_ctrl_c_ends_quietly(capsys, monkeypatch):
    monkeypatch.setenv("CARDARENA_ONCE", "1")

    class Interrupted(cardarena.Bot):
        def move(self, ask):
            raise KeyboardInterrupt

    def script(arena, stream, hello):
        yield welcome()
        yield match_start(1)
        yield asks(ask(1))
        assert stream.read() is None  # the bot hangs up

    with FakeArena(script) as arena, pytest.raises(SystemExit) as ended:
        cardarena.run(Interrupted, argv=["--address", arena.address])
    assert ended.value.code == 130
    assert capsys.readouterr().err == ""


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as ended:
        cardarena.run(Second, argv=["--help"])
    assert ended.value.code == 0
    assert "--address localhost:7654 --token guest:Second" in capsys.readouterr().out

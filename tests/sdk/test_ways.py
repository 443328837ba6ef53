"""The ways in which a bot thinks of several matches: on threads, in processes, on event loops."""

import asyncio
import functools
import os
import queue
import sys
import threading
import time

import pytest
import trio

import cardarena
from arena.testing.conformance.play import run
from cardarena import local
from cardarena._lanes import play_on_asyncio, play_on_threads, play_on_trio
from cardarena._mode import mode_of
from cardarena._play import OneByOne, play
from cardarena._pool import Pool
from cardarena._session import Work
from tests.doubles.fake_arena import PATIENCE_S
from tests.sdk.kit import CASES, KIT
from tests.sdk.languages import CLIENTS
from tests.sdk.messages import start
from tests.sdk.test_play import FAILURES, asked, ended


class Plain(cardarena.Bot):
    def move(self, ask):
        return 0


class Awaiting(cardarena.Bot):
    async def move(self, ask):
        return 0


class Threads(Plain):
    workers = 32


class Processes(Plain):
    processes = 3


class Batch(cardarena.BatchBot):
    def moves(self, asks):
        return [0] * len(asks)


def with_(bot, **declared):
    return type(bot.__name__, (bot,), declared)


# fmt: off
LIMITS = [
    # bot                             matches asks  why
    (Plain,                           1,   1,   "its matches would wait for each other's moves"),
    (Threads,                         32,  32,  "a match for each thread"),
    (Processes,                       3,   3,   "a match for each process"),
    (Awaiting,                        64,  64,  "what awaits holds up no other match"),
    (Batch,                           64,  64,  "it decides moves of many matches together"),
    (with_(Plain, max_matches=8),     8,   1,   "more matches than it thinks of take turns, and no clock runs for those that wait"),
    (with_(Threads, max_matches=64),  64,  32,  "as they do for threads"),
    (with_(Awaiting, max_matches=9),  9,   9,   "a coroutine for each match"),
    (with_(Plain, max_matches=8, max_open_asks=8), 8, 8, "its moves are quick, says its author"),
]
WRONG = [
    (with_(Threads, processes=2),     "Threads has workers and processes: choose one of them", "threads and processes"),
    (with_(Awaiting, workers=2),      "Awaiting has async def move and workers: choose one of them", "a coroutine on threads"),
    (with_(Plain, workers=0),         "Plain.workers is 0: a number from 1 is wanted", "no thread"),
    (with_(Plain, processes=True),    "Plain.processes is True: a number from 0 is wanted", "no number"),
    (with_(Awaiting, event_loop="x"), "Awaiting.event_loop is 'x': asyncio or trio is wanted", "an unknown event loop"),
    (with_(Plain, ended=Awaiting.move), "Plain.ended is async and its move is not: make move async too", "a coroutine that nothing would await"),
    (with_(Batch, workers=2),         "Batch sets workers: a BatchBot decides all moves together", "threads for a batch"),
    (with_(Batch, moves=Awaiting.move), "Batch.moves is async: only methods of a Bot may be", "a coroutine for a batch"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "matches", "asks", "why"), LIMITS, ids=[row[-1] for row in LIMITS])
def test_limits_follow_from_how_a_bot_thinks(bot, matches, asks, why):
    mode = mode_of(bot)
    assert (mode.max_matches, mode.max_open_asks) == (matches, asks)


@pytest.mark.parametrize(("bot", "sentence", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_cannot_be_is_said_before_the_bot_connects(bot, sentence, why, capsys):
    with pytest.raises(SystemExit) as raised:
        cardarena.run(bot, argv=["--address", "localhost:1"])
    assert (raised.value.code, capsys.readouterr().err) == (2, f"cardarena: {sentence}\n")


class Asking:
    """A connection that asks each match so many times, the next time after the answer."""

    def __init__(self, matches=0, times=0, works=()):
        self.sent, self.notes, self.error = [], {}, None
        self._lock = threading.Lock()
        self._left = dict.fromkeys(range(1, matches + 1), times)
        self._works = queue.SimpleQueue()
        for work in works:
            self._works.put(work)
        for match in self._left:
            self._works.put(Work([start(match)], [asked(match, match)]))
        if not self._left:
            self._works.put(None)

    def take(self):
        if self.error is not None:
            raise self.error
        work = self._works.get(timeout=PATIENCE_S)
        if work is None:
            self._works.put(None)  # play stays over
        return work

    def show(self, ask):
        return ask.open

    def answer(self, answers):
        with self._lock:
            for each in answers:
                self.sent.append((each.ask_id, "failed" if each.failed else each.index))
                if each.note:
                    self.notes[each.ask_id] = each.note
                if not self._left:
                    continue
                match = each.ask_id % 1000
                self._left[match] -= 1
                news, asks = [ended(match)], []
                if self._left[match]:
                    news, asks = [], [asked(each.ask_id + 1000, match)]
                self._works.put(Work(news, asks))
                if not any(self._left.values()):
                    self._works.put(None)

    def fail(self, error):
        self.error = error
        self._works.put(Work([], []))


def on_threads(bot, port, workers=2):
    play_on_threads(OneByOne(bot), port, workers)


def awaiting(bot):
    """A class of the same methods, as coroutines."""

    def made_async(method):
        @functools.wraps(method)
        async def call(self, *given):
            return method(self, *given)

        return call

    names = [each for each in ("started", "move", "ended") if each in vars(bot)]
    return with_(bot, **{each: made_async(vars(bot)[each]) for each in names})


def in_a_process(bot, port):
    pool = Pool(bot, 1)
    try:
        pool.play(port)
    finally:
        pool.close()


# fmt: off
WAYS = [
    pytest.param(lambda bot, port: play(OneByOne(bot), port),                      id="the main thread"),
    pytest.param(on_threads,                                                       id="threads"),
    pytest.param(lambda bot, port: play_on_asyncio(OneByOne(awaiting(bot)), port), id="asyncio"),
    pytest.param(lambda bot, port: play_on_trio(OneByOne(awaiting(bot)), port),    id="trio"),
    pytest.param(in_a_process,                                                     id="a process"),
]
# fmt: on


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("bot", "line", "error", "why"), FAILURES, ids=[r[3] for r in FAILURES])
def test_an_exception_is_told_alike_in_each_way(bot, line, error, why, way, capfd):
    port = Asking(works=[Work([start(1), start(2)], [asked(1, 1), asked(2, 2)])])
    way(bot, port)
    where = f"test_play.py:{line}: {error}"
    assert port.notes == {1: f"error: {where}"}
    assert sorted(port.sent) == [(1, "failed"), (2, 0)]
    shown = capfd.readouterr().err.splitlines()
    assert shown[0].startswith(f"cardarena: {where}: an exception at ")
    assert shown[-1].strip() == error
    assert not [text for text in shown if "cardarena/_" in text], "it begins at the author's code"


class Leaving(cardarena.Bot):
    def move(self, ask):
        sys.exit(4)


@pytest.mark.parametrize("way", WAYS)
def test_an_author_may_end_the_program_in_each_way(way):
    with pytest.raises(SystemExit) as raised:
        way(Leaving, Asking(matches=2, times=1))
    assert raised.value.code == 4


# Several matches at once.

TIMES, MATCHES, WORKERS = 3, 64, 32


def test_moves_that_sleep_take_what_the_threads_divide_them_to():
    """A second passes on the clock once every thread sleeps, and at no other time."""
    clock = []
    second = threading.Barrier(WORKERS, action=lambda: clock.append(1), timeout=PATIENCE_S)

    class Sleeping(cardarena.Bot):
        def move(self, ask):
            second.wait()
            return 0

    port = Asking(MATCHES, TIMES)
    on_threads(Sleeping, port, WORKERS)
    assert {choice for _, choice in port.sent} == {0}
    assert (len(port.sent), sum(clock)) == (MATCHES * TIMES, MATCHES * TIMES / WORKERS)


# fmt: off
LOOPS = [
    (play_on_asyncio, asyncio.sleep, "asyncio"),
    (play_on_trio,    trio.sleep,    "trio"),
]
# fmt: on


@pytest.mark.parametrize(("run", "sleep", "why"), LOOPS, ids=[row[-1] for row in LOOPS])
def test_a_coroutine_that_awaits_holds_up_no_other_match(run, sleep, why):
    waiting, seconds = set(), []

    class Sleeping(cardarena.Bot):
        async def move(self, ask):
            waiting.add(ask.match)
            second = len(seconds)
            if len(waiting) == MATCHES:
                waiting.clear()
                seconds.append(1)
            while second == len(seconds):
                await sleep(0.001)
            return 0

    port = Asking(MATCHES, TIMES)
    run(OneByOne(Sleeping), port)
    assert (len(port.sent), len(seconds)) == (MATCHES * TIMES, TIMES)


@pytest.mark.parametrize("way", WAYS[1:4])
def test_calls_of_a_match_are_in_order_and_one_at_a_time(way):
    calls = {match: [] for match in range(1, 9)}

    class Recording(cardarena.Bot):
        inside = False

        def noted(self, call):
            assert not self.inside
            self.inside = True
            calls[self.start.match].append(call)
            time.sleep(0)  # another thread's turn
            self.inside = False

        def started(self):
            self.noted("started")

        def move(self, ask):
            self.noted(ask.ask_id // 1000)
            return 0

        def ended(self, end):
            self.noted("ended")

    way(Recording, Asking(len(calls), TIMES))
    assert set(map(tuple, calls.values())) == {("started", 0, 1, 2, "ended")}


def test_what_cancels_itself_is_an_exception_and_play_goes_on(capsys):
    class Cancelled(cardarena.Bot):
        async def move(self, ask):
            if ask.ask_id == 1:
                raise asyncio.CancelledError
            return 0

    port = Asking(2, 1)
    play_on_asyncio(OneByOne(Cancelled), port)
    assert sorted(port.sent) == [(1, "failed"), (2, 0)]
    assert "something that it awaited was cancelled" in port.notes[1]


# Processes.


class Loading(cardarena.Bot):
    """Notes which process it is in, and how often that has loaded."""

    loads = 0

    @classmethod
    def load(cls):
        cls.loads += 1

    def move(self, ask):
        return cardarena.Noted(0, f"{os.getpid()} {self.loads}")


class Patient(cardarena.Bot):
    """Thinks until its ask is closed."""

    def move(self, ask):
        late_s = time.monotonic() + PATIENCE_S
        while ask.open and time.monotonic() < late_s:
            time.sleep(0.01)
        return cardarena.Noted(0, "closed" if not ask.open else "open")


@pytest.mark.slow
def test_each_process_loads_once_and_keeps_its_matches():
    port = Asking(4, 2)
    pool = Pool(Loading, 2)
    try:
        pool.play(port)
    finally:
        pool.close()
    homes = {ask: note.split() for ask, note in port.notes.items()}
    assert {loads for _, loads in homes.values()} == {"1"}
    processes = {process for process, _ in homes.values()}
    assert (len(processes), str(os.getpid()) in processes) == (2, False)
    assert all(homes[match] == homes[1000 + match] for match in range(1, 5))


def test_a_process_hears_that_its_ask_was_closed():
    class Closing(Asking):
        def show(self, ask):
            ask.open = False  # just after it was given to the bot
            return True

    port = Closing(works=[Work([start(1)], [asked(1, 1)])])
    in_a_process(Patient, port)
    assert port.notes == {1: "closed"}


def test_a_class_that_no_other_process_finds_is_refused():
    class Local(Plain):
        processes = 1

    with pytest.raises(cardarena.Misconfigured, match="the class is at the top of a module"):
        cardarena.play(Local, address="localhost:1", once=True)


# Without a server.


class OnTrio(Awaiting):
    event_loop = "trio"


@pytest.mark.parametrize("bot", [Threads, Processes, Awaiting, OnTrio])
def test_a_local_match_is_the_same_in_each_way(bot):
    plain, other = (local.play("abstrac", [each, Plain], seed=7) for each in (Plain, bot))
    assert (other.hand_scores, other.faults) == (plain.hand_scores, plain.faults)


def test_a_class_loads_once_for_local_matches():
    counted = type("Counted", (Loading,), {})
    for _ in range(2):
        local.play("abstrac", [counted, counted], seed=7)
    assert counted.loads == 1


ENDS = {
    "C8",
    "C15-suspended",
    "C16-unauthenticated-no-token",
    "C16-unavailable",
    "C26-cut",
    "C26-interrupt",
    "C33",
}
"""Cases without an ask in which a match or play ends."""


def depends_on_the_way(case):
    """Whether the bot has to move in a case, or play ends: a way of thinking changes nothing else on a stream.

    One of the deals that the arena opens wrongly (C21) stands for all.
    """
    asked = any("ask" in step for stream in case.streams for step in stream.steps)
    wrong_deal = case.id.startswith("C21") and case.id != "C21-wrong-secret"
    return (asked and not wrong_deal) or case.id in ENDS


@pytest.mark.deep("the SDK for Python")
@pytest.mark.parametrize("way", ["threads", "processes", "asyncio", "trio"])
def test_the_cases_of_the_kit_that_depend_on_it_pass_in_each_way(way):
    client = [sys.executable, str(CLIENTS / "conformance" / "python" / "client.py"), "--way", way]
    cases = tuple(filter(depends_on_the_way, CASES))
    assert {case.id for case in cases} > ENDS
    assert 40 < len(cases) < len(CASES) / 2
    verdicts = run(cases, client, KIT, jobs=4, on_done=lambda verdict: None)
    assert [f"{each.case.id}: {each.sentence}" for each in verdicts if not each.passed] == []


def test_work_that_comes_once_play_on_a_loop_has_ended_is_dropped(caplog):
    """The loop still runs the author's own tasks to their end."""
    ended_play, taken = threading.Event(), threading.Event()
    started = []

    class Late(Asking):
        def take(self):
            if not started:
                started.append(1)
                return Work([start(1)], [asked(1, 1)])
            if len(started) == 1:
                started.append(2)
                assert ended_play.wait(PATIENCE_S)
                return Work([start(2)], [asked(2, 2)])
            taken.set()
            return None

    async def own_task():
        try:
            await asyncio.Event().wait()
        finally:
            ended_play.set()
            await asyncio.to_thread(taken.wait, PATIENCE_S)
            await asyncio.sleep(0)

    class Interrupted(cardarena.Bot):
        async def move(self, ask):
            self.own = asyncio.ensure_future(own_task())
            await asyncio.sleep(0)
            raise KeyboardInterrupt

    port = Late()
    with pytest.raises(KeyboardInterrupt):
        play_on_asyncio(OneByOne(Interrupted), port)
    assert taken.is_set()
    assert port.sent == []
    assert [each.getMessage() for each in caplog.records] == []

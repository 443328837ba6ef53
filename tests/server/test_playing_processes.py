"""Processes that play for an arena: what they are asked for, and what becomes of it when one of them dies."""

import errno
import types

import pytest
import trio
import trio.testing

from arena.jail import BadCommand
from arena.server.bots import BotId
from arena.server.competitions.playing_messages import (
    BadLine,
    Counted,
    Ended,
    Failed,
    Lines,
    Play,
    Ready,
    line_of,
    message_of,
)
from arena.server.competitions.playing_processes import (
    AGAIN_S,
    LONGEST_AGAIN_S,
    MOST_STARTS,
    START_S,
    CannotPlay,
    PlayingProcesses,
)
from arena.server.data_folder import playing_folder
from arena.server.orders import DealSetOrder, TableOrder
from arena.store import StoreError
from arena.testing.orders import match_order

TERMS = match_order("sixty_six", ["ann", "bob"], seed="s").terms


def deal_set(name, *bots):
    ann, bob = bots or ("ann", "bob")
    tables = [
        TableOrder(f"{name}-0", (BotId(ann, 0), BotId(bob, 0))),
        TableOrder(f"{name}-1", (BotId(bob, 1), BotId(ann, 1)), 1),
    ]
    return DealSetOrder(name, TERMS, tuple(tables), "s")


# The messages.

MESSAGES = {
    "a match to play": Play(3, "autumn", deal_set("d1"), "d1-0"),
    "what it holds": Ready(12, ("d1", "d2")),
    "an outcome": Ended(3, is_held=True),
    "a failure": Ended(3, is_held=True, failed=Failed.STORE, why="the disk is full"),
    "counts": Counted(4, 5),
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_read_as_it_was_written(message):
    line = line_of(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert message_of(line) == message


# fmt: off
BAD = [
    # line                                                                     why
    (b"",                                                                      "empty"),
    (b"Traceback (most recent call last):",                                    "what a program prints"),
    (b"[]",                                                                    "no object"),
    (b'{"Sing": {}}',                                                          "another message"),
    (b'{"Ready": {}}',                                                         "without its fields"),
    (b'{"Ready": {"pid": 1, "holds": []}, "Counted": {}}',                     "two at once"),
    (b'{"Ended": {"number": 1, "is_held": true, "failed": "x", "why": ""}}',   "a failure that nobody knows"),
    (b'{"Play": {"number": 1, "competition": "a", "order": "!", "match": "m"}}', "an order that is none"),
]
# fmt: on


@pytest.mark.parametrize("line", [row[0] for row in BAD], ids=[row[1] for row in BAD])
def test_what_is_no_message_is_told(line):
    with pytest.raises(BadLine):
        message_of(line)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_lines_are_found_however_the_bytes_come(size):
    async def main():
        ours, theirs = trio.testing.memory_stream_one_way_pair()
        data = b"one\ntwo\n"
        for at in range(0, len(data), size):
            await ours.send_all(data[at : at + size])
        await ours.send_all(b"cut")
        await ours.aclose()
        lines = Lines(theirs)
        assert [await lines.next() for _ in range(4)] == [b"one", b"two", b"", b""]

    trio.run(main)


# The processes.


@pytest.fixture(autouse=True)
def no_threads(monkeypatch):
    """The mock clock would run on while a thread looks an outcome up."""

    async def here(call, *arguments):
        return call(*arguments)

    monkeypatch.setattr("arena.server.competitions.playing_processes.run_sync", here)


class Child:
    """A process that does as its test says, at the other ends of its pipes."""

    def __init__(self):
        self.stdin, self.asks = trio.testing.memory_stream_one_way_pair()
        self.says, self.stdout = trio.testing.memory_stream_one_way_pair()
        self.lines = Lines(self.asks)
        self.returncode, self.signals = None, []
        self._ended = trio.Event()

    async def wait(self):
        await self._ended.wait()
        return self.returncode

    def terminate(self):
        self.signals.append("terminate")

    def kill(self):
        self.signals.append("kill")
        self.end(-9)

    def end(self, code=0):
        self.returncode = code
        self._ended.set()
        self.says.close()

    async def say(self, message):
        await self.says.send_all(line_of(message))

    async def asked(self):
        return message_of(await self.lines.next())


class Children:
    """The processes of an arena, by number and start."""

    def __init__(self, folder, *, holds=(), begun=(), lines=None):
        self.started, self.came = {}, trio.Event()
        self.recorded = {}
        self.lines = lines or {}
        self.folder, self.holds = folder, dict(holds)
        matches = types.SimpleNamespace(
            begun_deal_sets=frozenset(begun),
            results=types.SimpleNamespace(
                outcomes=lambda ids: {each: self.recorded[each] for each in ids}
            ),
        )
        self.arena = types.SimpleNamespace(matches=matches, elsewhere=None)

    def command(self, number):
        return [str(number)]

    async def start(self, command):
        (number,) = map(int, command)
        child = Child()
        self.started.setdefault(number, []).append(child)
        await child.say(Ready(100 + number, tuple(self.holds.get(number, ()))))
        return child

    def processes(self, number):
        return PlayingProcesses(self.arena, self.folder, self.command, number, self.start)

    def is_launched(self, name):
        return name != "remote"


def run(play, children, number):
    async def main():
        processes = children.processes(number)
        async with trio.open_nursery() as nursery:
            await nursery.start(processes.run)
            with trio.fail_after(1_000):
                await play(processes, children, nursery)
            for own in children.started.values():
                for child in own:
                    child.end()
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


# fmt: off
PLACES = [
    # bots               begun here   processes  plays   why
    (("ann", "bob"),     (),          2,         True,   "all its bots are launched"),
    (("ann", "remote"),  (),          2,         False,  "a bot that dials in is where it is"),
    (("ann", "bob"),     ("d1",),     2,         False,  "its deals are this process's already"),
    (("ann", "bob"),     (),          0,         False,  "one process plays for itself"),
]
# fmt: on


@pytest.mark.parametrize(
    ("bots", "begun", "number", "plays"),
    [row[:4] for row in PLACES],
    ids=[row[4] for row in PLACES],
)
def test_which_deal_sets_are_played_elsewhere(bots, begun, number, plays, tmp_path):
    async def play(processes, children, nursery):
        assert processes.plays(deal_set("d1", *bots), children) is plays

    run(play, Children(tmp_path, begun=begun), number)


def test_a_deal_set_goes_whole_to_who_has_least_to_do(tmp_path):
    async def play(processes, children, nursery):
        one, two = deal_set("d1"), deal_set("d2")
        for order, match in ((one, "d1-0"), (two, "d2-0"), (one, "d1-1")):
            nursery.start_soon(processes.play, "autumn", order, match)
            await trio.testing.wait_all_tasks_blocked()
        (first,), (second,) = children.started[1], children.started[2]
        assert [(await first.asked()).match for _ in range(2)] == ["d1-0", "d1-1"]
        asked = await second.asked()
        assert (asked.match, asked.order, asked.competition) == ("d2-0", two, "autumn")

    run(play, Children(tmp_path), 2)


def test_an_outcome_is_that_of_the_store(tmp_path):
    async def play(processes, children, nursery):
        (child,) = children.started[1]
        children.recorded["d1-0"] = "as recorded"

        async def answer():
            asked = await child.asked()
            await child.say(Ended(asked.number, is_held=True))

        nursery.start_soon(answer)
        assert await processes.play("autumn", deal_set("d1"), "d1-0") == "as recorded"

    run(play, Children(tmp_path), 1)


# fmt: off
FAILURES = [
    (Failed.COMMAND,   BadCommand,  "a bot that cannot be launched pauses its competition"),
    (Failed.STORE,     StoreError,  "a store that is away is waited for"),
    (Failed.INTERNAL,  CannotPlay,  "an error of ours pauses the competition and says where to look"),
]
# fmt: on


@pytest.mark.parametrize(
    ("failed", "error"), [row[:2] for row in FAILURES], ids=[row[2] for row in FAILURES]
)
def test_what_cannot_be_played_is_told(failed, error, tmp_path):
    async def play(processes, children, nursery):
        (child,) = children.started[1]

        async def answer():
            asked = await child.asked()
            await child.say(Ended(asked.number, is_held=True, failed=failed, why="so it is"))

        nursery.start_soon(answer)
        with pytest.raises(error, match="so it is"):
            await processes.play("autumn", deal_set("d1"), "d1-0")

    run(play, Children(tmp_path), 1)


def test_what_was_asked_is_asked_again_of_the_next_start_of_the_same_process(tmp_path):
    async def play(processes, children, nursery):
        nursery.start_soon(processes.play, "autumn", deal_set("d1"), "d1-0")
        await trio.testing.wait_all_tasks_blocked()
        (child,) = children.started[1]
        before = await child.asked()
        began_s = trio.current_time()
        child.end(-9)
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(AGAIN_S)
        await trio.testing.wait_all_tasks_blocked()
        _, again = children.started[1]
        assert await again.asked() == before
        assert trio.current_time() - began_s <= 2 * AGAIN_S
        assert [each["starts"] for each in processes.told()] == [2, 1]

    run(play, Children(tmp_path), 2)


def test_what_a_process_holds_from_before_stays_with_it(tmp_path):
    playing_folder(tmp_path, 3).mkdir(parents=True)

    async def play(processes, children, nursery):
        order = deal_set("d1")
        assert processes.plays(order, children)
        assert not processes.plays(deal_set("d2"), children), "it gets nothing new"
        nursery.start_soon(processes.play, "autumn", order, "d1-0")
        assert (await children.started[3][0].asked()).match == "d1-0"

    run(play, Children(tmp_path, holds={3: ["d1"]}), 0)


def test_a_process_of_before_that_holds_nothing_is_dismissed(tmp_path):
    playing_folder(tmp_path, 3).mkdir(parents=True)

    async def play(processes, children, nursery):
        (child,) = children.started[3]
        assert await child.lines.next() == b"", "its standard input has ended"
        child.end()
        await trio.sleep(2 * START_S)
        assert len(children.started[3]) == 1
        assert processes.told() == []

    run(play, Children(tmp_path), 0)


async def ends_at_once():
    child = Child()
    child.end(1)
    return child


async def is_refused():
    raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


@pytest.mark.parametrize("fails", [ends_at_once, is_refused])
def test_a_process_that_does_not_start_is_waited_for_no_more_and_tried_again(fails, tmp_path):
    class Failing(Children):
        ready, failed = False, 0

        async def start(self, command):
            if self.ready:
                return await super().start(command)
            self.failed += 1
            return await fails()

    async def play(processes, children, nursery):
        assert children.failed == MOST_STARTS
        with pytest.raises(
            CannotPlay, match="process 1, which plays for this arena, does not start"
        ):
            await processes.play("autumn", deal_set("d1"), "d1-0")
        children.ready = True
        await trio.sleep(LONGEST_AGAIN_S + AGAIN_S)
        nursery.start_soon(processes.play, "autumn", deal_set("d1"), "d1-0")
        assert (await children.started[1][-1].asked()).match == "d1-0"

    run(play, Failing(tmp_path), 1)


def test_one_that_says_nothing_for_long_is_started_again(tmp_path):
    async def play(processes, children, nursery):
        await trio.sleep(START_S + AGAIN_S + 20)
        first, *_, last = children.started[1]
        assert first.signals == ["kill"]
        assert last.signals == []

    run(play, Children(tmp_path), 1)


def test_a_drain_lets_them_end_what_is_in_play(tmp_path):
    async def play(processes, children, nursery):
        (child,) = children.started[1]
        children.recorded["d1-0"] = "as recorded"
        ended = []

        async def asked():
            ended.append(await processes.play("autumn", deal_set("d1"), "d1-0"))

        nursery.start_soon(asked)
        request = await child.asked()
        processes.drain()
        assert child.signals == ["terminate"]
        with trio.move_on_after(30) as waiting:
            await processes.idle()
        assert waiting.cancelled_caught, "it plays on"
        await child.say(Ended(request.number, is_held=False))
        await trio.testing.wait_all_tasks_blocked()
        assert ended == ["as recorded"]
        child.end()
        await processes.idle()
        assert len(children.started[1]) == 1

    run(play, Children(tmp_path), 1)


def test_counts_are_those_that_were_told_last(tmp_path):
    async def play(processes, children, nursery):
        (child,) = children.started[1]
        await child.say(Counted(3, 400))
        await trio.testing.wait_all_tasks_blocked()
        (told,) = processes.told()
        assert told == {"number": 1, "pid": 101, "starts": 1, "matches": 3, "decisions": 400}

    run(play, Children(tmp_path), 1)


def test_a_deal_set_that_is_over_is_forgotten(tmp_path):
    async def play(processes, children, nursery):
        (child,) = children.started[1]
        order = deal_set("d1")
        for held in (True, False):
            children.recorded["d1-0"] = "as recorded"

            async def answer(held=held):
                asked = await child.asked()
                await child.say(Ended(asked.number, is_held=held))

            nursery.start_soon(answer)
            await processes.play("autumn", order, "d1-0")
            # Only who holds a deal-set still plays it whoever its bots are.
            assert processes.plays(order, Nobody()) is held

    run(play, Children(tmp_path), 1)


class Nobody:
    def is_launched(self, name):
        return False

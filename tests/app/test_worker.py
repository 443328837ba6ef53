"""What a worker takes from an arena: archives by the hash of their contents, and nothing else."""

import asyncio
import math
import os

import pytest
import trio
from trio.testing import MockClock

from arena.app import worker
from arena.app.worker import MEASURE_AGAIN_S, SpeedClass, Stop, WorkLink, limit_cache
from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs, size_of
from arena.contests.workers.player import LOOK_S
from arena.live.host import TrioGuest
from cardarena.v1 import work_pb2
from tests.bots.test_archive import BOT, zipped


class Calls:
    """Sends assignments, and answers every request for an archive with these bytes, in small pieces."""

    def __init__(self, data, sent):
        self.data, self.sent, self.asked = data, sent, []

    async def work(self, requests):
        assert (await anext(requests())).HasField("ready")
        for message in self.sent:
            yield message

    async def archive(self, sha256):
        self.asked.append(sha256)
        for at in range(0, len(self.data), 100):
            yield self.data[at : at + 100]


@pytest.fixture
def archive(tmp_path):
    return read_archive(zipped(tmp_path / "good.zip"))


def passed_on(folder, calls, *, is_local=False):
    """The messages of these calls that a link passes on."""

    async def in_trio():
        ready = work_pb2.WorkerReady(pid=7)
        link = WorkLink(calls.work, calls.archive, ready, Blobs(folder), folder, is_local=is_local)
        assert await link.run() is None
        return [message async for message in link.messages]

    async def main():
        guest = TrioGuest(in_trio)
        guest.start()
        return (await guest.ended).unwrap()

    return asyncio.run(main())


def assigned(sha256):
    entrants = [work_pb2.WorkEntrant(name="ann", archive_sha256=sha256)]
    return work_pb2.WorkResponse(assignment=work_pb2.WorkAssignment(entrants=entrants))


def reasons(caplog):
    return [record.why for record in caplog.records]


def test_an_archive_is_fetched_once_and_before_its_deal_set_begins(tmp_path, archive):
    message = assigned(archive.sha256)
    calls = Calls(archive.path.read_bytes(), [message] * 2)
    assert passed_on(tmp_path, calls) == [message] * 2
    assert calls.asked == [archive.sha256]
    assert (Blobs(tmp_path).unpacked(archive.sha256) / "bot.py").read_bytes() == BOT["bot.py"]


def other(path):
    return zipped(path, BOT | {"bot.py": b"print(2)"}).read_bytes()


# fmt: off
POISONED = [
    # what comes                                                       the error
    (other,                                                            "has other contents"),
    (lambda path: b"no zip",                                           "is damaged"),
    (lambda path: zipped(path).read_bytes()[:-30],                     "is damaged"),
    (lambda path: zipped(path, BOT | {"../x": b""}).read_bytes(),      "is damaged"),
    (lambda path: b"x" * 1001,                                         "is too large"),
]
# fmt: on


@pytest.mark.parametrize(
    ("made", "error"),
    POISONED,
    ids=["another bot", "no archive", "cut off", "a file outside", "a flood"],
)
def test_a_poisoned_archive_is_refused(made, error, tmp_path, archive, monkeypatch, caplog):
    monkeypatch.setattr(worker, "MAX_ARCHIVE_BYTES", 1000)
    calls = Calls(made(tmp_path / "bad.zip"), [assigned(archive.sha256)])
    assert passed_on(tmp_path, calls) == []
    assert error in reasons(caplog)[0]
    assert not Blobs(tmp_path).has(archive.sha256)


def test_what_is_no_hash_reaches_no_file_of_the_worker(tmp_path, archive, caplog):
    """A hostile arena would have the worker take any folder of its machine for a bot's files."""
    (tmp_path / "secrets").mkdir()
    calls = Calls(archive.path.read_bytes(), [assigned(str(tmp_path / "secrets"))])
    assert passed_on(tmp_path, calls) == []
    assert "has other contents" in reasons(caplog)[0]


@pytest.mark.parametrize("is_local", [True, False], ids=["a local one", "one of another machine"])
def test_no_command_of_the_arena_is_run_with_the_files_of_the_worker(is_local, tmp_path, caplog):
    """The sandbox shows a bot the files that its command names; of an archive those are its own."""
    entrants = [work_pb2.WorkEntrant(name="ann", argv=["cat", "/etc/shadow"])]
    message = work_pb2.WorkResponse(assignment=work_pb2.WorkAssignment(entrants=entrants))
    assert passed_on(tmp_path, Calls(b"", [message]), is_local=is_local) == [message] * is_local
    assert is_local or "ann is no uploaded bot" in reasons(caplog)[0]


def test_each_attempt_to_call_begins_anew(tmp_path):
    class Refused(Calls):
        async def work(self, requests):
            for _ in range(2):
                assert (await anext(requests())).ready.pid == 7
            yield self.sent[0]

    calls = Refused(b"", [work_pb2.WorkResponse(joined=work_pb2.WorkJoined())])
    assert passed_on(tmp_path, calls) == calls.sent


def bot_of(number):
    return BOT | {"bot.py": f"print({number})".encode()}


def test_archives_that_were_used_longest_ago_are_removed_at_the_next_start(tmp_path):
    archives = [read_archive(zipped(tmp_path / f"{n}.zip", bot_of(n))) for n in range(3)]
    blobs = Blobs(tmp_path)
    for at, archive in enumerate(archives):
        passed_on(tmp_path, Calls(archive.path.read_bytes(), [assigned(archive.sha256)]))
        blobs.unpacked(archive.sha256)
        os.utime(tmp_path / "blobs" / archive.sha256, (at, at))
    passed_on(tmp_path, Calls(b"", [assigned(archives[0].sha256)]))  # it is used again
    size = size_of(tmp_path / "blobs") + size_of(tmp_path / "unpacked")
    limit_cache(tmp_path, size * 5 // 6)
    assert [blobs.has(each.sha256) for each in archives] == [True, False, True]
    assert len([*(tmp_path / "unpacked").iterdir()]) == 2


def test_installed_wheels_are_removed_where_they_are_too_many(tmp_path):
    package = tmp_path / "installed" / "aa" / "package.py"
    package.parent.mkdir(parents=True)
    package.write_bytes(b"x" * 1000)
    limit_cache(tmp_path, 1000)
    assert package.exists()
    limit_cache(tmp_path, 999)
    assert not package.parent.exists()


class Process:
    """A process of a worker, which notes how often it is asked to leave."""

    def __init__(self, *, is_idle):
        self.is_idle, self.left = is_idle, 0

    async def leave(self):
        self.left += 1


# fmt: off
MEASURED_AGAIN = [
    # after so long             idle   found  leaves  why
    (MEASURE_AGAIN_S - 1,       True,  3,     0,      "it is too early"),
    (MEASURE_AGAIN_S + 1,       True,  3,     1,      "an hour has passed, and the machine is faster"),
    (MEASURE_AGAIN_S + 1,       True,  2,     0,      "the class is the same"),
    (MEASURE_AGAIN_S + 1,       False, 3,     0,      "bots are playing, which would slow the measurement"),
]
# fmt: on


@pytest.mark.parametrize(
    ("after_s", "idle", "found", "leaves", "why"),
    MEASURED_AGAIN,
    ids=[r[-1] for r in MEASURED_AGAIN],
)
def test_the_speed_class_is_measured_again(after_s, idle, found, leaves, why):
    measured = iter([2, found, found])
    speed_class = SpeedClass(None, lambda: next(measured))
    processes = [Process(is_idle=True), Process(is_idle=idle)]

    async def main():
        with trio.move_on_after(after_s):
            await speed_class.keep(processes, lambda _: None)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert [process.left for process in processes] == [leaves] * 2
    assert speed_class.current == (3 if leaves else 2)


def test_a_class_that_is_given_stays():
    speed_class = SpeedClass(4, lambda: 0)
    trio.run(speed_class.keep, [Process(is_idle=True)], print)
    assert speed_class.current == 4


class Playing:
    """A process of a worker that plays within some times, in seconds."""

    def __init__(self, *spans):
        self.spans, self.drained_s = spans, None

    @property
    def is_idle(self):
        return not any(begin <= trio.current_time() < end for begin, end in self.spans)

    async def drain(self):
        self.drained_s = trio.current_time()


# fmt: off
STOPS = [
    # idle, after          when they play                    drained at  why
    ((30, math.inf),       [(), ()],                         30,         "nothing comes"),
    ((30, math.inf),       [((10, 20),), ()],                50,         "idle since the last deal-set"),
    ((30, math.inf),       [((10, 20),), ((15, 60),)],       90,         "one of them still plays"),
    ((30, math.inf),       [((20, 40), (60, 70))],           100,        "a pause that is short enough"),
    ((math.inf, 45),       [((10, 90),)],                    45,         "a time that is over, whatever is in play"),
    ((30, 45),             [((10, 90),)],                    45,         "whichever is first: the time"),
    ((30, 45),             [()],                             30,         "whichever is first: idleness"),
    ((math.inf, 0.25),     [()],                             0.25,       "a short time"),
    ((math.inf, math.inf), [()],                             None,       "neither is asked for"),
]
# fmt: on


@pytest.mark.parametrize(
    ("stop", "spans", "drained_s", "why"), STOPS, ids=[row[-1] for row in STOPS]
)
def test_workers_stop_by_themselves(stop, spans, drained_s, why):
    processes = [Playing(*of) for of in spans]

    async def main():
        began_s = trio.current_time()
        for process in processes:
            process.spans = [(began_s + begin, began_s + end) for begin, end in process.spans]
        with trio.move_on_after(1_000):
            await Stop(*stop).drain(processes)
        return began_s

    began_s = trio.run(main, clock=MockClock(autojump_threshold=0))
    for process in processes:
        if drained_s is None:
            assert process.drained_s is None, why
        else:
            assert process.drained_s - began_s == pytest.approx(drained_s, abs=LOOK_S), why

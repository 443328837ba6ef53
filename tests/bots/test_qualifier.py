"""What is submitted is qualified in its order, several at a time, and no restart forgets any of it."""

import contextlib
import json
import sys
import threading
from datetime import UTC, datetime

import pytest
import trio
import trio.lowlevel

from arena.app import qualification as process
from arena.bots import qualifier
from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.bots.logs import logs_folder, logs_of
from arena.bots.qualifier import MAX_TRIES, NotQualified, Qualifier
from arena.contests.remote_versions import MAX_VERSION_CHARS, RemoteVersions
from arena.results.qualification_report import Check, QualificationReport, report_of
from arena.results.versions import VersionEvent
from arena.sandbox.sandbox import Sandbox
from arena.store import BotKind, open_store
from tests.bots.test_archive import BOT, zipped
from tests.live.lives import goes_on
from tests.store.test_registry import enter

NOW = datetime(2026, 11, 22, tzinfo=UTC)
BASICS = (Check("manifest", passed=True), Check("start", passed=True))
GOOD = QualificationReport("0" * 64, "q1", 9.0, (*BASICS, Check("soko", passed=True, seats=2)))
HALF = QualificationReport("0" * 64, "q1", 9.0, (*GOOD.checks, Check("jam", passed=False, seats=2)))
WEAK = QualificationReport("0" * 64, "q1", 9.0, (*GOOD.checks, Check("drain", passed=False)))
LOST = QualificationReport("0" * 64, "q1", 9.0, (*BASICS, Check("soko", passed=False, seats=2)))
MUTE = QualificationReport("0" * 64, "q1", 9.0, (BASICS[0], Check("start", passed=False)))


class House:
    """A store with the bot `a` of ann, whose versions are submitted here."""

    def __init__(self, folder, store):
        self.data, self.registry = folder, store.registry()
        enter(self.registry, "ann")
        self.registry.create_bot("a", "ann", BotKind.UPLOADED, now=NOW)
        self.asked = []
        self.finds = GOOD

    def submit(self, mark):
        made = read_archive(zipped(self.data / "new.zip", BOT | {"mark": mark.encode()}))
        sha256, _ = Blobs(self.data).keep(made)
        return self.registry.submit("a", sha256=sha256, manifest={}, now=NOW)

    async def qualify(self, archive, work, again, seed, runtime):
        self.asked.append((read_archive(archive).sha256[:6], again, seed))
        await trio.lowlevel.checkpoint()
        if isinstance(self.finds, Exception):
            raise self.finds
        (work / "bots").mkdir(parents=True)
        for name in ("soko-0.log", "sample_soko-0.log", "random-0.log"):
            (work / "bots" / name).write_text(f'File "{work.absolute()}/bot/bot.py"')
        return self.finds

    def qualifier(self):
        return Qualifier(self.data, self.registry, lambda: NOW, self.qualify)

    def look(self, times=1):
        own = self.qualifier()
        return [trio.run(own.poll) for _ in range(times)]

    @property
    def states(self):
        return [each.state for each in self.registry.versions("a")]


@pytest.fixture
def house(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        yield House(tmp_path, store)


# fmt: off
FOUND = [
    (GOOD, VersionEvent.QUALIFIED, "qualified for 1 of 1 game in 9 s", "all is well"),
    (HALF, VersionEvent.QUALIFIED, "qualified for 1 of 2 games in 9 s", "games pass singly"),
    (WEAK, VersionEvent.REJECTED,  "not qualified, in 9 s",             "what every bot must stand it did not"),
    (LOST, VersionEvent.REJECTED,  "not qualified, in 9 s",             "no game passed"),
    (MUTE, VersionEvent.REJECTED,  "not qualified, in 9 s",             "it did not start"),
]
# fmt: on


@pytest.mark.parametrize(("finds", "state", "reason", "_why"), FOUND, ids=[r[-1] for r in FOUND])
def test_what_is_found_decides(house, finds, state, reason, _why):
    house.finds = finds
    house.submit("1")
    assert house.look(2) == [True, False]
    version = house.registry.version("a", 1)
    assert (version.state, version.reason) == (state, reason)
    assert report_of(house.registry.report("a", 1)) == finds
    (log,) = logs_of(house.data, version)
    assert log.name == "qualification-soko-0.log"  # and not those of its opponents
    assert (logs_folder(house.data, version) / log.name).read_text() == 'File "bot.py"'
    assert not [*(house.data / "qualification").iterdir()]


def test_versions_are_qualified_in_the_order_of_submission(house):
    versions = [house.submit(mark) for mark in "123"]
    assert house.look(4) == [True, True, True, False]
    assert house.asked == [(each.sha256[:6], "./a", f"q{each.number}") for each in versions]
    assert house.states == [VersionEvent.QUALIFIED] * 3


def test_a_version_that_is_done_while_the_registry_is_read_is_not_qualified_again(house):
    house.submit("1")
    own, read = house.qualifier(), house.registry.unqualified

    async def main():
        first_reads, first_is_done = trio.Event(), threading.Event()

        async def qualify(*given):
            first_reads.set()
            await second_read.wait()
            return GOOD

        second_read = trio.Event()
        own._qualify = qualify

        def late():
            waiting = read()
            trio.from_thread.run_sync(second_read.set)
            assert first_is_done.wait(10.0)
            return waiting

        async def first():
            assert await own.poll()
            first_is_done.set()

        with trio.fail_after(20.0):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(first)
                await first_reads.wait()
                house.registry.unqualified = late
                assert not await own.poll()

    trio.run(main)


def test_as_many_versions_as_cores_allow_are_qualified_at_a_time(house, monkeypatch):
    monkeypatch.setattr(qualifier, "AT_A_TIME", 2)
    monkeypatch.setattr(qualifier, "POLL_S", 0.0)
    house.registry.create_bot("b", "ann", BotKind.UPLOADED, now=NOW)
    sha256 = house.submit("1").sha256
    house.registry.submit("b", sha256=sha256, manifest={}, now=NOW)  # the same contents
    house.submit("2")
    begun, in_hand, most = [], set(), 0
    two, three = trio.Event(), trio.Event()

    async def qualify(archive, work, again, seed, runtime):
        nonlocal most
        begun.append((again, seed))
        assert work not in in_hand, "each has a folder of its own"
        in_hand.add(work)
        most = max(most, len(in_hand))
        if len(begun) == 2:
            two.set()
        if len(begun) == 3:
            three.set()
        await two.wait()
        in_hand.remove(work)
        return GOOD

    own = house.qualifier()
    own._qualify = qualify

    async def main():
        with trio.fail_after(10.0):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(own.run)
                await three.wait()
                nursery.cancel_scope.cancel()

    trio.run(main)
    assert {*begun[:2]} == {("./a", "q1"), ("./b", "q1")}, "two are read at a time, in any order"
    assert begun[2:] == [("./a", "q2")]
    assert most == 2


@pytest.mark.parametrize("state", [VersionEvent.SUBMITTED, VersionEvent.CHECKED])
def test_what_was_cut_short_is_taken_up_again(house, state):
    house.submit("1")
    if state is VersionEvent.CHECKED:
        house.registry.record("a", 1, VersionEvent.CHECKED, who="arena", now=NOW)
    left = house.data / "qualification"  # of a process that was killed
    left.mkdir()
    house.look()
    assert house.states == [VersionEvent.QUALIFIED]


@pytest.mark.parametrize(
    "error", [NotQualified("no sandbox"), ValueError("a bug")], ids=["a failure", "a bug"]
)
def test_what_the_arena_itself_fails_is_tried_again_but_not_for_ever(house, error):
    house.finds = error
    house.submit("1")
    with goes_on():
        assert house.look(MAX_TRIES + 1) == [True] * MAX_TRIES + [False]
    assert house.states == [VersionEvent.SUBMITTED]
    house.finds = GOOD
    house.submit("2")
    assert house.look(3) == [True, True, False]  # another process tries anew
    assert house.states == [VersionEvent.QUALIFIED] * 2


def test_an_archive_that_is_damaged_is_never_started(house):
    version = house.submit("1")
    path = house.data / "blobs" / version.sha256
    path.chmod(0o600)
    zipped(path, BOT)
    with pytest.raises(Exception, match="is damaged"):
        house.look()
    assert house.asked == []


@pytest.mark.parametrize("event", [VersionEvent.RETIRED, VersionEvent.BANNED])
def test_a_version_that_was_retired_meanwhile_stays_retired(house, event):
    house.submit("1")
    own = house.qualifier()

    async def qualify(archive, work, again, seed, runtime):
        house.registry.record("a", 1, event, who="ann", now=NOW)
        return GOOD

    own._qualify = qualify
    trio.run(own.poll)
    assert house.states == [event]


# A process of its own.

FAKE = """
import json, sys, time
archive, work, target, again, seed, data, runtime = sys.argv[1:]
{}
"""


def in_a_process(monkeypatch, tmp_path, code):
    """What comes of a process that runs this instead of a qualification."""
    script = tmp_path / "fake.py"
    script.write_text(FAKE.format(code))
    launch = trio.lowlevel.open_process

    async def open_process(command, **settings):
        assert command[1:3] == ["-m", "arena.app.qualification"]
        return await launch([sys.executable, str(script), *command[3:]], **settings)

    monkeypatch.setattr(trio.lowlevel, "open_process", open_process)
    work = tmp_path / "qualification" / "x"
    return trio.run(
        qualifier.in_a_process, tmp_path, tmp_path / "a.zip", work, "./a", "q1", "f" * 64
    )


def test_the_report_of_the_process_is_taken(monkeypatch, tmp_path):
    code = f"open(target, 'w').write({json.dumps(GOOD.as_json())!r})"
    assert in_a_process(monkeypatch, tmp_path, code) == GOOD
    assert not [*(tmp_path / "qualification").iterdir()]


# fmt: off
FAILS = [
    ("sys.exit('there is no sandbox')",          "exit code 1: there is no sandbox", "it says why"),
    ("open(target, 'w').write('{')",          "no report was made",            "half a report"),
    ("open(target, 'w').write('{}')",         "no report was made",            "another report"),
    ("import os; os.kill(os.getpid(), 9)",    "exit code -9",                  "it is killed"),
    ("time.sleep(60)",                        "no report was made",            "it does not end"),
]
# fmt: on


@pytest.mark.parametrize(("code", "sentence", "_why"), FAILS, ids=[row[-1] for row in FAILS])
def test_a_process_without_a_report(monkeypatch, tmp_path, code, sentence, _why):
    monkeypatch.setattr(qualifier, "MOST_S", 1.0)
    monkeypatch.setattr(qualifier, "END_S", 0.2)
    with pytest.raises(NotQualified, match=sentence):
        in_a_process(monkeypatch, tmp_path, code)


def _kill_spawner(sandbox):
    sandbox._process.kill()
    sandbox._process.wait()


def _run_out_of_memory(sandbox):
    sandbox.is_short = True


# fmt: off
BY_ARENA = [
    # what happens           the process ends with  why
    (_kill_spawner,          "spawner",             "the spawner ends"),
    (_run_out_of_memory,     "memory",              "the kernel ends the bot for want of memory"),
    (lambda _: None,         "",                    "neither"),
]
# fmt: on


@pytest.mark.parametrize(("happens", "said", "why"), BY_ARENA, ids=[row[-1] for row in BY_ARENA])
def test_a_bot_is_not_charged_for_a_failure_of_the_machine(
    happens, said, why, monkeypatch, tmp_path
):
    def qualify(*_, sandbox, **__):
        happens(sandbox)
        return MUTE if said else GOOD

    monkeypatch.setattr(process, "raise_sandbox", lambda _, data, in_memory: Sandbox(data=data))
    monkeypatch.setattr(process, "qualify", qualify)
    monkeypatch.setattr(process, "NICENESS", 0)
    report = tmp_path / "report.json"
    arguments = ["a.zip", str(tmp_path / "work"), str(report), "./a", "q1", str(tmp_path), ""]
    monkeypatch.setattr(sys, "argv", ["", *arguments])
    with pytest.raises(SystemExit, match=said) if said else contextlib.nullcontext():
        process.main()
    assert report.exists() is not bool(said)


# What remote bots say that they are.


class BotId:
    def __init__(self, name):
        self.name = name


def test_a_version_that_cannot_be_recorded_keeps_back_no_other(house):
    for name in ("r", "s"):
        house.registry.create_bot(name, "ann", BotKind.REMOTE, now=NOW)
    note = house.registry.dialled_in

    def dialled_in(bot, said, now):
        if bot == "r":
            raise ValueError("a bug")
        note(bot, said, now=now)

    house.registry.dialled_in = dialled_in
    heard = RemoteVersions(house.registry, lambda: NOW)
    for name in ("r", "s"):
        heard.note(BotId(name), "1")
    with goes_on():
        trio.run(heard.write)
    assert [len(house.registry.versions(name)) for name in ("r", "s")] == [0, 1]


def test_versions_of_remote_bots_are_written_once_on_another_thread(house):
    house.registry.create_bot("r", "ann", BotKind.REMOTE, now=NOW)
    noted = []
    note = house.registry.dialled_in
    house.registry.dialled_in = lambda bot, said, now: (
        noted.append((bot, said)) or note(bot, said, now=now)
    )
    heard = RemoteVersions(house.registry, lambda: NOW)
    for said in ("1", "1", "x" * 500, "x" * 500):
        heard.note(BotId("r"), said)
        heard.note(BotId("guest"), said)
        trio.run(heard.write)
    long = "x" * MAX_VERSION_CHARS
    assert noted == [("r", "1"), ("r", long)], "and of guests nothing is written, or kept"
    assert set(heard._written) == {"r"}
    assert [each.manifest for each in house.registry.versions("r")] == [
        {"said": "1"},
        {"said": long},
    ]

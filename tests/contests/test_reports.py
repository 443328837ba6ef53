"""What becomes of a report when the arena is killed, or its machine loses power, while it records it."""

import copy
import errno
import functools
import inspect
import os
import shutil

import pytest

from arena import durable_files
from arena.contests.workers import reports
from arena.contests.workers.assigned import AssignedDealSet
from arena.live.deals.deal_sets import DealSets
from arena.live.matches.recording import ResultRecorder
from arena.live.matches.results import ResultWriter
from arena.records.journal.journal import Journal
from arena.records.write import remove_partials
from tests.contests.test_workers import require_whole
from tests.contests.workers import World, plans_of, played
from tests.live.cuts import quick_disk
from tests.live.lives import run

NUMBER = 2


class Killed(BaseException):
    """The arena is killed here."""


class Disk:
    """Which bytes of the files of a folder would survive a power cut."""

    def __init__(self, monkeypatch):
        self.synced = {}
        for owner, name in ((durable_files, "sync_data"), (os, "fsync")):
            monkeypatch.setattr(owner, name, self.sync)

    def sync(self, fd):
        at = os.fstat(fd)
        self.synced[at.st_ino] = at.st_size

    def copy(self, source, target, *, power_cut):
        shutil.copytree(source, target)
        for path in target.rglob("*"):
            if power_cut and path.is_file():
                kept = self.synced.get((source / path.relative_to(target)).stat().st_ino, 0)
                os.truncate(path, kept)


def at_call(monkeypatch, owner, name, reach, *, after):
    """Call `reach` once, before or after a call."""
    real, left = getattr(owner, name), [1]

    def once():
        if left:
            left.clear()
            reach()

    if inspect.iscoroutinefunction(real):

        @functools.wraps(real)
        async def call(*given, **named):
            if not after:
                once()
            value = await real(*given, **named)
            once()
            return value

    else:

        @functools.wraps(real)
        def call(*given, **named):
            if not after:
                once()
            value = real(*given, **named)
            once()
            return value

    monkeypatch.setattr(owner, name, call)


def killed(folder, monkeypatch, owner, name, *, after, power_cut):
    """A world whose arena ended at a call, and one that goes on with what was on its disk then."""
    second = World(folder / "second", fair=False, joined=1, workers=0)
    second.folder.mkdir()

    (first := folder / "first").mkdir()
    with monkeypatch.context() as patch:

        async def during(world):
            disk = Disk(patch)

            def kill():
                disk.copy(world.folder / "home", second.folder / "home", power_cut=power_cut)
                second.results = copy.deepcopy(world.results)
                second.begins = copy.deepcopy(world.begins)
                raise Killed

            at_call(patch, owner, name, kill, after=after)
            return await world.play(plans_of(NUMBER))

        with pytest.raises(BaseExceptionGroup) as ended:
            played(first, patch, fair=False, during=during, joined=1, workers=0)
    assert ended.group_contains(Killed, depth=None)
    return second


def goes_on(world, monkeypatch):
    """Have a world play what is left; how many deal-sets it assigns, and the report."""
    assigned = []

    def between(child, message):
        if message.WhichOneof("body") == "assignment":
            assigned.append(message.begin.deal_set)
        return [message]

    world.between = between
    home = world.folder / "home"
    remove_partials(home / "replays")  # as an arena does when it opens its folder
    known = set(world.results.ended)

    async def main():
        async with world.arena():
            return await world.play(plans_of(NUMBER))

    with quick_disk(monkeypatch):
        return assigned, known, run(main)


# fmt: off
POINTS = [
    # where                                  after   what it stands for
    (AssignedDealSet,  "_checked",           False,  "reported"),
    (AssignedDealSet,  "_checked",           True,   "prepared: the replay is written under another name"),
    (Journal,          "append_framed",      True,   "in the memory of the journal"),
    (ResultWriter,     "record",             False,  "in the journal"),
    (ResultWriter,     "record",             True,   "in the store"),
    (DealSets,         "publish",            True,   "its replays have their names"),
    (ResultWriter,     "mark_published",     True,   "the store knows of its replays"),
    (ResultRecorder,   "record_report",      True,   "recorded"),
]
# fmt: on
POINT_IDS = [row[3] for row in POINTS]


@pytest.mark.slow
@pytest.mark.parametrize("power_cut", [False, True], ids=["killed", "power cut"])
@pytest.mark.parametrize(("owner", "name", "after"), [row[:3] for row in POINTS], ids=POINT_IDS)
def test_what_is_recorded_when_the_arena_dies_is_kept_and_nothing_is_played_twice(
    owner, name, after, power_cut, tmp_path, monkeypatch
):
    second = killed(tmp_path, monkeypatch, owner, name, after=after, power_cut=power_cut)
    assigned, known, report = goes_on(second, monkeypatch)
    require_whole(second, report, NUMBER)
    left = {
        plan.id for plan in plans_of(NUMBER) if not {match.id for match in plan.matches} <= known
    }
    assert set(assigned) <= left, "what has a result is not played again"
    assert [*(second.folder / "home" / "replays").glob(".*")] == []


# fmt: off
FULL = [
    # what fails first                          which of its calls
    (reports,        "stage_replay",            1),
    (reports,        "stage_replay",            2),
    (durable_files,  "sync_all",                1),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("owner", "name", "at"), FULL, ids=["write", "second write", "sync"])
def test_replays_that_cannot_be_prepared_are_written_when_they_are_published(
    owner, name, at, tmp_path, monkeypatch
):
    real, calls = getattr(owner, name), []

    def fails(*given):
        calls.append(given)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*given)

    monkeypatch.setattr(owner, name, fails)
    world, report = played(tmp_path, monkeypatch, number=NUMBER, fair=False, joined=1, workers=0)
    require_whole(world, report, NUMBER)
    assert len(calls) > at
    assert [*(tmp_path / "home" / "replays").glob(".*")] == []

"""The journals of an arena that runs for long: what no match needs any more goes meanwhile."""

from collections import deque

import pytest
import trio

from arena import durable_files
from arena.bots.bot_ids import BotId
from arena.live.matches import upkeep
from arena.live.orders import BY_HAND, DealSetOrder, TableOrder
from arena.records.journal import compaction
from arena.records.journal import journal as journal_module
from arena.records.verify import verify_file
from arena.testing.orders import match_order
from arena.testing.results import MemoryResults
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, plays, run

ANN, BOB = BotId("ann"), BotId("bob")
ALONE = match_order("abstrac", (ANN, BOB), {"hands": 2}, seed="1", match_id="m")
SET = DealSetOrder(
    "set", ALONE.terms, (TableOrder("m", (ANN, BOB)), TableOrder("n", (BOB, ANN), 1)), ALONE.seed
)
ENDS = 2
"""Of the matches that ended, those whose ends may have to be told again."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "SEGMENT_BYTES", 2_000)
    monkeypatch.setattr(upkeep, "CHECK_S", 0.3)
    with quick_disk(monkeypatch):
        yield tmp_path


def size(folder):
    return sum(path.stat().st_size for path in (folder / "journal").glob("*.journal"))


async def play_alone(arena, number):
    order = match_order("abstrac", (ANN, BOB), {"hands": 2}, seed="2", match_id=f"alone-{number}")
    match = arena.matches.order(order, order.deal_set, BY_HAND)
    await match.outcome()


async def played(folder, arena, nursery, matches=8):
    """Many matches that end; returns the largest the journal ever was."""
    arena.matches._recorder._latest_ends = deque(maxlen=ENDS)
    for bot in (ANN, BOB):
        nursery.start_soon(plays, arena, bot)
    await trio.sleep(0.1)
    largest = 0
    for number in range(matches):
        await play_alone(arena, number)
        largest = max(largest, size(folder))
        await arena._upkeep.check()
    return largest


def test_a_journal_does_not_grow_with_what_was_played(folder):
    async def main():
        async with arena_in(folder) as (arena, nursery):
            few = await played(folder, arena, nursery, 4)
            many = await played(folder, arena, nursery, 30)
            # A match takes 2,000 bytes: two are needed, as much again may stay, and what is not full.
            assert many < few + 4_000
            assert arena._journal.written_bytes > 3 * many
        return size(folder)

    run(main)


def test_a_deal_set_that_is_held_keeps_its_own_matches_and_no_others(folder):
    """And after a kill in the midst of it all is there, with replays that verify."""
    results = MemoryResults()

    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await trio.sleep(0.1)
            await arena.matches.play(SET, "m")
            largest = await played(folder, arena, nursery, 30)
            assert arena._journal.written_bytes > 3 * largest
        async with arena_in(folder, results) as (arena, nursery):
            assert not (folder / "replays" / "m.replay").exists()
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await arena.matches.play(SET, "n")

    run(main)
    for match_id in ("m", "n"):
        verdict = verify_file(folder / "replays" / f"{match_id}.replay")
        assert verdict.ok, verdict.problem


def test_the_journal_of_an_earlier_process_goes_while_the_arena_runs(folder):
    results = MemoryResults()

    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await arena.matches.play(SET, "m")
        earlier = set((folder / "journal").glob("*.journal"))
        async with arena_in(folder, results) as (arena, nursery):
            assert {path for path in earlier if path.exists()}, "the deal-set is not over"
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await arena.matches.play(SET, "n")
            await trio.sleep(2 * upkeep.CHECK_S)
            assert not {path for path in earlier if path.exists()}

    run(main)


def test_a_replay_that_could_not_be_written_is_kept_in_the_journal(folder, monkeypatch):
    results = MemoryResults()
    write_whole = durable_files.write_whole

    def fails(path, *args, **kwargs):
        if path.suffix == ".replay" and "alone-0" in path.name:
            raise OSError(28, "No space left on device")
        write_whole(path, *args, **kwargs)

    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            with monkeypatch.context() as patch:
                patch.setattr(durable_files, "write_whole", fails)
                await played(folder, arena, nursery)
        async with arena_in(folder, results):
            pass

    run(main)
    verdict = verify_file(folder / "replays" / "alone-0.replay")
    assert verdict.ok, verdict.problem


def test_a_full_disk_is_no_reason_to_stop(folder, monkeypatch, caplog):
    write_whole = durable_files.write_whole

    def fails(path, *args, **kwargs):
        if path.suffix == ".journal":
            raise OSError(28, "No space left on device")
        write_whole(path, *args, **kwargs)

    async def main():
        async with arena_in(folder) as (arena, nursery):
            monkeypatch.setattr(durable_files, "write_whole", fails)
            await played(folder, arena, nursery)

    run(main)
    assert "a journal cannot be made smaller" in caplog.messages


def test_an_arena_that_ends_does_not_wait_for_its_journal_to_be_made_smaller(tmp_path, monkeypatch):
    """Nor does a thread go on writing in a folder that another arena may have by then."""
    monkeypatch.setattr(journal_module, "SEGMENT_BYTES", 2_000)
    monkeypatch.setattr(compaction, "SLICE_RECORDS", 2)
    monkeypatch.setattr(upkeep, "CHECK_S", 1e6)
    paused = []

    async def main():
        async with arena_in(tmp_path) as (arena, nursery):
            arena.matches._recorder._latest_ends = deque(maxlen=ENDS)
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await trio.sleep(0.1)
            for number in range(4):
                await play_alone(arena, number)
            with trio.CancelScope() as scope:

                def ends(_):
                    paused.append(True)
                    if len(paused) == 5:
                        trio.from_thread.run_sync(scope.cancel)

                monkeypatch.setattr(upkeep.time, "sleep", ends)
                before = size(tmp_path)
                await arena._upkeep.check()
            assert scope.cancelled_caught
            assert size(tmp_path) == before
            assert not list((tmp_path / "journal").glob("*.partial"))

    run(main)
    assert len(paused) == 5

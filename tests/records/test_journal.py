"""The journal on its way to the disk: groups, new segments, and a disk that fails."""

import pytest
import trio

from arena import durable_files
from arena.durable_files import Unwritten
from arena.records.journal import journal as journal_module
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.records.records import JOURNAL_MAGIC, read_records
from cardarena.v1.journal_pb2 import Record
from tests.records.matches import play


def bodies(folder):
    found = []
    for segment in sorted(folder.glob("*.journal")):
        with segment.open("rb") as file:
            records = [each.body for each in read_records(file, JOURNAL_MAGIC)]
        assert Record.FromString(records[0]).HasField("run"), "a segment says who writes it"
        found.append(records[1:])
    return found


def test_a_segment_that_is_full_is_followed_by_another(tmp_path, monkeypatch):
    async def main():
        with Journal(tmp_path) as journal:
            begins_at = int(journal.position.partition(":")[2])
            monkeypatch.setattr(journal_module, "SEGMENT_BYTES", begins_at + 40)
            for at in range(4):
                journal.append(bytes((65 + at,)) * 20)
                await journal.synced()

    trio.run(main)
    assert bodies(tmp_path) == [[b"A" * 20, b"B" * 20], [b"C" * 20, b"D" * 20], []]


def test_a_wait_for_the_disk_covers_all_earlier_records(tmp_path, monkeypatch):
    synced = []
    sync_data = durable_files.sync_data
    monkeypatch.setattr(
        durable_files, "sync_data", lambda fd: (sync_data(fd), synced.append(len(added)))
    )
    added = []

    async def main():
        with Journal(tmp_path) as journal:

            async def one(at):
                added.append(at)
                journal.append(b"%d" % at)
                await journal.synced()
                assert synced  # somebody has synced since

            async with trio.open_nursery() as nursery:
                for at in range(50):
                    nursery.start_soon(one, at)

    trio.run(main)
    assert len(bodies(tmp_path)[0]) == 50
    assert len(synced) < 10  # in groups


def test_a_failed_disk_ends_writing_for_all_waiting_callers(tmp_path, monkeypatch):
    def broken(fd):
        raise OSError(5, "Input/output error")

    told, refused = [], []

    async def main():
        with Journal(tmp_path, on_broken=told.append) as journal:
            monkeypatch.setattr(durable_files, "sync_data", broken)
            journal.append(b"one")

            async def wait():
                with pytest.raises(Unwritten, match="Input/output error"):
                    await journal.synced()
                refused.append(True)

            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(wait)
            with pytest.raises(Unwritten):
                journal.append(b"two")

    trio.run(main)
    assert (len(told), len(refused)) == (1, 3)


def test_moves_reach_the_disk_without_being_asked_for(tmp_path, monkeypatch):
    reached = trio.Event()

    async def main():
        with Journal(tmp_path) as journal:
            token = trio.lowlevel.current_trio_token()
            monkeypatch.setattr(
                durable_files, "sync_data", lambda fd: token.run_sync_soon(reached.set)
            )
            async with trio.open_nursery() as nursery:
                await nursery.start(journal.run)
                journal.append(b"one")
                journal.flush()
                with trio.fail_after(5):
                    await reached.wait()
                nursery.cancel_scope.cancel()

    trio.run(main)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unwritten, match=r"cannot write a journal in .*Not a directory"):
        Journal(tmp_path / "file" / "journal")


def test_processes_may_share_a_folder(tmp_path):
    with Journal(tmp_path / "journal") as one, Journal(tmp_path / "journal") as two:
        played = [play(one, match_id="one"), play(two, match_id="two", seed="")]
    found = recover(tmp_path / "journal", tmp_path / "replays")
    assert sorted(each.outcome.match_id for each in found.ended) == ["one", "two"]
    assert {each.outcome for each in found.ended} == {each.outcome for each in played}

"""A log that only grows: what is refused after a failure, and where it goes on when a file is full."""

import io

import pytest
import trio

from arena import durable_files
from arena.durable_files import Unwritten
from arena.records import records
from arena.records.records import AppendLog, read_records


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log"


class Opened:
    """A log in a file, and what is told of it."""

    def __init__(self, path, **settings):
        self.told = []
        fd = durable_files.append_only(path)
        self.log = AppendLog(fd, "the log", on_broken=self.told.append, **settings)


def bodies(path):
    return [each.body for each in read_records(io.BytesIO(path.read_bytes()), b"")]


def refusing(*_):
    raise OSError(28, "No space left on device")


SAID = "the log cannot be written: No space left on device"

# fmt: off
FAILURES = [
    (records, "write_all", lambda log: log.flush(),          "a write"),
    (durable_files, "sync_data", lambda log: log.sync_now(), "a sync"),
]
AFTERWARDS = [
    (lambda log: log.append(b"later"),   "another record"),
    (lambda log: log.sync_now(),         "bringing it to the disk"),
    (lambda log: trio.run(log.synced),   "waiting for the disk"),
    (lambda log: log.check(),            "asking whether it is well"),
]
# fmt: on


@pytest.mark.parametrize(("call", "what"), AFTERWARDS, ids=[row[1] for row in AFTERWARDS])
@pytest.mark.parametrize(
    ("module", "deed", "fail", "why"), FAILURES, ids=[row[-1] for row in FAILURES]
)
def test_after_a_failure_everything_is_refused_though_the_disk_is_well_again(
    module, deed, fail, why, call, what, path, monkeypatch
):
    opened = Opened(path)
    opened.log.append(b"one")
    monkeypatch.setattr(module, deed, refusing)
    with pytest.raises(Unwritten, match=SAID):
        fail(opened.log)
    monkeypatch.undo()
    size = path.stat().st_size
    with pytest.raises(Unwritten, match=SAID):
        call(opened.log)
    opened.log.close()
    assert path.stat().st_size == size
    assert opened.told == [SAID]


def test_nobody_sends_what_follows_from_a_record_that_could_not_be_written(path, monkeypatch):
    """Whoever flushes next, for a message of its own, is refused as well."""
    opened = Opened(path)
    opened.log.append(b"a decision")
    monkeypatch.setattr(records, "write_all", refusing)
    for _ in range(3):
        with pytest.raises(Unwritten, match=SAID):
            opened.log.flush()
    opened.log.close()


def test_a_failure_is_reported_once_if_a_sync_fails_too(path, monkeypatch):
    refused = []

    async def main():
        opened.log.append(b"one")
        opened.log.flush()

        def failing_sync(fd):
            trio.from_thread.run_sync(write_fails)
            refusing()

        def write_fails():
            monkeypatch.setattr(records, "write_all", refusing)
            opened.log.append(b"two")
            with pytest.raises(Unwritten):
                opened.log.flush()

        monkeypatch.setattr(durable_files, "sync_data", failing_sync)
        with pytest.raises(Unwritten, match=SAID):
            await opened.log.synced()
        refused.append(True)

    opened = Opened(path)
    trio.run(main)
    opened.log.close()
    assert (opened.told, refused) == ([SAID], [True])


def test_a_log_that_another_log_ended_writes_and_reports_nothing(path):
    opened = Opened(path)
    opened.log.append(b"one")
    opened.log.sync_now()
    opened.log.append(b"two")
    opened.log.end("the other file is gone")
    with pytest.raises(Unwritten, match="the other file is gone"):
        opened.log.flush()
    opened.log.close()
    assert (opened.told, bodies(path)) == ([], [b"one"])


def test_waiting_at_an_ended_log_is_refused(path):
    opened = Opened(path)
    opened.log.end("the other file is gone")
    with pytest.raises(Unwritten, match="the other file is gone"):
        trio.run(opened.log.synced)
    opened.log.close()


def test_a_file_is_on_the_disk_before_the_next_one_is_begun(path, monkeypatch):
    steps = []
    following = path.with_name("following")

    def next_file():
        steps.append("next")
        return durable_files.append_only(following)

    sync_data = durable_files.sync_data
    monkeypatch.setattr(
        durable_files, "sync_data", lambda fd: (steps.append("sync"), sync_data(fd))
    )
    opened = Opened(path)
    opened.log.append(b"one")
    opened.log.flush()
    assert (opened.log.synced_bytes, opened.log.written_bytes) == (0, path.stat().st_size)
    opened.log.continue_in(next_file)
    assert steps == ["sync", "next"]
    assert opened.log.synced_bytes == opened.log.written_bytes == path.stat().st_size
    opened.log.append(b"two")
    opened.log.close()
    assert (bodies(path), bodies(following)) == ([b"one"], [b"two"])


def test_a_next_file_that_cannot_be_made_ends_writing(path):
    opened = Opened(path)
    with pytest.raises(Unwritten, match=SAID):
        opened.log.continue_in(refusing)
    opened.log.close()
    assert opened.told == [SAID]


def test_the_size_of_the_file_counts_what_stood_there_before(path):
    path.write_bytes(b"head\n")
    opened = Opened(path)
    assert (opened.log.file_bytes, opened.log.written_bytes) == (5, 0)
    opened.log.append(b"one")
    opened.log.flush()
    assert opened.log.file_bytes == path.stat().st_size
    opened.log.close()


def test_closing_brings_what_is_left_to_the_disk(path, monkeypatch):
    synced = []
    monkeypatch.setattr(durable_files, "sync_data", lambda fd: synced.append(path.stat().st_size))
    opened = Opened(path)
    opened.log.append(b"one")
    opened.log.close()
    assert bodies(path) == [b"one"]
    assert synced == [path.stat().st_size]

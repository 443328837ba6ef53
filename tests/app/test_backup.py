"""Backups: which files are refused, who may read them, and which deals are played on."""

import contextlib
import errno
import gzip
import io
import json
import sqlite3
import stat
import tarfile
import zlib
from pathlib import Path

import pytest
import trio
import trio.lowlevel
from click.testing import CliRunner

from arena import durable_files
from arena.app import backup
from arena.app.backup import RESTORED, BadBackup, back_up, name_in, restore
from arena.bots.bot_ids import BotId
from arena.cli import main as arena
from arena.live.orders import SCHEDULED, DealSetOrder, TableOrder
from arena.records.deal_book import DEALS_NAME
from arena.records.journal.journal import Journal
from arena.records.verify import verify_file
from arena.referee.wire.terms import terms_json
from arena.store import StoreError, data_folder, open_store
from arena.testing.orders import match_order
from tests.live.cuts import quick_disk
from tests.live.deal_logs import contexts
from tests.live.lives import arena_in, plays, run
from tests.store import made
from tests.store.made import BOTS, PLAN


@pytest.fixture
def data(tmp_path):
    return made_data(tmp_path / "data")


def made_data(data):
    """A folder of an arena that has played nothing yet."""
    data.mkdir()
    data_folder.write_format(data)
    Journal(data / "journal").close()
    with open_store(data_folder.store_path(data)) as store:
        made.made(store)
    for name in ("arena-key", "replays/m.replay", "replays/.half.partial", "notes/m.0.notes",
                 "lock", "server.json", "bots/ann/bot.py", "installed/a/b.py", "arena.log.1",
                 "python/1/pyvenv.cfg"):  # fmt: skip
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        path.chmod(0o644 if name.startswith("replays") else 0o600)
    (data / "runtimes").mkdir()
    (data / "runtimes" / "numpy").symlink_to("numpy-1")
    return data


@pytest.fixture
def file(data, tmp_path):
    back_up(data, tmp_path / "file.backup")
    return tmp_path / "file.backup"


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_a_restored_folder_has_what_an_arena_cannot_make_again(data, file, tmp_path):
    restore(file, tmp_path / "again")
    names = files(tmp_path / "again")
    assert {"arena.db", "arena-key", "format.json", "replays/m.replay", "notes/m.0.notes", "runtimes/numpy"} < names  # fmt: skip
    left_out = {"lock", "server.json", "bots/ann/bot.py", "installed/a/b.py", "arena.log.1"}
    assert not names & (left_out | {"python/1/pyvenv.cfg"})
    assert not [name for name in names if "partial" in name]
    with open_store(tmp_path / "again" / "arena.db") as store:
        assert store.competitions().record("autumn").games[0].deal_sets
        assert store.violations() == ()


def test_nobody_else_can_read_what_is_secret(data, file, tmp_path, caplog):
    again = tmp_path / "again"
    restore(file, again)
    assert not caplog.records, "nor could they meanwhile"
    shared = {"replays/m.replay", "commitments", "runtimes/numpy"}
    for path in (file, again, *(again / name for name in files(again) - shared)):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def repacked(file, change):
    """The backup with its members changed, and hashes that fit nothing but what was there."""
    members = {}
    with tarfile.open(file) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            members[member.name] = content.read() if content else None
    change(members)
    with tarfile.open(file, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if content is None:
                info.type, info.linkname = tarfile.SYMTYPE, "numpy-1"
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))


def about(**values):
    def change(members):
        members[backup.ABOUT] = json.dumps(json.loads(members[backup.ABOUT]) | values).encode()

    return lambda file: repacked(file, change)


def cut(share):
    return lambda file: file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])


def flipped(file):
    """Change the first bit behind the middle that changes the content: a tenth describes codes that do not occur."""
    whole = file.read_bytes()
    content = gzip.decompress(whole)
    for at in range(len(whole) // 2, len(whole)):
        spoilt = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        with contextlib.suppress(OSError, EOFError, zlib.error):
            if gzip.decompress(spoilt) == content:
                continue
        file.write_bytes(spoilt)
        return


def changed(members):
    members["arena-key"] = b"another key"


def without_a_file(members):
    del members["arena-key"]


def with_a_file(members):
    sums = members.pop(backup.SUMS)
    members["more"] = b"more"
    members[backup.SUMS] = sums


DAMAGED = "is damaged or cut off: restore another backup"
SPOILT = [
    pytest.param(cut(0.1), DAMAGED, id="cut off at the beginning"),
    pytest.param(cut(0.9), DAMAGED, id="cut off near the end"),
    pytest.param(lambda file: file.write_bytes(file.read_bytes()[:-4]), DAMAGED, id="without its last bytes"),
    pytest.param(flipped, DAMAGED, id="one bit is another"),
    pytest.param(lambda file: repacked(file, changed), DAMAGED, id="a file was replaced"),
    pytest.param(lambda file: repacked(file, without_a_file), DAMAGED, id="a file was removed"),
    pytest.param(lambda file: repacked(file, with_a_file), DAMAGED, id="a file was added"),
    pytest.param(lambda file: file.write_bytes(gzip.compress(b"letters" * 999)), DAMAGED, id="no tar"),
    pytest.param(lambda file: file.write_text("a letter"), "is no backup of an arena", id="no backup at all"),
    pytest.param(lambda file: tarfile.open(file, "w:gz").close(), "is no backup of an arena", id="another tar"),
    pytest.param(about(cardarena_backup=9, arena="3.0"), "has format 9, schema r4, of arena 3.0; this is arena", id="a newer format"),
    pytest.param(about(store_schema="v99", arena="3.0"), "run arena 3.0 or a newer one, or restore a backup from before", id="a newer schema"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "said"), SPOILT)
def test_a_backup_that_is_refused_leaves_no_folder(spoil, said, file, tmp_path):
    spoil(file)
    before = files(tmp_path)
    with pytest.raises(BadBackup) as raised:
        restore(file, tmp_path / "again")
    assert said in str(raised.value)
    assert files(tmp_path) == before
    assert not (tmp_path / "again").exists()


def test_nothing_is_overwritten(data, file, tmp_path):
    with pytest.raises(BadBackup, match="exists: name another file"):
        back_up(data, file)
    with pytest.raises(BadBackup, match="is not empty: name a new folder"):
        restore(file, data)


def full_copy(monkeypatch, _):
    """The disk of the copy of the store is full: the copy may have one page."""
    connect = sqlite3.connect

    def connected(path, **given):
        connection = connect(path, **given)
        if str(path).endswith(".store"):
            connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr("arena.store.snapshot.sqlite3.connect", connected)


def full(monkeypatch, function):
    def fails(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(function, fails)


# fmt: off
FAILURES = [
    # what fails                        command     the message begins with                       why
    ((full_copy, ""),                   "backup",   "{target}: its disk is full (S-FULL)",         "the disk of the copied store"),
    ((full, "arena.app.backup.os.fsync"), "backup", "{target}/f: No space left on device; nothing was made", "the disk of the backup"),
    ((full, "arena.app.backup_archive.os.fsync"), "restore", "{target}/d/", "the disk of the new folder, with the name that it would have"),
    ((full, "arena.app.backup_archive.tarfile.TarInfo.isreg"), "restore", "{source}: No space left on device", "the disk of the backup that is read"),
]
# fmt: on


@pytest.mark.parametrize(
    ("fails", "command", "place", "why"), FAILURES, ids=[r[-1] for r in FAILURES]
)
def test_a_failure_names_the_disk_that_failed(
    data, file, tmp_path, monkeypatch, fails, command, place, why
):
    target = tmp_path / "other disk"
    target.mkdir()
    make, function = fails
    make(monkeypatch, function)
    words = {
        "backup": ["backup", str(target / "f"), "--data", str(data)],
        "restore": ["restore", str(file), "--data", str(target / "d")],
    }
    done = CliRunner().invoke(arena, words[command])
    assert done.exit_code == 1
    *_, error = done.stderr.splitlines()
    assert error.startswith("Error: " + place.format(target=target, source=file)), error
    assert ".restoring" not in error
    assert files(target) == set()


def test_a_disk_of_its_own_is_refused_before_anything_is_copied(file, tmp_path, monkeypatch):
    (tmp_path / "volume").mkdir()
    monkeypatch.setattr("arena.app.backup.os.path.ismount", lambda _: True)
    with pytest.raises(BadBackup, match=r"is a disk of its own, .* such as --data .*volume/arena"):
        restore(file, tmp_path / "volume")


def test_a_folder_of_the_backup_that_is_missing_is_named(data, tmp_path):
    with pytest.raises(BadBackup, match=r"there is no folder .*nowhere"):
        back_up(data, tmp_path / "nowhere" / "file.backup")


def test_a_backup_that_fails_leaves_no_file(data, tmp_path, monkeypatch):
    (data / "arena.db").write_text("Dear diary, " * 100)
    with pytest.raises(StoreError):
        back_up(data, tmp_path / "failed")
    assert not [path for path in tmp_path.iterdir() if "failed" in path.name]


def test_the_commands(data, tmp_path):
    file, again = tmp_path / "cli.backup", tmp_path / "again"
    made_it = CliRunner().invoke(arena, ["backup", str(file), "--json", "--data", str(data)])
    put_back = CliRunner().invoke(arena, ["restore", str(file), "--data", str(again)])
    assert put_back.exit_code == 0, put_back.output
    # The log of commitments begins with the restore.
    assert json.loads(made_it.stdout)["files"] == len(
        files(again) - {"commitments", "journal/deals"}
    )
    refused = CliRunner().invoke(arena, ["restore", str(file), "--data", str(again)])
    assert (refused.exit_code, "is not empty" in refused.output) == (1, True)


def test_a_folder_of_backups_keeps_the_newest(data, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    for unix_s in (0, 86_400, 2 * 86_400):
        name_in(folder, unix_s).touch()
    for name in ("arena-before-upgrade.backup", "notes.txt"):
        (folder / name).touch()
    ran = CliRunner().invoke(
        arena, ["backup", str(folder), "--keep", "2", "--json", "--data", str(data)]
    )
    assert ran.exit_code == 0, ran.output
    assert {path.name for path in folder.iterdir()} == {
        "arena-19700103T000000Z.backup",
        Path(json.loads(ran.stdout)["file"]).name,
        "arena-before-upgrade.backup",
        "notes.txt",
    }


def test_a_backup_that_fails_removes_no_older_one(data, tmp_path, monkeypatch):
    name_in(tmp_path, 0).touch()
    name_in(tmp_path, 1).touch()
    monkeypatch.setattr("arena.app.backup._require_restorable", raise_bad_backup)
    ran = CliRunner().invoke(arena, ["backup", str(tmp_path), "--keep", "1", "--data", str(data)])
    assert ran.exit_code == 1
    assert {name_in(tmp_path, 0), name_in(tmp_path, 1)} <= {*tmp_path.iterdir()}


def raise_bad_backup(*_):
    raise BadBackup("the disk failed")


def test_a_number_to_keep_needs_a_folder(data, tmp_path):
    words = ["backup", str(tmp_path / "arena.backup"), "--keep", "3", "--data", str(data)]
    output = " ".join(CliRunner().invoke(arena, words).output.split())
    assert "--keep needs a folder" in output
    assert f"mkdir {words[1]}" in output


def test_damage_of_the_journal_is_reported(data, tmp_path):
    file, again = tmp_path / "file.backup", tmp_path / "again"
    (segment, *_) = (data / "journal").glob("*.journal")
    with segment.open("ab") as journal:
        journal.write(bytes(64))
    back_up(data, file)
    done = CliRunner().invoke(arena, ["restore", str(file), "--data", str(again)])
    assert done.exit_code == 0
    assert f"{segment.name} is damaged" in " ".join(done.output.split())


# Formats of the folder.


def test_a_folder_of_a_newer_arena_is_refused_with_both_versions_and_the_cure(data):
    (data / data_folder.FORMAT_NAME).write_text('{"format": 2, "arena": "9.0"}')
    with pytest.raises(data_folder.TooNew) as raised:
        data_folder.write_format(data)
    assert "has format 2" in str(raised.value)
    assert f"of arena 9.0; this is arena {data_folder.arena_version()} for format 1" in str(
        raised.value
    )
    assert "run arena 9.0 or a newer one" in str(raised.value)
    served = CliRunner().invoke(arena, ["serve", "--port", "0", "--data", str(data)])
    assert (served.exit_code, "has format 2" in served.output) == (1, True)


def test_a_folder_from_before_formats_gets_one(data):
    (data / data_folder.FORMAT_NAME).unlink()
    data_folder.write_format(data)
    assert json.loads((data / data_folder.FORMAT_NAME).read_text())["format"] == data_folder.FORMAT


# Play.


def members(file):
    """What is in a backup, by name."""
    with tarfile.open(file) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


# fmt: off
LATE = [
    # written while the store is read   in the backup  reason
    ("replays/late.replay",             False,         "its result is not in the store, and its records would be skipped"),
    ("notes/late.0.notes",              False,         "its replay is not there"),
    ("journal/late",                    False,         "the files of the journal end where they ended at the moment of the backup"),
    ("commitments",                     False,         "nothing opens a later commitment"),
    ("blobs/late",                      True,          "an archive is written before its version"),
]
# fmt: on


@pytest.fixture
def at_the_moment(monkeypatch):
    """Has a function called at the moment of the backup, when all lengths are known."""
    sizes = backup._sizes

    def arranged(act):
        def read(data, journal):
            lengths = sizes(data, journal)
            act()
            return lengths

        monkeypatch.setattr(backup, "_sizes", read)

    return arranged


@pytest.mark.parametrize(("name", "kept", "reason"), LATE, ids=[row[-1] for row in LATE])
def test_what_is_written_after_the_moment_of_the_backup(
    name, kept, reason, data, tmp_path, at_the_moment
):
    (data / "blobs").mkdir(exist_ok=True)
    at_the_moment(lambda: (data / name).write_text("late"))
    back_up(data, tmp_path / "file.backup")
    assert (name in members(tmp_path / "file.backup")) == kept


def test_a_file_that_grows_is_copied_as_long_as_it_was(data, tmp_path, at_the_moment):
    """Records after the moment of the backup may speak of packs that the restored arena deals anew."""
    path = data / "commitments"
    path.write_bytes(b"old")
    at_the_moment(lambda: path.write_bytes(b"old and new"))
    back_up(data, tmp_path / "file.backup")
    assert members(tmp_path / "file.backup")["commitments"] == b"old"


def test_the_order_of_the_parts(data, tmp_path, monkeypatch):
    """A replay that is listed has its result in the store, and a result without a replay its records."""
    order = []
    listed, taken, sizes = backup._files, backup.snapshot, backup._sizes

    def listing(folder):
        order.append(folder.name)
        return listed(folder)

    @contextlib.contextmanager
    def snapshot(path):
        with taken(path) as snapshot:
            order.append("store")
            yield snapshot

    def lengths(data, journal):
        order.append("lengths")
        return sizes(data, journal)

    monkeypatch.setattr(backup, "_files", listing)
    monkeypatch.setattr(backup, "snapshot", snapshot)
    monkeypatch.setattr(backup, "_sizes", lengths)
    back_up(data, tmp_path / "file.backup")
    assert [step for step in order if step in {"replays", "store", "lengths"}] == [
        "replays",
        "store",
        "lengths",
    ]


def test_secrets_of_deals_are_measured_after_commitments_and_those_after_the_journal(data):
    (data / "commitments").write_bytes(b"")
    (data / "journal" / DEALS_NAME).write_bytes(b"")
    names = [path.name for path, _ in backup._sizes(data, data / "journal")]
    assert names[-2:] == ["commitments", DEALS_NAME]
    assert len(names) > 2


ANN, BOB = map(BotId, BOTS)
FAIR = match_order("abstrac", (ANN, BOB), {"hands": 2}, match_id="m").terms


def order_of(plan):
    tables = [
        TableOrder(match.id, tuple(map(BotId, match.bots)), match.rotation)
        for match in plan.matches
    ]
    return DealSetOrder(plan.id, FAIR, tuple(tables))


FIRST, SECOND = order_of(PLAN[0]), order_of(PLAN[1])


@pytest.fixture
def fair_data(tmp_path, monkeypatch):
    """The folder of an arena with a competition by fair deals."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setattr(made, "TERMS", terms_json(FAIR))
    with open_store(data_folder.store_path(data)) as store:
        made.made(store)
    with quick_disk(monkeypatch):
        yield data


async def bots_play(arena, nursery):
    for bot in (ANN, BOB):
        nursery.start_soon(plays, arena, bot)
    await trio.sleep(0.05)


def test_deal_sets_in_play_get_new_packs_and_complete_ones_stay(fair_data, tmp_path):
    again, file = tmp_path / "again", tmp_path / "file.backup"

    async def until_the_backup():
        with open_store(data_folder.store_path(fair_data)) as store:
            async with arena_in(fair_data, store.matches()) as (arena, nursery):
                await bots_play(arena, nursery)
                for match_id in FIRST.match_ids:
                    assert (await arena.matches.play(FIRST, match_id)).has_result
                assert (await arena.matches.play(SECOND, SECOND.match_ids[0])).has_result
                arena.matches.order(SECOND, SECOND.match_ids[1], SCHEDULED)
                await trio.sleep(0.1)
                assert arena.matches.get(SECOND.match_ids[1]) is not None
                await trio.to_thread.run_sync(back_up, fair_data, file)
                return {
                    match_id: store.matches().outcomes([match_id])[match_id]
                    for match_id in FIRST.match_ids
                }

    first = run(until_the_backup)
    before = contexts(fair_data)
    restore(file, again)

    async def afterwards():
        with open_store(data_folder.store_path(again)) as store:
            known = store.matches().outcomes((*FIRST.match_ids, *SECOND.match_ids))
            assert known == first
            async with arena_in(again, store.matches()) as (arena, nursery):
                await bots_play(arena, nursery)
                for order in (FIRST, SECOND):
                    for match_id in order.match_ids:
                        assert (await arena.matches.play(order, match_id)).has_result
                await trio.sleep(1)
            assert store.violations() == ()

    run(afterwards)
    log = contexts(again)
    (first_deal, _), (second_deal, _) = before
    assert log[:2] == [(first_deal, ""), (second_deal, RESTORED)]
    assert [why for _, why in log[2:]] == [""]
    for match_id in (*FIRST.match_ids, *SECOND.match_ids):
        verdict = verify_file(again / "replays" / f"{match_id}.replay")
        assert verdict.ok, verdict.problem


def test_no_record_of_the_journal_is_removed_during_a_backup(fair_data, monkeypatch):
    async def main():
        async with arena_in(fair_data) as (arena, _):
            checks = []

            async def check(_):
                checks.append(1)

            monkeypatch.setattr(type(arena._upkeep), "_check", check)
            with durable_files.folder_locked(fair_data / "journal"):
                await arena._upkeep.check()
                assert checks == []
            await arena._upkeep.check()
            assert checks == [1]

    run(main)

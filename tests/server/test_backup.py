"""Backups: which files are refused, who may read them, and which deals are played on."""

import contextlib
import gzip
import io
import json
import stat
import tarfile

import pytest
import trio
import trio.lowlevel
from click.testing import CliRunner

from arena.cli import main as arena
from arena.replay import durable_files
from arena.replay.deal_book import DEALS_NAME
from arena.replay.journal.journal import Journal
from arena.replay.verify import verify_file
from arena.server import backup, data_folder
from arena.server.backup import RESTORED, BadBackup, back_up, restore
from arena.server.bots import BotId
from arena.server.orders import SCHEDULED, DealSetOrder, TableOrder
from arena.store import StoreError, open_store
from arena.testing.orders import match_order
from arena.wire.terms import terms_json
from tests.server.cuts import quick_disk
from tests.server.deal_logs import contexts
from tests.server.lives import arena_in, plays, run
from tests.store import made
from tests.store.made import BOTS, PLAN


@pytest.fixture
def data(tmp_path):
    """A folder of an arena that has played nothing yet."""
    data = tmp_path / "data"
    data.mkdir()
    data_folder.write_format(data)
    Journal(data / "journal").close()
    with open_store(data_folder.store_path(data)) as store:
        made.made(store)
    for name in ("arena-key", "replays/m.replay", "replays/.half.partial", "notes/m.0.notes",
                 "lock", "server.json", "bots/ann/bot.py", "installed/a/b.py", "arena.log.1"):  # fmt: skip
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
    return {each.relative_to(folder).as_posix() for each in folder.rglob("*") if not each.is_dir()}


def test_a_restored_folder_has_what_an_arena_cannot_make_again(data, file, tmp_path):
    restore(file, tmp_path / "again")
    found = files(tmp_path / "again")
    assert {"arena.db", "arena-key", "format.json", "replays/m.replay", "notes/m.0.notes", "runtimes/numpy"} < found  # fmt: skip
    left_out = {"lock", "server.json", "bots/ann/bot.py", "installed/a/b.py", "arena.log.1"}
    assert not found & left_out
    assert not [each for each in found if "partial" in each]
    with open_store(tmp_path / "again" / "arena.db") as store:
        assert store.competitions().record("autumn").games[0].deal_sets
        assert store.violations() == ()


def test_nobody_else_can_read_what_is_secret(data, file, tmp_path):
    again = tmp_path / "again"
    restore(file, again)
    shared = {"replays/m.replay", "commitments", "runtimes/numpy"}
    for path in (file, again, *(again / each for each in files(again) - shared)):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def repacked(file, change):
    """The backup with its members changed, and hashes that fit nothing but what was there."""
    members = {}
    with tarfile.open(file) as tar:
        for each in tar:
            content = tar.extractfile(each) if each.isfile() else None
            members[each.name] = content.read() if content else None
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
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)


def changed(members):
    members["arena-key"] = b"another key"


def without_a_file(members):
    del members["arena-key"]


def with_a_file(members):
    sums = members.pop(backup.SUMS)
    members["more"] = b"more"
    members[backup.SUMS] = sums


def leads_out(members):
    sums = members.pop(backup.SUMS)
    members["../more"] = b"more"
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
    pytest.param(lambda file: repacked(file, leads_out), DAMAGED, id="a name leads out of the folder"),
    pytest.param(lambda file: file.write_bytes(gzip.compress(b"letters" * 999)), DAMAGED, id="no tar"),
    pytest.param(lambda file: file.write_text("a letter"), DAMAGED, id="no backup at all"),
    pytest.param(lambda file: tarfile.open(file, "w:gz").close(), "is no backup of an arena", id="another tar"),
    pytest.param(about(cardarena_backup=9, arena="3.0"), "has format 9, schema v3, of arena 3.0; this is arena", id="a newer format"),
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


def test_a_backup_that_fails_leaves_no_file(data, tmp_path, monkeypatch):
    (data / "arena.db").write_text("Dear diary, " * 100)
    with pytest.raises(StoreError):
        back_up(data, tmp_path / "failed")
    assert not [each for each in tmp_path.iterdir() if "failed" in each.name]


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
        return {each.name: tar.extractfile(each).read() for each in tar if each.isfile()}


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
            found = sizes(data, journal)
            act()
            return found

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
        with taken(path) as found:
            order.append("store")
            yield found

    def lengths(data, journal):
        order.append("lengths")
        return sizes(data, journal)

    monkeypatch.setattr(backup, "_files", listing)
    monkeypatch.setattr(backup, "snapshot", snapshot)
    monkeypatch.setattr(backup, "_sizes", lengths)
    back_up(data, tmp_path / "file.backup")
    assert [each for each in order if each in {"replays", "store", "lengths"}] == [
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
        TableOrder(each.id, tuple(map(BotId, each.bots)), each.rotation) for each in plan.matches
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
                    assert (await arena.matches.lease(FIRST, match_id)).has_result
                assert (await arena.matches.lease(SECOND, SECOND.match_ids[0])).has_result
                arena.matches.order(SECOND, SECOND.match_ids[1], SCHEDULED)
                await trio.sleep(0.1)
                assert arena.matches.get(SECOND.match_ids[1]) is not None
                await trio.to_thread.run_sync(back_up, fair_data, file)
                return {each: store.matches().outcomes([each])[each] for each in FIRST.match_ids}

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
                        assert (await arena.matches.lease(order, match_id)).has_result
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

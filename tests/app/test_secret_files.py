"""What is secret on the disk is for the owner of the arena alone, from its first moment on."""

import os
import stat
import threading
from pathlib import Path

import pytest

from arena import durable_files
from arena.bots.tokens import Tokens
from arena.live.listen import CannotServe
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.signing import KEY_NAME, arena_key
from arena.store import open_store
from arena.testing.orders import match_request
from cardarena.v1 import play_pb2
from tests.doubles.streams import PATIENCE_S, Client, eventually
from tests.live.running import running

PUBLIC = ("replays", "commitments", "server.json")
"""All else in the folder of an arena is secret."""
NAMES = ("ann", "bob")
GAMES = [play_pb2.GameSupport(game="abstrac")]


@pytest.fixture
def no_umask():
    """Nothing is left to who starts the arena."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def no_mending(monkeypatch):
    """What is made with a wide mode and narrowed afterwards was open in between."""

    def same(change, mode_now):
        def checked(where, mode, **kwargs):
            assert stat.S_IMODE(mode_now(where).st_mode) == mode, f"{where} was made otherwise"
            return change(where, mode, **kwargs)

        return checked

    monkeypatch.setattr(os, "chmod", same(os.chmod, os.stat))
    monkeypatch.setattr(os, "fchmod", same(os.fchmod, os.fstat))


def played(folder):
    """A match with notes, to its replay; yields while the arena still runs."""
    with running(folder, Tokens(guests=True)) as arena, Client(arena.address) as client:
        streams = [client.stream(f"guest:{name}", games=GAMES) for name in NAMES]
        for stream in streams:
            stream.expect("welcome")
        made = client.lobby.CreateMatch(match_request("abstrac", NAMES, {"hands": 2}, seed="s"))
        threads = [
            threading.Thread(target=stream.play, kwargs={"note": "a note"}) for stream in streams
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert eventually((folder / "replays" / f"{made.match.match_id}.replay").is_file)
        yield


def open_to_others(folder):
    """What of the folder others than its owner may read or write, or look into."""
    found = {}
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if within.parts[0] not in PUBLIC and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            found[str(within)] = oct(mode)
    return found


def test_nobody_else_reads_the_secrets_of_an_arena(tmp_path, no_umask, no_mending):
    for _ in played(tmp_path):
        names = {path.name for path in tmp_path.iterdir()}
        assert names >= {"journal", "arena-key", "notes", "arena.db", "arena.db-wal", "lock"}
        assert {path.name for path in (tmp_path / "journal").iterdir()} > {"deals"}
        assert list((tmp_path / "notes").iterdir())
        assert not open_to_others(tmp_path)
    assert not open_to_others(tmp_path)


def test_what_was_opened_to_others_is_closed_at_the_next_start_and_told(tmp_path, no_umask, caplog):
    for _ in played(tmp_path):
        pass
    widened = [tmp_path / "journal", tmp_path / "journal" / "deals"]
    widened += [tmp_path / KEY_NAME, tmp_path / "arena.db"]
    for path in widened:
        path.chmod(0o777 if path.is_dir() else 0o644)
    with running(tmp_path, Tokens(guests=True)):
        for path in widened:
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    told = {record.path for record in caplog.records if "others could open" in record.msg}
    assert told == set(map(str, widened))


def test_what_cannot_be_closed_to_others_ends_the_start(tmp_path, monkeypatch):
    arena_key(tmp_path)
    (tmp_path / KEY_NAME).chmod(0o640)

    def refused(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    with pytest.raises(CannotServe, match="not permitted"), running(tmp_path, Tokens(guests=True)):
        pass


@pytest.mark.parametrize("name", ["journal", "deals", "key", "store", "notes folder"])
def test_each_is_made_for_its_owner_alone(name, tmp_path, no_umask, no_mending):
    """One at a time, so that a folder does not hide what is in it."""
    folder = tmp_path / "new"
    if name == "journal":
        with Journal(folder):
            pass
    elif name == "deals":
        with DealLog(folder, public=tmp_path / "commitments"):
            pass
    elif name == "key":
        folder.mkdir(0o700)
        arena_key(folder)
    elif name == "store":
        folder.mkdir(0o700)
        open_store(folder / "arena.db").close()
    else:
        durable_files.private_folder(folder)
        (folder / "file").touch(0o600)
    assert list(folder.iterdir())
    assert not stat.S_IMODE(folder.stat().st_mode) & 0o077
    assert not open_to_others(tmp_path / "new")

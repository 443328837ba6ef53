"""The lock of a folder: nobody but its arena can hold it, and nothing else is taken for it."""

import asyncio
import contextlib
import os
import stat

import pytest

from arena.app.open_folder import open_folder
from arena.live.listen import CannotServe
from arena.live.metrics import Metrics
from arena.store import data_folder


def lock_of(folder):
    return folder / data_folder.LOCK_NAME


@pytest.mark.parametrize("before", [None, 0o644, 0o666], ids=["new", "readable", "writable"])
def test_nobody_else_may_open_the_lock(tmp_path, before):
    if before is not None:
        lock_of(tmp_path).touch()
        lock_of(tmp_path).chmod(before)
    umask = os.umask(0)
    try:
        os.close(data_folder.open_lock(tmp_path))
    finally:
        os.umask(umask)
    assert stat.S_IMODE(lock_of(tmp_path).stat().st_mode) == 0o600


def linked(path):
    path.with_name("elsewhere").touch()
    path.symlink_to("elsewhere")


def dangling(path):
    path.symlink_to("elsewhere")


def shared(path):
    path.with_name("elsewhere").touch()
    path.hardlink_to(path.with_name("elsewhere"))


def piped(path):
    os.mkfifo(path)


PLANTED = [
    pytest.param(linked, "is a link", id="a link to a file of somebody's"),
    pytest.param(dangling, "is a link", id="a link that would make a file"),
    pytest.param(shared, "not a file of its own", id="another name of a file"),
    pytest.param(piped, "not a file of its own", id="a pipe, which is not waited for"),
]


@pytest.mark.parametrize(("plant", "why"), PLANTED)
def test_what_stands_in_the_place_of_the_lock_is_refused(tmp_path, plant, why):
    plant(lock_of(tmp_path))
    with pytest.raises(OSError, match=why):
        data_folder.open_lock(tmp_path)
    if plant is dangling:
        assert not lock_of(tmp_path).with_name("elsewhere").exists()


def test_a_lock_of_another_user_is_refused(tmp_path, monkeypatch):
    os.close(data_folder.open_lock(tmp_path))
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(OSError, match="belongs to another user"):
        data_folder.open_lock(tmp_path)


@contextlib.asynccontextmanager
async def arena_of(folder):
    async with contextlib.AsyncExitStack() as stack:
        opened = await open_folder(folder, stack, metrics=Metrics(), on_broken=print)
        stack.callback(opened.standings.close)
        yield opened


@pytest.mark.parametrize("deleted", ["lock", "arena-id"])
def test_a_second_arena_is_kept_out_although_a_lock_was_deleted(tmp_path, deleted):
    async def main():
        async with arena_of(tmp_path):
            (tmp_path / deleted).unlink()
            assert data_folder.is_running(tmp_path)
            with pytest.raises(CannotServe, match="another arena is running in the folder"):
                async with arena_of(tmp_path):
                    pass
        assert not data_folder.is_running(tmp_path)
        async with arena_of(tmp_path):
            pass

    asyncio.run(main())

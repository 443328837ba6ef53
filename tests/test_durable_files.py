"""Files of the arena find a descriptor when everybody else has taken all."""

import errno
import os

import pytest

from arena import durable_files
from arena.durable_files import Spare


@pytest.fixture
def spare(monkeypatch, tmp_path):
    """Descriptors of the process, of which two are held back, and none is left otherwise."""
    spare, left, opened = Spare(), [2], os.open

    def limited(*args, **kwargs):
        if not left[0]:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        fd = opened(*args, **kwargs)
        left[0] -= 1
        return fd

    def close(fd, closed=os.close):
        left[0] += 1
        closed(fd)

    monkeypatch.setattr(os, "open", limited)
    monkeypatch.setattr(os, "close", close)
    monkeypatch.setattr(durable_files, "spare", spare)
    spare.hold(2)
    yield spare
    spare.hold(0)


def test_a_file_takes_one_that_was_held_back(spare, tmp_path):
    try:
        os.close(durable_files.append_only(tmp_path / "journal"))
    except OSError as error:
        pytest.fail(f"it was not given up: {error.strerror}")
    assert (tmp_path / "journal").exists()


def test_without_a_spare_descriptor_a_file_cannot_be_opened(spare, tmp_path):
    spare.hold(0)
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(2)]
    with pytest.raises(OSError, match="Too many open files"):
        durable_files.append_only(tmp_path / "journal")
    for fd in taken:
        os.close(fd)


def test_what_was_given_up_is_taken_back_when_there_is_room(spare, tmp_path):
    fd = durable_files.append_only(tmp_path / "journal")
    assert len(spare._held) == 1
    spare.refill()
    assert len(spare._held) == 1, "there is no room yet"
    os.close(fd)
    spare.refill()
    assert len(spare._held) == 2


def test_another_error_costs_nothing(spare, tmp_path):
    spare.hold(1)
    with pytest.raises(FileNotFoundError):
        durable_files.append_only(tmp_path / "nowhere" / "journal")
    assert len(spare._held) == 1

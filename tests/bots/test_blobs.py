"""Archives lie under the hash of what they hold, and are unpacked for reading alone."""

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.bots import blobs as stored
from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.store import StoreError
from tests.bots.test_archive import BOT, zipped


@pytest.fixture
def blobs(tmp_path):
    return Blobs(tmp_path / "data")


def kept(blobs, tmp_path, files=BOT, packing=8):
    return blobs.keep(read_archive(zipped(tmp_path / "new.zip", files, packing=packing)))[0]


def test_an_archive_is_taken_in_under_the_hash_of_its_contents(blobs, tmp_path):
    sha256 = kept(blobs, tmp_path)
    assert not (tmp_path / "new.zip").exists()
    assert blobs.archive(sha256).sha256 == sha256
    assert kept(blobs, tmp_path, packing=0) == sha256  # packed otherwise, it is the same
    assert [each.name for each in (tmp_path / "data/blobs").iterdir()] == [sha256]
    assert [*blobs.violations()] == []


def test_it_is_unpacked_once_and_cannot_be_written_to(blobs, tmp_path):
    sha256 = kept(blobs, tmp_path)
    folder = blobs.unpacked(sha256)
    assert (folder / "bot.py").read_bytes() == BOT["bot.py"]
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.iterdir())}
    assert not any(mode & 0o222 for mode in modes)
    (tmp_path / "data/blobs" / sha256).unlink()
    assert blobs.unpacked(sha256) == folder
    assert [each.name for each in folder.parent.iterdir()] == [sha256]


def test_a_partly_unpacked_folder_is_unpacked_again_and_removed_at_the_next_start(blobs, tmp_path):
    sha256 = kept(blobs, tmp_path)
    left = tmp_path / "data/unpacked" / f".{sha256}.1"
    left.mkdir(parents=True)
    (left / "half").write_text("")
    left.chmod(0o555)
    assert sorted(each.name for each in blobs.unpacked(sha256).iterdir()) == ["bot.py", "bot.toml"]
    blobs.clear()
    assert [each.name for each in left.parent.iterdir()] == [sha256]


@pytest.mark.parametrize("number", [2, 5])
def test_several_may_unpack_an_archive_at_once(number, blobs, tmp_path, monkeypatch):
    sha256 = kept(blobs, tmp_path)
    together = threading.Barrier(number)
    real = stored.unpack

    def unpack(archive, folder):
        real(archive, folder)
        together.wait(10)  # all have unpacked it before one renames

    monkeypatch.setattr(stored, "unpack", unpack)
    with ThreadPoolExecutor(number) as threads:
        found = [*threads.map(blobs.unpacked, [sha256] * number)]
    assert set(found) == {tmp_path / "data/unpacked" / sha256}
    assert [each.name for each in found[0].parent.iterdir()] == [sha256]
    assert (found[0] / "bot.py").read_bytes() == BOT["bot.py"]


DAMAGE = [
    (lambda path: path.write_bytes(b""), "is damaged: this is no zip", "emptied"),
    (lambda path: zipped(path, BOT | {"x": b""}), "its contents have another hash", "exchanged"),
]


@pytest.mark.parametrize(("damage", "sentence", "_why"), DAMAGE, ids=[row[-1] for row in DAMAGE])
def test_an_archive_that_is_not_what_its_name_says_is_neither_read_nor_unpacked(
    blobs, tmp_path, damage, sentence, _why
):
    sha256 = kept(blobs, tmp_path)
    path = tmp_path / "data/blobs" / sha256
    path.chmod(0o600)
    damage(path)
    for act in (blobs.archive, blobs.unpacked):
        with pytest.raises(StoreError, match=sentence):
            act(sha256)
    assert [sentence in each for each in blobs.violations()] == [True]
    assert not any((tmp_path / "data/unpacked").glob("[0-9a-f]*"))


def test_an_unknown_archive_cannot_be_unpacked(blobs):
    with pytest.raises(StoreError, match="there is no archive"):
        blobs.unpacked("0" * 64)


NO_HASHES = [
    # of an archive           why
    ("../../outside",         "a path that leads out"),
    ("{outside}",             "an absolute path"),
    ("/{outside}",            "a path with two slashes first"),
    (".",                     "the folder itself"),
    ("",                      "nothing"),
    ("A" * 64,                "capital letters"),
    ("a" * 64 + "\n",         "a line's end"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "why"), NO_HASHES, ids=[row[-1] for row in NO_HASHES])
def test_what_is_no_hash_names_no_file(name, why, blobs, tmp_path):
    """A worker has the hashes from an arena: the folder of another one's files is no bot."""
    kept(blobs, tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    os.utime(outside, (1, 1))
    (tmp_path / "data/unpacked").mkdir()
    name = name.replace("{outside}", str(outside))
    assert not blobs.has(name)
    for call in (blobs.unpacked, blobs.archive, blobs.open, blobs.touch, blobs.forget):
        with pytest.raises(StoreError, match="is not the hash of an archive"):
            call(name)
    assert outside.stat().st_mtime == 1

"""Backups of somebody else: what is refused, and what of a disk's failures is noticed before a backup is said to be there."""

import copy
import hashlib
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.app import backup
from arena.app.backup import BadBackup, back_up, restore
from arena.app.backup_archive import ABOUT, STORE, SUMS
from arena.cli import main as arena
from arena.store import StoreError
from tests.app.test_backup import made_data


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The members of a backup, in order."""
    folder = tmp_path_factory.mktemp("made")
    back_up(made_data(folder / "data"), folder / "file.backup")
    with tarfile.open(folder / "file.backup") as tar:
        return [
            (member, tar.extractfile(member).read() if member.isreg() else b"") for member in tar
        ]


@pytest.fixture
def data(tmp_path):
    return made_data(tmp_path / "data")


def everything(folder):
    return {(path, path.is_symlink() or path.stat().st_size) for path in folder.rglob("*")}


# Hostile archives.


def member(name, content=b"x", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def link(name, target, kind=tarfile.SYMTYPE):
    return member(name, b"", type=kind, linkname=target)


def special(name, kind):
    return member(name, b"", type=kind)


def pax(name, content=b"x", **headers):
    return member(name, content, pax_headers={key.replace("__", "."): headers[key] for key in headers})  # fmt: skip


def sparse(name):
    """A file of a terabyte that takes one block, as GNU tar writes it."""
    headers = {"major": "1", "minor": "0", "name": name, "realsize": str(1 << 40)}
    blocks = b"1\n0\n1\n".ljust(tarfile.BLOCKSIZE, b"\0") + b"x"
    return member(name, blocks, pax_headers={f"GNU.sparse.{key}": headers[key] for key in headers})


def packed(file, members):
    """Write an archive; a member whose content is shorter than its size ends it."""
    with tarfile.open(file, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for info, content in members:
            tar.addfile(info)
            tar.fileobj.write(content)
            tar.fileobj.write(bytes(-len(content) % tarfile.BLOCKSIZE))


def sums_of(members, listed):
    """The last member, with hashes that fit all others: the writer of an archive writes its hashes, too."""
    with_hashes = json.loads(members[-1][1])
    for info, content in listed:
        hashed = info.linkname.encode() if info.issym() else content
        with_hashes[info.name] = hashlib.sha256(hashed).hexdigest()
    return member(SUMS, json.dumps(with_hashes, indent=1).encode())


def placed(added, tmp_path):
    """Members whose paths and links name the folder of the test."""
    for info, content in map(copy.deepcopy, added):
        info.name = info.name.replace("/{tmp}", str(tmp_path))
        info.linkname = info.linkname.replace("{tmp}", str(tmp_path))
        yield info, content


def more(*added):
    """A backup with members more."""

    def change(members, tmp_path):
        *before, _ = members
        new = [*placed(added, tmp_path)]
        return [*before, *new, sums_of(members, new)]

    return change


def instead(name, *added):
    """A backup with other members in place of one."""

    def change(members, _):
        kept = [member for member in members if member[0].name not in (name, SUMS)]
        return [*kept, *added, sums_of(members, added)]

    return change


def about_first(info, content):
    return lambda members, _: [(info, content), *members[1:]]


def claiming(name, size):
    """A member of some size, of which the archive has the header alone."""
    info, _ = member(name, b"")
    info.size = size
    return info, b""


def longer(before):
    """The same JSON, with spaces behind it."""
    info, content = before
    return member(info.name, content + b" " * 200_000)


PATH = "which is no path below a data folder"
KIND = "which is neither a plain file nor a link"
LEADS_OUT = "which leads out of its folder"
TAKEN = "whose place is taken by an earlier file or link"
RUNNING = "which belongs to a running arena or is made again"
ADDRESS = "the address of a database, where --store alone names the database"
# fmt: off
HOSTILE = [
    # the archive                                             said                        why
    (more(member("//{tmp}/outside")),                         PATH,                       "a path with two slashes first"),
    (more(member("/{tmp}/outside")),                          PATH,                       "an absolute path"),
    (more(member("../outside")),                              PATH,                       "a path that leads out"),
    (more(member("logs/../../outside")),                      PATH,                       "a path that leads out from below"),
    (more(member("./outside")),                               PATH,                       "the folder itself"),
    (more(member("logs//outside")),                           PATH,                       "an empty name"),
    (more(member(".outside")),                                PATH,                       "a hidden name"),
    (more(pax("x", path="out\0side")),                        PATH,                       "a byte that ends a name"),
    (more(member("x" * 300)),                                 "whose path is too long",   "a name that no file system takes"),
    (more(member("logs/" * 900 + "x")),                       "whose path is too long",   "a path that no system takes"),
    (more(link("logs", "{tmp}")),                             LEADS_OUT,                  "an absolute link"),
    (more(link("logs", "../..")),                             LEADS_OUT,                  "a link to a folder above"),
    (more(link("logs", "..")),                                LEADS_OUT,                  "a link to the folder above"),
    (more(link("l", "notes"), member("l/outside")),           TAKEN,                      "a path through an earlier link"),
    (more(link("l", "arena-key"), member("l")),               TAKEN,                      "a file in place of a link"),
    (more(member("arena-key")),                               TAKEN,                      "a file twice"),
    (more(member("arena-key/x")),                             TAKEN,                      "a file as a folder"),
    (more(member("replays")),                                 TAKEN,                      "a folder as a file"),
    (more(link("x", "{tmp}/data/arena-key", tarfile.LNKTYPE)), KIND,                      "a hard link"),
    (more(link("x", "arena-key", tarfile.LNKTYPE)),           KIND,                       "a hard link within"),
    (more(special("x", tarfile.CHRTYPE)),                     KIND,                       "a device"),
    (more(special("x", tarfile.BLKTYPE)),                     KIND,                       "a disk"),
    (more(special("x", tarfile.FIFOTYPE)),                    KIND,                       "a pipe"),
    (more(special("x", tarfile.DIRTYPE)),                     KIND,                       "a folder with permissions"),
    (more(sparse("x")),                                       KIND,                       "a sparse file"),
    (more(member("x", mode=0o4755)),                          "with the permissions 4755", "a set user id"),
    (more(member("x", mode=0o666)),                           "with the permissions 666", "a file that all may write"),
    (more(pax("x", mtime="inf")),                             "an impossible time",       "a time without end"),
    (more(pax("x", mtime="nan")),                             "an impossible time",       "no time"),
    (more(pax("x", b"", size="-1000")),                       "is damaged",               "a size below nothing"),
    (more(member("store-url")),                               ADDRESS,                    "a database"),
    (more(member("Store-URL")),                               ADDRESS,                    "a database, where case is ignored"),
    (more(link("store-url", "arena-key")),                    ADDRESS,                    "a database by a link"),
    (more(member("arena.db")),                                RUNNING,                    "a second store"),
    (more(member("arena.db-wal")),                            RUNNING,                    "changes of the store"),
    (more(member("arena.db/x")),                              RUNNING,                    "a folder in place of the store"),
    (more(member("lock")),                                    RUNNING,                    "the lock"),
    (more(member("run/play.sock")),                           RUNNING,                    "the socket"),
    (more(member("pages/x")),                                 RUNNING,                    "pages that were not made here"),
    (more(member("unpacked/x/bot.py")),                       RUNNING,                    "files of bots that no archive has"),
    (more(member("installed/x/y.py")),                        RUNNING,                    "packages that pip did not install"),
    (more(member("python/../../outside")),                    PATH,                       "a path that leads out of what is skipped"),
    (more(special("python/x", tarfile.CHRTYPE)),              KIND,                       "a device in what is skipped"),
    (instead(STORE, link(STORE, "arena-key")),                KIND,                       "a link as the store"),
    (lambda members, _: [member for member in members if member[0].name != STORE], "is damaged",   "a store that is only listed"),
    (more(claiming("x", 1 << 50)),                            " has no room for the backup's x of",    "more than the disk has"),
    (more(pax("x", comment="x" * 2_000_000)),                 "a header that is longer",  "a header that fills the memory"),
    (lambda members, _: [*members[:-1], longer(members[-1])], "is damaged",               "hashes that fill the memory"),
    (lambda members, _: [longer(members[0]), *members[1:]],   "is damaged",               "a beginning that fills the memory"),
    (lambda members, _: [*members, member("x")],                 "is damaged",               "a file after the hashes"),
    (about_first(*member(ABOUT, b'{"cardarena_backup": 1, "store_schema": "r3", "arena": "", "store": "x", "made_unix_s": 0}')), "it has a store in 'x'", "an unknown store"),
]
# fmt: on


@pytest.mark.parametrize(("change", "said", "why"), HOSTILE, ids=[row[-1] for row in HOSTILE])
def test_a_hostile_backup_is_refused_and_nothing_is_written(change, said, why, made, tmp_path):
    file = tmp_path / "hostile.backup"
    members = change(made, tmp_path)
    packed(file, members)
    before = everything(tmp_path)
    with pytest.raises(StoreError) as raised:
        restore(file, tmp_path / "again")
    assert said in str(raised.value)
    assert everything(tmp_path) == before


def test_what_is_not_hostile_is_restored_from_an_archive_that_was_made_likewise(made, tmp_path):
    added = (member("logs/x"), link("runtimes/x", "numpy-1"), member("x" * 255))
    packed(tmp_path / "file", more(*added)(made, tmp_path))
    restore(tmp_path / "file", tmp_path / "again")
    assert (tmp_path / "again/logs/x").read_bytes() == b"x"
    assert (tmp_path / "again/runtimes/x").readlink() == Path("numpy-1")


def test_the_python_of_bots_in_a_backup_of_an_earlier_arena_is_skipped(made, tmp_path):
    """It has absolute links to the Python of another machine, and is made again."""
    old = (
        link("python/1/bin/python", "/usr/bin/python3"),
        member("python/1/pyvenv.cfg"),
        link("python/1/lib/python3.11/site-packages/arena", "/opt/card-arena/arena"),
    )
    packed(tmp_path / "file", more(*old)(made, tmp_path))
    restore(tmp_path / "file", tmp_path / "again")
    assert not (tmp_path / "again/python").exists()
    assert (tmp_path / "again/arena-key").exists()


def test_what_is_skipped_counts_in_the_hashes(made, tmp_path):
    changed = more(member("python/1/x", b"x"))(made, tmp_path)
    changed[-2] = member("python/1/x", b"y")
    packed(tmp_path / "file", changed)
    with pytest.raises(BadBackup, match="is damaged"):
        restore(tmp_path / "file", tmp_path / "again")


# Read-back.


def test_a_backup_that_the_disk_changed_is_removed_and_never_said_to_be_there(
    data, tmp_path, monkeypatch
):
    def failing_disk(file, *_):
        os.pwrite(file, b"?", os.fstat(file).st_size // 2)

    monkeypatch.setattr(backup.os, "posix_fadvise", failing_disk)
    before = everything(tmp_path)
    file = tmp_path / "file.backup"
    refused = CliRunner().invoke(arena, ["backup", str(file), "--data", str(data)])
    assert refused.exit_code == 1
    assert "was read back and removed: it is damaged" in " ".join(refused.output.split())
    assert "MB before compression" not in refused.output
    assert everything(tmp_path) == before


def test_a_backup_that_lost_files_is_removed(data, tmp_path, monkeypatch):
    def emptied(file, *_):
        os.ftruncate(file, 0)
        shutil.copyfile(other, f"/proc/self/fd/{file}")

    other = tmp_path / "other"
    empty = made_data(tmp_path / "empty")
    (empty / "arena-key").unlink()
    back_up(empty, other)
    monkeypatch.setattr(backup.os, "posix_fadvise", emptied)
    with pytest.raises(BadBackup, match=r"read back and removed: it has \d+ files instead of \d+"):
        back_up(data, tmp_path / "file.backup")
    assert not (tmp_path / "file.backup").exists()


def test_a_folder_that_could_not_be_restored_is_refused_when_it_is_backed_up(data, tmp_path):
    (data / STORE).write_text("an organiser's own file, of the name of a part of a backup")
    with pytest.raises(BadBackup, match=f"it has 'store', {TAKEN}"):
        back_up(data, tmp_path / "file.backup")
    assert not [path for path in tmp_path.iterdir() if "file.backup" in path.name]


# Links of a data folder.


def test_a_runtime_keeps_its_name(data, tmp_path):
    """The name is a link to a folder, which a walk over folders lists among the folders."""
    (data / "runtimes/numpy-1/site").mkdir(parents=True)
    (data / "runtimes/numpy-1/site/numpy.py").write_text("")
    back_up(data, tmp_path / "file.backup")
    restore(tmp_path / "file.backup", tmp_path / "again")
    assert (tmp_path / "again/runtimes/numpy").readlink() == Path("numpy-1")
    assert (tmp_path / "again/runtimes/numpy/site/numpy.py").exists()


def test_a_file_that_is_linked_into_the_folder_is_copied(data, tmp_path):
    (tmp_path / "key").write_text("a key that a mount has")
    (data / "arena-key").unlink()
    (data / "arena-key").symlink_to(tmp_path / "key")
    back_up(data, tmp_path / "file.backup")
    restore(tmp_path / "file.backup", tmp_path / "again")
    assert not (tmp_path / "again/arena-key").is_symlink()
    assert (tmp_path / "again/arena-key").read_text() == "a key that a mount has"


@pytest.mark.parametrize("target", ["/", "../nothing"], ids=["a folder", "nothing"])
def test_a_link_whose_content_would_be_missing_is_refused(target, data, tmp_path):
    (data / "blobs").mkdir(exist_ok=True)
    (data / "blobs/x").symlink_to(target)
    with pytest.raises(BadBackup, match="blobs/x is a link to"):
        back_up(data, tmp_path / "file.backup")

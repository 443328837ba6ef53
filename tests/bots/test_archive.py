"""Submissions: what is taken, and every evil zip that is not."""

import contextlib
import io
import stat
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.bots import archive
from arena.bots.archive import (
    MAX_MANIFEST_BYTES,
    BadArchive,
    pack,
    packed_paths,
    problem_of_path,
    read_archive,
    unpack,
)
from arena.bots.contents import SubmittedFile, contents_sha256

BOT = {
    "bot.toml": b'command = ["python", "bot.py"]\n[[games]]\nid = "soko"\n',
    "bot.py": b"print(1)",
}


def zipped(path, files=BOT, *, change=lambda info: None, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as made:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = packing
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            change(info)
            made.writestr(info, data)
    return path


def mode(name, kind):
    def change(info):
        if info.filename == name:
            info.external_attr = (kind | 0o777) << 16

    return change


def with_entry(name, data=b"x"):
    return lambda path: zipped(path, BOT | {name: data})


def twice(path):
    zipped(path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as made:
        made.writestr("bot.py", b"another")
    return path


def lying(path):
    """The list says that a file is smaller than it is."""
    zipped(path, BOT | {"big": b"a" * 1000}, packing=zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"big") - 46
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    path.write_bytes(data)
    return path


def with_bytes(data):
    def made(path):
        path.write_bytes(data)
        return path

    return made


def encrypted(path):
    zipped(path)
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    return path


def broken(path):
    zipped(path)
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x03\x04") + 45] ^= 0xFF
    path.write_bytes(data)
    return path


def linked(kind):
    return lambda path: zipped(path, BOT | {"x": b"/etc/passwd"}, change=mode("x", kind))


EVIL = [
    (with_entry("../bot.py"), "'..'", "climbs out of the folder"),
    (with_entry("a/../../x"), "'..'", "climbs out from below"),
    (with_entry("/etc/cron.d/x"), "absolute path", "an absolute path"),
    (with_entry("a//b"), "no plain path", "an empty part"),
    (with_entry("./a"), "no plain path", "a part that is no name"),
    (with_entry("C:\\x.py"), "no plain path", "a drive and backslashes"),
    (with_entry("a\\b"), "no plain path", "a backslash, a folder on some systems"),
    (with_entry("bоt.py"), "no plain path", "a letter that looks like another"),
    (with_entry("a\nb"), "no plain path", "a line's end in a name"),
    (with_entry("name.\x1b[31m"), "no plain path", "a terminal's command in a name"),
    (with_entry("dot./x"), "ends in a dot", "a name that some systems shorten"),
    (with_entry("x" * 201), "at most 200", "a path that is too long"),
    (with_entry("BOT.py"), "upper and lower case only", "case twins"),
    (with_entry("bot.py/x"), "is a file, and a folder of", "a file that is a folder"),
    (twice, "2 files have the path", "two files of one name"),
    (linked(stat.S_IFLNK), "x is a link", "a symbolic link"),
    (linked(stat.S_IFIFO), "x is a pipe", "a pipe"),
    (linked(stat.S_IFCHR), "x is a device", "a device"),
    (linked(stat.S_IFSOCK), "x is a socket", "a socket"),
    (with_entry("zeros", bytes(30_000_000)), "at most 100 times", "a bomb"),
    (lying, "announced|no readable zip", "a file that is longer than its list says"),
    (encrypted, "encrypted", "an encrypted file"),
    (broken, "no readable zip", "bytes that are not those of the checksum"),
    (with_bytes(b""), "no (readable )?zip", "nothing"),
    (with_bytes(b"PK" * 100), "no (readable )?zip", "what only begins as a zip"),
    (
        with_bytes(b"PK\x05\x06" + bytes(6) + struct.pack("<HIIH", 9, 460, 0, 0)),
        "no (readable )?zip",
        "no list",
    ),
    (
        with_bytes(b"PK\x05\x06" + bytes(6) + struct.pack("<HIIH", 9, 99_000_000, 0, 0)),
        "its directory has 99000000 bytes",
        "a list that is longer than it says",
    ),
    (
        with_bytes(b"PK\x05\x06" + bytes(6) + struct.pack("<HIIH", 60_000, 99_000_000, 0, 0)),
        "files or more",
        "a list that would fill the memory",
    ),
    (lambda p: zipped(p, {"bot.py": b""}), "no bot.toml at its top", "no manifest"),
    (
        lambda p: zipped(p, {"my-bot/bot.toml": b""}),
        "zip the content of the folder",
        "the folder was zipped, not what is in it",
    ),
    (lambda p: zipped(p, {"bot.toml": b"\xff\xff"}), "not text in UTF-8", "no text as manifest"),
    (lambda p: zipped(p, {"bot.toml": b"#" * 70_000}, packing=0), "are allowed", "a long manifest"),
    (
        lambda p: zipped(p, BOT | {f"f{n}": b"" for n in range(archive.MAX_FILES)}),
        "2002 files or more",
        "too many files",
    ),
    (lambda p: zipped(p, packing=zipfile.ZIP_BZIP2), "deflate or store", "another packing"),
]


@pytest.mark.parametrize(("made", "sentence", "_why"), EVIL, ids=[row[-1] for row in EVIL])
def test_an_evil_zip_is_refused_and_nothing_written(tmp_path, made, sentence, _why):
    path = made(tmp_path / "evil.zip")
    with pytest.raises(BadArchive, match=sentence):
        read_archive(path)
    assert [each.name for each in tmp_path.iterdir()] == ["evil.zip"]


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(BadArchive, match="at most 100 are allowed"):
        read_archive(zipped(tmp_path / "large.zip"))
    monkeypatch.undo()
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 10)
    with pytest.raises(BadArchive, match="unpacked it has"):
        read_archive(zipped(tmp_path / "large.zip"))


def test_problems_are_reported_together_up_to_a_limit(tmp_path):
    files = {f"a:{n}": b"" for n in range(50)}
    with pytest.raises(BadArchive) as raised:
        read_archive(zipped(tmp_path / "evil.zip", files))
    assert len(raised.value.problems) == 21
    assert raised.value.problems[-1] == "and 31 more"


def folder_of(path, files=BOT, runs=()):
    for name, data in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o755 if name in runs else 0o644)
    return path


# fmt: off
CHOSEN = [
    # files of the manifest      what is packed beside it                      why
    (["out/bot"],                {"out/bot"},                                  "one file"),
    (["src", "out/deps/"],       {"src/a.rs", "out/deps/x.o", "out/deps/y.o"}, "folders, with and without a slash"),
    (["*.rs", "out/deps/[x]*"],  {"src/a.rs", "out/deps/x.o"},                 "patterns"),
    (["out/bot", "out/bto"],     "files: 'out/bto' names no file of the fol",  "a file that is not there"),
    (["bot"],                    "files: 'bot' names no file",                 "the end of a path alone"),
    (["out/link", "out/bot"],    "out/link is a link",                         "a link"),
]
# fmt: on


@pytest.mark.parametrize(
    "manifest",
    [b"files = ['bot.py']\n" + b"#" * MAX_MANIFEST_BYTES, b"files = " + b"[" * 4_000],
    ids=["longer than any manifest", "nested without end"],
)
def test_a_manifest_that_costs_time_chooses_nothing(manifest):
    assert packed_paths(["bot.py", "bot.toml", "x"], manifest) == ["bot.py", "bot.toml", "x"]


class TestFolders:
    def test_a_folder_and_a_zip_of_it_are_the_same_submission(self, tmp_path):
        folder = folder_of(tmp_path / "bot", BOT | {"data/x.bin": b"\0" * 50}, runs=("bot.py",))
        pack(folder, tmp_path / "packed.zip")
        by_hand = zipped(
            tmp_path / "hand.zip",
            {"data/": b"", **BOT, "data/x.bin": b"\0" * 50},
            change=lambda info: (
                mode("bot.py", stat.S_IFREG)(info)
                or (info.filename.endswith("/") and mode("data/", stat.S_IFDIR)(info))
            ),
        )
        one, other = read_archive(tmp_path / "packed.zip"), read_archive(by_hand)
        assert one.sha256 == other.sha256
        assert one.sha256 == contents_sha256(
            [
                SubmittedFile.of("bot.toml", BOT["bot.toml"]),
                SubmittedFile.of("bot.py", BOT["bot.py"], executable=True),
                SubmittedFile.of("data/x.bin", bytes(50)),
            ]
        )

    def test_the_same_folder_makes_the_same_zip(self, tmp_path):
        for name in ("one", "other"):
            pack(folder_of(tmp_path / name), tmp_path / f"{name}.zip")
        assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()

    def test_caches_environments_and_what_is_hidden_stay_at_home(self, tmp_path):
        hidden = (".git/config", "__pycache__/bot.pyc", "venv/pyvenv.cfg", "venv/lib/x.py", ".env")
        folder = folder_of(tmp_path / "bot", BOT | dict.fromkeys(hidden, b""))
        pack(folder, tmp_path / "packed.zip")
        assert read_archive(tmp_path / "packed.zip").paths == {"bot.py", "bot.toml"}

    @pytest.mark.parametrize(("patterns", "packed", "why"), CHOSEN, ids=[row[-1] for row in CHOSEN])
    def test_a_manifest_chooses_what_is_packed(self, tmp_path, patterns, packed, why):
        toml = f"files = {patterns}\n".encode() + BOT["bot.toml"]
        built = dict.fromkeys(("src/a.rs", "out/bot", "out/deps/x.o", "out/deps/y.o"), b"")
        folder = folder_of(tmp_path / "bot", built | {"bot.toml": toml})
        (folder / "out" / "link").symlink_to("/etc")
        if isinstance(packed, str):
            with pytest.raises(BadArchive, match=packed):
                pack(folder, tmp_path / "packed.zip")
        else:
            pack(folder, tmp_path / "packed.zip")
            assert read_archive(tmp_path / "packed.zip").paths == {"bot.toml", *packed}

    def test_a_link_is_not_followed(self, tmp_path):
        folder = folder_of(tmp_path / "bot")
        (folder / "etc").symlink_to("/etc")
        (folder / "secret").symlink_to("/etc/passwd")
        with pytest.raises(BadArchive, match=r"etc is a link.*\nsecret is a link"):
            pack(folder, tmp_path / "packed.zip")

    def test_what_is_too_much_is_said_before_it_is_sent(self, tmp_path, monkeypatch):
        folder = folder_of(tmp_path / "bot")
        monkeypatch.setattr(archive, "MAX_FILES", 1)
        with pytest.raises(BadArchive, match="2 files or more"):
            pack(folder, tmp_path / "packed.zip")
        monkeypatch.undo()
        monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 5)
        with pytest.raises(BadArchive, match="at most 5 are allowed"):
            pack(folder, tmp_path / "packed.zip")


PROGRAMS = {"bot.sh": b"#!/bin/sh\n", "bot": b"\x7fELF\2", "net.bin": b"#?", "empty": b""}


class TestUnpacking:
    def test_programs_of_a_system_without_modes_can_be_executed(self, tmp_path):
        def of_windows(info):
            info.create_system, info.external_attr = 0, 0x20

        made = read_archive(zipped(tmp_path / "win.zip", BOT | PROGRAMS, change=of_windows))
        unpack(made, tmp_path / "out")
        runs = {name for name in PROGRAMS if (tmp_path / "out" / name).stat().st_mode & 0o111}
        assert runs == {"bot.sh", "bot"}
        pack(folder_of(tmp_path / "copied", BOT | PROGRAMS), tmp_path / "packed.zip")
        assert read_archive(tmp_path / "packed.zip").sha256 == made.sha256

    def test_the_files_are_there_and_nobody_writes_to_them(self, tmp_path):
        made = zipped(
            tmp_path / "bot.zip", BOT | {"lib/x.py": b"x"}, change=mode("bot.py", stat.S_IFREG)
        )
        unpack(read_archive(made), tmp_path / "out")
        found = {
            each.relative_to(tmp_path / "out").as_posix(): stat.S_IMODE(each.stat().st_mode)
            for each in (tmp_path / "out").rglob("*")
        }
        assert found == {"bot.py": 0o555, "bot.toml": 0o444, "lib": 0o555, "lib/x.py": 0o444}
        assert (tmp_path / "out/lib/x.py").read_bytes() == b"x"

    def test_a_folder_that_is_there_is_not_written_to(self, tmp_path):
        (tmp_path / "out").mkdir()
        with pytest.raises(FileExistsError):
            unpack(read_archive(zipped(tmp_path / "bot.zip")), tmp_path / "out")


def test_a_zip_that_was_exchanged_meanwhile_is_not_unpacked(tmp_path):
    read = read_archive(zipped(tmp_path / "bot.zip"))
    zipped(tmp_path / "bot.zip", BOT | {"bot.py": b"evil"})
    with pytest.raises(BadArchive, match="has changed"):
        unpack(read, tmp_path / "out")
    zipped(tmp_path / "bot.zip", BOT | {"more.py": b"evil"})
    with pytest.raises(BadArchive, match="was not in the archive"):
        unpack(read, tmp_path / "out2")


@settings(max_examples=150)
@given(st.binary(max_size=400), st.integers(0, 400), st.integers(0, 3))
def test_whatever_the_bytes_are_it_is_a_submission_or_a_bad_archive(
    tmp_path_factory, more, at, how
):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in BOT.items():
            made.writestr(name, data)
    data = bytearray(buffer.getvalue())
    data[at : at + how * len(more) // 3] = more
    path = tmp_path_factory.mktemp("zips") / "any.zip"
    path.write_bytes(data)
    with contextlib.suppress(BadArchive):
        read_archive(path)


@pytest.mark.parametrize(
    "path", ["bot.py", "a/b/c.txt", "wheels/x-1.0+cpu.whl", "My Bot (2).py", "_"]
)
def test_plain_paths_are_taken(path):
    assert problem_of_path(path) == ""

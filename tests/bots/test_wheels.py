"""Wheels in a submission: what is taken, and every evil wheel that is not, by the rules of archives."""

import stat
import struct
import zipfile

import pytest

from arena.bots import archive, wheels
from arena.bots.archive import BadArchive, read_archive, unpack
from arena.bots.blobs import remove_unpacked
from arena.bots.wheels import read_wheels, require_fitting, wheels_in, wheels_sha256
from tests.bots.test_archive import BOT, zipped
from tests.doubles.wheels import TINY, record_of, wheel


def submitted(tmp_path, *made, **others):
    """An archive with these wheels, and other files by their paths in it."""
    files = {f"wheels/{each.name}": each.read_bytes() for each in made}
    others = {path.replace("__", "/"): data for path, data in others.items()}
    return read_archive(zipped(tmp_path / "bot.zip", BOT | files | others))


def with_files(**settings):
    return lambda folder: wheel(folder, **settings)


def with_file(path, data=b"x"):
    return with_files(files=TINY | {path: data})


def linked(info):
    if info.filename == "tiny/__init__.py":
        info.external_attr = (stat.S_IFLNK | 0o777) << 16


def without(name):
    return lambda held: {path: data for path, data in held.items() if not path.endswith(name)}


def of_another_hash(files, about):
    return record_of(files | {"tiny/__init__.py": b"WORTH = 8\n"}, about)


def of_more(files, about):
    return record_of(files | {"../../home/ann/.bashrc": b""}, about)


def of_less(files, about):
    return record_of({path: data for path, data in files.items() if "tiny/" not in path}, about)


def another_hash_function(files, about):
    return record_of(files, about).replace(b"sha256=", b"md5=")


def lying(folder):
    """Its list says that a file is smaller than it is."""
    path = wheel(folder, TINY | {"tiny/big": b"a" * 1000})
    data = bytearray(path.read_bytes())
    at = data.rfind(b"tiny/big") - 46
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    path.write_bytes(data)
    return path


def named(name):
    def made(folder):
        return wheel(folder).rename(folder / name)

    return made


def no_zip(folder):
    path = wheel(folder)
    path.write_bytes(b"PK")
    return path


EVIL = [
    (with_file("../evil.py"), "no plain path: it has the part '..'", "climbs out of its folder"),
    (with_file("a/../../evil.py"), "part '..'", "climbs out from below"),
    (with_file("tiny-1.0.data/data/../../x"), "part '..'", "climbs out of what is data"),
    (with_file("/etc/cron.d/evil"), "is an absolute path", "an absolute path"),
    (with_file("C:\\evil.py"), "no plain path", "a drive"),
    (with_file("tiny/nаme.py"), "no plain path", "a letter that looks like another"),
    (with_files(change=linked), "tiny/__init__.py is a link", "a symbolic link"),
    (with_file("zeros", bytes(30_000_000)), "at most 100 times is allowed", "a bomb"),
    (lying, "announced|no readable zip", "a file that is longer than its list says"),
    (with_file("Tiny/__init__.py"), "upper and lower case only", "case twins"),
    (with_file("tiny"), "tiny is a file, and a folder of", "a file that is a folder"),
    (with_file("tiny-1.0.data/purelib/tiny/__init__.py"), "2 files have the path", "data over a module"),
    (with_file("tiny-1.0.data/platlib/Tiny/a.py"), None, "a folder in another case, on its own"),
    (
        with_files(files={"bin/tiny": b"", "tiny-1.0.data/scripts/tiny": b"#!python\n"}),
        "2 files have the path bin/tiny",
        "a script over a file",
    ),
    (with_files(record=of_another_hash), "does not have the hash in .*RECORD", "a file of another hash"),
    (with_files(record=of_more), r"lists '\.\./\.\./home/ann/.bashrc', which is missing", "a file that is not there"),
    (with_files(record=of_less), "does not list tiny/__init__.py", "a file that is not listed"),
    (with_files(record=another_hash_function), "does not have the hash in .*RECORD", "a hash that can be forged"),
    (with_files(record=lambda *_: b'"'), "RECORD is no list", "a list that is none"),
    (with_files(record=lambda *_: b"\xff"), "RECORD is no list", "a list that is no text"),
    (with_files(about=without("RECORD")), "no .dist-info/RECORD", "no list"),
    (with_files(about=without("METADATA")), "has no tiny-1.0.dist-info/METADATA", "no name"),
    (with_file("other-1.0.dist-info/RECORD"), "or several", "two packages in one"),
    (no_zip, "no zip", "no zip"),
    (named("tiny-1.0.tar.gz"), "no wheel, and an arena builds no packages", "a package to be built"),
    (named("tiny.py"), "no wheel, and an arena builds no", "a module"),
    (named("tiny.whl"), "is named NAME-VERSION-PYTHON", "a name that is no wheel's"),
    (named("tiny-one-py3-none-any.whl"), "is named NAME-VERSION", "a version that is none"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "sentence", "_why"), EVIL, ids=[row[-1] for row in EVIL])
def test_an_evil_wheel_is_refused_by_its_name(tmp_path, made, sentence, _why):
    path = made(tmp_path / "made")
    read = submitted(tmp_path, path)
    if sentence is None:
        assert len(read_wheels(read)) == 1
        return
    with pytest.raises(BadArchive, match=sentence) as raised:
        read_wheels(read)
    assert all(each.startswith("wheels") for each in raised.value.problems)
    assert any(path.name in each or "2 files have" in each for each in raised.value.problems)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bot.zip", "made"]


def test_a_wheel_lies_in_the_folder_itself(tmp_path):
    path = wheel(tmp_path / "made")
    read = submitted(tmp_path, wheels__more__x=path.read_bytes())
    with pytest.raises(BadArchive, match="wheels/more/x: move it to wheels/ itself"):
        read_wheels(read)


def test_two_wheels_that_write_one_file_are_refused(tmp_path):
    one = wheel(tmp_path / "made")
    other = wheel(tmp_path / "made", {"Tiny/__init__.py": b""}, name="other")
    with pytest.raises(BadArchive, match=r"wheels: .* upper and lower case only"):
        read_wheels(submitted(tmp_path, one, other))


def test_the_limits_hold_for_archive_and_wheels_together(tmp_path, monkeypatch):
    made = [wheel(tmp_path / "made", {f"a{n}/x": b"y" * 500}, name=f"a{n}") for n in range(3)]
    read = submitted(tmp_path, *made)
    assert len(read_wheels(read)) == 3
    with monkeypatch.context() as patch:
        patch.setattr(archive, "MAX_FILES", 16)  # five of the archive and four of each
        with pytest.raises(BadArchive, match=r"wheels/a2-1.0-.*: it has 17 files or more in all"):
            read_wheels(read)
    packed = sum(each.size_bytes for each in read.files)
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", packed + 2_000)
    with pytest.raises(BadArchive, match=r"unpacked it has .* in all"):
        read_wheels(read)


def test_a_bomb_is_not_unpacked_to_be_found(tmp_path, monkeypatch):
    """What all wheels announce together is looked at before the next of them is."""
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 60_000)
    files = {"x": bytes(20_000)}
    made = [wheel(tmp_path / "made", files, name=f"a{n}") for n in range(9)]
    looked = []
    read_zip = archive.read_zip
    monkeypatch.setattr(wheels, "read_zip", lambda *a, **k: looked.append(1) or read_zip(*a, **k))
    with pytest.raises(BadArchive, match="in all"):
        read_wheels(submitted(tmp_path, *made))
    assert len(looked) < 4


FITS = [
    ("py3-none-any", True, "any Python"),
    ("py2.py3-none-any", True, "two Pythons"),
    ("cp26-cp26-linux_x86_64", False, "another Python"),
    ("py3-none-win_amd64", False, "another system"),
    ("py3-none-macosx_11_0_arm64", False, "another processor"),
]


@pytest.mark.parametrize(("tag", "fits", "_why"), FITS, ids=[row[-1] for row in FITS])
def test_a_wheel_is_for_this_python_and_system(tmp_path, tag, fits, _why):
    found = read_wheels(submitted(tmp_path, wheel(tmp_path / "made", tag=tag)))
    if fits:
        require_fitting(found)
        return
    with pytest.raises(BadArchive, match=f"wheels/tiny-1.0-{tag}.whl is for another Python"):
        require_fitting(found)


def test_wheels_are_the_same_unpacked_and_in_whatever_order(tmp_path):
    made = [wheel(tmp_path / "made", {f"{name}.py": b""}, name=name) for name in ("one", "two")]
    read = submitted(tmp_path, *made)
    unpack(read, tmp_path / "out")
    try:
        found = wheels_in(tmp_path / "out")
    finally:
        remove_unpacked(tmp_path / "out")
    assert sorted(found, key=str) == sorted(read_wheels(read), key=str)
    assert wheels_sha256(found) == wheels_sha256(found[::-1])
    assert wheels_sha256(found) != wheels_sha256(found[:1])


def test_an_archive_without_wheels_has_none(tmp_path):
    assert read_wheels(submitted(tmp_path, wheelhouse__x=b"")) == ()
    assert wheels_in(tmp_path) == ()


def test_a_wheel_with_scripts_and_empty_folders_is_taken(tmp_path):
    folder = tmp_path / "made"
    files = {"pkg/__init__.py": b"", "pkg/py.typed": b"", "pkg-2.1.data/scripts/pkg": b"#!python\n"}
    made = wheel(folder, files, name="pkg", version="2.1")
    with zipfile.ZipFile(made, "a") as more:
        more.mkdir("pkg/empty")
    (found,) = read_wheels(submitted(tmp_path, made))
    assert (found.name, found.file) == ("pkg", "pkg-2.1-py3-none-any.whl")

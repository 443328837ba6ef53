"""The TOML of a runtime and its lock: a row for every thing that may be wrong with one."""

import pytest

from arena.bots.runtime_file import (
    BadRuntime,
    LockedWheel,
    RuntimeFile,
    is_name,
    lock_text,
    read_lock,
    read_runtime,
    runtime_sha256,
)

HERE = "cpython-311 linux-x86_64"
ML = RuntimeFile("ml", ("numpy==2.1.3", "torch"))
WHEELS = (LockedWheel("torch", "2.5.1+cpu", "b" * 64), LockedWheel("numpy", "2.1.3", "a" * 64))
HASH = f"--hash=sha256:{'a' * 64}"


def test_what_an_organiser_says():
    toml = f'name = "ml"\npackages = ["numpy==2.1.3", "torch>=2 ; python_version > \'3\'", "x==1 {HASH}"]'
    found = read_runtime(toml)
    assert (found.name, len(found.packages)) == ("ml", 3)


# fmt: off
WRONG = [
    ("",                                             "name: is missing\npackages: is missing",   "nothing is said"),
    ("name = ",                                      "this is not TOML",                         "no TOML"),
    ('name = "ML"\npackages = ["x"]',                "name: should have up to 32 of a-z",        "capitals"),
    ('name = "../ml"\npackages = ["x"]',             "name: should have up to 32 of a-z",        "a path"),
    ('name = "python"\npackages = ["x"]',            "not be python, node, java, own",       "the name of a language"),
    ('name = "ml-0123456789abcdef"\npackages = ["x"]', "name: should have up to 32 of a-z",      "a name like that of a folder"),
    ('name = "ml"\npackages = []',                   "packages: should not be empty",            "no packages"),
    ('name = "ml"\npackages = "numpy"',              "packages: should be a valid list, not 'numpy'", "a text"),
    ('name = "ml"\npackages = ["x"]\npython = "3"',  "there is no key 'python'; the keys are: name, packages", "a key that there is not"),
    ('name = "ml"\npackages = ["numpy=2"]',          r"packages\[0\]: 'numpy=2' is not written as in", "one sign of equality"),
    ('name = "ml"\npackages = ["-r more.txt"]',      "is not written as in",                     "an option of pip"),
    ('name = "ml"\npackages = ["./x.whl"]',          "is not written as in",                     "a path of a package"),
    ('name = "ml"\npackages = ["x @ https://e.example/x.whl"]', "is an address",                 "an address"),
    ('name = "ml"\npackages = ["x==1 --hash=md5:00"]', "an option other than",               "another hash"),
    ('name = "ml"\npackages = ["x==1 --hash=sha256:00 --pre"]', "an option other than",      "an option behind a hash"),
]
# fmt: on


@pytest.mark.parametrize(("toml", "sentence", "_why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_is_wrong_is_said(toml, sentence, _why):
    with pytest.raises(BadRuntime, match=sentence):
        read_runtime(toml)


def test_a_lock_is_read_back():
    text = lock_text(ML, HERE, WHEELS)
    assert sorted(read_lock(text, ML, HERE), key=str) == sorted(WHEELS, key=str)
    assert "numpy==2.1.3 --hash=sha256:aaaa" in text


# fmt: off
OTHERS = [
    (RuntimeFile("ml", ("numpy==2.1.3",)),          HERE,                        None,  "other packages are asked for"),
    (ML,                                            "cpython-312 linux-x86_64",  None,  "another Python"),
    (RuntimeFile("ml", ("torch", "numpy==2.1.3")),  HERE,                        2,     "the same in another order"),
]
# fmt: on


@pytest.mark.parametrize(("asked", "python", "count", "_why"), OTHERS, ids=[r[-1] for r in OTHERS])
def test_a_lock_is_valid_for_its_packages_and_python_only(asked, python, count, _why):
    found = read_lock(lock_text(ML, HERE, WHEELS), asked, python)
    assert (None if found is None else len(found)) == count


@pytest.mark.parametrize("line", ["numpy==2.1.3", "-r more.txt", "evil @ https://e.example/x.whl"])
def test_a_lock_holds_what_was_written_and_nothing_else(line):
    with pytest.raises(BadRuntime, match=r"delete the file to have it written again"):
        read_lock(f"{lock_text(ML, HERE, WHEELS)}{line}\n", ML, HERE)


def test_a_runtime_is_its_wheels_and_its_python():
    same = runtime_sha256(HERE, WHEELS)
    assert runtime_sha256(HERE, WHEELS[::-1]) == same
    assert runtime_sha256("cpython-312 linux-x86_64", WHEELS) != same
    assert runtime_sha256(HERE, WHEELS[:1]) != same


def test_names():
    assert [name for name in ("ml", "python-3.11-ml", "x.y_z", "own", "", "-x", "ml/x") if is_name(name)] == [
        "ml", "python-3.11-ml", "x.y_z",
    ]  # fmt: skip

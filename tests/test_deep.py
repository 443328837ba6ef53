"""Which deep tests run: those that guard a file that changed."""

import os
import re
import subprocess

import pytest

from tests import deep

AS_SOMEBODY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@localhost",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@localhost",
}
COMMANDS = """
set -e
commit() { for file; do echo >>"$file"; done; git add .; git commit --quiet --message "$1"; }
shallow() { git clone --quiet --depth "$1" "file://$PWD" clone; cd clone; }
git init --quiet --initial-branch main checkout
cd checkout
"""

MARK = r'mark\.deep\(f?"([^"]+)"\)'
SIDE = "git checkout -qb side; for n in b c d e; do commit $n; done; git checkout -q main"

# fmt: off
HISTORIES = [
    # history                                            start     changed     why
    ("commit a; git tag v1; commit b; commit c",         "v1",     ["b", "c"],   "the last tag"),
    ("commit a; git tag v1; commit b; git tag v2",       "v1",     ["b"],        "a commit with a tag, and the tag before"),
    ("commit a; git tag v1; commit b; git tag v2; commit c", "v2",     ["c"],        "two tags"),
    ("for n in a b c d e f; do commit $n; done",         "HEAD~3", ["d", "e", "f"], "no tag"),
    ("commit a; commit b",                               "HEAD~1", ["b"],        "fewer commits than are looked at"),
    (f"commit a; {SIDE}; commit f; git merge -qm g side", "HEAD~2", ["b", "c", "d", "e", "f"], "a merge is one commit"),
    ("commit a; git tag v1; git mv a b; commit c",       "v1",     ["a", "b", "c"], "a renamed file has two names"),
    ("commit a; git tag v1; commit b; echo >>a",         "v1",     ["a", "b"],   "a change that is not committed"),
    ("commit a; git tag v1; for n in b c d; do commit $n; done; shallow 3", "HEAD~2", ["c", "d"], "a shallow clone without the tag"),
    ("commit a; commit b; shallow 1",                    None,     None,       "a shallow clone of one commit"),
    ("commit a",                                         None,     None,       "one commit"),
    ("rm -r .git",                                       None,     None,       "no history, as in an archive of sources"),
]
# fmt: on


@pytest.mark.parametrize(
    ("history", "start", "changed", "why"), HISTORIES, ids=[row[-1] for row in HISTORIES]
)
def test_changes_are_counted_from(history, start, changed, why, tmp_path, monkeypatch):
    monkeypatch.setattr(deep, "COMMITS", 3)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    done = subprocess.run(
        ["bash", "-c", f"{COMMANDS}{history}\npwd"],
        cwd=tmp_path,
        env={**os.environ, **AS_SOMEBODY},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    checkout = done.stdout.split()[-1]
    assert deep.start_of(checkout) == start
    if start:
        assert deep.changed_since(checkout, start) == changed


GROUPS = {"the SDK": ("clients/go/*", "kit/*.json"), "chaos": ("journal/*", "tests/chaos/*")}

# fmt: off
CHANGES = [
    # changed                               groups                          why
    (["clients/go/a/b.go"],                 {"the SDK": "clients/go/a/b.go"}, "a file far below a guarded folder"),
    (["kit/1.json", "clients/go/b.go"],     {"the SDK": "kit/1.json"},      "the first of two reasons"),
    (["journal/a.py", "kit/1.json"],        {"the SDK": "kit/1.json", "chaos": "journal/a.py"}, "two groups"),
    (["kit/README.md", "a/journal/b"],      {},                             "files that nothing guards"),
    ([],                                    {},                             "nothing changed"),
]
# fmt: on


@pytest.mark.parametrize(("changed", "groups", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_what_guards_a_changed_file_is_chosen(changed, groups, why, monkeypatch):
    monkeypatch.setattr(deep, "GUARDED", GROUPS)
    assert deep.chosen(changed) == groups


def test_the_groups_are_named_on_one_side_and_the_reasons_on_the_other(monkeypatch, capsys):
    monkeypatch.setattr(deep, "GUARDED", GROUPS)
    monkeypatch.setattr(deep, "start_of", lambda checkout: "v1")
    monkeypatch.setattr(deep, "changed_since", lambda checkout, start: ["journal/a.py"])
    deep.main()
    names, reasons = capsys.readouterr()
    assert names == "chaos\n"
    assert reasons == (
        "test: deep tests of chaos run, as journal/a.py changed since v1\n"
        "test: no file that these guard changed since v1: the SDK\n"
    )


def test_without_a_history_no_group_is_named_and_it_is_said(monkeypatch, capsys):
    monkeypatch.setattr(deep, "start_of", lambda checkout: None)
    deep.main()
    names, reasons = capsys.readouterr()
    assert names == ""
    assert reasons == f"{deep.UNKNOWN}\n"


def test_what_is_guarded_is_there():
    globs = {glob for globs in deep.GUARDED.values() for glob in globs}
    assert [glob for glob in globs if not any(deep.CHECKOUT.glob(glob))] == []


def test_every_group_has_tests_and_every_deep_test_a_group():
    files = (deep.CHECKOUT / "tests").rglob("*.py")
    marks = {mark for path in files for mark in re.findall(MARK, path.read_text("utf-8"))}
    patterns = [re.sub(r"\\{.*?\\}", ".+", re.escape(mark)) for mark in marks]
    assert marks
    assert [
        group for group in deep.GUARDED if not any(re.fullmatch(p, group) for p in patterns)
    ] == []
    assert [p for p in patterns if not any(re.fullmatch(p, group) for group in deep.GUARDED)] == []

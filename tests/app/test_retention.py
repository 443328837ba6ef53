"""What `arena prune` removes of a data folder, and what stays."""

import json
import os
from dataclasses import replace

import pytest
from click.testing import CliRunner

from arena import durable_files
from arena.app.retention import prune
from arena.cli import main as arena
from arena.store import StoredMatch, StoreError, data_folder, open_store
from tests.store import made
from tests.store.made import MATCHES, result

OLD_S, CUT_S, NEW_S = 1_000.0, 2_000.0, 3_000.0
ALONE = replace(result(MATCHES[0]), match_id="alone")
FILES = {
    # path                              written  stays   why
    f"replays/{MATCHES[0].id}.replay": (OLD_S, True, "its competition is not finished"),
    "replays/alone.replay": (OLD_S, False, "an old match outside of competitions"),
    "replays/alone-2.replay": (NEW_S, True, "a new one"),
    f"notes/{MATCHES[0].id}.0.notes": (OLD_S, True, "notes of a replay that stays"),
    "notes/alone.0.notes": (OLD_S, False, "notes of a replay that goes"),
    "logs/ann@1/ann.log": (OLD_S, False, "an old log"),
    "logs/ann@2/ann.log": (NEW_S, True, "a log that is written"),
    f"unpacked/{'a' * 64}/bot.py": (OLD_S, False, "the files of no version"),
    f"installed/{'b' * 64}/x.py": (OLD_S, False, "the packages of no version"),
    "journal/1-1-000001.journal": (OLD_S, True, "journals stay"),
    "journal/deals": (OLD_S, True, "secrets of deals stay"),
    "commitments": (OLD_S, True, "the log of commitments stays"),
    "arena-key": (OLD_S, True, "keys stay"),
    f"blobs/{'c' * 64}": (OLD_S, True, "submitted archives stay"),
}


@pytest.fixture
def data(tmp_path):
    for name, (at_s, _, _) in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(10))
        os.utime(path, (at_s, at_s))
        os.utime(path.parent, (at_s, at_s))
    with open_store(data_folder.store_path(tmp_path)) as store:
        made.made(store)
        ended = [StoredMatch(ALONE, "democracy", ("ann", "bob"), "", 1)]
        store.matches().record(ended, ["alone"])
    return tmp_path


# fmt: off
LINKS = [
    # link                          target                       why
    ("replays/alone-3.replay",      "target/a.replay",        "a replay"),
    (f"unpacked/{'d' * 64}",        "target",                 "a folder of files"),
    (f"installed/{'e' * 64}",       "target",                 "a folder of packages"),
    ("logs/ann@3",                  "target",                 "a folder of logs"),
]
# fmt: on


@pytest.mark.parametrize(("link", "target", "why"), LINKS, ids=[row[-1] for row in LINKS])
def test_what_a_link_leads_to_stays(data, tmp_path_factory, link, target, why):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "target").mkdir()
    for name in ("a.replay", "b.log", "bot.py"):
        (outside / "target" / name).write_text("precious")
        os.utime(outside / "target" / name, (OLD_S, OLD_S))
    (data / link).symlink_to(outside / target)
    os.utime(data / link, (OLD_S, OLD_S), follow_symlinks=False)
    prune(data, CUT_S)
    assert {path.name for path in (outside / "target").iterdir()} == {
        "a.replay",
        "b.log",
        "bot.py",
    }


def test_what_goes_and_what_stays(data):
    prune(data, CUT_S)
    stayed = {name: (data / name).exists() for name in FILES}
    assert stayed == {name: stays for name, (_, stays, _) in FILES.items()}
    with open_store(data_folder.store_path(data)) as store:
        assert not store.matches().get("alone").published
        assert store.matches().get("alone").outcome == ALONE


def test_a_dry_run_says_the_same_and_removes_nothing(data):
    would = prune(data, CUT_S, dry_run=True)
    assert all((data / name).exists() for name in FILES)
    assert would == prune(data, CUT_S)
    assert {
        removed.kind: (removed.files, removed.size_bytes, removed.kept) for removed in would
    } == {
        "replays": (1, 10, 1),
        "notes": (1, 10, 0),
        "logs": (1, 10, 0),
        "unpacked": (1, 10, 0),
        "installed": (1, 10, 0),
    }


def test_nothing_is_removed_during_a_backup(data, monkeypatch):
    monkeypatch.setattr(data_folder, "FILES_LOCK_S", 0)
    with (
        durable_files.folder_locked(data / "journal"),
        pytest.raises(StoreError, match="a backup or `arena prune` runs"),
    ):
        prune(data, CUT_S)
    assert all((data / name).exists() for name in FILES)


def test_the_command(data):
    words = ["prune", "--older-than", "90d", "--dry-run", "--data", str(data)]
    assert "MB to free" in CliRunner().invoke(arena, words).output
    result = json.loads(CliRunner().invoke(arena, [*words, "--json"]).stdout)
    assert result["dry_run"]
    assert {kind["kind"] for kind in result["kinds"]} >= {"replays", "logs", "installed"}

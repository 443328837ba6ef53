"""`arena replay download`: the replay of a match that an arena on another machine played."""

import contextlib
import importlib
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from arena.cli import arena_client, main

replay = importlib.import_module("arena.cli.replay")


@pytest.fixture
def typed(monkeypatch, tmp_path):
    """Types a command beside an arena that has one replay, in two pieces."""
    pieces = [SimpleNamespace(piece=b"a re"), SimpleNamespace(piece=b"play")]
    service = SimpleNamespace(asked=[])
    service.GetReplay = lambda request, **_: service.asked.append(request.replay_id) or iter(pieces)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arena_client, "channel_of", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(replay, "ReplayServiceStub", lambda _: service)

    def run(*words):
        return service, CliRunner().invoke(main, ["replay", "download", *words])

    return run


# fmt: off
FILES = [
    # words               file             why
    ((),                  "3f9a.replay",   "named after its match"),
    (("-o", "lost"),      "lost",          "named by its author"),
]
# fmt: on


@pytest.mark.parametrize(("words", "file", "_why"), FILES, ids=[row[-1] for row in FILES])
def test_a_replay_is_downloaded_into_a_file(typed, tmp_path, words, file, _why):
    service, done = typed("3f9a", *words)
    assert done.exit_code == 0, done.output
    assert service.asked == ["3f9a"]
    assert (tmp_path / file).read_bytes() == b"a replay"
    assert f"match why {file} BOT" in done.stdout


def test_the_notes_of_a_bot_lie_beside_its_replay(typed, tmp_path):
    service, done = typed("3f9a", "--notes-of", "1")
    assert (done.exit_code, service.asked) == (0, ["3f9a", "3f9a"])
    assert (tmp_path / "3f9a.1.notes").read_bytes() == b"a replay"


def test_a_file_that_cannot_be_written_is_an_error_in_a_sentence(typed):
    _, done = typed("3f9a", "-o", "nowhere/lost.replay")
    assert done.exit_code == 1
    assert "cannot write nowhere/lost.replay: No such file or directory" in done.stderr


def test_why_of_a_match_of_another_arena_names_the_download(tmp_path):
    (tmp_path / "replays").mkdir()
    done = CliRunner().invoke(main, ["match", "why", "3f9a", "my-bot", "--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "if another arena played it: arena replay download 3f9a" in done.stderr

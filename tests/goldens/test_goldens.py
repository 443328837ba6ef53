"""Every game plays as its golden file says; `tests/goldens/__init__.py` says what to do if not."""

import pytest

from arena.games.catalogue import GAMES
from tests.goldens import FOLDER, document_path, golden, path_of, sample, sample_path
from tests.rows import slow_unless_of_each_kind

SECTIONS = (
    "Players",
    "Deck",
    "Turn",
    "Scoring",
    "Rulings",
    "Options",
    "Information",
    "Sample",
)


@pytest.mark.parametrize("game", slow_unless_of_each_kind(GAMES), ids=lambda game: game.id)
def test_a_game_plays_as_it_did(game):
    path = path_of(game)
    assert path.exists(), f"no golden file: run `python -m tests.goldens {game.id}` and commit it"
    assert golden(game).splitlines() == path.read_text("utf-8").splitlines()


@pytest.mark.parametrize("game", slow_unless_of_each_kind(GAMES), ids=lambda game: game.id)
def test_the_page_of_a_game_is_what_the_command_shows(game):
    again = f"run `python -m tests.goldens {game.id}` and commit what it writes"
    assert sample_path(game).read_text("utf-8") == sample(game), again
    assert document_path(game).read_text("utf-8") == game.describe(), again
    for section in SECTIONS:
        assert f"\n## {section}\n" in game.describe()


def test_no_golden_file_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.txt")} <= {game.id for game in GAMES}

"""Every game plays as its golden file says; `tests/goldens/__init__.py` says what to do if not."""

import pytest

from arena.games.catalogue import GAMES
from tests.goldens import FOLDER, golden, path_of


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_game_plays_as_it_did(game):
    path = path_of(game)
    assert path.exists(), f"no golden file: run `python -m tests.goldens {game.id}` and commit it"
    assert golden(game).splitlines() == path.read_text("utf-8").splitlines()


def test_no_golden_file_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.txt")} <= {game.id for game in GAMES}

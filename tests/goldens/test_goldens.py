"""Every game plays as its golden file says; `tests/goldens/__init__.py` says what to do if not."""

import pytest

from arena.games.catalogue import GAMES
from tests.goldens import (
    FOLDER,
    document,
    document_path,
    golden,
    index,
    path_of,
    sample,
    sample_path,
)
from tests.goldens.matches import difference, digests_path, head, plans, stored
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
    assert document_path(game).read_text("utf-8") == document(game), again
    for section in SECTIONS:
        assert f"\n## {section}\n" in game.describe()


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_game_has_a_page_of_its_own_with_its_rulings(game):
    title, *_ = text = game.describe().splitlines()
    assert title.startswith(f"# {game.title}")
    following = text[text.index("## Rulings") + 1 :]
    rulings = following[: next(at for at, row in enumerate(following) if row.startswith("## "))]
    assert any(row.startswith("- ") for row in rulings)
    for setting in game.settings:
        assert f"`{setting.name}`" in game.describe(), setting.name


def test_the_site_lists_every_game():
    page = document_path(GAMES[0]).with_name("index.md")
    assert page.read_text("utf-8") == index(), "run `python -m tests.goldens` and commit it"


MATCHES = [
    pytest.param(game, plan, id=f"{game.id} {plan}", marks=[pytest.mark.slow] if plan.slow else [])
    for game in GAMES
    for plan in plans()[game.id]
]


@pytest.mark.parametrize(("game", "plan"), MATCHES)
def test_a_match_is_what_it_was(game, plan):
    again = f"if that is meant, run `python -m tests.goldens {game.id}` and commit what it writes"
    expected = stored(game).get(str(plan))
    assert expected is not None, f"{plan} has no digests: {again}"
    result = difference(game, plan, expected)
    assert result is None, f"{result}: {again}"


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_digests_are_those_of_the_listed_matches_played_to_their_end(game):
    assert digests_path(game).read_text("utf-8").startswith(head(game))
    assert list(stored(game)) == [str(plan) for plan in plans()[game.id]]
    for lines in stored(game).values():
        assert lines[-1] != "result None" or len(lines) == len(REFUSED), "a match was cut short"


REFUSED = ("the match", "one step in which the options are refused", "no result")


def test_no_golden_file_is_left_over():
    known = {game.id for game in GAMES}
    assert {path.stem for path in FOLDER.glob("*.txt")} <= known
    assert {path.stem for path in FOLDER.glob("*.digests")} <= known
    assert set(plans()) == known

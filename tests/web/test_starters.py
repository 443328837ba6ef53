"""The bots that pages offer to begin with can be submitted as they are."""

import runpy
import zipfile

import pytest

from arena.bots.archive import read_archive
from arena.bots.manifest import read_manifest
from arena.games.catalogue import GAMES
from arena.web.addresses import NoSuchPage
from arena.web.starter import STARTERS, all_starters, starter


def test_every_game_has_bots_that_are_valid_submissions_of_it(tmp_path):
    made = 0
    for path, body in all_starters():
        file = tmp_path / "bot.zip"
        file.write_bytes(body)
        archive = read_archive(file)
        manifest = read_manifest(archive.manifest, archive.paths)
        assert [game.id for game in manifest.games] == [path.rpartition("/")[2][:-4]], path
        made += 1
    assert made == len(GAMES) * len(STARTERS)


@pytest.mark.parametrize("kind", STARTERS)
@pytest.mark.parametrize("family", sorted({game.family for game in GAMES}))
def test_a_bot_to_begin_with_plays_a_family_of_the_sdk(family, kind, tmp_path):
    game = next(game for game in GAMES if game.family == family)
    (tmp_path / "bot.zip").write_bytes(starter(kind, game.id))
    zipfile.ZipFile(tmp_path / "bot.zip").extractall(tmp_path)
    names = runpy.run_path(str(tmp_path / "bot.py"))
    assert any(getattr(value, "__module__", "") == "<run_path>" for value in names.values())


@pytest.mark.parametrize(("kind", "game"), [("best", "jam"), ("random", "whist"), ("sample", "..")])
def test_nothing_else_is_offered_to_begin_with(kind, game):
    with pytest.raises(NoSuchPage):
        starter(kind, game)

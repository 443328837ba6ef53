"""The demo plays every game, with the bot that is made for it."""

from arena.cli.demo import EVERY_GAME, PROGRAMME
from arena.games.catalogue import GAMES, game_by_id
from tests.cli.test_mistakes import ROOT


def test_the_demo_plays_every_game_once():
    assert [event.game for event in PROGRAMME] == [game.id for game in GAMES]


def test_the_bots_and_seats_of_the_demo_exist():
    for event in PROGRAMME:
        assert event.seats in game_by_id(event.game).seats
        for bot in (event.bot, *EVERY_GAME):
            assert (ROOT / "sample_bots" / bot).is_file(), bot

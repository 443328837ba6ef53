"""What a seat reads: the table of its own view, the hand so far, and nothing of other seats."""

import pytest

import cardarena
from arena.games.catalogue import GAMES
from arena.local.words import Words
from cardarena import local
from tests.rows import EACH_GAME, slow_unless_of_each_kind


class Reader(cardarena.Bot):
    """Plays by chance, and keeps its asks in words."""

    def started(self):
        self.words = Words(self.start)
        self.read = []

    def move(self, ask):
        self.read.append(self.words.of(ask))
        return ask.random.choice(ask.moves)


def read(game_id, seats, **options):
    """The words of a match, by seat."""
    bots = [Reader() for _ in range(seats)]
    local.play(game_id, bots, seed="7", options=options)
    return [bot.read for bot in bots]


@pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, EACH_GAME), ids=[game.id for game in GAMES]
)
def test_every_ask_has_a_table_and_its_moves(game):
    for seat, asks in enumerate(read(game.id, game.seats[0])):
        assert asks
        for words in asks:
            assert f"Seat {seat}: " in words.table
            assert len(set(words.moves)) == len(words.moves) > 0


def test_a_hidden_hand_is_written_as_backs_and_the_own_as_cards():
    first, second = read("sixty_six", 2, hands=2)
    by_first, by_second = (asks[0].table.split("Seat 1:") for asks in (first, second))
    assert "hand: ??" not in by_first[0]
    assert "hand: ?? ??" in by_first[1]
    assert "hand: ?? ??" in by_second[0]
    assert "hand: ??" not in by_second[1]


def test_news_tell_the_end_of_a_hand_and_the_table_shows_the_next():
    (asks, _) = read("pineapple", 2, hands=4)
    after = [words for words in asks if "In all: " in words.news]
    assert after
    assert all("A hand is dealt" in words.news for words in after)
    assert all("In all: " not in words.table for words in after)


def test_rules_are_the_page_with_the_options_of_the_match_and_without_fields_of_views():
    seen = []

    class Rules(Reader):
        def started(self):
            super().started()
            seen.append(self.words.rules())

    local.play("jam", [Rules, Rules], seed="7", options={"hands": 2})
    assert seen[0].startswith("# Jam\n")
    assert "You are seat 0. Options: hands = 2" in seen[0]
    assert "hand_sizes" not in seen[0]
    assert "## Scoring" in seen[0]

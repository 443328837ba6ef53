"""The most that scores may differ: never exceeded, and where it can be reached, reached."""

import pytest

from arena.games.catalogue import GAMES, game_by_id
from tests.games.bounds import fixed_length, reach
from tests.rows import RULES, slow_unless

MATCHES = 20
QUICK = {
    "abstrac",
    "democracy",
    "chinese_poker",
    "jam",
    "klaberjass",
    "sixty_six",
    "soko",
    "pineapple",
}
UNBOUNDED = {"eleusis"}
RACES = {game.id for game in GAMES if "target" in {option.name for option in game.settings}}
"""Games that the first seat with so many points wins, where no number of hands is set."""


def rows():
    return slow_unless(
        lambda game, seats: game.id in QUICK and seats <= 4,
        [
            pytest.param(game, seats, id=f"{game.id}, {seats} seats")
            for game in GAMES
            for seats in sorted({game.seats[0], game.seats[-1]})
        ],
        RULES,
    )


@pytest.mark.parametrize(("game", "seats"), rows())
def test_scores_of_one_board_are_never_further_apart(game, seats):
    result = reach(game, fixed_length(game, seats), seats, MATCHES, "ci")
    if game.id in UNBOUNDED:
        assert result.bound is None
    else:
        assert 0 < result.widest <= result.bound


@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        pytest.param("sixty_six", {"hands": 2}, id="three victory points a hand"),
        pytest.param("democracy", {"hands": 2}, id="four tribes an island"),
        pytest.param("soko", {"hands": 2}, id="two stacks a hand"),
        pytest.param("soko", {"format": "freezeout"}, marks=RULES, id="all chips of a freezeout"),
        pytest.param("pineapple", {"hands": 2}, id="four bets in each of four rounds"),
        pytest.param(
            "pineapple", {"hands": 2, "structure": "nolimit"}, id="stacks without a limit"
        ),
    ],
)
def test_the_bound_is_reached_where_play_can_reach_it(game_id, options):
    result = reach(game_by_id(game_id), options, 2, 100, "fixed")
    assert result.widest == result.bound


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_race_has_no_bound_and_a_fixed_length_one_for_each_hand(game):
    seats = game.seats[0]

    def bound(hands):
        return game.margin_bound(game.options({"hands": hands}, seats), seats)

    assert (bound(0) is None) == (game.id in RACES | UNBOUNDED)
    if game.id not in UNBOUNDED:
        assert bound(4 * seats) == 2 * bound(2 * seats)

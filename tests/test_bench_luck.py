"""What `bench.luck` takes for luck: cards to come are shuffled, nothing that a seat has seen, and the mean is zero."""

import random
import statistics

import pytest

from arena.games.catalogue import game_by_id
from arena.house.bot import searcher_of
from bench.luck import GAMES, Trial
from tests.games.random_play import moments


@pytest.mark.parametrize("game_id", GAMES)
def test_only_cards_to_come_are_shuffled(game_id):
    game, chance, changed, counts = game_by_id(game_id), random.Random(2), 0, set()
    options = game.options({"hands": 8}, 2)
    for moment in moments(game, options, 2, 1):
        shuffled, to_come = GAMES[game_id](moment.state, chance)
        for seat in (0, 1, None):
            assert game.rules.view(shuffled, seat) == game.rules.view(moment.state, seat)
        changed += shuffled != moment.state
        counts.add(to_come)
    assert changed > 0
    assert len(counts) > 2, "they get fewer"


@pytest.mark.slow
def test_the_mean_of_luck_is_zero_and_it_explains_scores():
    trial = Trial(searcher_of("sixty_six"), GAMES["sixty_six"], (0, 0), 8)
    tables = [trial._table(f"deal {number}", number % 2) for number in range(60)]
    scores, lucks = zip(*tables, strict=True)
    error = statistics.stdev(lucks) / len(lucks) ** 0.5
    assert abs(statistics.mean(lucks)) < 3.5 * error
    assert statistics.correlation(scores, lucks) > 0.3

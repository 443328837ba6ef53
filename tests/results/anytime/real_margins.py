"""Margins of real games: two players over the same boards, in both seats.

One takes the first move offered, one time in seven any; the other takes any, one time in seven the
first.
"""

import random

import numpy as np

from arena.games.catalogue import game_by_id
from arena.local.turns import turns
from arena.testing.deals import SeededDeals
from tests.games.random_play import pick

GAMES = {
    "sixty_six": {"hands": 4},
    "klaberjass": {"hands": 4},
    "jam": {"hands": 4},
    "soko": {"hands": 4},
    "pineapple": {"hands": 4, "structure": "nolimit"},
}


def margins_of(game_id, deal_sets):
    """The margin of each deal-set, and the most that the rules allow."""
    game = game_by_id(game_id)
    options = game.options(GAMES[game_id], 2)
    return (
        np.array([margin(game, options, f"{game_id} {number}") for number in range(deal_sets)]),
        game.margin_bound(options, 2),
    )


def margin(game, options, seed):
    tables = [scores(game, options, seed, table) for table in range(2)]
    return sum(own[table] - own[1 - table] for table, own in enumerate(tables)) / 2


def scores(game, options, seed, table):
    draw, deals, rules = random.Random(f"{seed} {table}"), SeededDeals(seed), game.rules

    def choose(state, seat):
        legal = rules.moves(state, seat)
        plays_first = (seat == table) != (draw.randrange(7) == 0)
        return legal.offered[0] if plays_first else pick(game, legal, draw)

    *_, last = turns(rules, options, 2, deals, choose)
    return rules.result(last.after).scores

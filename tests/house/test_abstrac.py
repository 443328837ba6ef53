"""The house bot's search of Abstrac is exact once it sees the end of the row."""

import random

import pytest

from arena.games.abstrac.messages import Choose
from arena.games.catalogue import game_by_id
from arena.house.policies.abstrac import look_ahead, policy
from arena.house.search import LookedAhead
from arena.testing.deals import SeededDeals

GAMES = ["abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"]
PLENTY = 100_000
"""Steps with which every search is exact."""


def begun(game, seed):
    options = game.options({"hands": 1}, 2)
    return game.rules.start(options, 2, SeededDeals(seed)).state


def late(game, seed, left):
    """A position with at most so many cards in the row, after any takes."""
    chance, state = random.Random(seed), begun(game, seed)
    while state.row.first is None or len(state.row.cards) > left:
        (seat,) = game.rules.to_act(state)
        move = chance.choice(game.rules.moves(state, seat).all)
        state = game.rules.step(state, ((seat, move),), SeededDeals(seed)).state
    return state


def margins(game, state):
    """The margin of each move of the seat to act, if both play on perfectly: every line is played by the rules."""
    (seat,) = game.rules.to_act(state)
    return {
        move: margin(game, game.rules.step(state, ((seat, move),), SeededDeals("x")).state, seat)
        for move in game.rules.moves(state, seat).all
    }


def margin(game, state, seat):
    hand = state.hand_scores[-1] if state.hand_scores else state.half_points
    if state.hand_scores or state.half == 2:
        return hand[seat] - hand[1 - seat]
    (acting,) = game.rules.to_act(state)
    best = max(margins(game, state).values())
    return best if acting == seat else -best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("game_id", GAMES)
def test_it_plays_what_the_rules_show_to_be_best(game_id, seed):
    game = game_by_id(game_id)
    state = late(game, seed, 7)
    (seat,) = game.rules.to_act(state)
    result = margins(game, state)
    for move, own in result.items():
        ahead = look_ahead(state, seat, PLENTY, move)
        assert ahead.is_sure
        assert result[ahead.move] == max(result.values())
        assert ahead.gain == max(result.values()) - own


@pytest.mark.parametrize("game_id", GAMES)
def test_to_take_first_wins_what_to_take_second_loses(game_id):
    game = game_by_id(game_id)
    state = begun(game, 1)
    (seat,) = game.rules.to_act(state)
    result = {
        move: look_ahead(state, seat, PLENTY, move).gain
        for move in game.rules.moves(state, seat).all
    }
    assert all(isinstance(move, Choose) for move in result)
    assert min(result.values()) == 0
    best = min(result, key=result.get)
    assert look_ahead(state, seat, PLENTY, max(result, key=result.get)).move == best


@pytest.mark.parametrize("game_id", GAMES)
def test_without_time_no_move_is_better(game_id):
    game = game_by_id(game_id)
    state = late(game, 1, 12)
    (seat,) = game.rules.to_act(state)
    played = policy(state, seat, None)
    assert look_ahead(state, seat, 0, played) == LookedAhead(played, 0.0, is_sure=False)

"""The house bot at poker: its bets follow from equity, and it reads those of others."""

import importlib
import math
import random
import statistics

import pytest

from arena.games.betting.moves import FOLD, Wager, raise_to
from arena.games.catalogue import game_by_id
from arena.house import betting
from arena.house.betting import _equities_of, bet
from arena.house.search import Searcher
from arena.testing.deals import SeededDeals
from tests.games.random_play import moments

GAMES = [
    # game                     options
    ("soko",                   {}),
    ("soko",                   {"structure": "nolimit"}),
    ("pineapple",              {}),
    ("crazy_pineapple_hi_lo",  {"structure": "nolimit"}),
]  # fmt: skip
EQUITIES = [number / 40 for number in range(41)]


def decisions(game_id, given, seats=3):
    """States in which a seat bets, with the seat and its moves."""
    game = game_by_id(game_id)
    options = game.options({"hands": 3 * seats, **given}, seats)
    for moment in moments(game, options, seats, 5):
        (seat, *others) = moment.acting
        if not others and moment.state.phase.value != "discard":
            yield game, options, moment.state, seat, game.rules.moves(moment.state, seat).offered


@pytest.mark.parametrize(("game_id", "given"), GAMES, ids=str)
def test_a_bet_is_read_as_the_equities_with_which_it_is_made(game_id, given):
    seen = set()
    for _game, _options, state, _seat, offered in decisions(game_id, given):
        spans = [_equities_of(move, state.betting, offered) for move in offered]
        for equity in EQUITIES:
            move = bet(state.betting, offered, equity)
            low, high = spans[offered.index(move)]
            assert low - 1e-9 <= equity <= high + 1e-9, (move, state.betting)
            seen.add(type(move))
        assert sum(high > low for low, high in spans) == len(
            {bet(state.betting, offered, number / 2000) for number in range(-1, 2002)}
        ), "a move that no equity makes has no equities"
    assert len(seen) >= 5, "folds, checks, calls, bets and raises"


def test_a_bet_of_a_size_that_is_not_offered_is_read_as_the_next_smaller_one():
    for _game, _options, state, _seat, offered in decisions("soko", {"structure": "nolimit"}):
        wagers = [move for move in offered if isinstance(move, Wager)]
        if len(wagers) > 2 and wagers[1].to > wagers[0].to + 1:
            between = raise_to(wagers[1].to - 1)
            spans = [_equities_of(item, state.betting, offered) for item in (wagers[0], between)]
            assert spans[0] == spans[1]
            return
    raise AssertionError("no state has sizes between those that are offered")


def test_the_likelihood_is_the_chance_of_all_bets_of_others():
    """By the normal distribution, and by the part of bets that are not read."""
    for _game, _options, state, seat, offered in decisions("soko", {}):
        _, high = _equities_of(FOLD, state.betting, offered)
        if FOLD not in offered or not math.isfinite(high):
            continue
        folds = [(state, seat, FOLD)]
        normal = statistics.NormalDist(0.3, betting.EQUITY_ERROR)
        wanted = betting.OTHERWISE / len(offered) + (1 - betting.OTHERWISE) * normal.cdf(high)
        rules = game_by_id("soko").rules
        result = betting.likelihood(folds, seat + 1, rules.moves, lambda *_: 0.3)
        assert result == pytest.approx(wanted, abs=0.005)
        assert betting.likelihood(folds * 2, seat + 1, rules.moves, lambda *_: 0.3) == result**2
        assert betting.likelihood(folds, seat, rules.moves, lambda *_: 0.3) == 1, "its own"
        return
    raise AssertionError("no state has a price")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_id", "given"),
    GAMES,
    ids=str,
)
def test_the_cards_of_seats_that_bet_by_the_policy_are_likelier_than_others(game_id, given):
    game, chance, gains = game_by_id(game_id), random.Random(6), []
    policies = importlib.import_module(f"arena.house.policies.{game.family}")
    options, deals = game.options({"hands": 16, **given}, 2), SeededDeals("bets")
    state = game.rules.start(options, 2, deals).state
    while acting := game.rules.to_act(state):
        if len(acting) == 1 and len(state.line.starts) > 1:
            view = game.rules.view(state, acting[0])
            drawn = [
                game.sample_state(view, options, acting[0], chance.randrange) for _ in range(8)
            ]
            real, *others = (
                math.log(policies.likelihood(item, acting[0], chance.randrange))
                for item in (state, *drawn)
            )
            gains.append(real - statistics.mean(others))
        chosen = tuple((seat, policies.policy(state, seat, chance.randrange)) for seat in acting)
        state = game.rules.step(state, chosen, deals).state
    error = statistics.stdev(gains) / len(gains) ** 0.5
    assert statistics.mean(gains) > 3 * error > 0


def test_likelier_worlds_are_drawn_more_often():
    game = game_by_id("sixty_six")
    options = game.options({"hands": 2}, 2)
    state = game.rules.start(options, 2, SeededDeals("worlds")).state
    (seat,) = game.rules.to_act(state)
    view, card = game.rules.view(state, seat), state.deal.sides[1 - seat].hand[0]

    def likelihood(world, of, _):
        assert of == seat
        return 9.0 if card in world.deal.sides[1 - seat].hand else 1.0

    def share(**given):
        search = Searcher(game, lambda *_: None, **given)
        worlds = [search._world(view, options, seat, random.Random(n)) for n in range(300)]
        return statistics.mean(card in world.deal.sides[1 - seat].hand for world in worlds)

    assert share(likelihood=likelihood) > share() + 0.3

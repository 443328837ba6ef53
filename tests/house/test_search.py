"""The search of the house bots: it finds what the policy misses, and pays no attention to hidden cards."""

import math
import random

import pytest

from arena.games.catalogue import GAMES, game_by_id
from arena.house.bot import player
from arena.house.policies import open_face_chinese_poker as open_face
from arena.house.search import BETTER_Z, FEWEST_WORLDS, LEAVE_Z, Searcher, _Scores
from arena.sandbox.command import BadCommand, parse_commands
from arena.sandbox.house_levels import STEPS
from arena.testing.deals import SeededDeals
from cardarena import local
from tests.games.random_play import moments
from tests.rows import EACH_GAME, slow_unless_of_each_kind

SIXTY_SIX = game_by_id("sixty_six")


def test_a_command_names_a_level():
    sample, mine = parse_commands(["house:sample", "mine=house:search-20ms"])
    assert (sample.name, mine.name) == ("house-sample", "mine")
    assert (sample.argv[2], mine.argv[2]) == ("sample", "search-20ms")


def test_a_level_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(
        BadCommand, match="'house:best'; the levels are: random, sample, search-20ms"
    ):
        parse_commands(["house:best"])


def first(state, seat, below):
    """A policy that plays the first move: in Sixty-Six it claims at once, and loses."""
    return SIXTY_SIX.rules.moves(state, seat).offered[0]


def begun():
    options = SIXTY_SIX.options({"hands": 2}, 2)
    state = SIXTY_SIX.rules.start(options, 2, SeededDeals("search")).state
    (seat,) = SIXTY_SIX.rules.to_act(state)
    return options, state, seat


def chosen(policy, steps, seed=1):
    options, state, seat = begun()
    view = SIXTY_SIX.rules.view(state, seat)
    search = Searcher(SIXTY_SIX, policy)
    return search.choose(view, options, seat, 0, steps, random.Random(seed))


def test_a_move_that_loses_at_once_is_left():
    result = chosen(first, 600)
    assert result.move != first(begun()[1], begun()[2], None)
    assert result.gain > 0


def test_without_steps_the_policy_plays():
    _options, state, seat = begun()
    assert chosen(first, 0).move == first(state, seat, None)
    assert chosen(first, 0).worlds == 0


def test_it_follows_from_the_view_and_the_dice():
    assert chosen(first, 600, seed=3) == chosen(first, 600, seed=3)


def test_it_takes_about_as_many_steps_as_it_is_given():
    assert 600 <= chosen(first, 600).steps < 1_200


def test_it_ends_when_its_time_is_up():
    """Each world is asked for, so that a bot with a short clock answers in time by what it knows."""
    options, state, seat = begun()
    view, asked = SIXTY_SIX.rules.view(state, seat), iter([False, False, False, True])
    search, chance = Searcher(SIXTY_SIX, first), random.Random(1)
    assert search.choose(view, options, seat, 0, 600, chance, lambda: next(asked)).worlds == 3


def test_only_candidates_are_searched():
    options, state, seat = begun()
    usual = first(state, seat, None)
    other = SIXTY_SIX.rules.moves(state, seat).offered[-1]
    view = SIXTY_SIX.rules.view(state, seat)
    search = Searcher(SIXTY_SIX, first, candidates=lambda *_: [usual, other])
    assert search.choose(view, options, seat, 0, 600, random.Random(1)).move == other


def test_a_rollout_policy_plays_after_the_first_move_only():
    options, state, seat = begun()
    view, asked = SIXTY_SIX.rules.view(state, seat), []
    search = Searcher(SIXTY_SIX, lambda *seen: asked.append(seen) or first(*seen), rollout=first)
    search.choose(view, options, seat, 0, 600, random.Random(1))
    assert len(asked) == 1


def test_a_search_of_open_face_ends_with_the_hand_and_the_fantasyland_that_it_earned():
    game = game_by_id("open_face_chinese_poker")
    rules, options = game.rules, game.options({"hands": 40}, 2)
    state = rules.start(options, 2, SeededDeals("search")).state
    (seat,) = rules.to_act(state)
    played = Searcher(game, open_face.rollout, last_hand=open_face.last_hand)
    result = played.choose(rules.view(state, seat), options, seat, 0, 1, random.Random(1))
    assert result.steps < 2 * 14 * 18, "14 moves, a hand of 18 steps, and not two hands more"


# fmt: off
SCORES = [
    # a row for each world, of the policy's move and two others             plays   why
    ([(0.0, 9.0, 0.0)] * (FEWEST_WORLDS - 1),                               0,      "too few worlds to leave the policy's move"),
    ([(0.0, 9.0, 1.0)] * FEWEST_WORLDS,                                     1,      "one that is better in every world"),
    ([(0.0, 9.0, 0.0), (0.0, -9.0, 0.0)] * FEWEST_WORLDS,                   0,      "one that is better by chance alone"),
    ([(0.0, 8.0, 2.0), (0.0, -7.0, 1.0)] * FEWEST_WORLDS,                   2,      "a small gain that is sure"),
    ([(5.0, 1.0, 2.0)] * FEWEST_WORLDS,                                     0,      "the policy's is the best"),
]
# fmt: on


@pytest.mark.parametrize(("rows", "plays", "why"), SCORES, ids=[row[2] for row in SCORES])
def test_a_move_is_played_for_its_scores(rows, plays, why):
    scores = _Scores(3)
    for row in rows:
        scores.add(row)
    assert scores.best(0, LEAVE_Z)[0] == plays


# fmt: off
PRIORS = [
    # values before the playouts                plays   why
    ([0.0, 0.0],                                1,      "values that say nothing leave what the playouts say"),
    ([30.0, 0.0],                               0,      "a large value outweighs a few worlds"),
    ([math.nan, 0.0],                           1,      "a move without a value is judged by its playouts"),
]
# fmt: on


@pytest.mark.parametrize(("prior", "plays", "why"), PRIORS, ids=[row[2] for row in PRIORS])
def test_values_of_moves_count_beside_the_playouts(prior, plays, why):
    scores = _Scores(2)
    for _ in range(FEWEST_WORLDS):
        scores.add((0.0, 9.0))
    assert scores.best(0, LEAVE_Z, prior)[0] == plays


# fmt: off
PLAYED = [
    # scores of the candidates in each world            played  best, loss  why
    ([(0.0, 2.0), (0.0, 3.0)] * FEWEST_WORLDS,             0,   (1, 2.5),   "another is surely better"),
    ([(0.0, 9.0), (0.0, -8.5)] * FEWEST_WORLDS,            0,   (0, 0.0),   "another is better by chance"),
    ([(4.0, 1.0)] * FEWEST_WORLDS,                         1,   (0, 3.0),   "the policy's is better"),
    ([(0.0, 9.0)] * (FEWEST_WORLDS - 1),                   0,   (0, 0.0),   "too few worlds to say so"),
]
# fmt: on


@pytest.mark.parametrize(
    ("rows", "played", "best"), [row[:3] for row in PLAYED], ids=[row[3] for row in PLAYED]
)
def test_a_move_that_was_played_is_compared_with_the_best(rows, played, best):
    scores = _Scores(2, played)
    for row in rows:
        scores.add(row)
    assert played in scores.live
    assert scores.best(played, BETTER_Z)[:2] == best


def test_a_move_that_is_surely_behind_is_tried_no_more():
    scores = _Scores(3)
    for _ in range(FEWEST_WORLDS):
        scores.add((0.0, 9.0, 1.0))
    assert scores.live == [1]


FAMILIES = [game for game in GAMES if player(game.id, 0) is not None]


@pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(FAMILIES, EACH_GAME), ids=lambda game: game.id
)
def test_every_policy_plays_legal_moves_and_sees_its_own_cards_alone(game):
    """Its move in the real state is that in a state that its seat cannot tell from it, with the same dice."""
    from importlib import import_module

    policy = import_module(f"arena.house.policies.{game.family}").policy
    seats = game.seats[0]
    options = game.options({"hands": 2 * seats}, seats)
    for number, moment in enumerate(moments(game, options, seats, 4)):
        if number > 60:
            break
        for seat in moment.acting:
            view = game.rules.view(moment.state, seat)
            sampled = game.sample_state(view, options, seat, random.Random(number).randrange)
            real, other = (
                policy(state, seat, random.Random(number).randrange)
                for state in (moment.state, sampled)
            )
            assert real in game.rules.moves(moment.state, seat)
            assert real == other


@pytest.mark.slow
@pytest.mark.parametrize("game", FAMILIES, ids=lambda game: game.id)
def test_a_bot_that_searches_plays_a_match(game, monkeypatch):
    from arena.house.bot import HouseBot

    class Searching(HouseBot):
        level = "search-20ms"

    monkeypatch.setitem(STEPS, "search-20ms", 30)
    result = local.play(
        game.id, [Searching] * game.seats[0], seed=1, options={"hands": game.seats[0]}
    )
    assert not any(result.faults), result

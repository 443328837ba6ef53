"""Knockouts: brackets of every size with every kind of end, and what decides a game."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.contests.formats import bracket, group_knockout, groups
from arena.contests.knockout_decision import Decided, How, decided
from arena.results.rounds import DrawError


def names(number):
    return [f"bot{at:02}" for at in range(number)]


def play(games, seeds, wins, withdrawn=()):
    """Plays a bracket to its end; says who played whom, in order, and how it stands."""
    winners, played = {}, []
    while (now := bracket.standing(games, seeds, winners, withdrawn)).playable:
        game, sides = now.playable[0]
        winners[game.number] = wins(*sides)
        played.append((game.stage, sides))
    return played, now


def stronger(one, other):
    return min(one, other)


SIZES = [2, 3, 4, 5, 6, 7, 8, 11, 16, 17]


@pytest.mark.parametrize("size", SIZES)
def test_the_champion_of_a_single_knockout_never_lost(size):
    played, now = play(bracket.single(size), names(size), stronger)
    assert len(played) == size - 1
    assert now.champion == "bot00"
    assert all(len(lost) == (bot != "bot00") for bot, lost in now.losses.items())


@pytest.mark.parametrize("size", SIZES)
def test_in_a_double_knockout_everybody_else_loses_twice(size):
    played, now = play(bracket.double(size), names(size), stronger)
    assert len(played) == 2 * size - 2
    assert now.champion == "bot00"
    assert all(len(lost) == 2 * (bot != "bot00") for bot, lost in now.losses.items())
    assert {"bot00", "bot01"} == set(played[-1][1])  # the second best is second


@given(st.integers(2, 12), st.randoms(use_true_random=False))
def test_the_champion_of_a_double_knockout_lost_once_at_most(size, lots):
    played, now = play(bracket.double(size), names(size), lambda *sides: lots.choice(sides))
    assert len(played) in {2 * size - 2, 2 * size - 1}
    assert len(now.losses[now.champion]) == len(played) - (2 * size - 2)
    assert all(len(lost) == 2 for bot, lost in now.losses.items() if bot != now.champion)


@given(st.integers(2, 12), st.randoms(use_true_random=False))
def test_the_champion_of_a_single_knockout_won_all_its_games(size, lots):
    _, now = play(bracket.single(size), names(size), lambda *sides: lots.choice(sides))
    assert not now.losses[now.champion]


def test_the_first_two_seeds_meet_last():
    played, _ = play(bracket.single(16), names(16), stronger)
    assert played[-1] == ("final", ("bot00", "bot01"))
    assert next(sides for stage, sides in played if stage == "round 1") == ("bot00", "bot15")


@pytest.mark.parametrize("size", SIZES)
def test_byes_fall_to_the_top(size):
    first = bracket.standing(bracket.single(size), names(size), {})
    byes = (1 << (size - 1).bit_length()) - size
    playing = {bot for _, sides in first.playable for bot in sides if _.stage == "round 1"}
    if size > 2:
        assert set(names(size)) - playing == set(names(size)[:byes])


def test_the_unbeaten_may_lose_the_first_of_two_finals():
    upset = {("bot00", "bot01"): "bot01"}
    played, now = play(
        bracket.double(2), names(2), lambda *sides: upset.get(sides, "bot00" in sides and "bot00")
    )
    assert [stage for stage, _ in played] == ["unbeaten final", "grand final", "second grand final"]
    assert now.champion in {"bot00", "bot01"}


def test_a_withdrawn_bot_loses_its_open_games():
    played, now = play(bracket.single(4), names(4), stronger, withdrawn={"bot00"})
    assert now.champion == "bot01"
    assert not any("bot00" in sides for _, sides in played)


def test_what_was_played_before_it_withdrew_stays():
    games = bracket.single(4)
    (game, sides), *_ = bracket.standing(games, names(4), {}).playable
    assert "bot00" in sides
    now = bracket.standing(games, names(4), {game.number: "bot00"}, withdrawn={"bot00"})
    assert not now.losses["bot00"]


def test_a_winner_that_does_not_play_is_an_error():
    with pytest.raises(ValueError, match="is between bot00 and bot03, not of bot01"):
        bracket.standing(bracket.single(4), names(4), {0: "bot01"})


@pytest.mark.parametrize("build", [bracket.single, bracket.double])
def test_one_bot_alone_has_no_bracket(build):
    with pytest.raises(ValueError, match="at least 2 bots, not 1"):
        build(1)


# What decides a game.

EVEN = [1.0, -1.0] * 120


@pytest.mark.parametrize(
    ("margins", "first_is_seeded_higher", "outcome"),
    [
        pytest.param([6.0] * 9, True, None, id="ten deal-sets at least"),
        pytest.param([12.0] * 10, True, Decided(True, How.EVIDENCE, 10), id="decided at ten"),
        pytest.param([-12.0] * 10, True, Decided(False, How.EVIDENCE, 10), id="for the other"),
        pytest.param(EVEN[:199], True, None, id="not decided yet"),
        pytest.param([1.0, *EVEN[:199]], True, Decided(True, How.POINTS, 200), id="on points"),
        pytest.param(EVEN[:200], True, None, id="equal: ten more"),
        pytest.param(
            [*EVEN[:200], *[0.5] * 10],
            False,
            Decided(True, How.POINTS, 210),
            id="points of ten more",
        ),
        pytest.param(EVEN[:210], True, Decided(True, How.SEED, 210), id="equal again: the seed"),
        pytest.param(EVEN[:210], False, Decided(False, How.SEED, 210), id="the other's seed"),
    ],
)
def test_what_decides_a_game(margins, first_is_seeded_higher, outcome):
    found = decided(margins, 12.0, first_is_seeded_higher=first_is_seeded_higher)
    assert found == outcome


def test_what_came_after_the_decision_changes_nothing():
    margins = [12.0] * 10
    assert decided([*margins, *[-12.0] * 50], 12.0, first_is_seeded_higher=False) == decided(
        margins, 12.0, first_is_seeded_higher=False
    )


def test_equals_are_hardly_ever_decided_by_evidence():
    how = []
    for run in range(200):
        margins = np.random.default_rng([8, run]).normal(size=210).clip(-6, 6)
        how.append(decided(margins, 6.0, first_is_seeded_higher=True).how)
    assert how.count(How.EVIDENCE) <= 0.05 * len(how)


# Larger tables.


@pytest.mark.parametrize(
    ("bots", "seats"), [(2, 2), (4, 4), (5, 4), (7, 3), (9, 3), (30, 5), (31, 4)]
)
def test_a_knockout_of_larger_tables_ends_with_the_best(bots, seats):
    seeds, rounds = names(bots), 0
    while len(seeds) > 1:
        drawn, byes = group_knockout.draw_round(seeds, seats)
        assert all(len(group) == seats for group in drawn)
        rankings = [sorted(group) for group in drawn]
        left = group_knockout.through(rankings, byes, seeds, seats)
        assert set(byes) <= set(left) <= set(seeds)
        assert len(left) == 1 or len(left) >= seats
        assert len(left) < len(seeds)
        seeds, rounds = list(left), rounds + 1
    assert seeds == ["bot00"]
    assert rounds <= 2 * math.ceil(math.log2(bots)) + 1


def test_groups_are_dealt_forth_and_back():
    assert groups.draw_groups(names(8), 3, 2) == (
        ("bot00", "bot05", "bot06"),
        ("bot01", "bot04", "bot07"),
        ("bot02", "bot03"),
    )


def test_finalists_are_all_winners_then_all_second():
    assert groups.finalists([["a", "b", "c"], ["d", "e"]], 2) == ("a", "d", "b", "e")


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        pytest.param(
            lambda: group_knockout.draw_round(names(3), 4),
            "4 seats needs 4 bots; 3 are in",
            id="few",
        ),
        pytest.param(
            lambda: groups.draw_groups(names(5), 3, 2), "need 6 bots; 5 entered", id="small"
        ),
        pytest.param(
            lambda: groups.draw_groups(names(5), 0, 2), "at least 1 group", id="no groups"
        ),
        pytest.param(
            lambda: groups.finalists([["a"], ["b", "c"]], 2),
            "group 1 has 1 bots",
            id="too many go on",
        ),
    ],
)
def test_what_cannot_be_drawn_is_a_clear_error(draw, sentence):
    with pytest.raises(DrawError, match=sentence):
        draw()

"""Two who help each other are found, and others are left in peace."""

import numpy as np
import pytest

from arena.results.collusion import LEAST_DEAL_SETS, suspicions
from arena.results.deal_sets import round_robin
from arena.results.margin_fit import MatchScores

pytestmark = pytest.mark.deep("statistics")  # simulates tournaments

BOTS = [f"bot{number}" for number in range(6)]
OWNERS = {bot: f"owner of {bot}" for bot in BOTS}
PARTNERS = frozenset({"bot2", "bot5"})


def ladder(seed, *, help_points=0.0, deal_sets=20, skills=True):
    """Deal-sets of four; the partners take so many points each from the others at their table."""
    rng = np.random.default_rng(seed)
    skill = dict(zip(BOTS, rng.normal(0, 2.0 * skills, len(BOTS)), strict=True))
    played = []
    for plan in round_robin(BOTS, seats=4, deal_sets=deal_sets, seed=str(seed), max_groups=50):
        cards = rng.normal(0, 4, 4)
        tables = []
        for match in plan.matches:
            together = set(match.bots) >= PARTNERS
            scores = [
                skill[bot]
                + cards[seat]
                + rng.normal(0, 4)
                + (0 if not together else help_points if bot in PARTNERS else -help_points)
                for seat, bot in enumerate(match.bots)
            ]
            tables.append(MatchScores(match.bots, tuple(np.clip(scores, -20, 20))))
        played.append(tuple(tables))
    return played


RUNS = 5


def test_only_the_pair_that_helps_each_other_is_found():
    for seed in range(RUNS):
        first, *others = suspicions([ladder(seed, help_points=5.0)], OWNERS)
        assert set(first.owners) == {OWNERS[bot] for bot in PARTNERS}
        assert first.stands
        assert first.joint.points > 1.0
        assert not any(each.stands for each in others)


def test_without_help_no_pair_is_suspected():
    for seed in range(RUNS):
        assert not any(each.stands for each in suspicions([ladder(seed)], OWNERS))


def duels(lost, *, seats=2, rounds=60, seed=5):
    """Round robin of six equal bots; bot5 loses so much to bot2 wherever they meet."""
    rng = np.random.default_rng(seed)
    played = []
    for plan in round_robin(BOTS, seats=seats, deal_sets=rounds, seed="s", max_groups=15):
        tables = []
        for match in plan.matches:
            scores = rng.normal(0, 1, seats)
            if {"bot2", "bot5"} <= set(match.bots):
                scores[match.bots.index("bot2")] += lost
                scores[match.bots.index("bot5")] -= lost
            tables.append(MatchScores(match.bots, tuple(scores)))
        played.append(tuple(tables))
    return played


def test_a_bot_that_loses_to_its_partner_is_found_at_tables_of_two():
    first, *others = suspicions([duels(1.0)], OWNERS)
    assert first.owners == (OWNERS["bot2"], OWNERS["bot5"])
    assert (first.joint, first.difference.stands) == (None, True)
    assert 1.0 < first.difference.points < 2.5
    assert not any(each.stands for each in others)


def test_who_gains_is_told_by_the_sign():
    first, *_ = suspicions([duels(-1.0)], OWNERS)
    assert first.difference.points < -1.0


def test_equal_bots_that_meet_are_not_listed():
    assert not any(each.stands for each in suspicions([duels(0.0)], OWNERS))


def test_competitions_together_find_what_one_of_them_does_not():
    seasons = [duels(0.4, rounds=20, seed=seed) for seed in (0, 2, 4, 5)]
    for season in seasons:
        assert not any(each.stands for each in suspicions([season], OWNERS))
    first, *others = suspicions(seasons, OWNERS)
    assert (first.owners, first.stands) == ((OWNERS["bot2"], OWNERS["bot5"]), True)
    assert first.deal_sets == sum(each.deal_sets for each in others) / len(others) == 4 * 20
    assert not any(each.stands for each in others)
    honest = [duels(0.0, rounds=20, seed=seed) for seed in range(4)]
    assert not any(each.stands for each in suspicions(honest, OWNERS))


def test_few_shared_deal_sets_are_no_evidence():
    few = duels(30.0, rounds=LEAST_DEAL_SETS - 1)
    assert not any(each.stands for each in suspicions([few], OWNERS))
    first, *_ = suspicions([duels(30.0, rounds=LEAST_DEAL_SETS)], OWNERS)
    assert first.stands


def test_styles_that_suit_each_other_raise_the_bar_for_all_pairs():
    """Six bots in a circle, each of which beats the next two by half a standard deviation."""

    def played(seed):
        rng, all_played = np.random.default_rng(seed), []
        for plan in round_robin(BOTS, seats=2, deal_sets=60, seed="s"):
            one, other = (BOTS.index(bot) for bot in plan.bots)
            ahead = 0.5 * np.sign(np.sin(2 * np.pi * (one - other) / 6).round(9))
            tables = []
            for match in plan.matches:
                sign = 1 if match.bots[0] == plan.bots[0] else -1
                scores = rng.normal(0, 1, 2) + sign * np.array([ahead, -ahead])
                tables.append(MatchScores(match.bots, tuple(scores)))
            all_played.append(tuple(tables))
        return all_played

    assert not any(each.stands for seed in range(3) for each in suspicions([played(seed)], OWNERS))


def test_bots_without_owners_are_not_suspected():
    owners = {bot: owner for bot, owner in OWNERS.items() if bot not in PARTNERS}
    found = suspicions([ladder(1, help_points=5.0)], owners)
    assert {owner for each in found for owner in each.owners} == set(owners.values())


def test_a_pair_without_other_opponents_is_left_out():
    table = MatchScores(("bot0", "bot1", "bot2"), (1.0, 0.0, 0.0))
    assert suspicions([[(table,)]], OWNERS) == ()


@pytest.mark.parametrize("number", [0, 1])
def test_all_pairs_that_met_are_listed_most_suspect_first(number):
    found = suspicions([ladder(number, deal_sets=2)], OWNERS)
    assert [each.p_value for each in found] == sorted(each.p_value for each in found)
    assert len({each.owners for each in found}) == len(found)

"""Two who help each other are found, and others are left in peace."""

import numpy as np
import pytest

from arena.rating.collusion import suspicions
from arena.rating.margin_fit import DealSet, MatchScores
from arena.schedule.deal_sets import round_robin

pytestmark = pytest.mark.slow  # simulates tournaments

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
        played.append(DealSet(tuple(tables)))
    return played


RUNS = 5


def test_only_the_pair_that_helps_each_other_is_found():
    for seed in range(RUNS):
        first, *others = suspicions(ladder(seed, help_points=5.0), OWNERS)
        assert set(first.owners) == {OWNERS[bot] for bot in PARTNERS}
        assert first.stands
        assert first.joint.points > 1.0
        assert not any(each.stands for each in others)


def test_without_help_no_pair_is_suspected():
    for seed in range(RUNS):
        assert not any(each.stands for each in suspicions(ladder(seed), OWNERS))


def duels(lost, *, seats=2, rounds=60):
    """Round robin of six equal bots; bot5 loses so much to bot2 wherever they meet."""
    rng = np.random.default_rng(5)
    played = []
    for plan in round_robin(BOTS, seats=seats, deal_sets=rounds, seed="s", max_groups=15):
        tables = []
        for match in plan.matches:
            scores = rng.normal(0, 1, seats)
            if {"bot2", "bot5"} <= set(match.bots):
                scores[match.bots.index("bot2")] += lost
                scores[match.bots.index("bot5")] -= lost
            tables.append(MatchScores(match.bots, tuple(scores)))
        played.append(DealSet(tuple(tables)))
    return played


def test_a_bot_that_loses_to_its_partner_is_found_at_tables_of_two():
    first, *others = suspicions(duels(1.0), OWNERS)
    assert first.owners == (OWNERS["bot2"], OWNERS["bot5"])
    assert (first.joint, first.difference.stands) == (None, True)
    assert 1.0 < first.difference.points < 2.5
    assert not any(each.stands for each in others)


def test_who_gains_is_told_by_the_sign():
    first, *_ = suspicions(duels(-1.0), OWNERS)
    assert first.difference.points < -1.0


def test_equal_bots_that_meet_are_not_listed():
    assert not any(each.stands for each in suspicions(duels(0.0), OWNERS))


def test_bots_without_owners_are_not_suspected():
    owners = {bot: owner for bot, owner in OWNERS.items() if bot not in PARTNERS}
    found = suspicions(ladder(1, help_points=5.0), owners)
    assert {owner for each in found for owner in each.owners} == set(owners.values())


def test_progress_is_reported_pair_by_pair():
    told = []
    suspicions(ladder(1, deal_sets=2), OWNERS, lambda *at: told.append(at))
    assert told == [(number, 15) for number in range(15)]


def test_a_pair_without_other_opponents_is_left_out():
    table = MatchScores(("bot0", "bot1", "bot2"), (1.0, 0.0, 0.0))
    assert suspicions([DealSet((table,))], OWNERS) == ()


@pytest.mark.parametrize("number", [0, 1])
def test_all_pairs_that_met_are_listed_most_suspect_first(number):
    found = suspicions(ladder(number, deal_sets=2), OWNERS)
    assert [each.e_value for each in found] == sorted((e.e_value for e in found), reverse=True)
    assert len({each.owners for each in found}) == len(found)

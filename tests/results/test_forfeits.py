"""Seats left: what leaving costs the leaver, and that it costs and pays nobody else."""

import itertools

import pytest

from arena.results.deal_sets import MatchOutcome, lapse, round_robin
from arena.results.forfeits import FALLBACK
from arena.results.ranking import standings
from arena.store.names import NAME

FALLBACK_STRENGTH = 30
"""The fallback plays well here: who leaves has its seat played better than by most."""


def outcome(match, strength, leavers=(), shares=None, luck=0.0, kept=True):
    """Everybody scores its strength, the fallback where a bot left, and the cards of the seat."""
    left = tuple(bot in leavers for bot in match.bots)
    scores = tuple(
        (FALLBACK_STRENGTH if out else strength[bot]) + 7 * seat + luck * (bot == max(match.bots))
        for seat, (bot, out) in enumerate(zip(match.bots, left, strict=True))
    )
    return MatchOutcome(
        match_id=match.id,
        scores=scores,
        places=tuple(1 + sum(other > score for other in scores) for score in scores),
        ending="forfeit" if any(left) else "completed",
        faults=tuple({"malformed": 10} if out else {} for out in left),
        forfeited=left if kept else (),
        fallback_share=tuple((shares or {}).get(bot, 0.0) for bot in match.bots) if kept else (),
    )


def table(strength, leaves=lambda match, seat: False, *, seats=2, deal_sets=6, shares=None):
    """The standings of a round robin in which `leaves` says who leaves which seat."""
    plan = round_robin(tuple(strength), seats=seats, deal_sets=deal_sets, seed="s")
    lucks = itertools.cycle([1.0, -1.0, 0.0])
    outcomes = {}
    for deal_set in plan:
        luck = next(lucks)
        for match in deal_set.matches:
            leavers = [bot for seat, bot in enumerate(match.bots) if leaves(match, seat)]
            outcomes[match.id] = outcome(match, strength, leavers, shares, luck)
    return standings(plan, outcomes)


def rows_of(standings):
    return {row.bot: row for row in standings.rows}


STRENGTH = {"good": 20, "fair": 10, "weak": 0}


def by(bot):
    return lambda match, seat: match.bots[seat] == bot


def test_a_bot_whose_seats_the_fallback_plays_best_of_all_is_last():
    found = table(STRENGTH, by("weak"))
    assert [row.bot for row in found.rows] == ["good", "fair", "weak"]
    weak = rows_of(found)["weak"]
    assert weak.score <= -found.forfeit_points
    assert (weak.skill, weak.forfeited, weak.tier, weak.half_width) == (None, 1.0, 3, 0)
    assert found.better[0][2] > 0.99
    assert found.fallback_skill > 0


def test_without_the_rule_it_would_have_won():
    """The case that the rule is made for: nothing is told of who left."""
    plan = round_robin(tuple(STRENGTH), seats=2, deal_sets=6, seed="s")
    told = {
        match.id: outcome(match, STRENGTH, ["weak"], kept=False)
        for deal_set in plan
        for match in deal_set.matches
    }
    assert standings(plan, told).rows[0].bot == "weak"


LEAVES = {
    "everywhere": by("weak"),
    "where it meets the best": lambda match, seat: by("weak")(match, seat) and "good" in match.bots,
    "where it meets the other": lambda match, seat: (
        by("weak")(match, seat) and "fair" in match.bots
    ),
}


@pytest.mark.parametrize("where", LEAVES)
def test_who_meets_a_leaver_is_neither_paid_nor_charged(where):
    stayed, left = rows_of(table(STRENGTH)), rows_of(table(STRENGTH, LEAVES[where]))
    for rows in (stayed, left):
        assert rows["good"].skill - rows["fair"].skill == pytest.approx(10, abs=2)
        assert rows["good"].score == rows["good"].skill


def test_where_it_stayed_a_leaver_is_rated_by_its_own_play():
    # It leaves at every third deal-set.
    plan = round_robin(tuple(STRENGTH), seats=2, deal_sets=6, seed="s")
    third = {each.id for each in plan if each.number % 10 in (1, 4, 7)}
    found = rows_of(
        table(STRENGTH, lambda match, seat: by("weak")(match, seat) and match.deal_set_id in third)
    )
    assert found["weak"].skill == pytest.approx(-10, abs=2)
    assert 0 < found["weak"].forfeited < 1
    assert found["weak"].score < found["weak"].skill


def test_the_score_is_the_mean_over_tables_of_skill_and_walkover():
    found = table(STRENGTH, lambda match, seat: by("weak")(match, seat) and match.rotation == 1)
    weak = rows_of(found)["weak"]
    assert weak.forfeited == pytest.approx(0.5)
    assert weak.score <= (weak.skill - found.forfeit_points) / 2 + 1e-9


def test_a_bot_that_always_forfeits_the_same_seat_does_not_prevent_standings():
    """Then its play and the fallback's cannot be told apart, and count as one player's."""
    found = table(STRENGTH, lambda match, seat: by("weak")(match, seat) and seat == 0)
    assert found.problem == ""
    assert [row.bot for row in found.rows] == ["good", "fair", "weak"]
    assert found.fallback_skill is None
    assert rows_of(found)["good"].skill - rows_of(found)["fair"].skill == pytest.approx(10, abs=2)


@pytest.mark.parametrize("seats", [2, 3])
def test_a_bot_alone_with_leavers_is_ranked(seats):
    strength = dict(zip(("stays", "b", "c"), (0, 1, 2), strict=True))
    found = table(strength, lambda match, seat: match.bots[seat] != "stays", seats=seats)
    assert found.problem == ""
    assert found.rows[0].bot == "stays"
    assert found.rows[0].skill == pytest.approx(0)


def test_all_leave():
    found = table(STRENGTH, lambda match, seat: True)
    assert found.problem == ""
    assert all(row.forfeited == 1 and row.score <= -found.forfeit_points for row in found.rows)


def test_the_worst_of_the_players_sets_the_least_that_leaving_costs():
    """Else a bot that is worse than the walkover would do well to leave."""
    many = {f"even{number:02}": 0 for number in range(45)} | {"hopeless": -1000}
    found = table(many, deal_sets=2)
    assert rows_of(found)["hopeless"].skill == pytest.approx(-1000 * 45 / 46, rel=0.01)
    assert found.forfeit_points == pytest.approx(-rows_of(found)["hopeless"].skill)


def test_at_least_what_hardly_a_seat_loses():
    found = table({"a": 1, "b": -1})
    # Leads are 2 and the seat's 7, either way, with luck of 1.
    assert found.forfeit_points == pytest.approx(7 + 2 + 1, abs=1)


LAPSES = [
    # forfeited, share by fallback, lapse
    pytest.param(False, 0.0, 0.0, id="it decided everything"),
    pytest.param(False, 0.01, 0.1, id="one in a hundred costs a tenth of a walkover"),
    pytest.param(False, 0.1, 1.0, id="a tenth by the fallback is a seat left"),
    pytest.param(False, 1.0, 1.0, id="a fault at every move of a short match, below the limit"),
    pytest.param(True, 0.0, 1.0, id="forfeited before it was asked"),
    pytest.param(True, 0.02, 1.0, id="forfeited in a long match at the last move"),
]


@pytest.mark.parametrize(("forfeited", "share", "expected"), LAPSES)
def test_how_far_a_seat_is_left(forfeited, share, expected):
    found = MatchOutcome(
        "m", (0, 0), (1, 1), "completed", ({}, {}), (forfeited, False), (share, 0.0)
    )
    assert lapse(found, 0) == pytest.approx(expected)
    assert lapse(found, 1) == 0


def test_results_without_conduct_have_no_forfeits():
    assert lapse(MatchOutcome("m", (0, 0), (1, 1), "forfeit", ({"gone": 1}, {})), 0) == 0


def test_a_fault_costs_its_share_and_no_more():
    clean, faulty = table(STRENGTH), table(STRENGTH, shares={"good": 0.01})
    cost = rows_of(clean)["good"].score - rows_of(faulty)["good"].score
    assert cost == pytest.approx(faulty.forfeit_points / 10)
    assert rows_of(faulty)["good"].skill == rows_of(clean)["good"].skill
    assert rows_of(faulty)["good"].forfeited == 0


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05, 0.099, 0.1, 0.5, 1.0])
def test_faults_cost_more_than_the_fallback_can_gain(share):
    """Of a bot as bad as the worst, for whom the fallback makes moves that are far better."""
    strength = {"good": 20, "weak": 0, "worst": -100, "twin": -100}
    blend = -100 + share * (FALLBACK_STRENGTH + 100)
    found = rows_of(table(strength | {"twin": blend}, by_share(share), shares={"twin": share}))
    assert found["twin"].score < found["worst"].score
    assert found["twin"].tier > found["worst"].tier


def by_share(share):
    return by("twin") if share == 1.0 else lambda match, seat: False


def test_at_equal_scores_a_bot_that_left_is_after_the_others():
    plan = round_robin(["a", "b"], seats=2, deal_sets=3, seed="s")
    tied = {
        match.id: MatchOutcome(
            match.id, (0, 0), (1, 1), "forfeit", ({}, {}), tuple(bot == "a" for bot in match.bots)
        )
        for deal_set in plan
        for match in deal_set.matches
    }
    found = standings(plan, tied)
    assert [(row.bot, row.score) for row in found.rows] == [("b", 0), ("a", 0)]


def test_no_bot_can_have_the_name_of_the_fallback():
    assert not NAME.fullmatch(FALLBACK)

"""The margin fit: exact where there is an exact answer, honest where there is chance."""

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.results import student_t
from arena.results.deal_sets import round_robin
from arena.results.margin_fit import MatchScores, NotComparable, fit


def deal_set(*tables):
    """A deal-set of tables given as {bot: score} in seat order."""
    return tuple(MatchScores(tuple(table), tuple(table.values())) for table in tables)


def duel(first, second):
    """Two tables of a and b: a's lead in the first seat, and a's lead in the second."""
    return deal_set({"a": first, "b": 0}, {"b": 0, "a": second})


def simulated(rng, skills, seats, rounds, *, noise):
    """Deal-sets in which the cards count far more than the bots."""
    played = []
    plans = round_robin(tuple(skills), seats=seats, deal_sets=rounds, seed=str(rng.integers(10**9)))
    for plan in plans:
        cards = rng.normal(0, 20, seats)
        taste = {bot: rng.normal(0, 1) for bot in plan.bots}  # a bot likes or dislikes the boards
        played.append(
            deal_set(
                *(
                    {
                        bot: skills[bot] + cards[seat] + taste[bot] + noise(rng)
                        for seat, bot in enumerate(match.bots)
                    }
                    for match in plan.matches
                )
            )
        )
    return played


def normal(rng):
    return rng.normal(0, 2)


def heavy_tailed(rng):
    return 2 * rng.standard_t(2.5)


leads = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=40)


@given(leads)
def test_two_bots_have_the_t_interval_of_the_mean_of_paired_differences(leads):
    pairs = [(first + second) / 2 for first, second in leads]
    mean, error = statistics.fmean(pairs), statistics.stdev(pairs) / math.sqrt(len(pairs))
    half_width = error * student_t.quantile(0.975, len(pairs) - 1)
    fitted = fit(duel(*lead) for lead in leads)
    difference = fitted.difference("a", "b")
    assert difference.value == pytest.approx(mean, abs=1e-9)
    assert difference.half_width == pytest.approx(half_width, abs=1e-6)
    # Skills are above and below the mean of the two, by half the difference each.
    assert fitted.skill("a").value == pytest.approx(mean / 2, abs=1e-9)
    assert fitted.skill("a").half_width == pytest.approx(half_width / 2, abs=1e-6)
    assert fitted.skill("b").value == pytest.approx(-mean / 2, abs=1e-9)


def test_what_the_cards_give_to_everybody_in_a_seat_tells_nothing():
    rich_seat = [deal_set({"a": 100, "b": 2}, {"b": 98, "a": 2}), duel(1, 1), duel(2, -2)]
    assert fit(rich_seat).difference("a", "b").value == pytest.approx((1 + 1 + 0) / 3)


def test_without_noise_planted_skills_come_back_exactly():
    skills = {"a": 3.0, "b": 1.0, "c": -0.5, "d": -3.5}
    rng = np.random.default_rng(1)
    played = []
    for plan in round_robin(tuple(skills), seats=3, deal_sets=2, seed="s"):
        cards = rng.normal(0, 20, 3)
        played.append(
            deal_set(
                *(
                    {bot: skills[bot] + cards[seat] for seat, bot in enumerate(match.bots)}
                    for match in plan.matches
                )
            )
        )
    fitted = fit(played)
    for bot, skill in skills.items():
        estimate = fitted.skill(bot)
        assert estimate.value == pytest.approx(skill, abs=1e-9)
        assert estimate.half_width == pytest.approx(0, abs=1e-6)


# Of the pairs in these tournaments, 95 in 100 intervals should hold the planted difference. The
# bounds allow for chance (three standard errors over the repeats), and would show an error that
# is a tenth too small or a missing correction for few deal-sets.
@pytest.mark.parametrize(
    ("bots", "seats", "rounds", "noise", "repeats"),
    [
        pytest.param(2, 2, 4, normal, 300, id="two bots, four deal-sets"),
        pytest.param(
            4,
            2,
            1,
            normal,
            180,
            id="round robin with one deal-set a pair",
            marks=pytest.mark.deep("statistics"),
        ),
        pytest.param(4, 2, 5, normal, 120, id="round robin", marks=pytest.mark.deep("statistics")),
        pytest.param(4, 3, 2, normal, 180, id="three seats", marks=pytest.mark.deep("statistics")),
        pytest.param(5, 4, 3, normal, 120, id="four seats", marks=pytest.mark.deep("statistics")),
        pytest.param(3, 2, 34, heavy_tailed, 90, id="heavy tails, winsorised"),
    ],
)
def test_95_in_100_intervals_hold_the_true_difference(bots, seats, rounds, noise, repeats):
    rng = np.random.default_rng(bots * seats * rounds)
    held = []
    for _ in range(repeats):
        skills = {f"bot{number}": rng.normal() for number in range(bots)}
        fitted = fit(simulated(rng, skills, seats, rounds, noise=noise))
        one, other = rng.permutation(sorted(skills))[:2]
        estimate = fitted.difference(one, other)
        held.append(abs(estimate.value - (skills[one] - skills[other])) <= estimate.half_width)
    assert statistics.fmean(held) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / repeats))


def test_stated_probabilities_are_calibrated():
    rng = np.random.default_rng(7)
    stated = []
    for _ in range(300):
        level = simulated(rng, {"a": 0.0, "b": 0.0}, 2, 4, noise=normal)
        stated.append(fit(level).difference("a", "b").chance_positive)
    # Of equal bots, chances are uniform: a tenth of them above 0.9, a tenth below 0.1.
    assert statistics.fmean(chance > 0.9 for chance in stated) == pytest.approx(0.1, abs=0.05)
    assert statistics.fmean(chance < 0.1 for chance in stated) == pytest.approx(0.1, abs=0.05)


def test_more_deal_sets_narrow_the_interval():
    rng = np.random.default_rng(3)
    skills = {"a": 0.5, "b": 0.0, "c": -0.5}
    played = simulated(rng, skills, 2, 40, noise=normal)
    few, many = fit(played[:12]), fit(played)
    assert many.skill("a").half_width < 0.7 * few.skill("a").half_width


tournaments = st.builds(
    lambda seed, bots, seats: simulated(
        np.random.default_rng(seed),
        {f"bot{number}": float(number) for number in range(bots)},
        seats,
        2,
        noise=normal,
    ),
    st.integers(0, 2**32),
    st.just(4),
    st.integers(2, 3),
)


def same(one, other):
    assert one.bots == other.bots
    for bot, rival in itertools.permutations(one.bots, 2):
        expected, found = one.difference(bot, rival), other.difference(bot, rival)
        assert found.value == pytest.approx(expected.value, abs=1e-8)
        assert found.half_width == pytest.approx(expected.half_width, rel=1e-6)


@settings(max_examples=20)
@given(tournaments, st.randoms(use_true_random=False))
def test_the_names_of_seats_do_not_matter(played, random):
    relabelled = []
    for each in played:
        order = list(range(len(each[0].bots)))
        random.shuffle(order)
        relabelled.append(
            tuple(
                MatchScores(
                    tuple(table.bots[seat] for seat in order),
                    tuple(table.scores[seat] for seat in order),
                )
                for table in each
            )
        )
    same(fit(played), fit(relabelled))


@settings(max_examples=20)
@given(tournaments, st.randoms(use_true_random=False))
def test_the_order_of_tables_and_deal_sets_does_not_matter(played, random):
    shuffled = [tuple(random.sample(each, len(each))) for each in played]
    random.shuffle(shuffled)
    same(fit(played), fit(shuffled))


@settings(max_examples=20)
@given(tournaments, st.integers(-1000, 1000), st.integers(1, 50))
def test_points_may_be_counted_from_anywhere_and_in_any_unit(played, shift, unit):
    counted = [
        tuple(
            MatchScores(table.bots, tuple(unit * score + shift for score in table.scores))
            for table in each
        )
        for each in played
    ]
    before, after = fit(played), fit(counted)
    for bot in before.bots:
        assert after.skill(bot).value == pytest.approx(unit * before.skill(bot).value, abs=1e-6)
        assert after.skill(bot).half_width == pytest.approx(
            unit * before.skill(bot).half_width, rel=1e-6
        )


@settings(max_examples=20)
@given(tournaments)
def test_skills_sum_to_zero_and_differ_by_the_differences(played):
    fitted = fit(played)
    assert sum(fitted.skill(bot).value for bot in fitted.bots) == pytest.approx(0, abs=1e-9)
    for one, other in itertools.permutations(fitted.bots, 2):
        difference, back = fitted.difference(one, other), fitted.difference(other, one)
        assert difference.value == pytest.approx(
            fitted.skill(one).value - fitted.skill(other).value, abs=1e-9
        )
        assert difference.value == pytest.approx(-back.value)
        assert difference.chance_positive + back.chance_positive == pytest.approx(1)


def test_bots_that_never_met_are_compared_through_others():
    played = []
    for jitter in (-1, 0, 1):
        played.append(deal_set({"a": 4 + jitter, "b": 0}, {"b": 0, "a": 4}))
        played.append(deal_set({"b": 6, "c": 0}, {"c": jitter, "b": 6}))
    assert fit(played).difference("a", "c").value == pytest.approx(10)


def test_tables_of_different_bots_on_the_same_boards_are_compared_by_seat():
    # Remote play: nobody sees a board twice, and what others did in the same seat is the measure.
    skills = {"a": 5.0, "b": 1.0, "c": -2.0, "d": -4.0}
    seatings = [("ab", "cd"), ("ab", "dc"), ("ad", "cb")]
    played = [
        deal_set(
            *(
                {bot: skills[bot] + cards * seat for seat, bot in enumerate(table)}
                for table in seating
            )
        )
        for cards, seating in enumerate(seatings * 2)
    ]
    fitted = fit(played)
    for bot, skill in skills.items():
        assert fitted.skill(bot).value == pytest.approx(skill)


class TestWhatCannotBeTold:
    def test_one_deal_set_gives_skills_without_errors(self):
        fitted = fit([duel(3, 5)])
        skill = fitted.skill("a")
        assert skill.value == pytest.approx(2)
        assert (skill.standard_error, skill.half_width, skill.chance_positive) == (None,) * 3

    def test_a_bot_with_one_deal_set_has_no_error_while_others_have_theirs(self):
        newcomer = deal_set({"a": 7, "c": 0}, {"c": 0, "a": 7})
        fitted = fit([duel(1, 2), duel(2, 2), duel(1, 0), newcomer])
        assert fitted.difference("a", "c").value == pytest.approx(7)
        assert fitted.difference("a", "c").half_width is None
        assert fitted.difference("b", "c").half_width is None
        assert fitted.difference("a", "b").half_width > 0
        # The mean that skills are counted from includes the newcomer.
        assert fitted.skill("a").half_width is None

    def test_identical_margins_leave_no_doubt(self):
        fitted = fit([duel(2, 4)] * 5)
        difference = fitted.difference("a", "b")
        assert difference.value == pytest.approx(3)
        assert difference.half_width == pytest.approx(0, abs=1e-9)
        assert difference.chance_positive == pytest.approx(1)

    def test_ties_are_ties(self):
        difference = fit([duel(0, 0)] * 4).difference("a", "b")
        assert (difference.value, difference.half_width, difference.chance_positive) == (0, 0, 0.5)

    def test_groups_that_never_met_cannot_share_a_table(self):
        other = deal_set({"c": 1, "d": 0}, {"d": 0, "c": 3})
        with pytest.raises(NotComparable) as raised:
            fit([duel(1, 2), other, duel(0, 1)])
        assert str(raised.value) == (
            "a and b did not meet c and d, directly or through others, over the same boards: "
            "they cannot be ranked together"
        )

    def test_a_single_table_tells_nothing_as_its_cards_are_compared_with_none(self):
        with pytest.raises(NotComparable, match="a did not meet b"):
            fit([deal_set({"a": 5, "b": 0})])

    def test_linked_bots_may_still_be_too_many_for_the_tables(self):
        with pytest.raises(NotComparable, match="do not tell all the bots' skills apart"):
            fit([deal_set({"a": 1, "b": 0}, {"c": 1, "d": 0})])

    def test_without_deal_sets_no_bot_is_ranked(self):
        with pytest.raises(NotComparable, match="no deal-set is complete yet"):
            fit([])


class TestAccidents:
    """Margins far outside of what else happens count as the largest that is usual."""

    @staticmethod
    def played(count, accident):
        rng = np.random.default_rng(11)
        usual = [duel(*(1 + rng.normal(0, 3, 2))) for _ in range(count)]
        return usual, [*usual, duel(accident, accident)]

    def test_one_among_many_barely_moves_the_skills(self):
        usual, spoilt = self.played(250, 1e6)
        before, after = (fit(played).difference("a", "b") for played in (usual, spoilt))
        assert after.value == pytest.approx(before.value, abs=0.1)
        assert after.half_width == pytest.approx(before.half_width, rel=0.15)

    def test_its_size_beyond_the_limit_does_not_matter(self):
        values = [fit(self.played(250, size)[1]).difference("a", "b") for size in (1e3, 1e6)]
        assert values[0].value == pytest.approx(values[1].value)

    def test_with_few_deal_sets_nothing_is_called_an_accident(self):
        usual, spoilt = self.played(12, 500)
        usual_mean = fit(usual).difference("a", "b").value
        assert fit(spoilt).difference("a", "b").value == pytest.approx((12 * usual_mean + 500) / 13)

    def test_below_a_hundred_deal_sets_the_largest_margin_counts_in_full(self):
        played = [duel(20, 20)] * 49 + [duel(40, 40)] * 49 + [duel(-500, -500)]
        assert fit(played).difference("a", "b").value == pytest.approx(
            (49 * 20 + 49 * 40 - 500) / 99
        )

    def test_the_limit_is_three_times_the_bulk_and_the_errors_know_of_it(self):
        # Margins are 1 and -1, half of the leads, so the limit is 3 and the skill of a solves
        # 100 (1 - skill) + 100 (-1 - skill) + 3 = 0.
        skill = 3 / 200
        squares = 100 * (1 - skill) ** 2 + 100 * (-1 - skill) ** 2 + 3**2
        error = math.sqrt(squares / (201 * 200)) * 201 / 200  # and one in 201 was pulled in
        fitted = fit([duel(2, 2)] * 100 + [duel(-2, -2)] * 100 + [duel(1e6, 1e6)]).skill("a")
        assert fitted.value == pytest.approx(skill)
        assert fitted.standard_error == pytest.approx(error)

    def test_a_game_that_is_nearly_always_tied_keeps_its_rare_results(self):
        played = [duel(0, 0)] * 995 + [duel(1, 1)] * 5
        assert fit(played).difference("a", "b").value == pytest.approx(0.005)

    def test_a_hopeless_bot_among_many_keeps_its_distance(self):
        rng = np.random.default_rng(5)
        skills = {f"bot{number:02}": 0.0 for number in range(15)} | {"hopeless": -100.0}
        fitted = fit(simulated(rng, skills, 2, 2, noise=normal))
        assert fitted.difference("bot00", "hopeless").value == pytest.approx(100, abs=3)

"""Swiss rounds: against every possible round of up to twelve bots, and over whole tournaments."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.contests.formats import group_swiss, swiss
from arena.results.record import Candidate
from arena.results.rounds import (
    DrawError,
    Field,
    RoundPoints,
    bye_half_points,
    field_after,
    half_points_of,
    seeded,
)


def entrants(number, owners=None):
    owners = owners or range(number)
    return [Candidate(f"bot{at:02}", f"owner{owners[at]}", at + 1) for at in range(number)]


def results(drawn, strength, seats):
    """What a round comes to when the stronger always wins."""
    points = {}
    for group in drawn.groups:
        points |= half_points_of({bot: strength[bot] for bot in group})
    return RoundPoints(drawn.groups, drawn.byes, points)


@st.composite
def fields(draw, seats, most=12):
    """Entrants and some rounds that they played: any results, byes and owners."""
    number = draw(st.integers(seats, most))
    owners = draw(st.lists(st.integers(0, number), min_size=number, max_size=number))
    who = entrants(number, owners)
    past = []
    for _ in range(draw(st.integers(0, 3))):
        order = draw(st.permutations([each.name for each in who]))
        whole = len(order) - len(order) % seats
        groups = tuple(tuple(order[at : at + seats]) for at in range(0, whole, seats))
        points = {bot: draw(st.integers(0, 2 * seats - 2)) for group in groups for bot in group}
        past.append(RoundPoints(groups, tuple(order[whole:]), points))
    return who, past


def pairings(names):
    """Every way to pair them all."""
    if not names:
        yield ()
        return
    first, *rest = names
    for at, other in enumerate(rest):
        for others in pairings(rest[:at] + rest[at + 1 :]):
            yield ((first, other), *others)


# Two seats.


@given(fields(2), st.text(max_size=3))
@settings(max_examples=40, deadline=None)
def test_a_round_of_two_is_the_best_perfect_matching(played, seed):
    who, past = played
    drawn = swiss.draw_round(who, past, seed=seed)
    still = field_after(who, past, 2)
    names = [each.name for each in who if each.name not in drawn.byes]

    def worth(pairs):
        return sum(swiss.weight(still, *pair, seed, drawn.number) for pair in pairs)

    assert sorted(bot for pair in drawn.groups for bot in pair) == sorted(names)
    every = list(pairings(names)) if len(names) <= 10 else [drawn.groups]
    assert worth(drawn.groups) == max(map(worth, every))
    # There is one best only: another program that looks for it finds the same.
    assert sum(worth(pairs) == worth(drawn.groups) for pairs in every) == 1


@given(fields(2))
@settings(max_examples=40, deadline=None)
def test_two_of_one_owner_meet_only_if_they_must(played):
    who, past = played
    drawn = swiss.draw_round(who, past, seed="s")
    owner = {each.name: each.owner for each in who}
    names = [each.name for each in who if each.name not in drawn.byes]

    def own(pairs):
        return sum(owner[one] == owner[other] for one, other in pairs)

    if len(names) <= 8:
        assert own(drawn.groups) == min(map(own, pairings(names)))


@pytest.mark.parametrize("number", range(2, 10))
def test_in_a_small_swiss_no_two_bots_meet_twice_until_all_have_met(number):
    """The round before is drawn with the next one in mind: six bots could be left as two triangles."""
    who = entrants(number)
    for seed in range(8):
        luck, past = Random(seed), []
        for _ in range(swiss.most_rounds(number)):
            drawn = swiss.draw_round(who, past, seed=str(seed))
            points = {}
            for one, other in drawn.groups:
                points[one] = luck.choice((0, 1, 2))
                points[other] = 2 - points[one]
            past.append(RoundPoints(drawn.groups, drawn.byes, points))
        met = [pair for played in past for pair in played.groups]
        assert len(set(met)) == len(met) == number * (number - 1) // 2


@pytest.mark.parametrize("number", [2, 3, 7, 8, 12, 31])
def test_a_whole_swiss_finds_the_best_and_repeats_nothing(number):
    who = entrants(number)
    strength = {each.name: (each.seed * 7) % 37 for each in who}
    past = []
    for _ in range(swiss.rounds_needed(number)):
        past.append(results(swiss.draw_round(who, past, seed="s"), strength, 2))
    met = [frozenset(pair) for each in past for pair in each.groups]
    assert len(set(met)) == len(met)
    byes = [bot for each in past for bot in each.byes]
    assert len(set(byes)) == len(byes)
    points = field_after(who, past, 2).half_points
    best = max(strength, key=strength.get)
    assert points[best] == 2 * len(past)
    if number >= 4:
        assert [bot for bot in points if points[bot] == points[best]] == [best]


# Larger tables.


@given(fields(3))
@settings(max_examples=40, deadline=None)
def test_no_swap_between_two_groups_would_cost_less(played):
    who, past = played
    drawn = group_swiss.draw_round(who, past, seats=3, seed="s")
    still = field_after(who, past, 3)
    groups = [list(group) for group in drawn.groups]
    for upper, lower in combinations(groups, 2):
        before = group_swiss.cost(upper, still) + group_swiss.cost(lower, still)
        for one in upper:
            for other in lower:
                swapped = (
                    [other if bot == one else bot for bot in upper],
                    [one if bot == other else bot for bot in lower],
                )
                assert sum(group_swiss.cost(group, still) for group in swapped) >= before


def partitions(names, size):
    """Every way to make groups of that size of them all."""
    if not names:
        yield ()
        return
    first, *rest = names
    for others in combinations(rest, size - 1):
        left = [name for name in rest if name not in others]
        for groups in partitions(left, size):
            yield ((first, *others), *groups)


def test_the_groups_cost_little_more_than_the_best_of_all():
    """Brute force over all 280 rounds of nine bots at three seats, after each of four rounds."""
    who = entrants(9)
    past, costs, best = [], [], []
    strength = {each.name: (each.seed * 5) % 11 for each in who}
    for _ in range(5):
        still = field_after(who, past, 3)
        drawn = group_swiss.draw_round(who, past, seats=3, seed="s")

        def total(groups, still=still):
            return sum(group_swiss.cost(group, still) for group in groups)

        costs.append(total(drawn.groups))
        best.append(min(map(total, partitions([each.name for each in who], 3))))
        past.append(results(drawn, strength, 3))
    assert costs[0] == best[0]
    assert sum(costs) <= 1.3 * sum(best)


@pytest.mark.parametrize(("number", "seats"), [(9, 3), (10, 3), (16, 4), (40, 5)])
def test_a_whole_swiss_of_larger_tables_ranks_the_best_first(number, seats):
    who = entrants(number)
    strength = {each.name: (each.seed * 7) % 43 for each in who}
    past = []
    for _ in range(group_swiss.rounds_needed(number, seats)):
        past.append(
            results(group_swiss.draw_round(who, past, seats=seats, seed="s"), strength, seats)
        )
    points = field_after(who, past, seats).half_points
    assert max(points, key=points.get) == max(strength, key=strength.get)
    assert all(len(group) == seats for each in past for group in each.groups)


# Both.


DRAWS = [
    pytest.param(lambda *given, seed: swiss.draw_round(*given, seed=seed), 2, id="two seats"),
    pytest.param(
        lambda *given, seed: group_swiss.draw_round(*given, seats=4, seed=seed), 4, id="four seats"
    ),
]


@pytest.mark.parametrize(("draw", "seats"), DRAWS)
def test_a_draw_is_made_again_and_agrees(draw, seats):
    who = entrants(13)
    past = [results(draw(who, [], seed="s"), {each.name: each.seed for each in who}, seats)]
    assert draw(who, past, seed="s") == draw(list(reversed(who)), past, seed="s")


@pytest.mark.parametrize(("draw", "seats"), DRAWS)
@pytest.mark.parametrize("changed", ["seed", "points", "met", "owner", "withdrawn"])
def test_the_hash_of_the_inputs_tells_draws_apart(draw, seats, changed):
    who = entrants(12)
    past = [results(draw(who, [], seed="s"), {each.name: each.seed for each in who}, seats)]
    drawn = draw(who, past, seed="s")
    (played,) = past
    if changed == "points":
        worse = dict(played.half_points) | {"bot00": played.half_points["bot00"] + 1}
        past = [RoundPoints(played.groups, played.byes, worse)]
    if changed == "met":
        past = [
            RoundPoints(((*played.groups[1],), *played.groups[1:]), played.byes, played.half_points)
        ]
    if changed == "owner":
        who = entrants(12, [0, 0, *range(2, 12)])
    if changed == "withdrawn":
        who = who[:-1]
    other = draw(who, past, seed="t" if changed == "seed" else "s")
    assert other.inputs_sha256 != drawn.inputs_sha256


@pytest.mark.parametrize(("draw", "seats"), DRAWS)
def test_no_bot_has_a_second_bye_before_all_had_one(draw, seats):
    who = entrants(seats + 1)
    past = []
    for _ in range(seats + 1):
        past.append(
            results(draw(who, past, seed="s"), {each.name: each.seed for each in who}, seats)
        )
    assert sorted(bot for each in past for bot in each.byes) == [each.name for each in who]


@pytest.mark.parametrize(("draw", "seats"), DRAWS)
def test_fewer_bots_than_seats_are_a_clear_error(draw, seats):
    with pytest.raises(DrawError, match=f"needs at least {seats} bots; 1 are in"):
        draw(entrants(1), [], seed="s")


def test_a_withdrawn_bot_is_not_drawn_and_its_opponents_retain_their_points():
    who = entrants(6)
    past = [results(swiss.draw_round(who, [], seed="s"), {e.name: e.seed for e in who}, 2)]
    left = who[1:]
    drawn = swiss.draw_round(left, past, seed="s")
    assert "bot00" not in {bot for pair in drawn.groups for bot in pair} | set(drawn.byes)
    before, after = field_after(who, past, 2), field_after(left, past, 2)
    assert {bot: before.half_points[bot] for bot in after.half_points} == after.half_points


@pytest.mark.parametrize(
    ("means", "half_points"),
    [
        pytest.param({"a": 3.0, "b": 1.0}, {"a": 2, "b": 0}, id="a win"),
        pytest.param({"a": 1.0, "b": 1.0}, {"a": 1, "b": 1}, id="a tie is half"),
        pytest.param({"a": 5, "b": 2, "c": 2}, {"a": 4, "b": 1, "c": 1}, id="two beaten"),
        pytest.param({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2}, id="all tied"),
    ],
)
def test_points_of_a_table(means, half_points):
    assert half_points_of(means) == half_points


@pytest.mark.parametrize(
    ("seats", "half_points", "reason"),
    [
        (2, 2, "a win"),
        (3, 3, "the mean of first, 4, and second, 2"),
        (8, 13, "the mean of first, 14, and second, 12"),
    ],
)
def test_points_of_a_bye(seats, half_points, reason):
    assert bye_half_points(seats) == half_points


@pytest.mark.parametrize(
    ("bots", "seats", "rounds"),
    [
        (2, 2, 1),
        (3, 2, 3),
        (4, 2, 3),
        (5, 2, 5),
        (6, 2, 5),
        (8, 2, 5),
        (9, 2, 6),
        (256, 2, 10),
        (9, 3, 5),
        (10, 3, 6),
        (64, 4, 6),
        (125, 5, 6),
    ],
)
def test_rounds_of_a_swiss(bots, seats, rounds):
    needed = swiss.rounds_needed(bots) if seats == 2 else group_swiss.rounds_needed(bots, seats)
    assert needed == rounds


def test_seeds_are_the_frozen_table_and_lots():
    names = ["a", "b", "c", "d", "e"]
    order = seeded(names, ["d", "gone", "b"], "s")
    assert order[:2] == ("d", "b")
    assert sorted(order) == names
    assert seeded(reversed(names), ["d", "gone", "b"], "s") == order
    assert len({seeded(names, [], str(seed)) for seed in range(20)}) > 10


def test_a_field_has_no_withdrawn_bots():
    still = field_after(entrants(2), [], 2)
    assert isinstance(still, Field)
    assert not still.same_owner("bot00", "bot01")

"""Who is drawn to play on a ladder, and that the draw leaves the table's intervals true."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.contests.pairing import (
    AHEAD,
    CROSS_TABLES,
    HOUSE,
    LEAST_TABLES,
    MIN_DEAL_SETS,
    Pairing,
    Waiting,
    gains_of,
    gram,
    rotations,
)
from tests.contests.ladders import by_nearest_rating, by_uncertainty, play


def bots(number, *, owners=None, free_seats=100, remote=()):
    owners = owners or [f"owner{at}" for at in range(number)]
    return [
        Waiting(f"bot{at}", owners[at], 0, 1.0, free_seats, remote=at in remote)
        for at in range(number)
    ]


def after(waiting, drawn):
    """Those who wait, when the deal-sets were played in no time."""
    served = Counter(bot for each in drawn for bot in each.bots)
    return [
        Waiting(each.name, each.owner, served[each.name], 1.0, each.free_seats, each.remote)
        for each in waiting
    ]


def drawn_in_a_row(pairing, waiting, number):
    drawn = []
    while len(drawn) < number and (one := pairing.draw(after(waiting, drawn))):
        drawn.append(one)
    return drawn


# What a deal-set tells.


@pytest.mark.parametrize("seats", [2, 3, 4, 8])
def test_rotations_tell_the_same_of_each_pair(seats):
    _, added = gram(rotations([f"bot{at}" for at in range(seats)]))
    assert added == pytest.approx(seats * np.eye(seats) - 1.0)


@given(st.lists(st.permutations("abcdefgh"), min_size=1, max_size=3))
def test_the_information_is_about_differences_only(orders):
    tables = [tuple(order[at : at + 4]) for order in orders for at in (0, 4)]
    _, added = gram(tables)
    assert added.sum(axis=1) == pytest.approx(np.zeros(8), abs=1e-9)
    assert np.linalg.eigvalsh(added).min() > -1e-9


def test_the_best_gain_is_nearly_the_most_that_a_deal_set_can_tell():
    """Brute force: each pair is added to the matrix, and all variances are reckoned anew."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        known = np.zeros((7, 7))
        for _ in range(20):
            pair = rng.choice(7, 2, replace=False)
            known[np.ix_(pair, pair)] += [[1, -1], [-1, 1]]
        faint = known + 0.01 * (np.eye(7) - 1 / 7)
        left = {}
        for one, other in combinations(range(7), 2):
            wider = faint.copy()
            wider[np.ix_([one, other], [one, other])] += [[1, -1], [-1, 1]]
            left[one, other] = np.trace(np.linalg.pinv(wider, hermitian=True))
        gains = gains_of(known, 2)
        best = max(left, key=lambda pair: gains[pair])
        before = np.trace(np.linalg.pinv(faint, hermitian=True))
        assert before - left[best] >= 0.9 * (before - min(left.values()))


# Who is drawn.


@given(
    st.integers(2, 5),
    st.lists(st.integers(0, 5), min_size=6, max_size=12),
    st.sets(st.integers(0, 11)),
    st.text(max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_a_draw_is_a_table_of_different_owners(seats, owners, remote, seed):
    waiting = bots(len(owners), owners=[f"owner{each}" for each in owners], remote=remote)
    owner = {each.name: each.owner for each in waiting}
    is_remote = {each.name: each.remote for each in waiting} | {HOUSE: False}
    pairing = Pairing(seed, seats)
    every = drawn_in_a_row(pairing, waiting, 4)
    assert len(every) == 4 or len(set(owners)) < seats
    for drawn in every:
        sat = Counter(bot for table in drawn.tables for bot in table if bot != HOUSE)
        assert all(len(table) == seats for table in drawn.tables)
        assert len({owner[bot] for bot in sat}) == len(sat) == len(set(drawn.bots) - {HOUSE}) > 1
        if any(each.remote for each in waiting if each.name in sat):
            assert LEAST_TABLES <= len(drawn.tables) <= CROSS_TABLES
            assert set(sat.values()) == {1}  # each sees the boards once
            alone = sum(set(table) == {HOUSE} for table in drawn.tables)
            assert not alone or len(drawn.tables) == LEAST_TABLES
            remote_at = {
                at for at, table in enumerate(drawn.tables) if any(is_remote[bot] for bot in table)
            }
            assert remote_at == {0} or all(map(is_remote.get, sat))
        else:
            assert drawn.tables == rotations(drawn.tables[0])
            assert HOUSE not in drawn.tables[0]


@given(st.integers(0, 25), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_a_draw_is_made_again_from_the_deal_sets_before_it(number, seats):
    waiting = bots(9, remote={7, 8})
    drawn = drawn_in_a_row(Pairing("s", seats), waiting, number + 3)
    past, rest = drawn[:number], drawn[number:]
    again = Pairing("s", seats, [each.tables for each in past])
    for each in rest:
        assert again.draw(after(waiting, past)) == each
        past = [*past, each]


def test_bots_that_only_looked_in_change_no_later_draw():
    waiting = bots(6)
    here, guest = Pairing("s", 2), Pairing("s", 2)
    with_guest = [
        *waiting,
        Waiting("guest", "guest", 0, 1.0, free_seats=1),
    ]  # no seat for rotations
    first = here.draw(waiting)
    assert guest.draw(with_guest).tables != ()
    guest = Pairing("s", 2, [first.tables])
    assert guest.draw(after(waiting, [first])) == here.draw(after(waiting, [first]))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"seed": "another"}, "the seed"),
        ({"served": 3}, "what a bot was served"),
        ({"free_seats": 50}, "how many seats it takes"),
        ({"away": True}, "whether it is there"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_hash_of_the_inputs_tells_draws_apart(changed, reason):
    plain = Pairing("s", 2).draw(bots(4))
    seed = changed.pop("seed", "s")
    first, *rest = bots(4)
    other = Waiting(**{name: getattr(first, name) for name in first.__slots__} | changed)
    assert Pairing(seed, 2).draw([other, *rest]).inputs_sha256 != plain.inputs_sha256


def test_the_bot_that_waited_longest_is_drawn():
    waiting = [
        Waiting("idle", "a", 30, 10.0, 100),
        Waiting("busy", "b", 60, 10.0, 100),
        Waiting("busier", "c", 61, 10.0, 100),
    ]
    assert "idle" in Pairing("s", 2).draw(waiting).bots


def test_a_bot_without_a_place_is_drawn_first():
    waiting = [
        Waiting("new", "a", 6, 0.1, 100, new=True),  # more an hour than the others
        *(Waiting(name, name, 40, 10.0, 100) for name in ("old", "older", "oldest")),
    ]
    assert "new" in Pairing("s", 2).draw(waiting).bots
    again = [replace(each, new=False) for each in waiting]
    assert "new" not in Pairing("s", 2).draw(again).bots, "the control: it has waited least"


def test_versions_one_after_another_are_drawn_first_until_the_bot_is_over_its_share():
    others = [Waiting(name, name, 40, 10.0, 100) for name in ("old", "older", "oldest")]
    new = Waiting("new", "new", 40 + MIN_DEAL_SETS, 10.0, 100, new=True)
    assert "new" not in Pairing("s", 2).draw([replace(new, served=60), *others]).bots
    assert "new" in Pairing("s", 2).draw([replace(new, served=48), *others]).bots


def test_a_remote_bot_far_behind_meets_more_than_one_launched_bot():
    """It plays one match at a time, so launched bots are ahead of it for good."""
    waiting = bots(6, free_seats=2, remote={0})
    waiting = [replace(each, served=0 if each.remote else 300) for each in waiting]
    waiting[0] = replace(waiting[0], free_seats=1)
    drawn = Pairing("s", 2).draw(waiting)
    assert len(drawn.bots) == 6
    assert len(drawn.tables) == 3
    assert "bot0" in drawn.tables[0]


def test_a_bot_of_few_seats_is_not_drawn_for_more():
    waiting = [Waiting("small", "a", 0, 1.0, 1), *bots(3, owners=["b", "c", "d"])]
    assert "small" not in Pairing("s", 2).draw(waiting).bots


def test_with_few_owners_the_needed_bots_are_drawn_although_ahead():
    waiting = bots(4, owners=["a", "a", "b", "c"])
    drawn = drawn_in_a_row(Pairing("s", 3), waiting, 40)
    assert len(drawn) == 40
    served = Counter(bot for each in drawn for bot in each.bots)
    assert served["bot0"] == pytest.approx(served["bot1"], abs=1)


@pytest.mark.parametrize(
    ("waiting", "reason"),
    [
        pytest.param([], "nobody", id="nobody is here"),
        pytest.param(bots(1), "one", id="one bot alone"),
        pytest.param(bots(3, owners=["a", "a", "a"]), "owner", id="one owner's bots"),
        pytest.param(bots(3, free_seats=0), "seats", id="nobody has a seat free"),
        pytest.param(bots(1, remote={0}), "house", id="the house alone is no opponent"),
    ],
)
def test_no_bot_is_drawn(waiting, reason):
    assert Pairing("s", 2).draw(waiting) is None


def absent(waiting, *names):
    return [replace(each, away=each.name in names) for each in waiting]


def test_an_absent_bot_is_drawn_again_against_the_same():
    waiting, pairing, drawn = bots(6), Pairing("s", 2), []
    for _ in range(12):
        drawn.append(pairing.draw(absent(after(waiting, drawn), "bot5")))
    assert not any("bot5" in each.bots for each in drawn)
    owed = Counter(pairing._owed)
    share = 12 * 2 // 6  # of a bot that is always connected
    assert 0 < owed.total() <= share + AHEAD + 1
    for _ in range(owed.total()):
        drawn.append(pairing.draw(after(waiting, drawn)))
    met = Counter((each.bots[0], "bot5") for each in drawn[12:])
    assert met == owed, "it plays what it was drawn for, before all others"
    assert pairing._owed == []


def test_what_is_owed_waits_for_both():
    waiting, pairing, drawn = bots(6), Pairing("s", 2), []
    while not pairing._owed:
        drawn.append(pairing.draw(absent(after(waiting, drawn), "bot5")))
    ((creditor, _),) = pairing._owed
    for _ in range(3):
        drawn.append(pairing.draw(absent(after(waiting, drawn), creditor)))
        assert set(drawn[-1].bots) != {creditor, "bot5"}
    drawn.append(pairing.draw(after(waiting, drawn)))
    assert set(drawn[-1].bots) == {creditor, "bot5"}


def test_a_bot_that_returns_as_another_version_owes_the_same():
    waiting, pairing, drawn = bots(6), Pairing("s", 2), []
    while not pairing._owed:
        drawn.append(pairing.draw(absent(after(waiting, drawn), "bot5")))
    ((creditor, _),) = pairing._owed
    back = [
        replace(each, name="bot5@2") if each.name == "bot5" else each
        for each in after(waiting, drawn)
    ]
    assert set(pairing.draw(back).bots) == {creditor, "bot5@2"}


@pytest.mark.parametrize(
    ("number", "tables"),
    [(2, 2), (4, 2), (5, 2), (7, 3)],
    ids=[
        "one table has no comparison",
        "part of a table",
        "one seat",
        "no table of the house alone",
    ],
)
def test_the_house_fills_the_last_table(number, tables):
    waiting = [replace(each, new=each.remote) for each in bots(number, remote={0})]
    drawn = Pairing("s", 3).draw(waiting)
    assert len(drawn.tables) == tables
    assert [bot for table in drawn.tables for bot in table].count(HOUSE) == 3 * tables - number


def test_two_of_one_name_are_an_error():
    with pytest.raises(ValueError, match="one name"):
        Pairing("s", 2).draw(bots(2) + bots(1))


# A ladder. `python -m tests.contests ladders` has the thousand of the acceptance.

LADDERS = range(10)


@pytest.mark.deep("statistics")
@pytest.mark.parametrize("seats", [2, 4])
def test_the_intervals_of_a_ladder_hold_and_everybody_is_served(seats):
    played = [
        play(n, bots=14, seats=seats, deal_sets_a_bot=40, pair=by_uncertainty) for n in LADDERS
    ]
    assert all(max(each.served) - min(each.served) <= 4 for each in played)
    assert not any(each.own_meetings for each in played)
    assert 0.915 <= np.mean([each.held for each in played]) <= 0.985


@pytest.mark.deep("statistics")
def test_they_do_not_where_the_nearest_by_rating_are_paired():
    """The control: what most ladders do, and what the test above is there to refuse."""
    played = [
        play(n, bots=14, seats=2, deal_sets_a_bot=40, pair=by_nearest_rating) for n in LADDERS
    ]
    assert np.mean([each.held for each in played]) < 0.8

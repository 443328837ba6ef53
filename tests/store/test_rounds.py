"""Rounds are stored as they were drawn; a second draw that differs is an incident."""

from dataclasses import replace

import pytest

from arena.contests.formats import swiss
from arena.store import StoreError, open_store
from arena.store.rounds import DrawDiffers
from tests.contests.test_swiss import entrants, results
from tests.store.made import made

WHO = entrants(7)
STRENGTH = {each.name: each.seed for each in WHO}


def play(path, number, *, seed="s", who=WHO):
    """Draw, store and play so many rounds, as a restarted process does."""
    with open_store(path) as store:
        if not store.competitions().all():
            made(store, rounds=False)
        past = []
        for _ in range(number):
            drawn = swiss.draw_round(who, past, seed=seed)
            store.competitions().keep_round("autumn", 0, drawn, ())
            past.append(results(drawn, STRENGTH, 2))
        return store.competitions().rounds("autumn", 0)


def test_a_round_is_read_as_it_was_drawn(path):
    (stored,) = play(path, 1)
    assert stored == swiss.draw_round(WHO, [], seed="s")
    assert len(stored.groups) == 3
    assert len(stored.byes) == 1


def test_draws_after_a_restart_equal_those_without_one(path, tmp_path):
    for number in (1, 1, 3, 2, 5):
        stopped = play(path, number)
    assert stopped == play(tmp_path / "unstopped.db", 5)


@pytest.mark.parametrize(
    "changed",
    [{"seed": "t"}, {"who": WHO[:-1]}],
    ids=["another seed", "somebody is gone"],
)
def test_a_draw_from_other_inputs_is_an_incident(path, changed):
    before = play(path, 2)
    with pytest.raises(DrawDiffers, match="round 1 was drawn from other entrants or results"):
        play(path, 2, **changed)
    assert play(path, 2) == before


def test_another_draw_from_the_same_inputs_is_an_incident(path):
    play(path, 1)
    with open_store(path) as store:
        competitions = store.competitions()
        (stored,) = competitions.rounds("autumn", 0)
        drawn = replace(stored, groups=stored.groups[::-1])
        with pytest.raises(DrawDiffers, match="results: continue with the version"):
            competitions.keep_round("autumn", 0, drawn, ())
        with pytest.raises(StoreError, match="round 5 was drawn before round 2"):
            competitions.keep_round("autumn", 0, replace(stored, number=5), ())

"""Rounds are kept as they were drawn, and a draw that comes out otherwise is an incident."""

from dataclasses import replace

import pytest

from arena.competition.formats import swiss
from arena.store import StoreError, open_store
from arena.store.rounds import DrawDiffers
from tests.competition.test_swiss import entrants, results
from tests.store.test_tournament_store import NOW, PLAN, SETTINGS

WHO = entrants(7)
STRENGTH = {each.name: each.seed for each in WHO}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena.db"


def play(path, number, *, seed="s", who=WHO):
    """Draw, keep and play so many rounds, as a process does that was stopped and starts anew."""
    with open_store(path) as store:
        rounds = store.open_tournament(SETTINGS, PLAN, now=NOW).rounds()
        past = []
        for _ in range(number):
            drawn = swiss.draw_round(who, past, seed=seed)
            rounds.keep(drawn)
            past.append(results(drawn, STRENGTH, 2))
        return rounds.all()


def test_a_round_is_read_as_it_was_drawn(path):
    (kept,) = play(path, 1)
    assert kept == swiss.draw_round(WHO, [], seed="s")
    assert len(kept.groups) == 3
    assert len(kept.byes) == 1


def test_stopped_after_any_round_it_goes_on_as_if_it_had_not_been(path, tmp_path):
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


def test_another_draw_from_the_same_inputs_is_one_too(path):
    play(path, 1)
    with open_store(path) as store:
        rounds = store.tournament("autumn").rounds()
        (kept,) = rounds.all()
        with pytest.raises(DrawDiffers, match="and otherwise: go on with the version"):
            rounds.keep(replace(kept, groups=kept.groups[::-1]))
        with pytest.raises(StoreError, match="round 5 was drawn before round 2"):
            rounds.keep(replace(kept, number=5))

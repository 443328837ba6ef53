"""Leaving does not pay, in any game: `tests/results/leavers.py` says how that is tried."""

import pytest

from arena.games.catalogue import GAMES, game_by_id
from tests.results.leavers import WAYS, trial

pytestmark = pytest.mark.deep("statistics")  # plays hundreds of matches

DEAL_SETS = {"jam": 8, "loo": 6, "oklahoma_rummy": 5, "eleusis": 6, "eleusis_express": 6}
"""For each group of bots: fewer where matches are long."""
ENOUGH = 12
MANY = {"pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo", "open_face_chinese_poker"}
"""One hand decides a match, so it takes 40 to 60 deal-sets: `python -m tests.results.leavers` alone."""
ROWS = [
    pytest.param(game.id, way, id=f"{game.id}, {way}")
    for number, game in enumerate(each for each in GAMES if each.id not in MANY)
    for way in (list(WAYS)[number % len(WAYS)],)
]
"""One way to leave for each game; docs/statistics.md has the table of all, and how it was made."""


@pytest.mark.parametrize(("game_id", "way"), ROWS)
def test_who_leaves_scores_less_than_a_twin_that_stays(game_id, way):
    found = trial(game_by_id(game_id), way, DEAL_SETS.get(game_id, ENOUGH))
    assert found.leaves < found.stays
    assert 1 - found.better < 0.01


QUICK = [
    # deal-sets, the share of its seats that it leaves
    pytest.param("klaberjass", "crashes always", 3, (1.0, 1.0), id="plays better by the fallback"),
    pytest.param("democracy", "crashes always", 2, (1.0, 1.0), id="fewer moves than the limit of faults"),
    pytest.param("sixty_six", "quits when behind", 6, (0.1, 0.9), id="leaves in mid-match"),
    pytest.param("sixty_six", "crashes on bad deals", 3, (0.3, 1.0), id="stays below the limit of faults"),
]  # fmt: skip


@pytest.mark.parametrize(("game_id", "way", "deal_sets", "forfeited"), QUICK)
def test_a_few_deal_sets_tell(game_id, way, deal_sets, forfeited):
    found = trial(game_by_id(game_id), way, deal_sets)
    assert forfeited[0] <= found.forfeited <= forfeited[1]
    assert found.leaves < found.stays
    assert 1 - found.better < 0.01

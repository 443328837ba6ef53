"""Wins, draws and losses, of bots and of pairs."""

import pytest

from arena.results.deal_sets import MatchOutcome, aborted, round_robin
from arena.results.head_to_head import WinRecord, records

TWO = round_robin(["ann", "bob"], seats=2, deal_sets=1, seed="7")
THREE = round_robin(["ann", "bob", "cid"], seats=3, deal_sets=1, seed="7")


def played(plan, *results):
    """Outcomes of the plan's matches; each result is places and scores by bot, in order of name."""
    outcomes = {}
    for match, result in zip((m for each in plan for m in each.matches), results, strict=False):
        if result is None:
            outcomes[match.id] = aborted(match.id)
            continue
        order = [sorted(match.bots).index(bot) for bot in match.bots]
        places, scores = ([row[at] for at in order] for row in result)
        faults = tuple({} for _ in match.bots)
        outcome = MatchOutcome(match.id, tuple(scores), tuple(places), "completed", faults)
        outcomes[match.id] = outcome
    return outcomes


WON, LOST, TIED = ([1, 2], [5, 2]), ([2, 1], [0, 9]), ([1, 1], [4, 4])

# fmt: off
OF_TWO = [
    # results        of ann    of bob    why
    ([],             "0-0-0",  "0-0-0",  "nothing was played"),
    ([None],         "0-0-0",  "0-0-0",  "what the arena aborted is none"),
    ([WON],          "1-0-0",  "0-0-1",  "one match"),
    ([WON, LOST],    "1-0-1",  "1-0-1",  "one each"),
    ([WON, TIED],    "1-1-0",  "0-1-1",  "a draw"),
    ([TIED, None],   "0-1-0",  "0-1-0",  "a draw beside an aborted one"),
]
# fmt: on


@pytest.mark.parametrize(("results", "ann", "bob", "why"), OF_TWO, ids=[row[-1] for row in OF_TWO])
def test_of_two(results, ann, bob, why):
    found = records(TWO, played(TWO, *results))
    assert (str(found.of_bot["ann"]), str(found.of_bot["bob"])) == (ann, bob)
    of_pair = {pair: str(record) for pair, record in found.of_pair.items()}
    assert of_pair == ({("ann", "bob"): ann, ("bob", "ann"): bob} if any(results) else {})


def test_at_a_larger_table_the_first_has_won_and_each_pair_is_compared_by_place():
    found = records(THREE, played(THREE, ([2, 1, 3], [5, 9, 1]), ([1, 1, 3], [4, 4, 0])))
    of_bot = {bot: str(record) for bot, record in found.of_bot.items()}
    assert of_bot == {"ann": "0-1-1", "bob": "1-1-0", "cid": "0-0-2"}
    assert found.of_pair["ann", "bob"] == WinRecord(0, 1, 1)
    assert found.of_pair["ann", "cid"] == WinRecord(2, 0, 0)
    assert found.of_pair["cid", "bob"] == WinRecord(0, 0, 2)

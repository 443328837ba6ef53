"""Tournaments of launched bots: how results reach the store."""

import pytest

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import round_robin
from arena.server.tournaments import tournament as tournaments
from arena.store import StoreBusy, StoreError

MATCH = round_robin(["a", "b"], seats=2, deal_sets=1, seed="1")[0].matches[0]
OUTCOME = MatchOutcome(MATCH.id, (1.0, -1.0), (1, 2), "completed", ({}, {}))


class Locked:
    """A tournament whose store another program keeps locked for some attempts."""

    def __init__(self, attempts, error=StoreBusy):
        self.attempts = attempts
        self.error = error
        self.recorded = []

    def outcomes(self):
        return {each.match_id: each for each in self.recorded}

    def record(self, match, outcome):
        if self.attempts:
            self.attempts -= 1
            raise self.error("another program has kept it locked")
        self.recorded.append(outcome)


def test_a_result_waits_for_a_locked_store():
    locked = Locked(tournaments.LOCKED_ATTEMPTS - 1)
    results = tournaments._Patient(locked)
    results.record(MATCH, OUTCOME)
    assert results.outcomes() == {MATCH.id: OUTCOME}


# fmt: off
GIVEN_UP = [
    (Locked(tournaments.LOCKED_ATTEMPTS),  0,  "locked for longer than anybody waits"),
    (Locked(1, StoreError),                0,  "a store that no waiting mends"),
]
# fmt: on


@pytest.mark.parametrize(("locked", "left", "why"), GIVEN_UP, ids=[row[-1] for row in GIVEN_UP])
def test_a_store_that_stays_unusable_ends_the_tournament(locked, left, why):
    with pytest.raises(StoreError, match="locked"):
        tournaments._Patient(locked).record(MATCH, OUTCOME)
    assert locked.attempts == left
    assert locked.recorded == []

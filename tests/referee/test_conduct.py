"""How far each bot played its own seat: what the ladder counts as a seat left."""

import pytest

from arena.live.matches.results import match_outcome
from arena.records.read import Replay
from arena.records.verify import verify
from arena.referee.seat import Answer
from arena.referee.spec import FaultKind, ForfeitedSeat, SeatConduct
from arena.referee.terms import TimeControl
from arena.testing.referee import Reply
from tests.records.matches import LEAVE, PLAY, Bot, record
from tests.referee.matches import plays, plays_but, run, spec_of

CRASH = Reply(Answer())
QUIT = Reply(leaves=True)
OUT = ForfeitedSeat(0, FaultKind.TIMEOUT, "it did not open its commitment")
NO_TIME = TimeControl(move_ms=1000, bank_ms=9000, hand_ms=2000)


def always(reply):
    return lambda ask: reply


def counted(ledger, seat):
    settled = [decision for decision in ledger.decisions if decision.seat == seat]
    return SeatConduct(
        len(settled),
        sum(decision.unasked or decision.fault is not None for decision in settled),
        any(decision.forfeited for decision in settled),
    )


CASES = [
    # what the first seat does, what the match is played by, fallbacks and whether it forfeited
    pytest.param(plays,                     {},                        (0, False),    id="plays"),
    pytest.param(plays_but({2: CRASH}),     {},                        (1, False),    id="one fault"),
    pytest.param(plays_but({2: QUIT}),      {},                        ("rest", True), id="leaves"),
    pytest.param(always(CRASH),             {"fault_limit": 3},        ("all", True), id="faults up to the limit"),
    pytest.param(always(CRASH),             {"fault_limit": 0},        ("all", False), id="faults without a limit"),
    pytest.param(plays,                     {"forfeited_seats": (OUT,)}, ("all", True), id="out before the first card"),
    pytest.param(plays_but({2: Reply(None)}), {"time_control": NO_TIME}, ("some", False), id="no time left for the hand"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "terms", "expected"), CASES)
def test_the_outcome_equals_the_ledger(script, terms, expected):
    spec = spec_of("abstrac", **terms)
    outcome, _, ledger = run(spec, [script, plays])
    assert outcome.conduct == tuple(counted(ledger, seat) for seat in (0, 1))
    conduct = outcome.conduct[0]
    fallbacks, forfeited = expected
    number = {"all": conduct.decisions, "rest": conduct.decisions - 1}.get(fallbacks, fallbacks)
    assert conduct.forfeited == forfeited
    if fallbacks == "some":  # one fault, and after it what there was no time for
        assert 1 < conduct.fallbacks < conduct.decisions
    else:
        assert conduct.fallbacks == number
    told = match_outcome(outcome)
    assert told.forfeited == (forfeited, False)
    assert told.fallback_share == (conduct.fallbacks / conduct.decisions, 0)


@pytest.mark.parametrize(("script", "terms", "expected"), CASES)
def test_a_continued_match_counts_its_earlier_decisions(script, terms, expected):
    spec = spec_of("abstrac", **terms)
    whole, _, ledger = run(spec, [script, plays])
    for at in (1, len(ledger.decisions) // 2, len(ledger.decisions)):
        outcome, _, _ = run(spec, [script, plays], past=ledger.decisions[:at])
        assert outcome.conduct == whole.conduct


def test_a_replay_gives_the_same_result(tmp_path):
    path = record(tmp_path, "abstrac", [Bot(0, (PLAY, LEAVE)), Bot(1)])
    verified = verify(Replay.open(path))
    assert [conduct.forfeited for conduct in verified.outcome.conduct] == [True, False]

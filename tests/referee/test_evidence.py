"""The fault court: every fault has true evidence, and doing wrong never pays."""

import hashlib
from dataclasses import replace
from functools import cache

import pytest
import trio
from trio.testing import MockClock

from arena.games.catalogue import game_by_id
from arena.referee.clock import GRACE_S
from arena.referee.seat import Answer
from arena.referee.spec import Ending, FaultKind, ForfeitedSeat
from arena.referee.terms import TimeControl
from arena.testing.referee import MemoryLedger, Reply, Scripted, play
from tests.referee.matches import (
    ALLOWED_S,
    CALLED,
    THINK_S,
    misdeeds,
    moves_in,
    run,
    spec_of,
    states_of,
    thinks,
    thinks_but,
    typed,
)

GAMES = ["abstrac", "democracy", "chinese_poker", "pineapple"]
"""A game in turn, one at once, one of more moves than can be listed, and one of bets."""
SEAT = 1
WRONG_IN_TIME = (FaultKind.ILLEGAL, FaultKind.MALFORMED, FaultKind.ERROR)


class Sender(Scripted):
    """Answers with bytes, as a stream would: the decision's own."""

    def _reply(self, ask, reply):
        if reply.answer is None or reply.leaves:
            super()._reply(ask, reply)
        else:
            ask.answered(reply.answer, trio.current_time(), bytes_of(ask.decision))


def bytes_of(decision):
    return f"decision {decision}".encode()


def played(spec, misbehaves, **changes):
    """A match in which one seat misbehaves as told by decision; bots and ledger."""
    bots = [Sender(thinks) for _ in range(spec.terms.seats)]
    bots[SEAT] = Sender(thinks_but(misbehaves))
    return run(replace(spec, **changes), bots)


@cache
def decisions_of(game_id):
    """How many decisions the seat makes in a match where nobody does wrong."""
    _, _, ledger = played(spec_of(game_id), {})
    return sum(decision.seat == SEAT for decision in ledger.decisions)


def faults_of(ledger):
    return [decision for decision in ledger.decisions if decision.fault is not None]


def bank_before(ledger, decision):
    """What the seat had in its bank at a decision, in seconds."""
    settled = [decision for decision in ledger.decisions if decision.seat == SEAT]
    return settled[decision - 2].bank_ms / 1000 if decision > 1 else 5.0


# The evidence.


@pytest.mark.parametrize("point", ["first", "middle", "last"])
@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("game_id", GAMES)
def test_a_fault_has_true_evidence_wherever_it_is_made(game_id, name, point):
    spec = spec_of(game_id)
    last = decisions_of(game_id)
    decision = {"first": 1, "middle": last // 2, "last": last}[point]
    misdeed = misdeeds(spec.terms.game)[name]
    _, _, ledger = played(spec, {decision: misdeed.script})
    (entry,) = faults_of(ledger)
    evidence = entry.evidence
    assert (entry.seat, entry.decision, entry.fault) == (SEAT, decision, misdeed.kind)

    # The end of its time: the move's, the bank's and the grace, from the sending of the ask.
    allowed_s = 1.0 + bank_before(ledger, decision)
    assert evidence.due_s == pytest.approx(entry.sent_s + allowed_s + GRACE_S)

    if misdeed.kind in WRONG_IN_TIME:
        raw = bytes_of(decision)
        assert evidence.received_s == pytest.approx(entry.sent_s + THINK_S)
        assert evidence.answer_sha256 == hashlib.sha256(raw).digest()
        assert evidence.answer_bytes == len(raw)
    else:
        assert (evidence.received_s, evidence.answer_sha256, evidence.answer_bytes) == (0, b"", 0)
    at_s = evidence.due_s if misdeed.kind is FaultKind.TIMEOUT else entry.sent_s + THINK_S
    assert entry.charged_s == pytest.approx(at_s - entry.sent_s)
    assert (evidence.away_s, entry.refunded_s) == (0.0, 0.0)


@pytest.mark.parametrize("game_id", GAMES)
def test_a_decision_in_order_has_no_evidence(game_id):
    _, _, ledger = played(spec_of(game_id), {2: Reply(Answer(), THINK_S)})
    assert [decision.evidence is None for decision in ledger.decisions] == [
        decision.fault is None for decision in ledger.decisions
    ]


def test_each_fault_of_one_step_has_its_own_evidence():
    """Three at once, each in its own way: nobody's evidence is another's."""
    spec = spec_of("democracy")
    deeds = [Reply(Answer(), 0.1), Reply(Answer(index=513), 0.2), Reply(answer=None)]
    bots = [Sender(thinks_but({2: deed})) for deed in deeds]
    _, _, ledger = run(spec, bots)
    faults = {decision.seat: decision for decision in faults_of(ledger)}
    assert {seat: each.fault for seat, each in faults.items()} == {
        0: FaultKind.MALFORMED,
        1: FaultKind.ILLEGAL,
        2: FaultKind.TIMEOUT,
    }
    came = {seat: each.evidence.received_s for seat, each in faults.items()}
    sent_s = faults[0].sent_s
    assert came == {0: pytest.approx(sent_s + 0.1), 1: pytest.approx(sent_s + 0.2), 2: 0.0}


class AlwaysLate:
    """An arena that was late just now whenever it is asked, so that no timer judges."""

    def refund_s(self, since_s, until_s, owner=""):
        return 0.0

    def late(self, now_s, due_s=0.0):
        return True


def test_a_late_answer_is_recorded_with_its_lateness():
    late_s = 0.21
    bots = [
        Sender(thinks),
        Sender(thinks_but({3: Reply(after_s=ALLOWED_S + 0.2 + GRACE_S + late_s)})),
    ]
    ledger = MemoryLedger()

    async def main():
        await play(spec_of("abstrac"), bots, ledger, lag=AlwaysLate())

    trio.run(main, clock=MockClock(autojump_threshold=0))
    (entry,) = faults_of(ledger)
    assert entry.fault is FaultKind.TIMEOUT
    assert entry.evidence.received_s - entry.evidence.due_s == pytest.approx(late_s)
    assert entry.evidence.answer_sha256 == hashlib.sha256(bytes_of(3)).digest()


# Being away.


def hangs_up_at(decision, away_s):
    """A bot that loses its connection when it is asked, and comes back after some time."""

    hung_up = trio.Event()

    class HangsUp(Sender):
        def ask(self, ask):
            super().ask(ask)
            if ask.decision == decision:
                self.hang_up()
                hung_up.set()

        async def run(self):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(super().run)
                await hung_up.wait()
                await trio.sleep(away_s)
                self.come_back()

    return HangsUp(thinks_but({decision: Reply(answer=None)}))


def test_the_absence_of_a_bot_is_recorded():
    """It hung up when it was asked and came back too late: the fault says how long it was away."""
    bot = hangs_up_at(2, away_s=30.0)
    _, _, ledger = run(spec_of("abstrac"), [Sender(thinks), bot])
    (entry,) = faults_of(ledger)
    assert (entry.fault, entry.forfeited) == (FaultKind.GONE, False)
    away_s = ALLOWED_S + 0.1 + GRACE_S
    assert entry.evidence.away_s == pytest.approx(away_s, abs=0.02)
    assert entry.evidence.due_s == pytest.approx(entry.sent_s + away_s)


@pytest.mark.parametrize("decision", [1, 4], ids=["at the first ask", "in the middle"])
def test_a_bot_that_is_away_too_long_forfeits_at_the_limit(decision):
    bot = hangs_up_at(decision, away_s=1000.0)
    spec = spec_of("abstrac", away_limit_ms=3000)
    outcome, _, ledger = run(spec, [Sender(thinks), bot])
    (entry,) = faults_of(ledger)
    assert (entry.fault, entry.forfeited) == (FaultKind.GONE, True)
    assert entry.evidence.away_s == pytest.approx(3.0, abs=0.02)
    assert "away for 3 s in all" in entry.reason
    assert outcome.ending is Ending.FORFEIT


# Faults that were not asked for.


def test_a_bot_that_left_between_its_asks_is_at_fault_at_its_next_decision():
    bots = [Sender(thinks), Sender(thinks)]

    def leaves_meanwhile(ask):
        bots[SEAT].gone = ask.decision == 3
        return thinks(ask)

    bots[0] = Sender(leaves_meanwhile)
    _, _, ledger = run(spec_of("abstrac"), bots)
    (entry,) = faults_of(ledger)
    assert (entry.seat, entry.fault, entry.unasked, entry.forfeited) == (
        1,
        FaultKind.GONE,
        True,
        True,
    )
    evidence = entry.evidence
    assert (evidence.received_s, evidence.answer_bytes) == (0.0, 0)
    # It was due at once, when it would have been asked.
    assert evidence.due_s == pytest.approx(entry.sent_s)
    assert entry.charged_s == 0.0


# fmt: off
BEFORE = [
    (FaultKind.TIMEOUT,   "it did not open its commitment"),
    (FaultKind.MALFORMED, "it opened something else"),
]
# fmt: on


@pytest.mark.parametrize(("kind", "reason"), BEFORE, ids=[row[1] for row in BEFORE])
@pytest.mark.parametrize("game_id", GAMES)
def test_a_fault_before_the_deal_is_charged_once_and_the_seat_is_never_asked(game_id, kind, reason):
    spec = replace(spec_of(game_id), forfeited_seats=(ForfeitedSeat(SEAT, kind, reason),))
    outcome, bots, ledger = run(spec, [Sender(thinks) for _ in range(spec.terms.seats)])
    (entry,) = faults_of(ledger)
    assert (entry.seat, entry.decision, entry.fault, entry.reason) == (SEAT, 1, kind, reason)
    assert entry.evidence.due_s == pytest.approx(entry.sent_s)
    assert not bots[SEAT].asked
    assert all(
        decision.unasked and decision.forfeited
        for decision in ledger.decisions
        if decision.seat == SEAT
    )
    assert outcome.places[SEAT] == spec.terms.seats


def test_a_seat_without_time_has_no_fault_and_no_evidence():
    control = TimeControl(move_ms=1000, bank_ms=9000, hand_ms=2000)
    spec = spec_of("abstrac", time_control=control)
    _, _, ledger = played(spec, {2: Reply(answer=None)})
    unasked = [decision for decision in ledger.decisions if decision.unasked]
    assert unasked
    assert all((decision.fault, decision.evidence) == (None, None) for decision in unasked)


# Crashing never pays.


def stays(game):
    """Plays the fallback itself, in time."""

    def script(ask):
        move = game.rules.fallback(ask.record.asker.state, ask.seat)
        return Reply(Answer(move=typed(game, move)), THINK_S)

    return script


def from_then_on(decision, script):
    def behaves(ask):
        return script(ask) if ask.decision >= decision else thinks(ask)

    return behaves


def once(decision, script, otherwise):
    def behaves(ask):
        if ask.decision < decision:
            return thinks(ask)
        return script(ask) if ask.decision == decision else otherwise(ask)

    return behaves


@cache
def result_of_staying(game_id, seat, decision):
    spec = spec_of(game_id)
    scripts = [thinks] * spec.terms.seats
    scripts[seat] = from_then_on(decision, stays(spec.terms.game))
    outcome, _, ledger = run(spec, scripts)
    assert outcome.ending is Ending.COMPLETED
    return outcome, {
        decision.decision: decision.bank_ms
        for decision in ledger.decisions
        if decision.seat == seat
    }


@pytest.mark.parametrize("how_often", ["once", "for ever"])
@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("game_id", ["abstrac", "democracy", "pineapple"])
def test_doing_wrong_is_never_better_than_staying(game_id, name, how_often):
    """Against the same match with the same moves made in time: no place and no time is won."""
    game, spec = game_by_id(game_id), spec_of(game_id)
    deed = misdeeds(game)[name]
    for seat in (0, spec.terms.seats - 1):
        for decision in (1, 4):
            if how_often == "once":
                script = once(decision, deed.script, stays(game))
            else:
                script = from_then_on(decision, deed.script)
            scripts = [thinks] * spec.terms.seats
            scripts[seat] = script
            outcome, bots, ledger = run(spec, scripts)
            stayed, banks = result_of_staying(game_id, seat, decision)
            assert outcome.faults
            assert outcome.scores == stayed.scores, "the cards fall as they would have"
            assert outcome.places[seat] >= stayed.places[seat]
            forfeits = outcome.conduct[seat].forfeited
            for other in set(range(spec.terms.seats)) - {seat}:
                assert outcome.places[other] <= stayed.places[other]
                assert not forfeits or outcome.places[other] < outcome.places[seat]
            for settled in ledger.decisions:
                assert settled.seat != seat or settled.bank_ms <= banks[settled.decision]
            # All get the same result, the culprit as well.
            assert all(bot.ended.outcome == outcome for bot in bots)


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("game_id", ["abstrac", "democracy"])
def test_the_others_play_on_as_if_nothing_had_happened(game_id, name):
    """What one does wrong changes no move that the rules take from the others, and no time."""
    spec = spec_of(game_id)
    deed = misdeeds(spec.terms.game)[name]
    scripts = [thinks] * spec.terms.seats
    scripts[SEAT] = from_then_on(2, deed.script)
    outcome, _, ledger = run(spec, scripts)
    states, last = states_of(spec, ledger)
    moves = moves_in(ledger, spec.terms.game)
    for (seat, decision), state in states.items():
        assert moves[seat, decision] in spec.terms.game.rules.moves(state, seat)
    for decision in ledger.decisions:
        if decision.seat != SEAT:
            assert (decision.fault, decision.unasked, decision.forfeited) == (None, False, False)
            assert decision.charged_s == pytest.approx(THINK_S)
    assert outcome.scores == spec.terms.game.rules.result(last).scores

"""A bot is charged its own time: what the arena was late, by whatever cause, is nobody's."""

import itertools
import math

import pytest
import trio
from trio.testing import MockClock

from arena.games.contract import Seat
from arena.referee import seat as seat_module
from arena.referee.clock import MAX_REFUND_S, PAUSE_S, TICK_S, LagMeter
from arena.referee.match_runner import MatchRunner
from arena.referee.seat import Answer
from arena.referee.spec import Ending, FaultKind
from arena.referee.timers import ArenaTime, Timers
from arena.testing.referee import MemoryLedger, Scripted, play
from tests.doubles.loops import Loop, TrioLoop
from tests.referee.matches import ALLOWED_S, THINK_S, plays, run, spec_of, thinks

GRACE_S = 0.05
STOP_S = 3.0
LONG_STOP_S = 10.0
"""Longer than a bot has for its move."""
UNSEEN_S = TICK_S + 1e-6
"""A stop is noticed when the next tick should have come."""


class Port:
    """A bot that takes asks and says what it is told to."""

    presence = None

    gone = False
    connected = True

    def __init__(self, loop):
        self.loop = loop
        self.asked = []

    def sit(self, presence):
        self.presence = presence

    def ask(self, ask):
        ask.sent(self.loop.now_s)
        self.asked.append(ask)

    def close(self, ask, fault, reason):
        pass

    def asked_before(self, decision, said):
        pass

    def end(self, outcome, trailing_events):
        pass


class Sitting:
    """A match whose arena can be stopped; after a stop, what is due comes in any order."""

    def __init__(self, past=(), owner_of=lambda bot: bot, used=()):
        self.loop = Loop()
        self.meter = LagMeter(
            self.loop.call_later, lambda: self.loop.now_s, lambda: self.loop.now_s
        )
        self.meter.start()
        self.timers = Timers()
        self.ledger = MemoryLedger()
        spec = spec_of("abstrac", 2)
        self.ports = [Port(self.loop) for _ in range(spec.terms.seats)]
        self.table = MatchRunner(
            spec,
            self.ports,
            self.ledger,
            time=ArenaTime(lambda: self.loop.now_s, self.timers, self.meter, owner_of),
            over=lambda table: table.tell_end(),
            heavy_step=None,
        )
        self.table.begin(past, used)
        self.began_s = self.loop.now_s

    @property
    def ask(self):
        """The first ask of the match."""
        (ask,) = (port.asked[0] for port in self.ports if port.asked)
        return ask

    @property
    def decision(self):
        """The first decision, once it is settled."""
        return self.ledger.decisions[0] if self.ledger.decisions else None

    def tick(self):
        self.loop.resume()

    def timer(self):
        self.timers.call_due(self.loop.now_s)

    def answer(self):
        self.ask.answered(Answer(index=0), self.loop.now_s)

    def think(self, seconds):
        """Time passes, with the arena at work."""
        until_s = self.loop.now_s + seconds
        while self.loop.now_s < until_s:
            self.loop.run_until(min(until_s, self.loop.now_s + TICK_S / 2))
            self.timer()

    def stop(self, seconds, order=("tick", "timer")):
        """The arena is stopped for so long; then things are done in this order."""
        self.loop.block_until(self.loop.now_s + seconds)
        for each in order:
            getattr(self, each)()


ORDERS = list(itertools.permutations(["tick", "timer", "answer"]))


@pytest.mark.parametrize("order", ORDERS, ids=[", ".join(order) for order in ORDERS])
def test_an_answer_during_a_stop_is_in_time(order):
    sitting = Sitting()
    sitting.think(0.25)
    sitting.stop(LONG_STOP_S, order)
    assert sitting.decision.fault is None
    assert 0.25 <= sitting.decision.charged_s <= 0.25 + UNSEEN_S
    assert sitting.decision.refunded_s == pytest.approx(LONG_STOP_S, abs=UNSEEN_S)


def test_a_stop_is_worth_no_more_than_the_bound_of_a_decision():
    sitting = Sitting()
    sitting.stop(MAX_REFUND_S + 3.0)
    sitting.answer()
    assert sitting.decision.fault is None
    assert sitting.decision.refunded_s == MAX_REFUND_S
    assert sitting.decision.charged_s == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("whose", "charged_s"),
    [
        pytest.param("the asked bot's", 0.25 + STOP_S, id="its own"),
        pytest.param("another's", 0.25, id="another's"),
    ],
)
def test_a_bot_gains_no_time_by_a_pause_that_its_own_owner_made(whose, charged_s):
    sitting = Sitting(owner_of=lambda bot: f"owner of {bot}")
    sitting.think(0.25)
    since_s = sitting.loop.now_s
    sitting.loop.block_until(since_s + STOP_S)
    asked = sitting.table.spec.entrants[sitting.ask.seat].name
    bot = asked if whose == "the asked bot's" else "bot of others"
    sitting.meter.caused(f"owner of {bot}", since_s, sitting.loop.now_s)
    sitting.tick()
    sitting.answer()
    assert sitting.decision.fault is None
    assert sitting.decision.charged_s == pytest.approx(charged_s, abs=UNSEEN_S)
    assert sitting.decision.refunded_s == pytest.approx(0.25 + STOP_S - charged_s, abs=UNSEEN_S)


def test_a_bot_whose_owner_made_a_pause_runs_out_of_its_time_as_if_there_had_been_none():
    sitting = Sitting(owner_of=lambda _: "ann")
    since_s = sitting.loop.now_s
    sitting.loop.block_until(since_s + LONG_STOP_S)
    sitting.meter.caused("ann", since_s, sitting.loop.now_s)
    sitting.tick()
    assert timed_out_after_s(sitting, 30) == pytest.approx(LONG_STOP_S, abs=0.2)


def test_a_seat_is_refunded_no_more_than_the_bound_of_a_match_also_across_a_restart(monkeypatch):
    monkeypatch.setattr(seat_module, "MAX_MATCH_REFUND_S", 5.0)

    def refunds(sitting, decisions):
        """What each seat was refunded, with the arena stopped for 2 s at each decision."""
        for _ in range(decisions):
            (ask,) = (port.asked[-1] for port in sitting.ports if port.asked and not settled(port))
            sitting.stop(2.0, ("tick",))
            ask.answered(Answer(index=0), sitting.loop.now_s)
        total = dict.fromkeys((Seat(0), Seat(1)), 0.0)
        for decision in sitting.ledger.decisions:
            total[decision.seat] += decision.refunded_s
        return total

    def settled(port):
        return port.asked[-1].settled

    first = Sitting()
    assert refunds(first, 8) == pytest.approx({Seat(0): 5.0, Seat(1): 5.0})
    assert all(decision.fault is None for decision in first.ledger.decisions)
    again = Sitting(past=first.ledger.decisions)
    assert refunds(again, 2) == {Seat(0): 0.0, Seat(1): 0.0}


# fmt: off
STOPS = [
    # before  stop  after    charged   why
    (0.25,    0.0,  0.25,    0.5,      "no stop"),
    (0.25,    3.0,  0.25,    0.5,      "thought before and after a stop"),
    (0.0,     3.0,  0.5,     0.5,      "stopped as soon as it was asked"),
    (0.5,     3.0,  0.0,     0.5,      "stopped when it was about to answer"),
    (0.25,    0.6,  0.25,    0.5,      "a short stop"),
    (0.25,    0.02, 0.25,    0.52,     "a delay of less than 20 ms is not refunded"),
    (5.9,     3.0,  0.09,    5.99,     "nearly out of time"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before_s", "stop_s", "after_s", "charged_s", "why"), STOPS, ids=[row[-1] for row in STOPS]
)
def test_a_bot_is_charged_for_what_it_thought(before_s, stop_s, after_s, charged_s, why):
    sitting = Sitting()
    sitting.think(before_s)
    if stop_s:
        sitting.stop(stop_s)
    sitting.think(after_s)
    sitting.answer()
    assert sitting.decision.fault is None
    assert charged_s - 1e-6 <= sitting.decision.charged_s <= charged_s + UNSEEN_S
    spent_s = sitting.decision.charged_s + sitting.decision.refunded_s
    assert spent_s == pytest.approx(before_s + stop_s + after_s)


def timed_out_after_s(sitting, within_s):
    """When the bot's time was up."""
    while sitting.decision is None and sitting.loop.now_s < sitting.began_s + within_s:
        sitting.think(TICK_S)
    assert sitting.decision is not None, "its time never was up"
    assert sitting.decision.fault is FaultKind.TIMEOUT
    return sitting.loop.now_s - sitting.began_s


# fmt: off
MUTE = [
    # stopped at  for      time is up after
    (None,        0.0,     ALLOWED_S + GRACE_S,                "never stopped"),
    (1.0,         3.0,     ALLOWED_S + GRACE_S + 3.0,          "stopped in the middle"),
    (5.0,         10.0,    ALLOWED_S + GRACE_S + 10.0,         "stopped beyond the time"),
    (6.04,        0.5,     ALLOWED_S + GRACE_S + 0.5,          "stopped just before the end"),
]
# fmt: on


@pytest.mark.parametrize(("at_s", "for_s", "up_s", "why"), MUTE, ids=[row[-1] for row in MUTE])
def test_a_mute_bot_runs_out_of_its_time_but_later_by_the_stop(at_s, for_s, up_s, why):
    sitting = Sitting()
    if at_s is not None:
        sitting.think(at_s)
        sitting.stop(for_s)
    up_after_s = timed_out_after_s(sitting, 30)
    # The arena looks again a tenth of a second after it was late.
    assert up_s - UNSEEN_S <= up_after_s <= up_s + 0.1 + 2 * TICK_S
    assert sitting.decision.charged_s >= ALLOWED_S


def test_an_answer_that_is_late_for_reasons_of_the_bots_own_is_late_after_a_stop_too():
    sitting = Sitting()
    sitting.think(ALLOWED_S - 1)
    sitting.stop(STOP_S)
    sitting.loop.run_until(sitting.loop.now_s + 1.2)
    sitting.ask.answered(Answer(index=0), sitting.loop.now_s, b"bytes")  # before the timer
    assert sitting.decision.fault is FaultKind.TIMEOUT
    evidence = sitting.decision.evidence
    assert evidence.due_s == pytest.approx(ALLOWED_S + GRACE_S + STOP_S, abs=UNSEEN_S)
    assert evidence.received_s == pytest.approx(ALLOWED_S + STOP_S + 0.2, abs=UNSEEN_S)


def test_nobodys_time_is_up_while_the_arena_stays_late():
    sitting = Sitting()
    while sitting.loop.now_s < sitting.began_s + 60:
        sitting.stop(PAUSE_S + 2 * TICK_S)
    assert sitting.decision is None
    timed_out_after_s(sitting, 120)


# Restarts of the arena.


def restarted(sitting):
    """The match as another process goes on with it, from what stands in the ledger."""
    return Sitting(sitting.ledger.decisions, used=tuple(sitting.ledger.times.values()))


def think_and_keep(sitting, seconds):
    """Time passes, and is written down every second."""
    began_s = sitting.loop.now_s
    for _ in range(int(seconds)):
        sitting.think(1.0 + UNSEEN_S / 10)
        sitting.table.keep_times()
    sitting.think(began_s + seconds - sitting.loop.now_s)


def told_s(sitting):
    """What the ask says that there is to think: for the move and in the bank together."""
    move_ms, bank_ms, _ = sitting.ask.clock_ms()
    return (move_ms + bank_ms) / 1000


def test_time_that_a_bot_has_thought_is_used_up_after_a_restart():
    first = Sitting()
    assert told_s(first) == ALLOWED_S
    think_and_keep(first, 3.5)
    again = restarted(first)
    assert told_s(again) == pytest.approx(ALLOWED_S - 3.0, abs=TICK_S), "the last second is given"
    again.think(1.25)
    again.answer()
    assert again.decision.fault is None
    assert again.decision.charged_s == pytest.approx(4.25, abs=TICK_S)
    assert again.decision.sent_s >= 0.0


def test_who_has_used_its_time_is_out_of_it_however_often_the_arena_is_restarted():
    sitting = Sitting()
    lives = 3
    for _ in range(lives):
        think_and_keep(sitting, 1.5)
        sitting = restarted(sitting)
    up_s = timed_out_after_s(sitting, ALLOWED_S)
    assert lives * 1.0 + up_s == pytest.approx(ALLOWED_S + GRACE_S, abs=5 * TICK_S)


def test_at_least_a_second_is_left_as_an_answer_may_have_been_on_its_way():
    first = Sitting()
    think_and_keep(first, 5.99)
    again = restarted(first)
    assert told_s(again) == 1.0
    again.think(0.9)
    again.answer()
    assert again.decision.fault is None


def test_time_used_for_a_decision_that_was_settled_is_not_used_again():
    first = Sitting()
    think_and_keep(first, 3.0)
    first.answer()
    again = restarted(first)
    later = [port.asked[0] for port in again.ports if port.asked]
    assert len(later) == 1
    assert sum(later[0].clock_ms()[:2]) >= (ALLOWED_S - 3.0) * 1000


def test_what_the_arena_was_late_is_not_used_up_after_a_restart():
    first = Sitting()
    first.think(0.5)
    first.stop(STOP_S, ("tick",))
    think_and_keep(first, 2.0)
    assert told_s(restarted(first)) == pytest.approx(ALLOWED_S - 2.5, abs=0.1)


def test_absences_are_restored_after_a_restart():
    first = Sitting()
    seat = first.ask.seat
    first.ports[seat].presence.left()
    think_and_keep(first, 4.0)
    first.ports[seat].presence.came_back()
    again = restarted(first)
    assert again.ports[seat].presence.away_s() == pytest.approx(4.0, abs=TICK_S)
    assert again.ports[1 - seat].presence.away_s() == 0.0
    again.ports[seat].presence.left()
    think_and_keep(again, 1.0)
    third = restarted(again)
    assert third.ports[seat].presence.away_s() == pytest.approx(5.0, abs=TICK_S)


def test_times_of_quick_answers_are_not_recorded_and_of_slow_ones_seldom(
    monkeypatch,
):
    sitting = Sitting()
    sitting.think(0.5)
    sitting.table.keep_times()
    assert sitting.ledger.times == {}
    records = []
    sitting.ledger.used = records.append
    monkeypatch.setattr(sitting.meter, "late", lambda now_s, due_s=0.0: True)  # no time is up
    for _ in range(3_600):
        sitting.loop.now_s += 1.0
        sitting.meter._due_s = sitting.loop.now_s + TICK_S
        sitting.table.keep_times()
    assert 32 < len(records) < 32 * math.log(3_600 / 32) + 64
    assert all(2.0 <= each.used_s <= 3_601 for each in records[1:])


# Whole matches, stopped again and again: trio takes what is due after a stop in any order.


def played_with_stops(spec, scripts, every_s, stop_s):
    """The outcome and the ledger of a match that is stopped so often, for so long."""
    clock, ledger = MockClock(autojump_threshold=0), MemoryLedger()
    stops = 0

    async def stop_often():
        nonlocal stops
        while True:
            await trio.sleep(every_s)
            clock.jump(stop_s)
            stops += 1

    async def main():
        async with trio.open_nursery() as nursery:
            meter = LagMeter(TrioLoop(nursery).call_later, trio.current_time, trio.current_time)
            nursery.start_soon(stop_often)
            with meter.measuring():
                bots = [Scripted(script) for script in scripts]
                outcome = await play(spec, bots, ledger, lag=meter)
            nursery.cancel_scope.cancel()
        return outcome

    outcome = trio.run(main, clock=clock)
    return outcome, ledger, stops


@pytest.mark.parametrize("game_id", ["abstrac", "pineapple", "jam"])
def test_stops_change_neither_the_outcome_of_a_match_nor_what_bots_are_charged(game_id):
    spec = spec_of(game_id, 2)
    scripts = [thinks, plays]
    quiet, _, _ = run(spec, scripts)
    outcome, ledger, stops = played_with_stops(spec, scripts, every_s=0.3, stop_s=LONG_STOP_S)
    assert outcome.ending is Ending.COMPLETED
    assert (outcome.scores, outcome.faults) == (quiet.scores, ())
    true_s = {Seat(0): THINK_S, Seat(1): 0.0}
    for decision in ledger.decisions:
        assert decision.charged_s <= true_s[decision.seat] + UNSEEN_S
    assert stops > 3
    assert sum(decision.refunded_s for decision in ledger.decisions) > 3 * LONG_STOP_S

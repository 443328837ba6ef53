"""How long a bot may be away: in all, whoever's turn it is, and not for the arena's own lateness."""

import math

import pytest
import trio

from arena.referee.absence import Absence
from arena.referee.clock import MAX_MATCH_REFUND_S, MAX_REFUND_S
from arena.referee.seat import Answer
from arena.referee.spec import Ending, FaultKind
from arena.referee.terms import TimeControl
from arena.referee.timers import ArenaTime, Timers
from arena.testing.referee import Reply, Scripted, seeded_spec
from tests.doubles.clocks import Clock
from tests.referee.matches import run, spec_of

CONTROL = TimeControl(move_ms=30_000, bank_ms=60_000)
LIMIT_S = 10.0
OTHER_THINKS_S = 1.0
THINKS_S = 0.01


def thinks(ask):
    return Reply(Answer(index=len(ask.moves.offered) - 1), OTHER_THINKS_S)


class Wanderer(Scripted):
    """A bot that is away from time to time, and answers as soon as it is back."""

    def __init__(self, spans_s):
        super().__init__(lambda _: Reply())
        self.spans_s = spans_s
        self.back = trio.Event()

    async def run(self):
        self.back.set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wander, trio.current_time())
            async for ask in self._receive:
                nursery.start_soon(self._answer, ask)

    async def _wander(self, began_s):
        for left_s, back_s in self.spans_s:
            await trio.sleep_until(began_s + left_s)
            self.back = trio.Event()
            self.hang_up()
            await trio.sleep_until(began_s + back_s)
            self.come_back()
            self.back.set()

    async def _answer(self, ask):
        await trio.sleep(THINKS_S)
        await self.back.wait()
        ask.answered(Answer(index=len(ask.moves.offered) - 1), trio.current_time())


class Late:
    """An arena that was late from `since_s` to `until_s` of the match."""

    def __init__(self, since_s, until_s):
        self.since_s, self.until_s = since_s, until_s

    def refund_s(self, since_s, until_s, owner=""):
        return max(0.0, min(until_s, self.until_s) - max(since_s, self.since_s))

    def late(self, now_s, due_s=0.0):
        return self.since_s <= now_s <= self.until_s + 0.1


def wander(spans_s, lag=None, limit_s=LIMIT_S):
    """A match in which one bot is away so; what it ended in, and that bot's faults."""
    limit_ms = int(limit_s * 1000)
    spec = seeded_spec("abstrac", 2, {"hands": 8}, time_control=CONTROL, away_limit_ms=limit_ms)
    bots = [Scripted(thinks), Wanderer(spans_s)]
    outcome, _, ledger = run(spec, bots, lag=lag)
    assert all(bot.ended.outcome == outcome for bot in bots), "all are told the result"
    assert len(outcome.scores) == 2
    return (
        outcome,
        [decision for decision in ledger.decisions if decision.fault is not None],
        ledger,
    )


# In the first second it is the other's turn from 0.01 s on: the wanderer chooses who begins.
OTHERS_TURNS = [(at * 1.01 + 0.05, at * 1.01 + 0.95) for at in range(30)]
FAR = 10_000.0
END_S = wander([])[-1].end_s
# fmt: off
ENOUGH = [
    ([(0.005, 9.9)],                          "nearly all of it at once, in its own turn"),
    ([(0.005, 0.005 + LIMIT_S - 0.001)],      "back in the last moment"),
    ([(at, at + 3.0) for at in (1, 5, 9)],    "three times a little less than a third"),
    (OTHERS_TURNS[:11],                       "a little in each of the other's turns"),
    ([(2.0, 2.0), (2.5, 2.5)],                "gone and back in the same moment"),
    ([(END_S - 0.5, FAR)],                          "gone during the last move of the other"),
]
TOO_MUCH = [
    ([(0.005, FAR)],                          True,   "once, from the first ask on"),
    ([(0.0, FAR)],                            True,   "it never came"),
    ([(0.005, 0.005 + LIMIT_S + 0.1)],        True,   "back a moment too late"),
    ([(at, at + 3.0) for at in (1, 5, 9, 13)], True,  "four times less than a third"),
    (OTHERS_TURNS,                            False,  "a little in each of the other's turns"),
]
# fmt: on


@pytest.mark.parametrize(("spans_s", "why"), ENOUGH, ids=[row[-1] for row in ENOUGH])
def test_a_bot_may_be_away_for_a_while(spans_s, why):
    outcome, faults, ledger = wander(spans_s)
    assert ledger.end_s > 30.0
    assert (outcome.ending, faults) == (Ending.COMPLETED, [])


@pytest.mark.parametrize(("spans_s", "asked", "why"), TOO_MUCH, ids=[row[-1] for row in TOO_MUCH])
def test_who_is_away_for_longer_in_all_is_played_by_fallback_to_the_end(spans_s, asked, why):
    outcome, faults, ledger = wander(spans_s)
    assert (outcome.ending, outcome.places) == (Ending.FORFEIT, (1, 2))
    assert len(faults) == 1
    (fault,) = faults
    assert (fault.seat, fault.fault) == (1, FaultKind.GONE)
    assert (fault.forfeited, fault.unasked) == (True, not asked)
    assert fault.reason == "the bot was away for 10 s in all"
    # Found out between its turns, it is blamed at the next: it may be away for longer by then.
    assert fault.evidence.away_s == pytest.approx(LIMIT_S, abs=0.01 if asked else 1.0)
    assert fault.evidence.away_s >= LIMIT_S - 0.001
    later = ledger.decisions[ledger.decisions.index(fault) + 1 :]
    assert all(
        decision.unasked and decision.fault is None for decision in later if decision.seat == 1
    )
    assert any(decision.seat == 0 and not decision.unasked for decision in later), (
        "the other plays on"
    )


def test_without_a_limit_being_away_costs_time_and_nothing_else():
    outcome, faults, _ = wander([(0.005, 80.0)], limit_s=0)
    assert (outcome.ending, faults) == (Ending.COMPLETED, [])
    outcome, (fault,), _ = wander([(0.005, 100.0)], limit_s=0)
    assert (outcome.ending, fault.fault, fault.forfeited) == (
        Ending.COMPLETED,
        FaultKind.GONE,
        False,
    )


# fmt: off
LATE = [
    # away        late         up at      why
    ((1.0, FAR),  (4.0, 7.0),  14.0,      "late meanwhile: it could not have come then"),
    ((1.0, FAR),  (0.2, 0.9),  11.0,      "late before it left"),
    ((1.0, FAR),  (9.0, 25.0), 27.0,      "late when its time would have been up"),
    ((1.0, FAR),  (0.5, 3.0),  13.0,      "late when it left"),
    ((1.0, 12.9), (4.0, 7.0),  math.inf,  "back in time, as the lateness does not count"),
    ((1.0, 25.05), (9.0, 25.0), math.inf, "back as soon as the arena was"),
]
# fmt: on


@pytest.mark.parametrize(("away", "late", "up_s", "why"), LATE, ids=[row[-1] for row in LATE])
def test_what_the_arena_was_late_itself_does_not_count(away, late, up_s, why):
    outcome, faults, _ = wander([away], Late(*late))
    if up_s == math.inf:
        assert (outcome.ending, faults) == (Ending.COMPLETED, [])
    else:
        (fault,) = faults
        assert fault.sent_s + fault.charged_s + fault.refunded_s == pytest.approx(up_s, abs=0.15)
        assert fault.evidence.away_s == pytest.approx(LIMIT_S, abs=0.15)


class Owned(Late):
    """The same, by the doing of one owner."""

    def refund_s(self, since_s, until_s, owner=""):
        return 0.0 if owner == "bot 1" else super().refund_s(since_s, until_s)


def test_lateness_of_its_own_owners_doing_counts_as_away():
    _, (fault,), _ = wander([(1.0, FAR)], Owned(4.0, 7.0))
    up_s = fault.sent_s + fault.charged_s + fault.refunded_s
    assert up_s == pytest.approx(1.0 + LIMIT_S, abs=0.15)


def present(limit_s):
    """A presence on a clock of its own, in an arena that is always late, and whether it is used up."""
    clock, used_up = Clock(), []

    class Always(Late):
        def late(self, now_s, due_s=0.0):
            return False

    presence = Absence(
        int(limit_s * 1000),
        time=ArenaTime(clock, Timers(), Always(0.0, math.inf)),
        used_up=lambda: used_up.append(clock.now),
    )
    return clock, presence


def test_no_more_than_a_minute_of_an_absence_is_refunded():
    clock, presence = present(1e6)
    presence.left()
    clock.now += MAX_REFUND_S
    assert presence.away_s() == 0.0
    clock.now += 5.0
    assert presence.away_s() == 5.0
    presence.came_back()
    assert presence.away_s() == 5.0
    presence.left()
    clock.now += MAX_REFUND_S
    assert presence.away_s() == 5.0, "another absence has its own"


def test_no_more_than_an_hour_of_all_absences_is_refunded():
    clock, presence = present(1e6)
    absences = int(MAX_MATCH_REFUND_S / MAX_REFUND_S)
    for _ in range(absences + 2):
        presence.left()
        clock.now += MAX_REFUND_S
        presence.came_back()
    assert presence.away_s() == 2 * MAX_REFUND_S


def test_three_bots_and_one_that_stays_away():
    """The seats that stayed are ranked before it by their scores, whatever its own score is."""
    spec = spec_of("democracy", 3, time_control=CONTROL, away_limit_ms=2_000)
    bots = [Scripted(thinks), Wanderer([(0.5, FAR)]), Scripted(thinks)]
    outcome, _, _ = run(spec, bots)
    assert outcome.ending is Ending.FORFEIT
    assert outcome.places[1] == 3
    assert {outcome.places[0], outcome.places[2]} <= {1, 2}
    assert all(bot.ended.outcome == outcome for bot in bots)

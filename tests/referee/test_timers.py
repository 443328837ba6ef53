"""Deadlines that move: each is called once, at the time that it was last set to."""

import random
import weakref
from collections import deque

import pytest
import trio
from trio.testing import MockClock

from arena.referee.timers import FEW_PLACES, Timers

CLEAR = "clear"


def called(script, until_s=100.0):
    """When a timer is called that is set as the script says: (when, to what)."""
    times = []

    async def main():
        timers = Timers()
        timer = timers.timer(lambda: times.append(round(trio.current_time() - begin_s, 6)))
        begin_s = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timers.run)
            for when_s, due_s in script:
                await trio.sleep_until(begin_s + when_s)
                if due_s == CLEAR:
                    timer.clear()
                else:
                    timer.set(begin_s + due_s)
            await trio.sleep_until(begin_s + until_s)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return times


# fmt: off
SCRIPTS = [
    ([(0, 5)],                              [5],      "once, when it is due"),
    ([(0, 5), (1, 7)],                      [7],      "set later: not at the time before"),
    ([(0, 5), (1, 3)],                      [3],      "set earlier: then, and not again"),
    ([(0, 5), (1, 3), (2, 9)],              [9],      "earlier and later again"),
    ([(0, 5), (1, CLEAR)],                  [],       "cleared"),
    ([(0, 5), (1, CLEAR), (2, 4)],          [4],      "cleared and set earlier"),
    ([(0, 5), (1, CLEAR), (2, 8)],          [8],      "cleared and set later"),
    ([(0, 5), (1, CLEAR), (2, 5)],          [5],      "cleared and set to the same"),
    ([(0, 5), (6, 8)],                      [5, 8],   "set again after it was called"),
    ([(0, 5), (1, 3), (4, 5)],              [3, 5],   "set again to a time that stands in the queue"),
    ([(3, 2)],                              [3],      "set to a time that is past"),
    ([(n / 10, n / 10 + 5) for n in range(50)], [9.9], "set later and later"),
    ([(n / 10, 50 - n) for n in range(40)], [11],     "set earlier and earlier"),
    ([],                                    [],       "never set"),
]
# fmt: on


@pytest.mark.parametrize(("script", "times", "why"), SCRIPTS, ids=[row[-1] for row in SCRIPTS])
def test_a_timer_is_called(script, times, why):
    assert called(script) == times


def test_many_timers_are_called_in_order_each_at_its_time():
    chance = random.Random(1)
    due = {}
    calls = []

    async def main():
        timers = Timers()

        def action(name):
            return lambda: calls.append((name, trio.current_time()))

        every = {name: timers.timer(action(name)) for name in range(200)}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timers.run)
            for _ in range(1_000):
                name = chance.randrange(200)
                if chance.random() < 0.2:
                    every[name].clear()
                    due.pop(name, None)
                else:
                    due[name] = trio.current_time() + 50 + chance.random() * 100
                    every[name].set(due[name])
                await trio.sleep(0.01)
            await trio.sleep(200)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert len(due) > 100
    assert dict(calls) == pytest.approx(due)
    assert len(calls) == len(due)
    assert [when for _, when in calls] == sorted(when for _, when in calls)


def test_an_action_may_set_its_own_timer_and_others():
    calls = []

    async def main():
        timers = Timers()

        def tick():
            calls.append(trio.current_time() - begin_s)
            if len(calls) < 5:
                timer.set(trio.current_time() + 1)
                other.set(trio.current_time() + 0.5)

        begin_s = trio.current_time()
        timer = timers.timer(tick)
        other = timers.timer(lambda: calls.append("other"))
        timer.set(begin_s + 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timers.run)
            await trio.sleep(20)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert calls == [1, "other", 2, "other", 3]


def test_a_timer_that_is_retired_holds_on_to_nothing():
    """Its place in the queue outlives it; the match that it belonged to must not."""

    class Match:
        def time_is_up(self):
            raise AssertionError("it is over")

    timers, match = Timers(), Match()
    timer = timers.timer(match.time_is_up)
    timer.set(60.0)
    timer.retire()
    gone = weakref.ref(match)
    del match
    assert gone() is None
    timers.call_due(100.0)


def test_retired_timers_do_not_pile_up_in_the_queue():
    """Matches come and go by the second; a bank may last for hours."""
    timers, in_play = Timers(), deque()
    for match in range(20 * FEW_PLACES):
        in_play.append(timers.timer(lambda: None))
        in_play[-1].set(36_000.0 + match)
        if len(in_play) > 100:
            in_play.popleft().retire()
        assert len(timers._heap) <= FEW_PLACES + 1


def test_a_sweep_of_the_queue_loses_no_timer_that_waits():
    chance = random.Random(2)
    timers, waiting, calls = Timers(), {}, []
    for name in range(5 * FEW_PLACES):
        timer = timers.timer(lambda name=name: calls.append(name))
        waiting[name] = timer
        for _ in range(chance.randrange(1, 4)):
            timer.set(chance.random())
        if chance.random() < 0.5:
            waiting.pop(chance.choice(list(waiting)[-50:])).retire()
    for now_s in (1.0, 2.0):  # a timer that was set to a later time is queued again first
        timers.call_due(now_s)
    assert sorted(calls) == sorted(waiting)

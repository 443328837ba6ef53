"""Heavy steps: played elsewhere, while nobody's time runs."""

import contextlib
import logging
import os
import signal

import pytest
import trio
from trio.testing import MockClock

from arena.games.abstrac import messages
from arena.games.abstrac import rules as abstrac
from arena.games.abstrac.messages import Choose, Order
from arena.games.contract import IllegalMove
from arena.referee import step_processes as workers_module
from arena.referee.referee import Referee
from arena.referee.spec import Ending
from arena.referee.step_processes import StepProcesses
from arena.testing.referee import MemoryLedger, Scripted, play
from tests.referee.matches import run, spec_of, thinks

STEP_S = 1000.0


class Elsewhere(StepProcesses):
    """Plays steps here, after a very long time."""

    steps = 0

    async def step(self, game_id, state, chosen, deals, ticket):
        self.steps += 1
        await trio.sleep(STEP_S)
        return abstrac.step(state, chosen, deals)


def run_with(workers, scripts, ledger, stop_after_s=float("inf")):
    spec, bots = spec_of("abstrac"), [Scripted(script) for script in scripts]

    async def main():
        referee = Referee(trio.lowlevel.checkpoint, workers)
        async with trio.open_nursery() as nursery:
            await nursery.start(referee.run)
            for bot in bots:
                nursery.start_soon(bot.run)
            with trio.move_on_after(stop_after_s):
                await referee.play(spec, bots, ledger)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return bots


def test_clocks_stand_still_during_a_heavy_step(monkeypatch):
    heavy, light = MemoryLedger(), MemoryLedger()
    run(spec_of("abstrac"), [thinks, thinks], light)
    monkeypatch.setattr(
        abstrac, "heavy", lambda state, seat, move: isinstance(move, Choose), raising=False
    )
    workers = Elsewhere()
    bots = run_with(workers, [thinks, thinks], heavy)
    assert workers.steps == 2  # one choice in each deal
    assert heavy.outcome == light.outcome
    assert heavy.outcome.faults == ()
    for one, other in zip(heavy.decisions, light.decisions, strict=True):
        assert (one.game_move, one.charged_s, one.bank_ms) == (
            other.game_move,
            pytest.approx(other.charged_s),
            other.bank_ms,
        )
    assert heavy.end_s == pytest.approx(light.end_s + 2 * STEP_S)
    assert all(bot.ended.outcome.ending is Ending.COMPLETED for bot in bots)


def test_an_error_in_a_heavy_step_aborts_the_match(monkeypatch, caplog):
    class Broken(StepProcesses):
        async def step(self, game_id, state, chosen, deals, ticket):
            raise RuntimeError("canary 5d1f")

    monkeypatch.setattr(abstrac, "heavy", lambda state, seat, move: True, raising=False)
    bots = run_with(Broken(), [thinks, thinks], MemoryLedger())
    assert all(bot.ended.outcome.ending is Ending.ABORTED for bot in bots)
    assert all(bot.ended.outcome.faults == () for bot in bots)
    assert "canary 5d1f" in caplog.text
    assert "canary" not in repr([bot.heard for bot in bots])


def test_a_match_that_is_stopped_during_a_heavy_step_is_left_before_it(monkeypatch):
    monkeypatch.setattr(abstrac, "heavy", lambda state, seat, move: True, raising=False)
    ledger = MemoryLedger()
    bots = run_with(Elsewhere(), [thinks, thinks], ledger, stop_after_s=STEP_S / 2)
    assert ledger.outcome is None
    assert len(ledger.decisions) == 1
    assert all(bot.ended is None for bot in bots)


# The real workers: processes, on the real clock.


@pytest.mark.slow
def test_a_step_in_a_process_is_the_step_here(caplog):
    spec = spec_of("abstrac")
    state = abstrac.start(spec.terms.options, 2, spec.deals).state
    chosen = ((abstrac.to_act(state)[0], Choose(Order.FIRST)),)
    wrong = ((abstrac.to_act(state)[0], messages.Take(1)),)
    expected = abstrac.step(state, chosen, spec.deals)

    async def main():
        workers = StepProcesses()
        try:
            assert await workers.step("abstrac", state, chosen, spec.deals) == expected
            with pytest.raises(IllegalMove, match="choose first or second"):
                await workers.step("abstrac", state, wrong, spec.deals)

            for process in workers._pool.started:
                process.kill()
                process.join()
            assert await workers.step("abstrac", state, chosen, spec.deals) == expected
            assert "a process has died, and others are started" in caplog.text

            # A step that kills whoever plays it is not played for ever.
            submit = workers._pool.submit

            def deadly(*args):
                # Held before they are given the step, so that none is done with it first.
                for process in workers._pool.started:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGSTOP)
                future = submit(*args)
                for process in workers._pool.started:
                    process.kill()
                return future

            workers._pool.submit = deadly
            with pytest.raises(Exception, match="terminated abruptly"):
                await workers.step("abstrac", state, chosen, spec.deals)
            del workers._pool.submit
            assert await workers.step("abstrac", state, chosen, spec.deals) == expected
        finally:
            workers.close()

    trio.run(main)


def test_a_whole_match_of_heavy_steps(monkeypatch, caplog):
    monkeypatch.setattr(
        abstrac, "heavy", lambda state, seat, move: isinstance(move, Choose), raising=False
    )
    bots, ledger = [Scripted(), Scripted()], MemoryLedger()
    outcome = trio.run(play, spec_of("abstrac"), bots, ledger, StepProcesses())
    expected, _, _ = run(spec_of("abstrac"), [Scripted(), Scripted()])
    assert outcome == expected
    assert not caplog.records, "no worker was late"


class Stalls(logging.Handler):
    """Stops all workers before a match; lets them go on when the log says what it is to say."""

    def __init__(self, workers, until):
        super().__init__()
        self.workers, self.until = workers, until

    def signal(self, number):
        for process in self.workers._pool.started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def emit(self, record):
        if record.getMessage() == self.until:
            self.signal(signal.SIGCONT)


LATE, STUCK = "a worker is late with a step", "a worker does not return and is killed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("until", "told"),
    [
        pytest.param(LATE, [LATE], id="for a while"),
        pytest.param(
            "never", [LATE, STUCK, "a process has died, and others are started"], id="for ever"
        ),
    ],
)
def test_a_worker_that_stalls_is_told_and_costs_no_bot_anything(until, told, monkeypatch, caplog):
    """Real processes are stopped: the arena sees it, and the match goes on."""
    monkeypatch.setattr(workers_module, "STUCK_S", 0.1)
    monkeypatch.setattr(
        abstrac, "heavy", lambda state, seat, move: isinstance(move, Choose), raising=False
    )
    spec, ledger = spec_of("abstrac"), MemoryLedger()
    state = abstrac.start(spec.terms.options, 2, spec.deals).state
    choice = ((abstrac.to_act(state)[0], Choose(Order.FIRST)),)

    async def main():
        workers = StepProcesses()
        stalls = Stalls(workers, until)
        logging.getLogger(workers_module.__name__).addHandler(stalls)
        try:
            await workers.step("abstrac", state, choice, spec.deals)  # now they have started
            stalls.signal(signal.SIGSTOP)
            return await play(spec, [Scripted(), Scripted()], ledger, workers)
        finally:
            logging.getLogger(workers_module.__name__).removeHandler(stalls)
            workers.close()

    outcome = trio.run(main)
    expected, _, quiet = run(spec, [Scripted(), Scripted()])
    assert outcome == expected
    assert [record.getMessage() for record in caplog.records] == told
    assert ledger.end_s >= workers_module.LATE_S, "it did stall"
    assert sum(decision.charged_s for decision in ledger.decisions) < workers_module.LATE_S / 2
    assert [decision.bank_ms for decision in ledger.decisions] == [
        decision.bank_ms for decision in quiet.decisions
    ]

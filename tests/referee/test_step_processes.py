"""Whose heavy step is next, and that workers end with the arena."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.referee.step_processes import EXPENSIVE_STEPS, FairQueue, Ticket

CHEAP, EXPENSIVE = EXPENSIVE_STEPS // 10, EXPENSIVE_STEPS * 10
WITHIN_S = 20


def order_of(tickets, processes=2, joins_late=()):
    """The owners in the order in which their steps are played, each step as long as its work.

    `joins_late` join once the first step has ended.
    """
    queue, at_work, played, now = FairQueue(processes), [], [], 0
    waiting = [queue.join(ticket) for ticket in tickets]
    joins_late = list(joins_late)
    while waiting or at_work:
        for each in [each for each in waiting if each.let_in.is_set()]:
            waiting.remove(each)
            at_work.append((now + each.ticket.work, each.ticket))
            played.append(each.ticket.owner)
        at_work.sort(key=lambda each: each[0])
        now, ended = at_work.pop(0)
        queue.leave(ended)
        waiting += [queue.join(ticket) for ticket in joins_late]
        joins_late.clear()
    return "".join(played)


A, B, C = (Ticket(owner, CHEAP) for owner in "abc")
X, Y = (Ticket(owner, EXPENSIVE) for owner in "xy")

ORDERS = [
    pytest.param((A, A, A), (), "aaa", id="in the order in which they came, for one owner"),
    pytest.param((A, A, A, A, B), (), "aabaa", id="an owner with many waits for one with one"),
    pytest.param((A, A, A, B, B, B), (), "aababb", id="two with many take turns"),
    pytest.param(
        (A, A, A, A, A),
        (B, B, B),
        "aaababab",
        id="who comes late does not make up for what it missed",
    ),
    pytest.param((X, X, X, X, A), (), "xaxxx", id="a cheap step passes the expensive ones"),
    pytest.param((X, X, Y, Y), (), "xyxy", id="expensive ones of two owners take turns"),
    pytest.param((X, X, X), (A,), "xxax", id="a cheap one that comes late finds a process free"),
]


@pytest.mark.parametrize(("tickets", "late", "expected"), ORDERS)
def test_whose_step_is_next(tickets, late, expected):
    assert order_of(tickets, joins_late=late) == expected


def test_one_process_plays_expensive_steps_too():
    assert order_of((X, A, X), processes=1) == "xax"


def test_a_step_that_is_given_up_leaves_its_turn_and_its_process():
    queue = FairQueue(1)
    first, second, third = queue.join(A), queue.join(B), queue.join(C)
    queue.give_up(second)
    queue.give_up(first)
    assert third.let_in.is_set()
    assert not second.let_in.is_set()


# Processes.

ARENA = """
import os, sys, trio
from arena.games.cards import PACK_52
from arena.games.eleusis import rules as eleusis
from arena.games.eleusis.messages import Rule
from arena.referee.step_processes import StepProcesses
from tests.referee.matches import spec_of

EXPENSIVE = "line.all(a, line.all(b, 1 / 0 == 1 || a == b || true)) && card.color != last.color"

async def main(busy):
    spec = spec_of("eleusis")
    state = eleusis.start(spec.terms.options, spec.terms.seats, spec.deals).state
    (seat,) = eleusis.to_act(state)
    workers = StepProcesses()
    await workers.step("eleusis", state, ((seat, Rule("true")),), spec.deals)
    print(*(each.pid for each in workers._pool.started), flush=True)
    if busy:
        await workers.step("eleusis", state, ((seat, Rule(EXPENSIVE)),), spec.deals)
    await trio.sleep_forever()

if __name__ == "__main__":
    trio.run(main, sys.argv[1] == "busy")
"""


@pytest.mark.slow
@pytest.mark.parametrize("at_what", ["idle", "busy"])
def test_workers_end_with_an_arena_that_is_killed(at_what, tmp_path):
    script = tmp_path / "arena_of_workers.py"
    script.write_text(ARENA, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(
        [sys.executable, script, at_what], stdout=subprocess.PIPE, env=environment, text=True
    ) as arena:
        workers = [os.pidfd_open(int(each)) for each in arena.stdout.readline().split()]
        try:
            assert workers
            arena.send_signal(signal.SIGKILL)
            for worker in workers:
                assert select.select([worker], [], [], WITHIN_S)[0], "it has outlived its arena"
        finally:
            for worker in workers:
                if not select.select([worker], [], [], 0)[0]:
                    signal.pidfd_send_signal(worker, signal.SIGKILL)
                os.close(worker)

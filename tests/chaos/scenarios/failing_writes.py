"""The nth write into the journal's folder fails, for every n; so does the nth sync.

Each time the arena must end by itself, and nobody may have been told what is
not there when it comes back.
"""

import asyncio
import contextlib

import grpc

from tests.chaos.case import Violation
from tests.chaos.failing_disk import DEEDS
from tests.chaos.processes import Stuck, until
from tests.chaos.report import Figure, Report
from tests.chaos.trial import Order, Trial

AT_ONCE = 3
ORDER = Order("sixty_six", ("bot0", "bot1"), "failing")


async def failing_writes(seed, *, first=1, every=1, deeds=DEEDS):
    """Play a match for each write and each sync that it takes, or for every so manieth."""
    slots = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(_all_of(seed, deed, first, every, slots) for deed in deeds))
    violations = [each for _, broken in found for each in broken]
    return Report(violations=violations).add(
        Figure(
            "writes and syncs that failed, each in a match of its own", sum(n for n, _ in found)
        ),
        Figure.at_most("moves lost, doubled or told too soon", len(violations), "", 0),
    )


async def _all_of(seed, deed, first, every, slots):
    """As many matches as the deed can be done to, and what broke in them."""
    violations, failed, tries = [], True, -1
    while failed:
        async with slots:
            tries += 1
            failed, broken = await _one(seed, first + tries * every, deed)
        violations += broken
    return tries, violations


async def _one(seed, nth, deed):
    """One match on a disk that fails: whether it came to that, and what broke."""
    trial = Trial(seed=seed)
    trial.server.failing_disk = f"{trial.data} {nth} {deed}"
    try:
        await trial.server.start()
    except Stuck:
        pass  # it could not even begin; then it was told so
    else:
        await _play(trial)
    failed = trial.server.child.returncode is not None
    violations = []
    if failed:
        words = trial.server.child.words()
        if trial.server.child.returncode != 1 or "Traceback" in words:
            what = f"it ended with {trial.server.child.returncode}: {words[-300:]}"
            violations.append(Violation("an arena that cannot write says so and ends", what))
        await _go_on(trial)
    violations += trial.verdict()
    await trial.__aexit__()
    return failed, [
        Violation(each.invariant, f"{deed} at {nth}: {each.where}") for each in violations
    ]


async def _play(trial):
    """Have the match played until it has ended, or the arena has."""

    def over(true):
        return lambda: trial.server.child.returncode is not None or true()

    bots = [trial.bot(name) for name in ORDER.bots]
    await until(over(lambda: all(bot.welcomed.is_set() for bot in bots)), "the bots' welcome")
    with contextlib.suppress(grpc.RpcError):
        await trial.order(ORDER)
        await until(over(lambda: not trial.running()), "the match's end")
    # What the end of the match brings about may fail as well.
    with contextlib.suppress(Stuck):
        await until(lambda: trial.server.child.returncode is not None, "the arena's end", 0.3)


async def _go_on(trial):
    """Start it again with a disk that works, and let all be played to the end."""
    await trial.kill()
    trial.server.failing_disk = ""
    for name in ORDER.bots:
        if name not in trial.bots:
            trial.bot(name)
    await trial.restart()
    if not trial.tail.look().books:
        await trial.order_when_possible(ORDER)
    await trial.all_ended()

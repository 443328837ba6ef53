"""An arena under load with faults for a while, and whether anything grows.

Bots play on real sockets, among them ones that hang up, that are cut off by the
proxy and come back, and ones that flood; streams are cancelled all the time,
as grpcio was known to leak there. Memory, files, threads and tasks of the server
are sampled throughout.

How ten minutes can speak for hours: the first third is left out as warm-up, a
line is laid through the rest, and its slope is told with a 95 % interval
(`tests.attack.slopes`). The target is met if the slope is below it; memory is
said to grow, which breaks an invariant, only if the whole interval lies above.
A margin wider than the target says that the run was too short to tell.

Warm-up lasts minutes however short the run is: caches fill, and threads and
connections are made. A run that ends before, or soon after, shows what it took
and judges no growth: it cannot tell the one from the other.
"""

import asyncio
import contextlib
import re
import time
import urllib.request
from random import Random

import grpc

from arena.store.data_folder import read_notice
from tests.attack.culprits import STRANGERS, stranger
from tests.attack.machine import use_of
from tests.attack.slopes import slope
from tests.chaos.case import Violation
from tests.chaos.processes import Child
from tests.chaos.proxy import Act, Deed, Plan, Proxy
from tests.chaos.report import Figure, Report
from tests.chaos.scenarios.killed_server import SHORT_GAMES, orders
from tests.chaos.trial import Trial

SLOPE_MB_H = 1.0
BOTS = 16
IN_PLAY = 24
THINK_S = 0.05
SAMPLE_S = 1.0
WARM_UP = 1 / 3
WARM_UP_S = 200.0
"""The least time of warm-up: a third of ten minutes."""
MEASURED_S = 200.0
"""Growth is judged by no less time after it."""
FLOODS = ("garbage", "messages", "resets", "newcomers", "oversized")
FLOOD_S = 3.0
KB_MB = 1 / 1024
HOUR_S = 3600.0


async def soak(
    seed, *, minutes, floods=1, resets=1, oversized=1, hang_ups=1, strangers=0, answers_kept=0
):
    """Play at load with faults for some minutes; memory, files, threads and tasks stay flat.

    `floods`, `resets`, `oversized` (two of the five floods) and `hang_ups` are 0 to leave such faults out, and
    `answers_kept` bounds what the rules keep of what they have worked out, so that what grows can be told
    from what does not. With `strangers` each flood comes from another address that the arena takes for another
    machine's, as most would, and not from where honest bots may live beside.
    """
    random = Random(seed)
    samples, made = [], 0
    left_out = {name for name, there in (("resets", resets), ("oversized", oversized)) if not there}
    kinds = [name for name in FLOODS if floods and name not in left_out]
    trial = Trial(seed=seed)
    trial.server.answers_kept = answers_kept
    trial.server.strangers = STRANGERS if strangers else ""
    async with (
        trial,
        Proxy(lambda: trial.server.address, plan=lambda _: _plan(random), seed=seed) as proxy,
    ):
        for number in range(BOTS):
            address = proxy.address if number % 4 == 0 else trial.server.address
            trial.bot(f"bot{number}", lambda address=address: address, think_s=THINK_S)
        await trial.all_welcome()
        end_s = time.monotonic() + 60 * minutes
        nemesis = asyncio.ensure_future(_nemesis(trial, random, kinds, hang_ups=hang_ups))
        sampler = asyncio.ensure_future(_sample(trial, samples))
        wanted = orders(random, BOTS, SHORT_GAMES, move_ms=60_000, bank_ms=600_000)
        try:
            while time.monotonic() < end_s:
                if len(trial.running()) < IN_PLAY and await _ordered(trial, next(wanted)):
                    made += 1
                else:
                    await asyncio.sleep(0.05)
                _forget(trial)
            await trial.all_ended()
        finally:
            for task in (nemesis, sampler):
                task.cancel()
            await asyncio.gather(nemesis, sampler, return_exceptions=True)
        log = (trial.data / "arena.log").read_text("utf-8")
    report = Report().add(Figure("minutes", minutes), Figure("matches", made))
    for line in log.splitlines():
        if '"level": "error"' in line:
            report.violations.append(Violation("no error of the arena's own", line))
    return _judged(report, samples)


def _judged(report, samples):
    """Add whether anything grew, if the run was long enough to tell."""
    took_s = samples[-1][0]
    warm_s = max(WARM_UP_S, WARM_UP * took_s)
    measured_s = max(0.0, took_s - warm_s)
    if measured_s < MEASURED_S:
        return report.add(
            Figure("measured after warm-up", measured_s, "s", f"≥ {MEASURED_S:g} to judge growth"),
            Figure("- memory at the end", samples[-1][1].rss_kb * KB_MB, "MB"),
        )
    settled = [sample for sample in samples if sample[0] >= warm_s]
    rss = slope([(at_s / HOUR_S, use.rss_kb * KB_MB) for at_s, use, _ in settled])
    report.add(
        Figure.at_most("memory", rss.per_unit, "MB more in an hour", SLOPE_MB_H),
        Figure("- give or take, 95 %", rss.margin, "MB"),
        Figure("- at the end", settled[-1][1].rss_kb * KB_MB, "MB"),
    )
    if rss.low > SLOPE_MB_H:
        where = f"{rss.per_unit:.1f} ± {rss.margin:.1f} MB an hour"
        report.violations.append(Violation("memory does not grow", where))
    counted = {
        "files": [(at_s / HOUR_S, use.fds) for at_s, use, _ in settled],
        "threads": [(at_s / HOUR_S, use.threads) for at_s, use, _ in settled],
        "tasks": [(at_s / HOUR_S, tasks) for at_s, _, tasks in settled if tasks],
    }
    for what, points in counted.items():
        half = len(points) // 2
        early, late = (sorted(y for _, y in part) for part in (points[:half], points[half:]))
        more = late[len(late) // 2] - early[len(early) // 2]
        report.add(Figure.at_most(f"{what}, median, more in the second half", more, "", 2))
        if more > max(2, 0.2 * early[len(early) // 2]):
            report.violations.append(Violation(f"{what} stay flat", f"{more} more"))
    return report


async def _ordered(trial, order):
    with contextlib.suppress(grpc.RpcError):  # a bot is away, or the arena is late
        await trial.order(order)
        return True
    return False


def _forget(trial):
    """Keep the test itself from growing with what the bots remember."""
    for bot in trial.bots.values():
        bot.history.entries.clear()
        bot.ended.clear()


def _plan(random):
    """How the proxy treats a connection: it is cut after a while."""
    deed = random.choice((Deed.CUT, Deed.RESET, Deed.HALF_CLOSE))
    return Plan(acts=(Act(deed, after_bytes=random.randrange(1_000, 60_000)),))


async def _nemesis(trial, random, floods, *, hang_ups):
    """Have bots hang up, and others flood, all the time."""
    turn = 0
    while True:
        await asyncio.sleep(random.uniform(0.1, 0.5))
        if hang_ups:
            random.choice(list(trial.bots.values())).hang_up()
        turn += 1
        if floods and turn % 20 == 0:
            name = random.choice(floods)
            log = trial.server.log.with_name("flood.log")
            given = (name, trial.server.address, FLOOD_S)
            if trial.server.strangers:
                given += (stranger(turn // 20),)
            culprit = Child("tests.attack.culprits", *given, log=log)
            try:
                await culprit.ended()
            finally:
                culprit.kill()


async def _sample(trial, samples):
    """Note what the server takes, again and again."""
    began_s, pid = time.monotonic(), trial.server.child.pid
    page = read_notice(trial.data).metrics
    while True:
        tasks = 0
        with contextlib.suppress(OSError):
            tasks = await asyncio.to_thread(_tasks, page)
        samples.append((time.monotonic() - began_s, use_of(pid), tasks))
        await asyncio.sleep(SAMPLE_S)


def _tasks(page):
    """Tasks of the server, from its metrics."""
    with urllib.request.urlopen(page, timeout=5.0) as answer:
        text = answer.read().decode()
    return int(float(re.search(r"^cardarena_process_tasks (\S+)", text, re.MULTILINE)[1]))

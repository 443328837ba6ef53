"""The arena is asked to end in the middle of many matches, some of which are long."""

import asyncio
import contextlib
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.chaos.case import Violation
from tests.chaos.report import Figure, Report
from tests.chaos.trial import Order, Trial

NOT_SERVING_S = 0.1
OVER_S = 10.0
"""Beyond the time to drain, for the process to end."""


async def drained_server(seed, *, matches, drain_s=120.0):
    """SIGTERM amid so many matches, half of which cannot end in time; then go on with these."""
    async with Trial(seed=seed, drain_s=drain_s) as trial:
        for number in range(8):
            trial.bot(f"quick{number}", think_s=drain_s / 200)
            # An ask answered in an hour keeps a match in play.
            trial.bot(f"slow{number}", think_s=3600.0)
        await trial.all_welcome()
        for number in range(matches):
            pace = "quick" if number % 2 else "slow"
            pair = (f"{pace}{number % 8}", f"{pace}{(number + 3) % 8}")
            await trial.order(Order("abstrac", pair, f"match {number}"))
        await trial.all_seated()
        async with grpc.aio.insecure_channel(trial.server.address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            await health.Check(health_pb2.HealthCheckRequest())  # the connection stands
            began_s = time.monotonic()
            trial.server.drain()
            not_serving_s = await _not_serving_s(health, began_s)
        refused = await _refused(trial)
        code = await trial.server.child.ended(drain_s + 60)
        took_s = time.monotonic() - began_s
        ended = len(trial.orders) - len(trial.running())
        trial.at_kill[trial.server.generation] = trial.tail.look().written()
        for bot in trial.bots.values():
            bot.think_s = 0.0
        await trial.hang_up_lobby()
        await trial.restart()
        await trial.all_ended()
        violations = trial.verdict()
        words = trial.server.log.read_text("utf-8")
    if code != 0:
        violations.append(Violation("a drained arena exits with 0", f"it exited with {code}"))
    if not refused:
        violations.append(Violation("a draining arena takes no new match", "it took one"))
    if "Traceback" in words:
        violations.append(Violation("a drain is no error", words[words.index("Traceback") :][:400]))
    return Report(violations=violations).add(
        Figure("matches in play", matches),
        Figure("ended within the drain", ended),
        Figure("suspended, and ended after the restart", matches - ended),
        Figure.at_most("health says NOT_SERVING", not_serving_s, "s", NOT_SERVING_S),
        Figure.at_most("from SIGTERM to exit", took_s, "s", drain_s + OVER_S),
        Figure("exit code", code, "", "= 0", code == 0),
    )


async def _not_serving_s(health, began_s):
    serving = health_pb2.HealthCheckResponse.SERVING
    while True:
        try:
            answer = await health.Check(health_pb2.HealthCheckRequest())
        except grpc.RpcError:
            break  # it has ended already
        if answer.status != serving:
            break
        await asyncio.sleep(0.002)
    return time.monotonic() - began_s


async def _refused(trial):
    """Whether no new match is made."""
    with contextlib.suppress(grpc.RpcError):
        await trial.order(Order("abstrac", ("quick0", "quick1"), "late"))
        return False
    return True

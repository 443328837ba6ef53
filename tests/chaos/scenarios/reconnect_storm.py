"""All bots are cut off at once, and come back as the SDK would.

The bots wait between dials as the SDK does, and every one has an open ask when
it is cut.
"""

import resource
import time

from cardarena._redial import BACKOFF_CAP_S
from tests.chaos.history import Kind
from tests.chaos.proxy import Proxy
from tests.chaos.report import Figure, Report, percentile
from tests.chaos.trial import Order, Trial

BACK_S = 10.0
PATIENCE_S = 240.0
"""All the bots are one process, which on a busy machine takes longer than the arena."""
DIAL_S = 30.0
"""A bot that gave up what the process has not come to yet would only add to its work."""
AT_ONCE = 50
"""Bots that dial at the same time before the storm."""


async def reconnect_storm(seed, *, sessions):
    """Cut so many sessions at once, each with a connection of its own."""
    _raise_file_limit()
    async with (
        Trial(seed=seed) as trial,
        Proxy(lambda: trial.server.address, seed=seed) as proxy,
    ):
        for number in range(sessions):
            trial.bot(
                f"bot{number}",
                lambda: proxy.address,
                think_s=3600.0,
                backoff_cap_s=BACKOFF_CAP_S,
                dial_s=DIAL_S,
            )
            if number % AT_ONCE == 0:
                await trial.all_welcome(PATIENCE_S)
        await trial.all_welcome(PATIENCE_S)
        for number in range(0, sessions - 1, 2):
            pair = (f"bot{number}", f"bot{number + 1}")
            await trial.order(Order("democracy", pair, f"pair {number}"))
        bots = trial.bots.values()
        for bot in bots:
            bot.think_s = 0.0  # from the next stream on
            bot.welcomed.clear()
        cut_s = time.monotonic()
        for link in proxy.links:
            link.reset()
        await trial.all_welcome(PATIENCE_S)
        await trial.all_ended()
        back_s = [_back_s(bot.history, cut_s) for bot in bots]
        violations = trial.verdict()
    return Report(violations=violations).add(
        Figure("sessions cut at once", sessions),
        Figure("back, median", percentile(back_s, 50), "s"),
        Figure.at_most("back, 99th percentile", percentile(back_s, 99), "s", BACK_S),
        Figure("back, longest", max(back_s), "s"),
        Figure.at_most("forfeits and other violations", len(violations), "", 0),
    )


def _back_s(history, cut_s):
    """How long after the cut a bot was welcomed again."""
    return min(each.at_s for each in history.of_kind(Kind.WELCOMED) if each.at_s > cut_s) - cut_s


def _raise_file_limit():
    """A connection through the proxy takes four files of this process and the arena."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

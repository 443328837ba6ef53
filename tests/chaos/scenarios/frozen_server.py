"""The server's process is stopped for some seconds, as a busy or sleeping host would do.

None of that time is any bot's, though their time for a move is far shorter.
"""

import asyncio
from random import Random

from cardarena.v1 import play_pb2
from tests.chaos.history import Kind
from tests.chaos.report import Figure, Report, percentile
from tests.chaos.scenarios.killed_server import SHORT_GAMES, orders
from tests.chaos.trial import Trial

EXTRA_MS = 50.0


async def frozen_server(seed, *, frozen_s, matches, times=1, move_ms=1_500):
    """Stop the process for so long, so many times, with matches in play."""
    random = Random(seed)
    wanted = orders(random, 8, SHORT_GAMES, move_ms=move_ms, bank_ms=0)
    async with Trial(seed=seed) as trial:
        for number in range(8):
            trial.bot(f"bot{number}", think_s=0.05)
        await trial.all_welcome()
        for _ in range(times):
            while len(trial.running()) < matches:
                await trial.order(next(wanted))
            await asyncio.sleep(random.uniform(0.2, 0.6))
            trial.server.child.freeze()
            await asyncio.sleep(frozen_s)
            trial.server.child.thaw()
            await asyncio.sleep(0.5)
        await trial.all_ended()
        violations = trial.verdict()
        extra_ms = list(charged_extra_ms(trial))
    return Report(violations=violations).add(
        Figure("stopped for", frozen_s, "s"),
        Figure("decisions", len(extra_ms)),
        Figure("charged beyond what was thought, 99th percentile", percentile(extra_ms, 99), "ms"),
        Figure.at_most("- most", max(extra_ms), "ms", EXTRA_MS),
        Figure.at_most("forfeits and other violations", len(violations), "", 0),
    )


def charged_extra_ms(trial):
    """For each decision what was charged beyond the time between ask and answer, as the bot saw it."""
    for bot in trial.bots.values():
        numbers = {
            entry.match: play_pb2.MatchEnd.FromString(entry.body).replay_id
            for entry in bot.history.of_kind(Kind.ENDED)
        }
        asked = {entry.ask_id: entry for entry in bot.history.of_kind(Kind.ASKED)}
        charged = {
            (match_id, book.opened.entrants[each.seat].name, each.decision): each
            for match_id, book in trial.tail.books.items()
            for each in book.decided
        }
        for entry in bot.history.of_kind(Kind.ANSWERED):
            match_id = numbers.get(entry.match, "")
            decision = entry.ask_id & ((1 << 20) - 1)
            decided = charged.get((match_id, bot.name, decision))
            if decided is not None and entry.ask_id in asked:
                thought_s = entry.at_s - asked[entry.ask_id].at_s
                yield decided.charged_us / 1e3 - thought_s * 1e3

"""The server is killed at random moments under live matches, over and over.

Afterwards the same matches are played once more by the same bots against an
arena that nothing happens to: every one must have come out alike.
"""

import asyncio
from itertools import count
from random import Random

import grpc

from arena.games.catalogue import GAMES
from tests.chaos.checker import twins_differ
from tests.chaos.processes import until
from tests.chaos.report import Figure, Progress, Report, percentile
from tests.chaos.trial import Order, Trial

RESUME_S = 5.0
AT_ONCE = 100
"""Matches of the twin in play at a time."""
LONG_GAMES = ("eleusis", "eleusis_express", "jam", "oklahoma_rummy")
"""A match of these takes hundreds of decisions."""
SHORT_GAMES = tuple(game for game in GAMES if game.id not in LONG_GAMES)


def orders(random, bots, games, **control):
    """Matches without end: every game, now and then with more than the fewest seats."""
    names = [f"bot{number}" for number in range(bots)]
    games = random.sample(games, len(games))
    for number in count():
        game = games[number % len(games)]
        few = [seats for seats in game.seats if seats <= min(4, bots)] or [min(game.seats)]
        seated = tuple(random.sample(names, random.choice(few)))
        yield Order(game.id, seated, f"match {number}", **control)


async def killed_server(
    seed, *, kills, matches, bots=12, think_s=0.05, life_s=1.0, games=GAMES, amid=0.2
):
    """Kill the arena `kills` times with so many matches in play.

    Each life lasts up to `life_s` with all bots back; the share `amid` of them
    ends while a match is being made.
    """
    random = Random(seed)
    wanted = orders(random, max(bots, 8), games)
    report, progress = Report(), Progress(kills, "kills")
    async with Trial(seed=seed) as trial:
        for number in range(max(bots, 8)):
            trial.bot(f"bot{number}", think_s=think_s)
        await trial.all_welcome()
        for killed in range(kills):
            progress.at(killed)
            while len(trial.running()) < matches:
                await trial.order(next(wanted))
            await asyncio.sleep(random.uniform(0.0, life_s))
            making = None
            if random.random() < amid:
                making = asyncio.ensure_future(trial.order(next(wanted)))
                await asyncio.sleep(random.uniform(0.0, 0.01))
            await trial.kill()
            if making is not None:
                await asyncio.gather(making, return_exceptions=True)
                assert making.exception() is None or isinstance(making.exception(), grpc.RpcError)
            await trial.restart()
        for bot in trial.bots.values():
            bot.think_s = 0.0
        await trial.all_ended()
        report.violations += trial.verdict()
        books, decisions = (
            trial.by_seed(),
            sum(len(each.decided) for each in trial.tail.books.values()),
        )
        report.violations += twins_differ(books, await _twins(seed, trial))
        resumed_s = trial.resumed_s
    return report.add(
        Figure("server kills", kills),
        Figure("matches", len(books)),
        Figure("decisions checked", decisions),
        Figure.at_most("moves lost, doubled or changed", len(report.violations), "", 0),
        Figure("back in play, median", percentile(resumed_s, 50), "s"),
        Figure.at_most("back in play, longest", max(resumed_s), "s", RESUME_S),
    )


async def _twins(seed, killed):
    """The books of the same matches where nothing happens, by what they are called."""
    async with Trial(seed=seed) as twin:
        for name in killed.bots:
            twin.bot(name)
        await twin.all_welcome()
        for order in killed.orders.values():
            await twin.order(order)
            await until(lambda: len(twin.running()) < AT_ONCE, "some matches to end")
        await twin.all_ended()
        return twin.by_seed()

"""Bots and their connections fail: at every message boundary, and at random.

Whatever happens to a bot that comes back, its match must end as if nothing
had; one that stays away is played for, and the others get their result.
"""

import asyncio
from dataclasses import replace
from random import Random

from arena.games.catalogue import GAMES, game_by_id
from tests.chaos.checker import twins_differ
from tests.chaos.client import Hung
from tests.chaos.proxy import UP, Plan, Proxy, plan_of
from tests.chaos.report import Figure, Progress, Report
from tests.chaos.scenarios.killed_server import orders
from tests.chaos.trial import Order, Trial

FROZEN_S = 0.3
SEATED_AT = 3
"""The first boundary within a match: hello and welcome come before."""
BANK_MS = 2_000
"""Where a bot stays away: short to wait for, and enough for others on a busy machine."""
AT_ONCE = 48
"""Victims that play at the same time."""


# What happens at a boundary. Each is given the bot and its connection.


def killed(bot, link):
    """The process dies: its host resets the connection, and what was queued is lost."""
    link.reset()
    bot.hang_up()
    raise Hung


def cut(bot, link):
    """The connection is closed by something on its way."""
    link.close()


def frozen(bot, link):
    """Nothing passes for a while, and then all of it."""
    link.stall()
    asyncio.get_running_loop().call_later(FROZEN_S, link.flow)


def half_closed_call(bot, link):
    """The bot says that it will say nothing more, as one that has ended in order."""
    bot.last_words = asyncio.ensure_future(bot.half_close())


def half_closed_connection(bot, link):
    """The arena sees the end of what the bot sends, and may still be heard."""
    link.half_close(UP)


def retired(bot, link):
    """The process dies and nobody starts it again."""
    bot.retired = True
    killed(bot, link)


COMING_BACK = (killed, cut, frozen, half_closed_call, half_closed_connection)


async def every_boundary(seed, *, games=("sixty_six",)):
    """Every fault between any two messages of a reference match, in turn."""
    report, matches, boundaries = Report(), 0, 0
    for game_id in games:
        async with Trial(seed=seed) as trial:
            reference = await _reference(trial, game_id)
            last = trial.bots["reference"].boundary
            boundaries += last
            plays = [
                (deed, boundary, says_again)
                for boundary in range(1, last + 1)
                for deed in COMING_BACK
                for says_again in ((False, True) if deed is killed else (False,))
            ]
            plays += [(retired, boundary, False) for boundary in range(SEATED_AT, last + 1)]
            slots = asyncio.Semaphore(AT_ONCE)
            made = await asyncio.gather(
                *(_play(trial, slots, game_id, number, *play) for number, play in enumerate(plays))
            )
            matches += len(made)
            await trial.all_ended()
            away = frozenset(name for name, deed, _ in made if deed is retired)
            report.violations += trial.verdict(may_fault=away)
            books = trial.tail.books
            back = {name: books.get(match) for name, deed, match in made if deed is not retired}
            report.violations += twins_differ(back, dict.fromkeys(back, books[reference]))
    return report.add(
        Figure("message boundaries", boundaries),
        Figure("matches, one for each fault at each", matches),
        Figure.at_most("that did not end rightly", len(report.violations), "", 0),
    )


async def _reference(trial, game_id):
    """The match that nothing happens to; its id."""
    seats = min(game_by_id(game_id).seats)
    others = [f"other{seat}" for seat in range(1, seats)]
    for name in ("reference", *others):
        trial.bot(name)
    await trial.all_welcome()
    match_id = await trial.order(Order(game_id, ("reference", *others), "boundaries"))
    await trial.all_ended()
    return match_id


async def _play(trial, slots, game_id, number, deed, at, says_again):
    """One match with one fault of its first bot: the bot, the fault, the match's id."""
    async with slots, Proxy(lambda: trial.server.address, seed=number) as proxy:

        def at_boundary(bot, boundary):
            if boundary == at:
                deed(bot, proxy.link)

        name = f"victim {number}"
        bot = trial.bot(name, lambda: proxy.address, at_boundary=at_boundary, says_again=says_again)
        others = [each for each in trial.bots if each.startswith("other")]
        order = Order(game_id, (name, *others), "boundaries")
        if deed is retired:
            order = replace(order, move_ms=100, bank_ms=BANK_MS)
        match_id = await trial.order_when_possible(order)
        while not trial.replay(match_id).exists():
            if bot.retired:
                await bot.stop()
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)  # for its end to reach the bot
        await bot.stop()
        return name, deed, match_id


async def random_faults(seed, *, faults, matches=40, bots=16, think_s=0.005, games=GAMES):
    """Connections are mistreated at random until `faults` have happened."""
    report, random = Report(), Random(seed)
    wanted = orders(random, bots, games)
    progress = Progress(faults, "faults")
    calm = False

    def plan(number):
        return Plan() if calm else plan_of(seed, number)

    async with Trial(seed=seed) as trial, Proxy(lambda: trial.server.address, plan=plan) as proxy:
        for number in range(bots):
            trial.bot(f"bot{number}", lambda: proxy.address, think_s=think_s, dial_s=1.5)
        await trial.all_welcome()
        while (happened := sum(len(link.deeds) for link in proxy.links)) < faults:
            progress.at(happened)
            for _ in range(matches - len(trial.running())):
                await trial.order_when_possible(next(wanted))
            await asyncio.sleep(0.05)
        calm = True
        for link in proxy.links:
            link.spare()
        await trial.all_ended()
        report.violations += trial.verdict()
        kinds = [deed for link in proxy.links for deed in link.deeds]
        played, connections = len(trial.orders), len(proxy.links)
    return report.add(
        Figure("faults of connections", happened),
        *(Figure(f"- {kind}", kinds.count(kind)) for kind in sorted(set(kinds))),
        Figure("connections", connections),
        Figure("matches", played),
        Figure.at_most("that did not end rightly", len(report.violations), "", 0),
    )

"""Bots in processes of their own are killed and frozen, as their owners' machines do it."""

import asyncio
import time
from random import Random

import grpc

from tests.chaos.checker import twins_differ
from tests.chaos.history import Kind, read_history
from tests.chaos.processes import Child, until
from tests.chaos.report import Figure, Report, percentile
from tests.chaos.trial import Order, Trial

KILL_SEEN_MS = 100.0
FREEZE_SEEN_S = 31.0


async def bot_processes(seed, *, kills, hands=20, watch_freeze=False):
    """Kill, freeze and restart the process of one seat's bot; then play the same undisturbed."""
    random = Random(seed)
    seen_ms, figures = [], []
    async with Trial(seed=seed) as trial:
        path = trial.server.log.with_name("victim.history")
        victim = _Process(trial, "victim", path)
        trial.bot("other", think_s=0.01)
        try:
            await victim.start()
            order = Order("democracy", ("victim", "other"), "killed bot", hands=hands)
            await trial.all_welcome()
            match_id = await trial.order_when_possible(order)
            for _ in range(kills):
                await asyncio.sleep(random.uniform(0.05, 0.3))
                if random.random() < 0.3:
                    victim.child.freeze()
                    await asyncio.sleep(random.uniform(0.1, 0.5))
                    victim.child.thaw()
                seen_ms.append(1e3 * await victim.die())
                await victim.start()
            await trial.all_ended()
            if watch_freeze:
                figures.append(await _freeze_seen(victim))
        finally:
            victim.child.kill()
        histories = [read_history("victim", path), trial.bots["other"].history]
        violations = trial.verdict(histories=histories)
        books = {"killed bot": trial.tail.books.get(match_id)}
        violations += twins_differ(books, {"killed bot": await _undisturbed(seed, order)})
    return Report(violations=violations).add(
        Figure("kills of a bot's process", kills),
        Figure("noticed by the arena, median", percentile(seen_ms, 50), "ms"),
        Figure.at_most("noticed by the arena, longest", max(seen_ms), "ms", KILL_SEEN_MS),
        *figures,
        Figure.at_most("matches that did not end rightly", len(violations), "", 0),
    )


async def _freeze_seen(victim):
    victim.child.freeze()
    seen_s = await victim.absent_s(patience_s=2 * FREEZE_SEEN_S)
    return Figure.at_most("a frozen process noticed", seen_s, "s", FREEZE_SEEN_S)


async def _undisturbed(seed, order):
    """The book of the same match where nothing happens."""
    async with Trial(seed=seed) as twin:
        for name in order.bots:
            twin.bot(name)
        await twin.all_welcome()
        match_id = await twin.order(order)
        await twin.all_ended()
        twin.tail.look()
        return twin.tail.books[match_id]


class _Process:
    """A bot's process and what the arena knows of it."""

    def __init__(self, trial, name, path):
        self._trial, self._name, self._path = trial, name, path

    async def start(self):
        log = self._path.with_suffix(".log")
        given = (self._name, self._trial.server.address, self._path, 0.01)
        self.child = Child("tests.chaos.client", *given, log=log)
        await until(self._welcome_seen(), f"{self._name} to be welcomed")

    def _welcome_seen(self):
        before = self._welcomes()
        return lambda: self._welcomes() > before

    def _welcomes(self):
        return len(read_history(self._name, self._path).of_kind(Kind.WELCOMED))

    async def die(self):
        """End it without a word; how long until the arena knows, in seconds."""
        self.child.kill()
        return await self.absent_s()

    async def absent_s(self, patience_s=10.0):
        """How long until the arena says that the bot is not there."""
        began_s = time.monotonic()
        while time.monotonic() - began_s < patience_s:
            # Refused either way, naming the first bot that is not there.
            order = Order("abstrac", (self._name, "nobody at all"), "probe")
            try:
                await self._trial.lobby.CreateMatch(order.request())
            except grpc.RpcError as error:
                if f"{self._name!r}" in error.details():
                    break
            await asyncio.sleep(0.002)
        return time.monotonic() - began_s

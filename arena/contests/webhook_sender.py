"""The sender of webhooks, which queues events and sends deliveries that are due.

The queue, the attempts and the position in the events are in the store. An arena that was killed therefore continues at
that position, and sends a delivery again if its answer was not stored.
"""

import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.contests.plan import CompetitionKind, read_plan
from arena.contests.webhook_post import NotDelivered, WebhookPost, signature
from arena.results.deal_sets import bot_of
from arena.results.states import State
from arena.store import Competition, Store, StoreError
from arena.store.events import OVERTAKEN, Event
from arena.store.moments import unix_ms
from arena.store.webhooks import BACK_OFF_S, Delivery

POLL_S: Final = 1.0
"""Seconds between two polls, and so the shortest interval between two messages to an owner."""
AT_A_TIME: Final = 8
"""The maximal number of simultaneous attempts, each for a different owner."""
RANKED_S: Final = 600.0
"""Seconds between two checks for overtaken bots on ladders."""
GONE: Final = 410
"""The status by which a receiver says that it wants no more."""

Ranking = Mapping[str, Sequence[str]]
"""The bots of a ladder by game, the best first."""

_log = logging.getLogger(__name__)


class WebhookSender:
    """Sends the webhooks of an arena. Runs in trio."""

    def __init__(
        self,
        store: Store,
        post: WebhookPost,
        standings: Callable[[str], str],
        *,
        now: Callable[[], datetime],
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Create a sender that sends nothing until `run`.

        Args:
          store: Has the events and the queue.
          post: Posts a message.
          standings: Computes the standings of a ladder, as JSON; blocks.
          now: Returns the time in UTC.
          chance: Returns a number from 0 to 1, by which attempts are spread in time.
        """
        self._competitions, self._webhooks = store.competitions(), store.webhooks()
        self._post, self._standings = post, standings
        self._now, self._chance = now, chance
        self._changed = store.change_detector()
        self._due_unix_ms: int | None = None
        self._ranked_s = -RANKED_S

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            try:
                await self.poll()
                if trio.current_time() - self._ranked_s >= RANKED_S:
                    self._ranked_s = trio.current_time()
                    await run_sync(self.rank, abandon_on_cancel=True)
            except StoreError as error:
                self._changed.forget()
                _log.warning("webhooks wait for the store", extra={"why": str(error)})
            await trio.sleep(POLL_S)

    async def poll(self) -> None:
        """Queue new events, and make all attempts that are due."""
        now = self._now()
        is_due = self._due_unix_ms is not None and self._due_unix_ms <= unix_ms(now)
        if not (self._changed() or is_due):
            return
        await run_sync(lambda: self._webhooks.collect(now=now))
        due, self._due_unix_ms = await run_sync(lambda: self._webhooks.due(now=now, most=AT_A_TIME))
        async with trio.open_nursery() as nursery:
            for delivery in due:
                nursery.start_soon(self._send, delivery)

    async def _send(self, delivery: Delivery) -> None:
        # Its time is bounded, and a program that ends does not wait for it.
        problem, off = await run_sync(self._attempt, delivery, abandon_on_cancel=True)
        wait_s = POLL_S
        if problem:
            longest_s = BACK_OFF_S[min(delivery.tries, len(BACK_OFF_S) - 1)]
            wait_s = longest_s * (0.75 + self._chance() / 2)
        now = self._now()
        await run_sync(lambda: self._webhooks.settle(delivery, problem, wait_s, now=now, off=off))

    def _attempt(self, delivery: Delivery) -> tuple[str, str]:
        """Post a delivery; return why it was not accepted, and why no more is sent."""
        unix_s = unix_ms(self._now()) // 1000
        headers = {
            "content-type": "application/json",
            "user-agent": "CardArena",
            "webhook-id": delivery.event,
            "webhook-timestamp": str(unix_s),
            "webhook-signature": signature(delivery.secret, delivery.event, unix_s, delivery.body),
        }
        try:
            status = self._post.post(delivery.url, headers, delivery.body)
        except NotDelivered as error:
            return str(error), ""
        except Exception:  # an owner chose the address, and must not end the arena
            _log.exception("a webhook cannot be sent")
            return "of an error in the arena", ""
        if status == GONE:
            return "it wants no more", f"the receiver answered {GONE}, which says: send no more"
        return ("", "") if 200 <= status < 300 else (f"it answered {status}", "")

    def rank(self) -> None:
        """Queue events of bots that were overtaken on running ladders. Blocks."""
        owners, competitions = self._webhooks.audience()
        for competition in self._competitions.all() if owners or competitions else ():
            entered = {bot.name: bot.owner for bot in competition.entries}
            concerns = competition.name in competitions or not owners.isdisjoint(entered.values())
            if concerns and _is_open_ladder(competition):
                body = json.loads(self._standings(competition.name))
                after = ranking(body)
                source, now = f"ladder {competition.name}", self._now()
                before = self._webhooks.place(source)
                happened = overtaken(before or {}, after, competition.name, entered, now)
                if before != after:
                    self._webhooks.move(source, after, happened, now=now)


def _is_open_ladder(competition: Competition) -> bool:
    return (
        competition.state is State.RUNNING
        and read_plan(competition.config).kind is CompetitionKind.LADDER
    )


def ranking(standings: Mapping[str, list[Mapping[str, object]]]) -> dict[str, list[str]]:
    """Return the ranked bots of standings by game, the best first."""
    return {
        str(game["game"]): [bot_of(row["bot"]) for row in game["rows"] if row["place"]]  # type: ignore[attr-defined]
        for game in standings["games"]
    }


def overtaken(
    before: Ranking, after: Ranking, name: str, owners: Mapping[str, str], now: datetime
) -> list[Event]:
    """Return the bots that others passed between two rankings of a ladder.

    A bot that was not ranked before was not overtaken; a new bot above it has overtaken it.
    """
    at_unix_ms, events = unix_ms(now), []
    for game, bots in after.items():
        earlier = {bot: place for place, bot in enumerate(before.get(game, ()))}
        for place, bot in enumerate(bots):
            by = [
                other
                for other in bots[:place]
                if bot in earlier and earlier.get(other, len(earlier)) > earlier[bot]
            ]
            if by and bot in owners:
                data = {
                    "competition": name,
                    "game": game,
                    "bot": bot,
                    "by": by,
                    "place": place + 1,
                    "place_before": earlier[bot] + 1,
                }
                of = frozenset({owners[bot]})
                event_id = f"overtaken-{name}-{game}-{bot}-{at_unix_ms}"
                events.append(Event(event_id, OVERTAKEN, at_unix_ms, data, of, name))
    return events

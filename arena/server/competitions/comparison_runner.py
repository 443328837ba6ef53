"""Plays the comparisons that owners asked for, one after the other, beside the competitions."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import trio
from trio.to_thread import run_sync

from arena.anytime.bet import BeyondBound
from arena.anytime.verdict import Decision, verdict
from arena.sandbox import BadCommand
from arena.server.arena import Arena
from arena.server.comparison_requests import CORE_MS_A_DAY
from arena.server.competitions.comparison import (
    Comparison,
    ComparisonWork,
    UnfinishedComparison,
    name_of,
    play_comparison,
)
from arena.server.competitions.players import Players
from arena.server.refusals import Refused
from arena.store import ComparisonRequest, ComparisonRequests, ComparisonState, Store, StoreError
from arena.wire.terms import terms_of_json

POLL_S: Final = 1.0

_log = logging.getLogger(__name__)


class ComparisonRunner:
    """Plays the open comparisons of the store. Run in trio."""

    def __init__(
        self, store: Store, arena: Arena, players: Players, *, now: Callable[[], datetime]
    ) -> None:
        self._store, self._requests = store, store.comparison_requests()
        self._arena, self._players = arena, players
        self._now = now
        self._changed = store.change_detector()

    async def run(self) -> None:
        """Play one comparison after the other, until cancelled."""
        while True:
            try:
                if self._changed():
                    for request in await run_sync(self._requests.open):
                        await self._decide(request)
            except StoreError as error:
                self._changed.forget()
                _log.warning("comparisons wait for the store", extra={"why": str(error)})
            await trio.sleep(POLL_S)

    async def _decide(self, request: ComparisonRequest) -> None:
        try:
            comparison = await run_sync(self._comparison, request)
            progress = ComparisonProgress(request, comparison, self._requests, self._now)
            most = request.query["most"]
            work = ComparisonWork(comparison, progress.margins, most, progress.goes_on)
            await play_comparison(work, comparison, self._arena, self._players)
        except (BadCommand, BeyondBound, UnfinishedComparison, KeyError, ValueError) as error:
            _log.warning(
                "a comparison was stopped", extra={"comparison": request.id, "why": str(error)}
            )
            # The text of an internal error is not for the owner.
            is_theirs = isinstance(error, (BadCommand, UnfinishedComparison))
            reason = str(error) if is_theirs else "it cannot be played"
            await run_sync(self._requests.end, request.id, ComparisonState.STOPPED, reason)
        except Refused as refused:
            _log.info("a comparison waits for the arena", extra={"why": refused.text})
            await trio.sleep_forever()  # the arena is closing; the next process continues

    def _comparison(self, request: ComparisonRequest) -> Comparison:
        wanted: Mapping[str, Any] = request.query
        registry = self._store.registry()
        for each in (wanted["first"], wanted["second"], *wanted["field"]):
            if not self._players.is_launched(each):
                bot, _, number = each.partition("@")
                self._players.add_version(registry.version(bot, int(number)))
        return Comparison(
            name_of("comparison", request.id, request.created_unix_ms),
            terms_of_json(wanted["terms"]),
            wanted["first"],
            wanted["second"],
            tuple(wanted["field"]),
            wanted["each_other"],
            seed=f"comparison {request.id}",
        )


class ComparisonProgress:
    """What was played of a requested comparison, and whether another deal-set is needed."""

    def __init__(
        self,
        request: ComparisonRequest,
        comparison: Comparison,
        requests: ComparisonRequests,
        now: Callable[[], datetime],
    ) -> None:
        self.margins: Final = list(request.margins)
        self._kept = len(self.margins)
        self._request, self._requests, self._now = request, requests, now
        self._bound = comparison.measure.bound

    async def goes_on(self, spent_s: float) -> bool:
        """Keep the margins so far; False, and the comparison is ended, once no deal-set is to follow.

        `spent_s` are seconds as `ComparisonWork` counts them.
        """
        if len(self.margins) > self._kept:
            self._kept = len(self.margins)
            if not await run_sync(self._keep_margins, int(spent_s * 1000)):
                return False  # it was cancelled meanwhile
        ended = await run_sync(self._ended)
        if ended is not None:
            await run_sync(self._requests.end, self._request.id, *ended)
        return ended is None

    def _keep_margins(self, spent_ms: int) -> bool:
        number, now = self._request.id, self._now()
        return self._requests.keep_margins(number, self.margins, spent_ms, now=now)

    def _ended(self) -> tuple[ComparisonState, str] | None:
        """How the comparison ends now, and why; None if it goes on."""
        query = self._requests.get(self._request.id).query  # its owner may have changed the limits
        said = verdict(self.margins, self._bound, same_within=query["same_within"])
        if said.decision is not Decision.OPEN:
            return ComparisonState.DECIDED, "it is decided"
        if len(self.margins) >= query["most"]:
            return ComparisonState.STOPPED, f"not decided after {query['most']} deal-sets"
        if self._requests.spent_ms(self._request.owner, now=self._now()) >= CORE_MS_A_DAY:
            return ComparisonState.STOPPED, "the owner's processor time for a day is used up"
        return None

"""Plays the comparisons that owners requested, at the same time as competitions: a block of one owner's comparison, then a block of the next owner's."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import trio
from trio.to_thread import run_sync

from arena.contests.comparison import (
    Comparison,
    ComparisonRecord,
    ComparisonWork,
    UnfinishedComparison,
    name_of,
    play_comparison,
)
from arena.contests.comparison_requests import CORE_MS_A_DAY
from arena.live.arena import Arena
from arena.live.players import Players
from arena.referee.wire.terms import terms_of_json
from arena.results.anytime.verdict import Decision, verdict
from arena.sandbox.command import BadCommand
from arena.store import ComparisonRequest, ComparisonRequests, ComparisonState, Store, StoreError
from arena.store.failures import first_error, is_of_arena

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
        """Play a block of each owner's oldest comparison in turn, until cancelled."""
        while True:
            try:
                while self._changed() and (turns := await run_sync(self._turns)):
                    for request in turns:
                        await self._play_block(request)
            except StoreError as error:
                self._changed.forget()
                _log.warning("comparisons wait for the store", extra={"why": str(error)})
            await trio.sleep(POLL_S)

    def _turns(self) -> list[ComparisonRequest]:
        """Return the oldest open comparison of each owner: the comparisons of one owner do not delay those of others."""
        oldest: dict[str, ComparisonRequest] = {}
        for request in self._requests.open():
            oldest.setdefault(request.owner, request)
        return [*oldest.values()]

    async def _play_block(self, request: ComparisonRequest) -> None:
        try:
            comparison = await run_sync(self._comparison, request)
            progress = ComparisonProgress(request, comparison, self._requests, self._now)
            most = request.query["most"]
            record = ComparisonRecord(progress.margins)
            work = ComparisonWork(comparison, record, most, progress.goes_on)
            await play_comparison(work, comparison, self._arena, self._players)
        except Exception as group:
            error = first_error(group)
            if is_of_arena(error):
                raise error from group
            # The owner does not see the text of an internal error. In a challenge it may be about the files of another
            # owner's bot.
            is_theirs = isinstance(error, UnfinishedComparison) or (
                isinstance(error, BadCommand) and not request.opponent
            )
            _log.warning(
                "a comparison was stopped",
                extra={"comparison": request.id, "why": str(error)},
                exc_info=None if is_theirs else error,
            )
            reason = str(error) if is_theirs else "it cannot be played"
            await run_sync(self._requests.end, request.id, ComparisonState.STOPPED, reason)

    def _comparison(self, request: ComparisonRequest) -> Comparison:
        wanted: Mapping[str, Any] = request.query
        registry = self._store.registry()
        for version in (wanted["first"], wanted["second"], *wanted["field"]):
            if not self._players.is_launched(version):
                bot, _, number = version.partition("@")
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
    """The progress of a requested comparison, and whether it needs another deal-set.

    It allows one block, and ends the comparison if no other block is needed.
    """

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
        """Store the margins so far; return False after a block, and if the comparison has ended.

        `spent_s` are seconds as `ComparisonWork` counts them.
        """
        was_played = len(self.margins) > self._kept
        if was_played:
            self._kept = len(self.margins)
            if not await run_sync(self._keep_margins, int(spent_s * 1000)):
                return False  # it was cancelled since it started
        ended = await run_sync(self._ended)
        if ended is not None:
            await run_sync(self._requests.end, self._request.id, *ended)
        return ended is None and not was_played

    def _keep_margins(self, spent_ms: int) -> bool:
        number, now = self._request.id, self._now()
        return self._requests.keep_margins(number, self.margins, spent_ms, now=now)

    def _ended(self) -> tuple[ComparisonState, str] | None:
        """Return how the comparison ends now, and why; None if it continues."""
        query = self._requests.get(self._request.id).query  # its owner may have changed the limits
        judged = verdict(self.margins, self._bound, same_within=query["same_within"])
        if judged.decision is not Decision.OPEN:
            return ComparisonState.DECIDED, "it is decided"
        if len(self.margins) >= query["most"]:
            return ComparisonState.STOPPED, f"not decided after {query['most']} deal-sets"
        if self._requests.spent_ms(self._request.owner, now=self._now()) >= CORE_MS_A_DAY:
            return ComparisonState.STOPPED, "the owner's processor time for a day is used up"
        return None

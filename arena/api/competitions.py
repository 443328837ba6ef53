"""The competition service: calls of organisers and owners, and public reads.

All data are in the store; the disk is accessed on other threads. Public answers are cached for a second, so that many
readers cost no more than one.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final, TypeVar

from arena.api.admission.access import holder_of
from arena.api.pages import numbered_page
from arena.api.public_competition import competition_message
from arena.api.store_refusals import on_thread, refusable
from arena.bots.tokens import Holder, Tokens
from arena.contests.competition_service import CompetitionService
from arena.contests.entrants import launched_entries, require_may_enter_together
from arena.contests.estimate import TooFewBots, estimate, warnings
from arena.contests.plan import CompetitionPlan, read_plan
from arena.errors.refused import Refused
from arena.live.limits import Context
from arena.referee.wire.enums import enum_number, word_of
from arena.results.spot_checks import WorkerChecks, worker_checks
from arena.results.states import Action, State
from arena.store import Scope, Store
from cardarena.v1 import competitions_pb2 as messages
from cardarena.v1 import competitions_pb2_grpc

POLL_S: Final = 1.0
"""The time in seconds between two polls for callers that watch a competition."""
FRESH_S: Final = 1.0
"""How long a result is reused, in seconds."""
MAX_CONFIG_BYTES: Final = 20_000
MATCH_S: Final = 5.0
"""Default length of a match in estimates, in seconds."""

_T = TypeVar("_T")


class RecentResults:
    """A short cache of query results. Simultaneous calls of a query run it once."""

    def __init__(
        self, fresh_s: float, most: int = 256, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep at most `most` results, each for `fresh_s` seconds."""
        self._fresh_s, self._most, self._now_s = fresh_s, most, now_s
        self._found: dict[tuple[object, ...], tuple[float, asyncio.Task[Any]]] = {}

    def forget(self) -> None:
        """Drop all results, so that each query runs again at its next call."""
        self._found.clear()

    async def on_thread(self, key: tuple[object, ...], query: Callable[[], _T]) -> _T:
        """Return the result of `query`, which runs on another thread unless a result of its key is fresh."""
        return await self.awaited(key, lambda: asyncio.to_thread(query))

    async def awaited(
        self, key: tuple[object, ...], query: Callable[[], Coroutine[Any, Any, _T]]
    ) -> _T:
        """Return the result of `query`, which is awaited unless a result of its key is fresh.

        Errors become refusals.
        """
        known = self._found.get(key)
        if known is None or (known[1].done() and self._now_s() - known[0] > self._fresh_s):
            while len(self._found) >= self._most:
                del self._found[next(iter(self._found))]
            self._found.pop(key, None)
            known = self._now_s(), asyncio.create_task(query())
            self._found[key] = known
        # The query continues for other callers if one is cancelled.
        result: _T = await refusable(asyncio.shield(known[1]))
        return result


class CompetitionCalls(competitions_pb2_grpc.CompetitionServiceServicer):
    """Serves `cardarena.v1.CompetitionService`."""

    def __init__(
        self,
        store: Store,
        service: CompetitionService,
        tokens: Tokens,
        *,
        recent: RecentResults | None = None,
        launches: bool = False,
        may_replace: Callable[[], bool] = lambda: False,
    ) -> None:
        """Serve the competitions of a store.

        Args:
          recent: The cache of results, which is cleared after each write; None for a cache of
            `FRESH_S` seconds.
          launches: Whether plans may have commands of bots.
          may_replace: Whether another plan may replace that of a competition none of whose matches
            has ended.
        """
        self._store, self._service, self._tokens = store, service, tokens
        self._recent = recent or RecentResults(FRESH_S)
        self._launches, self._may_replace = launches, may_replace

    # Organisers and owners.

    async def CreateCompetition(
        self, request: messages.CreateCompetitionRequest, context: Context
    ) -> messages.CreateCompetitionResponse:
        who = holder_of(context, self._tokens).owner

        def create() -> messages.CompetitionInfo:
            plan = self._plan_of(request.config)
            if plan.bots and not self._launches:
                # Commands run as the arena's own user, so only users of its machine may give them.
                detail = "[bots] is for competitions in a folder; a call launches no bots"
                raise Refused("BAD_PLAN", detail)
            bots = launched_entries(plan)
            if request.or_continue:
                self._service.create_or_continue(
                    request.config,
                    who=who,
                    bots=bots,
                    accept_changed=request.accept_changed,
                    may_replace=self._may_replace(),
                )
            else:
                self._service.create(request.config, who=who, bots=bots)
            return self._message(plan.name)

        return messages.CreateCompetitionResponse(competition=await self._write(create))

    async def EstimateCompetition(
        self, request: messages.EstimateCompetitionRequest, context: Context
    ) -> messages.EstimateCompetitionResponse:
        def estimated() -> messages.EstimateCompetitionResponse:
            plan = self._plan_of(request.config)
            if self._launches:
                require_may_enter_together(plan, launched_entries(plan))
            return _estimate(
                plan,
                request.entrants if request.HasField("entrants") else None,
                request.cores or os.cpu_count() or 1,
                request.match_s or MATCH_S,
            )

        return await on_thread(estimated)

    def _plan_of(self, config: str) -> CompetitionPlan:
        if not self._launches and len(config.encode()) > MAX_CONFIG_BYTES:
            raise Refused("BAD_PLAN", f"it is longer than {MAX_CONFIG_BYTES:,} bytes")
        return read_plan(config)

    async def ControlCompetition(
        self, request: messages.ControlCompetitionRequest, context: Context
    ) -> messages.ControlCompetitionResponse:
        who = holder_of(context, self._tokens).owner
        word = word_of(request, "action")
        if not word:
            raise Refused("NO_ACTION")
        action = Action(word)
        state = word_of(request, "expected_state")
        expected = State(state) if state else None

        def control() -> messages.CompetitionInfo:
            self._service.control(request.name, action, who=who, expected=expected)
            return self._message(request.name)

        return messages.ControlCompetitionResponse(competition=await self._write(control))

    async def DeleteCompetition(
        self, request: messages.DeleteCompetitionRequest, context: Context
    ) -> messages.DeleteCompetitionResponse:
        who = holder_of(context, self._tokens).owner
        await self._write(lambda: self._service.delete(request.name, who=who))
        return messages.DeleteCompetitionResponse()

    async def EnterBot(
        self, request: messages.EnterBotRequest, context: Context
    ) -> messages.EnterBotResponse:
        holder = holder_of(context, self._tokens)

        def enter() -> tuple[str, ...]:
            self._require_own(holder, request.bot)
            entry = self._service.entry_of(request.name, request.bot, self._store)
            organises = holder.scope is Scope.ORGANISER
            return self._service.enter(request.name, entry, who=holder.owner, organises=organises)

        return messages.EnterBotResponse(games=await self._write(enter))

    async def WithdrawBot(
        self, request: messages.WithdrawBotRequest, context: Context
    ) -> messages.WithdrawBotResponse:
        holder = holder_of(context, self._tokens)

        def withdraw() -> None:
            self._require_own(holder, request.bot)
            self._service.withdraw(request.name, request.bot, who=holder.owner)

        await self._write(withdraw)
        return messages.WithdrawBotResponse()

    async def DisqualifyBot(
        self, request: messages.DisqualifyBotRequest, context: Context
    ) -> messages.DisqualifyBotResponse:
        who = holder_of(context, self._tokens).owner
        if not request.reason.strip():
            raise Refused("NO_REASON")

        def disqualify() -> None:
            self._service.disqualify(request.name, request.bot, reason=request.reason, who=who)

        await self._write(disqualify)
        return messages.DisqualifyBotResponse()

    async def ReinstateBot(
        self, request: messages.ReinstateBotRequest, context: Context
    ) -> messages.ReinstateBotResponse:
        who = holder_of(context, self._tokens).owner
        if not request.reason.strip():
            raise Refused("NO_REASON")

        def reinstate() -> None:
            self._service.reinstate(request.name, request.bot, reason=request.reason, who=who)

        await self._write(reinstate)
        return messages.ReinstateBotResponse()

    async def DropWorker(
        self, request: messages.DropWorkerRequest, context: Context
    ) -> messages.DropWorkerResponse:
        who, name = holder_of(context, self._tokens).owner, request.name
        if not request.reason.strip():
            raise Refused("NO_REASON")

        def drop() -> messages.DropWorkerResponse:
            dropped = self._service.drop_worker(
                name, request.worker, reason=request.reason, who=who
            )
            held = self._store.competitions()
            return messages.DropWorkerResponse(
                dropped=dropped, official=held.get(name).official, workers=held.workers(name)
            )

        return await self._write(drop)

    async def ListSpotChecks(
        self, request: messages.ListSpotChecksRequest, context: Context
    ) -> messages.ListSpotChecksResponse:
        def checks() -> tuple[WorkerChecks, ...]:
            begins = self._store.competitions().begins_at_workers(request.name)
            return worker_checks(self._store.spot_checks().of(request.name), begins)

        return messages.ListSpotChecksResponse(
            workers=[
                messages.WorkerChecks(
                    worker=checked.worker,
                    deal_sets=checked.deal_sets,
                    same_scores=checked.same_scores,
                    reported=checked.reported,
                    failed_begins=checked.failed_begins,
                    favours=[
                        messages.Favour(
                            bot=favour.bot,
                            deal_sets=favour.deal_sets,
                            per_deal_set=favour.per_deal_set,
                            p_value=favour.p_value,
                            stands_out=favour.stands_out,
                        )
                        for favour in checked.favours
                    ],
                )
                for checked in await on_thread(checks)
            ]
        )

    async def Announce(
        self, request: messages.AnnounceRequest, context: Context
    ) -> messages.AnnounceResponse:
        who = holder_of(context, self._tokens).owner
        await self._write(lambda: self._service.announce(request.name, request.text, who=who))
        return messages.AnnounceResponse()

    def _require_own(self, holder: Holder, bot: str) -> None:
        """Require that a bot is the caller's, or the caller an organiser. Reads the disk.

        Raises `Refused` if it is another owner's.
        """
        if not bot:
            raise Refused("UNKNOWN_BOT", "none is named")
        if holder.scope is Scope.ORGANISER:
            return
        known = self._store.registry().find_bot(bot)
        owner = known.owner if known is not None else self._tokens.owner_of(bot)
        if owner != holder.owner:
            raise Refused("NOT_YOURS", repr(bot))

    # Everybody.

    async def GetCompetition(
        self, request: messages.GetCompetitionRequest, context: Context
    ) -> messages.GetCompetitionResponse:
        return messages.GetCompetitionResponse(competition=await self._shown(request.name))

    async def ListCompetitions(
        self, request: messages.ListCompetitionsRequest, context: Context
    ) -> messages.ListCompetitionsResponse:
        def listed() -> list[messages.CompetitionInfo]:
            return [
                competition_message(stored, None, self._service.waits(stored))
                for stored in self._service.all()
            ]

        competitions = await self._recent.on_thread(("listed",), listed)
        page, token = numbered_page(competitions, request.page_size, request.page_token)
        return messages.ListCompetitionsResponse(competitions=page, next_page_token=token)

    async def ListRounds(
        self, request: messages.ListRoundsRequest, context: Context
    ) -> messages.ListRoundsResponse:
        name = request.name
        rounds = await self._recent.on_thread(("rounds", name), lambda: self._service.rounds(name))
        page, token = numbered_page(rounds, request.page_size, request.page_token)
        return messages.ListRoundsResponse(
            rounds=[
                messages.RoundInfo(
                    game=game.terms.game.id,
                    seats=game.terms.seats,
                    round=drawn.number,
                    groups=[messages.BotGroup(bots=group) for group in drawn.groups],
                    byes=drawn.byes,
                    inputs_sha256=drawn.inputs_sha256,
                )
                for game, drawn in page
            ],
            next_page_token=token,
        )

    async def WatchCompetition(
        self, request: messages.WatchCompetitionRequest, context: Context
    ) -> AsyncIterator[messages.WatchCompetitionResponse]:
        before: messages.CompetitionInfo | None = None
        while True:
            competition = await self._shown(request.name)
            if competition != before:
                yield messages.WatchCompetitionResponse(competition=competition)
            if competition.state == messages.COMPETITION_STATE_FINISHED:
                return
            before = competition
            await asyncio.sleep(POLL_S)

    async def _write(self, act: Callable[[], _T]) -> _T:
        """Call `act` on another thread, and drop cached results, so that later reads see its effect."""
        try:
            return await on_thread(act)
        finally:
            self._recent.forget()

    async def _shown(self, name: str) -> messages.CompetitionInfo:
        return await self._recent.on_thread(("show", name), lambda: self._message(name))

    def _message(self, name: str) -> messages.CompetitionInfo:
        stored, progress = self._service.get(name)
        return competition_message(stored, progress, self._service.waits(stored))


def _estimate(
    plan: CompetitionPlan, entrants: int | None, cores: int, match_s: float
) -> messages.EstimateCompetitionResponse:
    # On few cores a match still needs one for each seat.
    cores = max(cores, *(game.terms.seats for game in plan.games))
    enter = {
        game.name: [
            name for name, bot in plan.bots.items() if game.game in (bot.games or [game.game])
        ]
        for game in plan.games
    }
    response = messages.EstimateCompetitionResponse(
        name=plan.name,
        format=enum_number(messages.CompetitionFormat, plan.format or plan.kind),
        timetable=plan.timetable,
        bots=len(plan.bots) if entrants is None else entrants,
        games=[messages.EstimatedGame(game=game, bots=bots) for game, bots in enter.items()],
        undeclared=[name for name, bot in plan.bots.items() if not bot.games],
        in_every_game=sorted(set.intersection(*map(set, enter.values()))),
    )
    counts = [len(bots) if entrants is None else entrants for bots in enter.values()]
    try:
        estimated = estimate(plan, bots=counts, cores=cores, match_s=match_s)
    except TooFewBots as error:
        response.why_not = str(error)
        return response
    response.cores, response.match_s = cores, match_s
    response.warnings.extend(warnings(plan, counts))
    for name in ("deal_sets", "matches", "hours", "core_hours"):
        span = getattr(estimated, name)
        getattr(response, name).CopyFrom(messages.Span(least=span.least, most=span.most))
    return response

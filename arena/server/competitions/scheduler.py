"""The scheduler: plays every competition that runs, as the store says.

It takes no commands. It polls the store and plays the competitions that are running there, so an arena that was
killed continues where it was, and commands and calls cannot contradict each other.
"""

import contextlib
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.competition.plan import CompetitionKind, CompetitionPlan, read_plan
from arena.competition.rounds import DrawError
from arena.competition.states import Action, NotAllowed, State
from arena.sandbox import BadCommand, Level, Sandbox
from arena.schedule.deal_sets import ScheduleError
from arena.schedule.runner import CannotPlay
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competition_service import BotsChanged, CompetitionService
from arena.server.competitions.arena_player import (
    MAX_MATCHES,
    MakePlayer,
    PlayerOf,
    arena_player_of,
)
from arena.server.competitions.comparison_runner import ComparisonRunner
from arena.server.competitions.drawn_rounds import DrawnRounds, Incomplete, OnProgress
from arena.server.competitions.entrants import (
    Seat,
    choose_versions,
    know_commands,
    know_versions,
    learn_games,
)
from arena.server.competitions.ladder import Ladder
from arena.server.competitions.launcher import NoShow
from arena.server.competitions.players import Players
from arena.store import BotKind, Competition, DrawDiffers, NotExpected, Store, StoreError

POLL_S: Final = 0.5
"""Between two polls of the store."""

ARENA: Final = "(arena)"
"""Names the arena in the audit, where it acts by itself, as when a tournament is over."""

_log = logging.getLogger(__name__)


TROUBLES: Final = (
    BadCommand,
    BotsChanged,
    CannotPlay,
    DrawDiffers,
    DrawError,
    Incomplete,
    NoShow,
    ScheduleError,
)
"""Errors that pause a competition; the others continue."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Scheduler:
    """Plays the competitions of an arena. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        store: Store,
        service: CompetitionService,
        data: Path,
        nursery: trio.Nursery,
        *,
        sandbox: Sandbox | None = None,
        player_of: PlayerOf = arena_player_of,
        max_matches: int = MAX_MATCHES,
        on_progress: OnProgress = lambda *_: None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        """Play nothing yet.

        Args:
          arena: Plays the matches.
          store: Has the competitions.
          service: Acts on them.
          data: The arena's folder.
          nursery: Has the launched bots.
          sandbox: Sandboxes the launched bots; None sandboxes no bot.
          player_of: Chooses what plays the deal-sets of a plan.
          max_matches: Matches of a tournament's game at a time.
          on_progress: Called with how far games have come.
          now: The time, for ladders that open and close.
        """
        self._arena, self._store, self._service = arena, store, service
        self._competitions = store.competitions()
        self.players: Final = Players(arena, data, data / "bots", nursery, sandbox=sandbox)
        self._player_of = player_of
        self._max_matches, self._on_progress = max_matches, on_progress
        self._now = now
        self._changed = store.change_detector()
        self._playing: set[str] = set()
        self.troubles: Final[dict[str, Exception]] = {}
        """The error that paused a competition, by its name."""

    async def run(self) -> None:
        """Play running competitions and requested comparisons, until cancelled."""
        async with trio.open_nursery() as nursery:
            comparisons = ComparisonRunner(self._store, self._arena, self.players, now=self._now)
            nursery.start_soon(comparisons.run)
            while True:
                for each in await self._poll():
                    if each.state is State.RUNNING and each.name not in self._playing:
                        self._playing.add(each.name)
                        nursery.start_soon(self._guarded, each)
                await trio.sleep(POLL_S)

    async def play(self, name: str) -> None:
        """Play one competition until it is finished or paused, once each of its launched bots has connected.

        Raises:
          BadCommand, BotsChanged, CannotPlay, DrawDiffers, Incomplete, NoShow, StoreError: why it cannot
            continue.
        """
        competition = await run_sync(self._competitions.get, name)
        await self._play(competition, must_connect=True)

    async def play_each(self, names: Sequence[str], at_a_time: int) -> None:
        """Play competitions in order, so many at a time, each as `play` does.

        Raises:
          As `play`.
        """
        slots = trio.Semaphore(at_a_time)

        async def one(name: str) -> None:
            try:
                await self.play(name)
            finally:
                slots.release()

        async with trio.open_nursery() as nursery:
            for name in names:
                await slots.acquire()
                nursery.start_soon(one, name)

    async def _poll(self) -> tuple[Competition, ...]:
        if not self._changed():
            return ()
        try:
            return await run_sync(self._competitions.all)
        except StoreError as error:
            self._changed.forget()
            _log.warning("the store of competitions cannot be read", extra={"why": str(error)})
            return ()

    async def _guarded(self, competition: Competition) -> None:
        """Play a competition; an error pauses it, and no other."""
        try:
            # It may have been paused since the poll.
            if (await run_sync(self._competitions.get, competition.name)).state is State.RUNNING:
                await self._play(competition)
        except TROUBLES as trouble:
            self.troubles[competition.name] = trouble
            fields = {"competition": competition.name, "why": str(trouble)}
            _log.error("a competition was paused", extra=fields)
            await self._act(competition.name, Action.PAUSE)
        except StoreError as error:
            # The store failed meanwhile: what was played is in the journal, and is recorded later.
            fields = {"competition": competition.name, "why": str(error)}
            _log.warning("a competition waits for the store", extra=fields)
            await trio.sleep(POLL_S)
        finally:
            self._playing.discard(competition.name)
            self._changed.forget()  # it may be running again

    async def _play(self, competition: Competition, *, must_connect: bool = False) -> None:
        plan = await run_sync(read_plan, competition.config)
        if not await self._opens(plan):
            return
        make_player = self._player_of(plan)
        if plan.sandbox is not None and plan.speed_class is None:
            await run_sync(self.players.require_level, Level(plan.sandbox))
        competition = await run_sync(self._competitions.get, plan.name)  # bots may have entered
        await know_commands(self.players, competition)
        if must_connect:
            await self.players.require(
                [
                    BotId(each.entry.name)
                    for each in competition.entries
                    if each.entry.kind is BotKind.COMMAND and each.candidate.out is None
                ]
            )
        await learn_games(self._arena, self.players, self._competitions, competition)
        if plan.kind is CompetitionKind.TOURNAMENT:
            choose = partial(choose_versions, self._store, plan.name, who=ARENA, now=self._now())
            await run_sync(choose)
        over = [False] * len(plan.games)

        async def one(game: int) -> None:
            over[game] = await self._game(plan, game, make_player).run()

        try:
            async with trio.open_nursery() as nursery:
                for game in range(len(plan.games)):
                    nursery.start_soon(one, game)
        except BaseExceptionGroup as group:
            raise _first(group) from group
        if all(over):
            await self._act(competition.name, Action.FINISH)

    async def _opens(self, plan: CompetitionPlan) -> bool:
        """Wait until a competition opens by its plan; False if it is paused or finished before."""
        while plan.opens is not None and self._now() < plan.opens:
            found = await run_sync(self._competitions.get, plan.name)
            if found.state is not State.RUNNING:
                return False
            await trio.sleep(POLL_S)
        return True

    def _game(
        self, plan: CompetitionPlan, game: int, make_player: MakePlayer
    ) -> DrawnRounds | Ladder:
        if plan.kind is CompetitionKind.LADDER:
            return Ladder(
                plan,
                game,
                self._store,
                self._arena,
                self.players,
                make_player=make_player,
                now=self._now,
                on_progress=self._on_progress,
            )
        return DrawnRounds(
            plan,
            game,
            self._competitions,
            self._arena,
            self.players,
            make_player=make_player,
            max_matches=self._max_matches,
            seats=partial(run_sync, self._seats, plan.name),
            now=self._now,
            on_progress=self._on_progress,
        )

    def _seats(self, name: str) -> Seat:
        return know_versions(self.players, self._store.registry(), self._competitions.get(name))

    async def _act(self, name: str, action: Action) -> None:
        def act() -> None:
            self._service.control(name, action, who=ARENA)

        with contextlib.suppress(NotAllowed, NotExpected):  # somebody else acted meanwhile
            await run_sync(act)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

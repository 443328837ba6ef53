"""Plays every competition that runs, as the store says: started, paused and finished by whoever may.

The hall has no commands of its own. It looks at the store, and what it finds there it does: so an arena
that was killed goes on where it stood, and two that speak to one store cannot contradict each other.
"""

import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.competition.plan_file import CompetitionPlan, Kind, read_plan
from arena.competition.states import Action, NotAllowed, State
from arena.jail import BadCommand, Level, Wall
from arena.server.arena import Arena
from arena.server.competitions.drawn_tournament import DrawnTournament, Incomplete, Told
from arena.server.competitions.entrants import EntrantChanged, know_commands
from arena.server.competitions.players import Players
from arena.server.competitions.playing_processes import CannotPlay, PlayingProcesses
from arena.server.competitions.questions import Answering
from arena.server.competitions.standing_ladder import StandingLadder
from arena.server.office import Office
from arena.server.tournaments.launcher import NoShow
from arena.store import Competition, DrawDiffers, NotExpected, Store, StoreError

LOOK_S: Final = 0.5
"""Between two looks at the store."""

ARENA: Final = "(arena)"
"""Who acts where nobody did, as when a tournament is over."""

_log = logging.getLogger(__name__)


TROUBLES: Final = (BadCommand, CannotPlay, DrawDiffers, EntrantChanged, Incomplete, NoShow)
"""Why a competition cannot go on; it is paused, and the others go on."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Hall:
    """Plays the competitions of an arena. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        store: Store,
        office: Office,
        data: Path,
        nursery: trio.Nursery,
        *,
        wall: Wall | None = None,
        elsewhere: PlayingProcesses | None = None,
        told: Told = lambda *_: None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        """`nursery` has the launched bots, behind the `wall`; `told` hears how far games have come.

        `elsewhere` are processes that play what they can.
        """
        self._arena, self._store, self._office = arena, store, office
        self._held = store.competitions()
        self.players: Final = Players(arena, data, data / "bots", nursery, wall=wall)
        self._elsewhere = elsewhere
        self._told = told
        self._now = now
        self._news = store.news()
        self._playing: set[str] = set()
        self.troubles: Final[dict[str, Exception]] = {}
        """What kept a competition from going on, by its name."""

    async def run(self) -> None:
        """Play whatever runs and answer what is asked, until cancelled."""
        async with trio.open_nursery() as nursery:
            answering = Answering(self._store, self._arena, self.players, now=self._now)
            nursery.start_soon(answering.run)
            while True:
                for each in await self._look():
                    if each.state is State.RUNNING and each.name not in self._playing:
                        self._playing.add(each.name)
                        nursery.start_soon(self._guarded, each)
                await trio.sleep(LOOK_S)

    async def play(self, name: str) -> None:
        """Play one competition until it is finished or paused.

        Raises:
          BadCommand, CannotPlay, DrawDiffers, EntrantChanged, Incomplete, NoShow, StoreError: why it
            cannot go on.
        """
        await self._play(await run_sync(self._held.get, name))

    async def _look(self) -> tuple[Competition, ...]:
        if not self._news():
            return ()
        try:
            return await run_sync(self._held.all)
        except StoreError as error:
            self._news.forget()
            _log.warning("the store of competitions cannot be read", extra={"why": str(error)})
            return ()

    async def _guarded(self, held: Competition) -> None:
        """Play a competition; what keeps it from going on pauses it, and no other."""
        try:
            # It may have been paused since the store was looked at.
            if (await run_sync(self._held.get, held.name)).state is State.RUNNING:
                await self._play(held)
        except TROUBLES as trouble:
            self.troubles[held.name] = trouble
            fields = {"competition": held.name, "why": str(trouble)}
            _log.error("a competition was paused", extra=fields)
            await self._act(held.name, Action.PAUSE)
        except StoreError as error:
            # It went away in the midst: what was played is in the journal, and is found again.
            fields = {"competition": held.name, "why": str(error)}
            _log.warning("a competition waits for the store", extra=fields)
            await trio.sleep(LOOK_S)
        finally:
            self._playing.discard(held.name)
            self._news.forget()  # it may be to be played on

    async def _play(self, held: Competition) -> None:
        plan = read_plan(held.config)
        if plan.jail is not None:
            await run_sync(self.players.require_level, Level(plan.jail))
        await know_commands(self.players, held)
        over = [False] * len(plan.games)

        async def one(game: int) -> None:
            over[game] = await self._game(plan, game).run()

        try:
            async with trio.open_nursery() as nursery:
                for game in range(len(plan.games)):
                    nursery.start_soon(one, game)
        except BaseExceptionGroup as group:
            raise _first(group) from group
        if all(over):
            await self._act(held.name, Action.FINISH)

    def _game(self, plan: CompetitionPlan, game: int) -> DrawnTournament | StandingLadder:
        if plan.kind is Kind.LADDER:
            return StandingLadder(
                plan,
                game,
                self._store,
                self._arena,
                self.players,
                elsewhere=self._elsewhere,
                now=self._now,
                told=self._told,
            )
        return DrawnTournament(
            plan,
            game,
            self._held,
            self._arena,
            self.players,
            elsewhere=self._elsewhere,
            told=self._told,
        )

    async def _act(self, name: str, action: Action) -> None:
        def act() -> None:
            self._office.control(name, action, who=ARENA)

        with contextlib.suppress(NotAllowed, NotExpected):  # somebody did something else meanwhile
            await run_sync(act)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

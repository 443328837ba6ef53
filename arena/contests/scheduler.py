"""The scheduler, which plays every competition that is running according to the store.

It takes no commands. It polls the store and plays the competitions that are running there, so an arena that was
killed continues where it was, and commands and calls cannot contradict each other.

A failure in one competition pauses it with a reason that everybody may read, and the others continue. Failures of the
store and of the journal concern all competitions: they wait for the store, and the arena ends if its journal cannot be
written.
"""

import contextlib
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.bots.bot_ids import BotId
from arena.contests.comparison_runner import ComparisonRunner
from arena.contests.competition_service import CompetitionService, utc_now
from arena.contests.drawn_rounds import DrawnRounds, Incomplete, OnProgress
from arena.contests.entrants import (
    Seat,
    choose_versions,
    enter_house_bots,
    know_commands,
    know_versions,
    learn_games,
)
from arena.contests.ladder import Ladder
from arena.contests.plan import CompetitionKind, CompetitionPlan, read_plan
from arena.contests.plan_changes import BotsChanged
from arena.durable_files import Unwritten
from arena.errors import refusal
from arena.errors.refused import Refused
from arena.live.arena import Arena
from arena.live.arena_player import MAX_MATCHES, ArenaPlayer, MakePlayer
from arena.live.launcher import NoShow, require_game
from arena.live.orders import DealSetOrder
from arena.live.players import Players
from arena.live.work import CannotPlay
from arena.results.deal_sets import DealSet, ScheduleError
from arena.results.rounds import DrawError
from arena.results.states import Action, NotAllowed, State
from arena.sandbox.command import BadCommand, SharedName
from arena.sandbox.spawner.order import Level
from arena.store import (
    BotKind,
    Competition,
    DrawDiffers,
    NoCompetition,
    NotExpected,
    Store,
    StoreError,
)
from arena.store.failures import first_error, is_of_arena

POLL_S: Final = 0.5

ABSENT: Final = "is not connected, so the fallback player plays its seats, which it forfeits"
"""The sentence about a tournament that waits for a remote bot."""

NOTE_S: Final = 2.0
"""Seconds between two checks for why nothing of a competition begins."""

ARENA: Final = "(arena)"
"""The name of the arena in the audit for actions of its own, such as at the end of a tournament."""

_log = logging.getLogger(__name__)


_PUBLIC: Final = (
    BotsChanged,
    CannotPlay,
    DrawDiffers,
    DrawError,
    Incomplete,
    Refused,
    ScheduleError,
    SharedName,
)
"""Errors whose texts everybody may read."""
_LAUNCH: Final = (BadCommand, NoShow)
"""Errors whose texts may have commands, paths and output of a bot: only the organiser sees them."""


PlayerOf = Callable[[CompetitionPlan], MakePlayer]
"""Chooses the player of a plan's deal-sets. Raises: CannotPlay: if nothing can play them."""


def arena_player_of(plan: CompetitionPlan) -> MakePlayer:
    """Return a `PlayerOf` for an arena without workers."""
    if plan.speed_class is not None:
        raise CannotPlay(
            f"{plan.name} has a speed class, so it is played by workers on other machines, which join "
            "a running arena: arena serve"
        )

    def make(
        arena: Arena,
        players: Players,
        order: Callable[[DealSet], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
    ) -> ArenaPlayer:
        may_ponder = players.frozen_bots.may_ponder if plan.pondering else None
        return ArenaPlayer(arena, players, order, max_matches=max_matches, may_ponder=may_ponder)

    return make


class Scheduler:
    """The scheduler of an arena's competitions. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        store: Store,
        service: CompetitionService,
        players: Players,
        *,
        player_of: PlayerOf = arena_player_of,
        house: bool = False,
        on_progress: OnProgress = lambda *_: None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Create a scheduler that plays nothing until `run`.

        Args:
          players: Brings the bots of all competitions.
          player_of: Chooses what plays the deal-sets of a plan.
          house: Whether the arena's own bots enter each ladder that any bot may enter.
        """
        self._arena, self._store, self._service = arena, store, service
        self._competitions = store.competitions()
        self.players: Final = players
        self._player_of, self._on_progress = player_of, on_progress
        self._house = house
        self._now = now
        self._changed = store.change_detector()
        self._playing: set[str] = set()

    async def run(self) -> None:
        """Play running competitions and requested comparisons, until cancelled."""
        async with trio.open_nursery() as nursery:
            comparisons = ComparisonRunner(self._store, self._arena, self.players, now=self._now)
            nursery.start_soon(comparisons.run)
            while True:
                for competition in await self._poll():
                    if competition.state is State.RUNNING and competition.name not in self._playing:
                        self._playing.add(competition.name)
                        nursery.start_soon(self._guarded, competition)
                await trio.sleep(POLL_S)

    async def play(self, name: str) -> str:
        """Play one competition until it is finished or paused, once each of its launched bots has connected.

        Returns the error that paused it, in words for its organiser; empty if no error paused it.

        Raises `StoreError` if the store fails.
        """
        competition = await run_sync(self._competitions.get, name)
        try:
            await self._play(competition, must_connect=True)
        except Exception as group:
            error = first_error(group)
            if is_of_arena(error):
                raise error from group
            return await self._pause(name, error)
        return ""

    async def play_each(self, names: Sequence[str], at_a_time: int) -> Mapping[str, str]:
        """Play competitions in order, `at_a_time` of them together, each as `play` does.

        Returns, by name, the errors that paused some of them.

        Raises `StoreError` if the store fails.
        """
        slots = trio.Semaphore(at_a_time)
        paused: dict[str, str] = {}

        async def one(name: str) -> None:
            try:
                if why := await self.play(name):
                    paused[name] = why
            finally:
                slots.release()

        try:
            async with trio.open_nursery() as nursery:
                for name in names:
                    await slots.acquire()
                    nursery.start_soon(one, name)
        except ExceptionGroup as group:
            raise first_error(group) from group
        return paused

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
        """Play a competition; an error pauses only this competition."""
        try:
            # It may have been paused since the poll.
            if (await run_sync(self._competitions.get, competition.name)).state is State.RUNNING:
                await self._play(competition)
        except Exception as group:
            error = first_error(group)
            if isinstance(error, Unwritten):
                raise error from group
            try:
                if is_of_arena(error):
                    raise error from group
                await self._pause(competition.name, error)
            except StoreError as failure:
                # Played matches are in the journal and are recorded later. The competition is paused at the next
                # attempt.
                fields = {"competition": competition.name, "why": str(failure)}
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
        if self._house:
            enter = partial(enter_house_bots, who=ARENA, now=self._now())
            await run_sync(enter, self._competitions, plan.name)
        competition = await run_sync(self._competitions.get, plan.name)  # bots may have entered
        await know_commands(self.players, competition)
        if must_connect:
            launched = [
                BotId(bot.name)
                for bot in competition.entries
                if bot.kind is BotKind.COMMAND and bot.out is None
            ]
            await self.players.require(launched)
            if len(plan.games) == 1:  # with several games, a bot enters those that it plays
                require_game(self._arena, launched, plan.games[0].terms)
        await learn_games(self._arena, self.players, self._competitions, competition)
        if plan.kind is CompetitionKind.TOURNAMENT:
            choose = partial(choose_versions, self._store, plan.name, who=ARENA, now=self._now())
            await run_sync(choose)
        games = [self._game(plan, game, make_player) for game in range(len(plan.games))]
        over = [False] * len(games)

        async def one(number: int) -> None:
            over[number] = await games[number].run()

        async with trio.open_nursery() as noting:
            noting.start_soon(self._note_waits, plan, games)
            async with trio.open_nursery() as nursery:
                for number in range(len(games)):
                    nursery.start_soon(one, number)
            noting.cancel_scope.cancel()
        if all(over):
            await self._act(competition.name, Action.FINISH)

    async def _note_waits(
        self, plan: CompetitionPlan, games: Sequence[DrawnRounds | Ladder]
    ) -> None:
        """Note periodically which bots are absent, and why nothing begins if no game has a deal-set that may begin."""
        noted, absent = None, dict[str, str]()
        while True:
            await trio.sleep(NOTE_S)
            if plan.kind is CompetitionKind.TOURNAMENT:  # a ladder notes what limits its bots
                absent = await self._note_absent(plan.name, absent)
            waits = [game.waits for game in games]
            why = plan.why_not_played(self._now()) or (
                "; ".join(dict.fromkeys(waits)) if all(waits) else ""
            )
            if why != noted:
                await run_sync(self._competitions.note_waits, plan.name, why)
                noted = why

    async def _note_absent(self, name: str, noted: dict[str, str]) -> dict[str, str]:
        """Note which remote bots of a tournament are not connected, if that has changed; return the note."""
        entered = await run_sync(self._competitions.get, name)
        absent = {}
        for bot in entered.entries:
            if bot.kind is BotKind.REMOTE and bot.out is None:
                session = self._arena.sessions.get(BotId(bot.name))
                present = session is not None and session.present
                absent[bot.name] = "" if present else ABSENT
        if changed := {bot: why for bot, why in absent.items() if noted.get(bot, "") != why}:
            await run_sync(self._competitions.note_limits, name, changed)
        return absent

    async def _opens(self, plan: CompetitionPlan) -> bool:
        """Wait until a competition opens by its plan; return False if it is paused or finished earlier."""
        if why := plan.why_not_played(self._now()):
            await run_sync(self._competitions.note_waits, plan.name, why)
        while plan.opens is not None and self._now() < plan.opens:
            competition = await run_sync(self._competitions.get, plan.name)
            if competition.state is not State.RUNNING:
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
            make_player=partial(make_player, self._arena, self.players),
            seats=partial(run_sync, self._seats, plan.name),
            now=self._now,
            on_progress=self._on_progress,
        )

    def _seats(self, name: str) -> Seat:
        return know_versions(self.players, self._store.registry(), self._competitions.get(name))

    async def _pause(self, name: str, error: Exception) -> str:
        """Pause a competition for an error; return the reason, in words for its organiser.

        Raises `StoreError` if the store fails.
        """
        incident = secrets.token_hex(4)
        fields = {"competition": name, "incident": incident, "why": str(error)}
        is_known = isinstance(error, (*_PUBLIC, *_LAUNCH))
        _log.error("a competition was paused", extra=fields, exc_info=None if is_known else error)
        if isinstance(error, _PUBLIC):
            reason = str(error)
        elif is_known:
            reason = f"a bot cannot be launched; the arena's log has incident {incident}"
        else:
            reason = refusal("INCIDENT").message(f"incident {incident}")
        await self._act(name, Action.PAUSE, reason)
        return str(error) if is_known else reason

    async def _act(self, name: str, action: Action, reason: str = "") -> None:
        def act() -> None:
            self._service.control(name, action, who=ARENA, reason=reason)

        # An organiser has changed its state or removed it in the meantime.
        with contextlib.suppress(NoCompetition, NotAllowed, NotExpected):
            await run_sync(act)

"""Tournaments of launched bots, from the first look at the store to the last replay.

Each bot runs as n instances, one for every rotation of a deal-set, so that no
process sees a board twice. `play_tournaments` is a tournament's whole life; it
may be stopped or killed at any time, and called again it goes on.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import trio

from arena.games.catalogue import Game
from arena.jail import BotCommand, Level, Wall
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan, round_robin
from arena.ladder.standings import Standings, standings
from arena.ladder.tournament import Progress, Report, run_tournament
from arena.server import data_folder
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.listen import CannotServe
from arena.server.orders import DealSetOrder, TableOrder
from arena.server.refusals import DRAINING, Refused
from arena.server.tournaments.dealer import Dealer
from arena.server.tournaments.launcher import Launcher
from arena.server.tournaments.leased_work import LeasedWork
from arena.store import Entrant, Settings, Store, Tournament, open_store
from arena.terms import MatchTerms
from arena.wire.terms import terms_json

DEFAULT_MAX_MATCHES = 8
"""Matches played at a time; their asks then travel together."""


@dataclass(frozen=True)
class TournamentPlan:
    """A tournament, as its organiser orders it.

    Raises:
      ScheduleError: from `schedule`, if these bots cannot play it.
    """

    name: str
    terms: MatchTerms
    """What all matches are played by. If they are not seeded, the deals are fair, and the seed
    fixes the seating alone."""
    commands: tuple[BotCommand, ...]
    deal_sets: int
    """Deal-sets that every group of bots at a table plays."""
    seed: str
    max_matches: int = DEFAULT_MAX_MATCHES

    @property
    def game(self) -> Game:
        return self.terms.game

    @functools.cached_property
    def schedule(self) -> tuple[DealSetPlan, ...]:
        """All deal-sets, in the order of play."""
        return round_robin(
            [command.name for command in self.commands],
            seats=self.terms.seats,
            deal_sets=self.deal_sets,
            seed=self.seed,
            tournament=self.name,
        )

    @functools.cached_property
    def settings(self) -> Settings:
        """What must stay the same when the tournament goes on later.

        Raises:
          BadCommand: if a bot's file cannot be read.
        """
        return Settings(
            name=self.name,
            terms=terms_json(self.terms),
            seed=self.seed,
            entrants=tuple(Entrant(each.name, each.text, each.content()) for each in self.commands),
        )

    def order(self, deal_set: DealSetPlan) -> DealSetOrder:
        """The order of a deal-set of the schedule."""
        return DealSetOrder(
            deal_set.id,
            self.terms,
            tuple(TableOrder(match.id, _bots(match), match.rotation) for match in deal_set.matches),
            deal_set.seed if self.terms.seeded else "",
        )


@dataclass(frozen=True, slots=True)
class Played:
    """What a tournament has come to."""

    plan: TournamentPlan
    standings: Standings
    report: Report


class Stopped(Exception):
    """Play was stopped before all was played. What was played is kept, and goes on next time."""

    def __init__(self, so_far: Mapping[str, Mapping[str, MatchOutcome]]) -> None:
        """`so_far` are the outcomes of each tournament, by its name and the match's id."""
        super().__init__("stopped; run again, it goes on")
        self.so_far = so_far


OnProgress = Callable[[TournamentPlan, Progress], None]
"""Is told whenever a match of a tournament has ended."""


def play_tournaments(
    plans: Sequence[TournamentPlan],
    data: Path,
    *,
    bots: Path,
    on_progress: OnProgress = lambda *_: None,
    at_a_time: int = 1,
    limits_load: bool = True,
    accept_changed: bool = False,
    wall: Wall | None = None,
) -> tuple[Played, ...]:
    """Play what is missing of tournaments, and rank their bots.

    A server is started in the folder `data`, and the bots are launched; those of one
    name and command play in all tournaments.

    Args:
      plans: The tournaments, in the order in which they begin.
      data: The folder of replays, results and journals.
      bots: Gets a folder and a log for each instance of a bot.
      on_progress: Is told how far each has come.
      at_a_time: Tournaments in play at the same time.
      limits_load: Whether fewer matches are played while the arena is late or its disk full.
      accept_changed: Whether a tournament goes on with bots whose files have changed.
      wall: What the bots are jailed by; None jails nobody.

    Raises:
      EntrantsChanged: if it would, and is not to.
      Stopped: if it was interrupted, or told to end.
      NoShow: if a bot does not come when it is launched first.
      ScheduleError, StoreError, CannotServe, Unwritten: if it cannot be played at all.
    """
    with open_store(_made(data)) as store:
        held = [_open(plan, store, data, accept_changed=accept_changed) for plan in plans]
        main = functools.partial(_play_all, plans, held, bots, on_progress, at_a_time, wall)
        level = Level.S0 if wall is None else wall.level
        settings = ServerSettings(
            data, play_socket=level is not Level.S0, jail=level, limits_load=limits_load
        )
        try:
            found = serve(settings, Tokens(), main)
        except KeyboardInterrupt:
            found = None
        if found is None:
            so_far = zip(plans, held, strict=True)
            raise Stopped({plan.name: each.outcomes() for plan, each in so_far})
    return found


def held_settings(data: Path, name: str) -> Settings | None:
    """What a tournament of this name was begun with; None if there is none in the folder.

    Raises:
      StoreError: if the store cannot be read.
    """
    path = data_folder.store_path(data)
    if not path.exists():
        return None
    with open_store(path) as store:
        return next((each for each in store.tournaments() if each.name == name), None)


def _made(data: Path) -> Path:
    """The path of the store, whose folder is there."""
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotServe(f"cannot write in {data}: {error.strerror}") from error
    return data_folder.store_path(data)


def _open(plan: TournamentPlan, store: Store, data: Path, *, accept_changed: bool) -> Tournament:
    """The tournament in the store, new or to be gone on with."""
    return store.open_tournament(
        plan.settings,
        plan.schedule,
        now=datetime.now(UTC),
        accept_changed=accept_changed,
        # An arena that runs there may be about to play it.
        replace_unplayed=not data_folder.is_running(data),
    )


async def _play_all(
    plans: Sequence[TournamentPlan],
    held: Sequence[Tournament],
    bots: Path,
    on_progress: OnProgress,
    at_a_time: int,
    wall: Wall | None,
    arena: Arena,
) -> tuple[Played, ...]:
    commands = {command.name: command for plan in plans for command in plan.commands}
    slots = trio.CapacityLimiter(at_a_time)
    played: dict[str, Played] = {}
    async with trio.open_nursery() as launched:
        launcher = Launcher(arena, tuple(commands.values()), bots, launched, wall=wall)

        async def one(plan: TournamentPlan, tournament: Tournament) -> None:
            async with slots:
                played[plan.name] = await _play(plan, tournament, arena, launcher, on_progress)

        async with trio.open_nursery() as nursery:
            for each in zip(plans, held, strict=True):
                nursery.start_soon(one, *each)
        await launcher.send_home()
        launched.cancel_scope.cancel()
    return tuple(played[plan.name] for plan in plans)


async def _play(
    plan: TournamentPlan,
    tournament: Tournament,
    arena: Arena,
    launcher: Launcher,
    on_progress: OnProgress,
) -> Played:
    """Play what is missing of one tournament, and rank its bots."""
    # One that was begun keeps the seeds that it was begun with.
    held = {each.id: each for each in await trio.to_thread.run_sync(tournament.deal_sets)}
    schedule = tuple(held[each.id] for each in plan.schedule)
    known = await trio.to_thread.run_sync(tournament.outcomes)
    missing = [
        each
        for each in schedule
        if not all(match.id in known and known[match.id].has_result for match in each.matches)
    ]
    if missing:
        # A bot that cannot play at all is found out before the first match.
        await launcher.require([BotId(command.name, 0) for command in plan.commands])
    dealer = Dealer(
        [plan.order(each) for each in missing],
        fair=not plan.terms.seeded,
        fix_deals=arena.matches.fix_deals,
        bots=launcher,
    )

    async def play(match: MatchPlan) -> MatchOutcome:
        await launcher.ensure(_bots(match))
        order = await dealer.ready(match.deal_set_id)
        try:
            return await arena.lease(order, match.id)
        except Refused as refused:
            if refused.reason != DRAINING:
                raise
            await trio.sleep_forever()  # until what is in play has ended

    work = LeasedWork(tournament.leases(up_to=len(schedule)))
    await work.start_anew()
    report = await run_tournament(
        schedule,
        source=work,
        play=play,
        known=known,
        max_matches=plan.max_matches,
        on_progress=functools.partial(on_progress, plan),
    )
    return Played(plan, standings(schedule, report.outcomes), report)


def _bots(match: MatchPlan) -> tuple[BotId, ...]:
    return tuple(BotId(name, match.instance) for name in match.bots)

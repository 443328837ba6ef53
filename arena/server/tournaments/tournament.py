"""Tournaments of launched bots, played in this process by DESIGN's rule for them.

Each bot runs as n instances, one for every rotation of a deal-set, so that no
process sees a board twice.
"""

import dataclasses
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import trio

from arena.games.catalogue import Game
from arena.jail import BotCommand
from arena.ladder.results import MatchOutcome, aborted
from arena.ladder.schedule import DealSetPlan, MatchPlan, round_robin
from arena.ladder.standings import Standings, standings
from arena.ladder.tournament import Progress, Report, run_tournament
from arena.referee import Ending, Outcome, TimeControl
from arena.replay.journal.recovery import recover
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.deals.fair import PlannedMatch
from arena.server.matches.orders import DEFAULT_TIME_CONTROL, MatchOrder
from arena.server.refusals import DRAINING, Refused
from arena.server.tournaments.launcher import Launcher
from arena.store import Entrant, Settings, StoreBusy, Tournament, open_store

_log = logging.getLogger(__name__)

LOCKED_ATTEMPTS = 12
"""Times that a result is tried to be recorded in a locked store, each for some seconds."""
DEFAULT_MAX_MATCHES = 8
"""Matches played at a time; their asks then travel together."""


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """A tournament, as its organiser orders it."""

    name: str
    game: Game
    commands: tuple[BotCommand, ...]
    seats: int
    deal_sets: int
    """Deal-sets that every group of `seats` bots plays."""
    seed: str
    options: Mapping[str, object] = field(default_factory=dict)
    time_control: TimeControl = DEFAULT_TIME_CONTROL
    max_matches: int = DEFAULT_MAX_MATCHES
    fair: bool = False
    """Dealt fairly; otherwise the deals follow from the seed, which fixes the seating anyway."""

    @property
    def schedule(self) -> tuple[DealSetPlan, ...]:
        """All deal-sets, in the order of play.

        Raises:
          ScheduleError: if these bots cannot play it.
        """
        return round_robin(
            [command.name for command in self.commands],
            seats=self.seats,
            deal_sets=self.deal_sets,
            seed=self.seed,
            tournament=self.name,
        )

    @property
    def settings(self) -> Settings:
        """What must stay the same when the tournament goes on later."""
        return Settings(
            name=self.name,
            game=self.game.id,
            rules_version=self.game.rules_version,
            seats=self.seats,
            seed=self.seed,
            entrants=tuple(Entrant(each.name, each.text) for each in self.commands),
            options=dict(self.options),
            time_control=dataclasses.asdict(self.time_control),
            fair=self.fair,
        )


def open_tournament(plan: TournamentPlan, data: Path) -> Tournament:
    """The tournament in the store of the folder `data`, new or to be gone on with.

    Raises:
      StoreError: if the store cannot be used, or holds it with other settings.
      ScheduleError: if these bots cannot play it.
    """
    store = open_store(data / "arena.db")
    return store.open_tournament(plan.settings, plan.schedule, now=datetime.now(UTC))


async def play(
    plan: TournamentPlan,
    tournament: Tournament,
    arena: Arena,
    crew: Launcher,
    on_progress: Callable[[Progress], None],
) -> tuple[Standings, Report]:
    """Play what is missing of a tournament and rank its bots, which `crew` launches.

    Raises:
      NoShow: if a bot does not come when it is launched first.
    """
    schedule = plan.schedule
    known = await trio.to_thread.run_sync(_take_up, schedule, tournament, arena)
    missing = Counter(
        match.deal_set_id for each in schedule for match in each.matches if match.id not in known
    )
    if missing:
        # Whoever cannot play at all is found out before anything is played.
        await crew.muster([BotId(command.name, 0) for command in plan.commands])
    dealer = _Dealer(plan, [each for each in schedule if missing[each.id]], missing, arena, crew)

    async def lease(match: MatchPlan) -> MatchOutcome:
        await crew.prepare(_bots(match))
        await dealer.ready(match.deal_set_id)
        try:
            outcome = await arena.lease(dealer.order(match))
        except Refused as refused:
            if refused.reason != DRAINING:
                raise
            await trio.sleep_forever()  # until what is in play has ended
        return ladder_outcome(outcome, arena.journal.position)

    report = await run_tournament(
        schedule,
        lease=lease,
        results=_Patient(tournament),
        max_matches=plan.max_matches,
        on_progress=on_progress,
    )
    return standings(schedule, report.outcomes), report


class _Dealer:
    """Has the deals of each deal-set agreed with its bots while the one before it is played."""

    def __init__(
        self,
        plan: TournamentPlan,
        deal_sets: Sequence[DealSetPlan],
        missing: Mapping[str, int],
        arena: Arena,
        crew: Launcher,
    ) -> None:
        """`missing` are the matches that each deal-set has still to play."""
        self._plan = plan
        self._missing = missing
        self._arena = arena
        self._crew = crew
        self._deal_sets = {each.id: each for each in deal_sets}
        self._next = dict(itertools.pairwise(self._deal_sets))
        self._fixed: dict[str, trio.Event] = {}

    def order(self, match: MatchPlan) -> MatchOrder:
        """The order of a match."""
        deal_set, fair = self._deal_sets[match.deal_set_id], self._plan.fair
        return MatchOrder(
            game=self._plan.game.id,
            bots=_bots(match),
            options=dict(self._plan.options),
            time_control=self._plan.time_control,
            seed="" if fair else match.seed,
            match_id=match.id,
            deal_set=match.deal_set_id,
            tables=self._missing[match.deal_set_id],
            plan=tuple(
                PlannedMatch(each.id, _bots(each), each.rotation) for each in deal_set.matches
            ),
        )

    async def ready(self, deal_set_id: str) -> None:
        """Wait until the deals of a deal-set are agreed; the next one's are begun with."""
        if not self._plan.fair:
            return
        self._begin(deal_set_id)
        if deal_set_id in self._next:
            self._begin(self._next[deal_set_id])
        await self._fixed[deal_set_id].wait()

    def _begin(self, deal_set_id: str) -> None:
        if deal_set_id not in self._fixed:
            self._fixed[deal_set_id] = trio.Event()
            self._crew.start_soon(self._fix, self._deal_sets[deal_set_id])

    async def _fix(self, deal_set: DealSetPlan) -> None:
        # Everybody who plays any table of it has a say in its packs.
        bots = dict.fromkeys(bot for match in deal_set.matches for bot in _bots(match))
        await self._crew.prepare(tuple(bots))
        await self._arena.fix_deals(self.order(deal_set.matches[0]))
        self._fixed[deal_set.id].set()


class _Patient:
    """Records results, and waits for whoever keeps the store locked: matches go on meanwhile."""

    def __init__(self, tournament: Tournament) -> None:
        self._tournament = tournament

    def outcomes(self) -> Mapping[str, MatchOutcome]:
        return self._tournament.outcomes()

    def record(self, match: MatchPlan, outcome: MatchOutcome) -> None:
        for _ in range(LOCKED_ATTEMPTS - 1):
            try:
                self._tournament.record(match, outcome)
            except StoreBusy as error:
                fields = {"match": match.id, "why": str(error)}
                _log.warning("a result waits to be written", extra=fields)
            else:
                return
        self._tournament.record(match, outcome)


def _bots(match: MatchPlan) -> tuple[BotId, ...]:
    return tuple(BotId(name, match.instance) for name in match.bots)


def _take_up(schedule: Sequence[DealSetPlan], tournament: Tournament, arena: Arena) -> set[str]:
    """Record matches that had ended when the arena was killed; all ids with a result."""
    plans = {match.id: match for each in schedule for match in each.matches}
    known = {match_id for match_id, outcome in tournament.outcomes().items() if outcome.has_result}
    journal, replays = arena.journal.folder, arena.replays
    recovery = recover(journal, replays, held=lambda _: True, signer=arena.signer)
    for ended in recovery.ended:
        match = plans.get(ended.opened.match_id)
        outcome = ladder_outcome(ended.outcome)
        if match is not None and outcome.has_result and match.id not in known:
            tournament.record(match, outcome)
            known.add(match.id)
    complete = {each.id for each in schedule if all(match.id in known for match in each.matches)}
    recover(journal, replays, held=lambda name: name not in complete, signer=arena.signer)
    return known


async def publish_left_over(schedule: Sequence[DealSetPlan], report: Report, arena: Arena) -> None:
    """Open the deal-sets of a schedule that were played in more than one go."""
    complete = {each.id for each in schedule} - {each.id for each in report.incomplete}
    journal, replays = arena.journal.folder, arena.replays
    recover(journal, replays, held=lambda name: name not in complete, signer=arena.signer)
    await arena.close_left_over(held=lambda name: name not in complete)


def ladder_outcome(outcome: Outcome, journal_position: str = "") -> MatchOutcome:
    """An outcome of the referee in the words of the ladder."""
    if outcome.ending is Ending.ABORTED:
        cause = outcome.cause.name.lower() if outcome.cause else ""
        return aborted(outcome.match_id, f"{cause} {outcome.incident}".strip())
    faults: list[Counter[str]] = [Counter() for _ in outcome.scores]
    for fault in outcome.faults:
        faults[fault.seat][fault.kind.name.lower()] += 1
    return MatchOutcome(
        match_id=outcome.match_id,
        scores=tuple(float(score) for score in outcome.scores),
        places=outcome.places,
        ending=outcome.ending.name.lower(),
        faults=tuple(dict(each) for each in faults),
        hands=len(outcome.hand_scores),
        replay_id=outcome.match_id,
        journal_position=journal_position,
    )

"""Tournaments of launched bots, played in this process by DESIGN's rule for them.

Each bot runs as n instances, one for every rotation of a deal-set, so that no
process sees a board twice.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import trio

from arena.games.catalogue import Game
from arena.jail import BotCommand
from arena.ladder.results import ABORTED, MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan, round_robin
from arena.ladder.standings import Standings, standings
from arena.ladder.tournament import Progress, Report, run_tournament
from arena.referee import Ending, Outcome, TimeControl
from arena.replay.cut import Recovery, recover
from arena.server.arena import Arena
from arena.server.crew import Crew
from arena.server.orders import DEFAULT_TIME_CONTROL, MatchOrder
from arena.server.session import BotId
from arena.store import Entrant, Settings, Tournament, open_store

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
    crew: Crew,
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

    async def lease(match: MatchPlan) -> MatchOutcome:
        bots = tuple(BotId(name, match.instance) for name in match.bots)
        await crew.prepare(bots)
        order = MatchOrder(
            game=plan.game.id,
            bots=bots,
            options=dict(plan.options),
            time_control=plan.time_control,
            seed=match.seed,
            match_id=match.id,
            deal_set=match.deal_set_id,
            tables=missing[match.deal_set_id],
        )
        return ladder_outcome(await arena.lease(order))

    if missing:
        # Whoever cannot play at all is found out before anything is played.
        await crew.muster([BotId(command.name, 0) for command in plan.commands])
    report = await run_tournament(
        schedule,
        lease=lease,
        results=tournament,
        max_matches=plan.max_matches,
        on_progress=on_progress,
    )
    return standings(schedule, report.outcomes), report


def _take_up(schedule: Sequence[DealSetPlan], tournament: Tournament, arena: Arena) -> set[str]:
    """Record matches that had ended when the arena was killed; all ids with a result."""
    plans = {match.id: match for each in schedule for match in each.matches}
    known = {match_id for match_id, outcome in tournament.outcomes().items() if outcome.has_result}
    journal, replays = arena.journal.folder, arena.replays
    recovery = recover(journal, replays, held=lambda _: True)
    for ended in recovery.ended:
        match = plans.get(ended.opened.match_id)
        outcome = ladder_outcome(ended.outcome)
        if match is not None and outcome.has_result and match.id not in known:
            tournament.record(match, outcome)
            known.add(match.id)
    complete = {each.id for each in schedule if all(match.id in known for match in each.matches)}
    recover(journal, replays, held=lambda deal_set: deal_set not in complete)
    return known


def publish_left_over(report: Report, arena: Arena) -> Recovery:
    """Cut the replays of deal-sets that were played in more than one go."""
    open_sets = {each.id for each in report.incomplete}
    return recover(arena.journal.folder, arena.replays, held=lambda name: name in open_sets)


def ladder_outcome(outcome: Outcome) -> MatchOutcome:
    """An outcome of the referee in the words of the ladder."""
    if outcome.ending is Ending.ABORTED:
        return MatchOutcome(outcome.match_id, (), (), ABORTED, ())
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
    )

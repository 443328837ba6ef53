"""The collusion report of a competition: evidence by game that bots of two owners help each other, or that workers help a bot."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from arena.contests.pair_margins import Measure, measure
from arena.contests.plan import read_plan
from arena.contests.standings import RANKED_BY, Json, RankingRule, counted, is_house, live_standings
from arena.errors import RefusalError
from arena.results.collusion import ALPHA, Evidence, suspicions
from arena.results.deal_sets import DealSet, DealSetState, MatchOutcome, bot_of
from arena.results.failed_begins import FailingEvidence, FailingSuspicion, failing_suspicions
from arena.results.margin_fit import MatchScores, ScoredTables
from arena.results.ranking import par_players
from arena.results.record import CompetitionRecord, WorkerBegins
from arena.store.registry import UnknownOwner


class NotBySkill(RefusalError, ValueError, reason="NOT_BY_SKILL"):
    """The places of the competition do not follow skill."""


def suspected(
    record: CompetitionRecord,
    begins: Sequence[WorkerBegins] = (),
    earlier: Sequence[CompetitionRecord] = (),
) -> Json:
    """Return the evidence about each two owners whose bots met, and about workers that failed deal-sets, largest first.

    The evidence about a conspicuous pair has the places of their bots with and without the tables that they shared.
    Disqualified bots and the arena's own bots are left out.

    Args:
      begins: Where the deal-sets of each game began; empty if none began at a worker.
      earlier: Competitions whose deal-sets in the same game with as many seats are evidence about owners too.
    """
    plan = read_plan(record.config)
    records = [record, *earlier]
    owners = {bot.name: bot.owner for past in reversed(records) for bot in past.candidates}
    games = []
    for number, game in enumerate(plan.games):
        histories = [
            _history(past, at)
            for past in records
            for at, other in enumerate(read_plan(past.config).games)
            if (other.game, other.seats) == (game.game, game.seats)
        ]
        players = {
            bot for tables in itertools.chain(*histories) for table in tables for bot in table.bots
        }
        owner_of = {bot: owners[bot_of(bot)] for bot in players if not is_house(bot)}
        tested, pairs = suspicions(histories, owner_of), []
        by_skill = RANKED_BY[plan.format] is RankingRule.SKILL
        now: Json = {}
        if by_skill and any(suspicion.stands for suspicion in tested):
            now = live_standings(record)["games"][number]
        for suspicion in tested:
            places: list[Json] = []
            if by_skill and suspicion.stands:
                without = live_standings(without_shared(record, suspicion.owners))["games"][number]
                places = _places(now, without, suspicion.owners, owners)
            pairs.append(
                {
                    "owners": list(suspicion.owners),
                    "deal_sets": suspicion.deal_sets,
                    "joint": suspicion.joint and _evidence(suspicion.joint),
                    "difference": _evidence(suspicion.difference),
                    "stands": suspicion.stands,
                    "places": places,
                }
            )
        workers: list[Json] = []
        if begins:
            ids = [deal_set.id for deal_set in counted(record.games[number], record.disqualified)]
            by_id = dict(zip(ids, _history(record, number), strict=True))
            workers = [
                _failing(suspicion)
                for suspicion in failing_suspicions(
                    by_id, begins[number], lambda bot: not is_house(bot)
                )
            ]
        games.append(
            {
                "game": game.terms.game.id,
                "seats": game.terms.seats,
                "pairs": pairs,
                "workers": workers,
            }
        )
    return {
        "competition": plan.name,
        "earlier": [read_plan(one.config).name for one in earlier],
        "approximate": True,
        "false_alarms": ALPHA,
        "games": games,
    }


def _history(record: CompetitionRecord, number: int) -> list[ScoredTables]:
    by, game = measure(read_plan(record.config).games[number].terms), record.games[number]
    deal_sets = counted(game, record.disqualified)
    house = {bot for deal_set in deal_sets for bot in deal_set.bots if is_house(bot)}
    return [scored_tables(deal_set, game.outcomes, by, house) for deal_set in deal_sets]


def scored_tables(
    plan: DealSet, outcomes: Mapping[str, MatchOutcome], by: Measure, house: Collection[str]
) -> ScoredTables:
    """Return the tables of a deal-set with their scores: points, or wins in a race."""
    tables = []
    for match in plan.matches:
        scores = outcomes[match.id].scores
        if by.races:  # bots beaten less bots that were better, so that no two differ by more than 1
            most = 2 * (len(scores) - 1)
            scores = tuple(
                sum((score > other) - (score < other) for other in scores) / most
                for score in scores
            )
        tables.append(MatchScores(par_players(match.bots, plan.bots, house), scores))
    return tuple(tables)


def standings_without(record: CompetitionRecord, owners: Collection[str]) -> Json:
    """Return the standings without the tables of one owner, or without those that several owners shared.

    Raises `UnknownOwner` if no bot of an owner entered, and `NotBySkill` if places do not follow skill.
    """
    known = sorted({entrant.owner for entrant in record.candidates})
    for owner in owners:
        if owner not in known:
            raise UnknownOwner(f"no bot of {owner!r} entered; owners are {', '.join(known)}")
    if RANKED_BY[read_plan(record.config).format] is not RankingRule.SKILL:
        raise NotBySkill
    return live_standings(without_shared(record, owners))


def without_shared(record: CompetitionRecord, owners: Collection[str]) -> CompetitionRecord:
    """Return the record without the deal-sets in which bots of all these owners sat.

    With one owner, this is the record without any of its bots.
    """
    owner_of = {candidate.name: candidate.owner for candidate in record.candidates}
    games = tuple(
        replace(
            game,
            deal_sets=tuple(
                replace(deal_set, state=DealSetState.VOID)
                if {owner_of.get(bot_of(bot)) for bot in deal_set.bots} >= set(owners)
                else deal_set
                for deal_set in game.deal_sets
            ),
        )
        for game in record.games
    )
    return replace(record, games=games)


def _failing(suspicion: FailingSuspicion) -> Json:
    return {
        "worker": suspicion.worker,
        "bot": suspicion.bot,
        "failed": suspicion.failed,
        "reported": suspicion.reported,
        "lost": _failing_evidence(suspicion.lost),
        "gained": suspicion.gained and _failing_evidence(suspicion.gained),
        "stands": suspicion.stands,
    }


def _evidence(evidence: Evidence) -> Json:
    return {
        "points": round(evidence.points, 6),
        "p_value": evidence.p_value,
        "stands": evidence.stands,
    }


def _failing_evidence(evidence: FailingEvidence) -> Json:
    return {
        "points": round(evidence.points, 6),
        "e_value": evidence.e_value,
        "stands": evidence.stands,
    }


def _places(now: Json, without: Json, pair: Collection[str], owners: dict[str, str]) -> list[Json]:
    then = {row["bot"]: row["place"] for row in without["rows"]}
    return [
        {"bot": row["bot"], "place": row["place"], "without": then.get(row["bot"])}
        for row in now["rows"]
        if owners[bot_of(row["bot"])] in pair and row["place"]
    ]

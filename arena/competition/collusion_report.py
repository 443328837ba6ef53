"""The collusion report of a competition: evidence that bots of two owners help each other, by game."""

from collections.abc import Callable, Collection
from dataclasses import replace

from arena.competition.pair_margins import measure
from arena.competition.plan import read_plan
from arena.competition.record import CompetitionRecord, bot_of
from arena.competition.standings import (
    RANKED_BY,
    Json,
    RankingRule,
    as_measured,
    counted,
    is_house,
    live_standings,
)
from arena.rating.collusion import ALPHA, Evidence, suspicions


def suspected(
    record: CompetitionRecord, on_progress: Callable[[int, int], None] = lambda *_: None
) -> Json:
    """The evidence about each two owners whose bots met, largest first.

    For pairs that stand out it has the places of their bots with and without the tables that they shared.
    `on_progress` is called with the pairs of a game tested so far and their total. Disqualified bots and the arena's
    own bots are left out.
    """
    plan = read_plan(record.config)
    owners = {each.name: each.owner for each in record.candidates}
    games = []
    for number, game in enumerate(plan.games):
        by, game_record = measure(game.terms), record.games[number]
        own = counted(game_record, record.disqualified)
        house = {bot for each in own for bot in each.plan.bots if is_house(bot)}
        deal_sets = [as_measured(each.plan, game_record.outcomes, by, house) for each in own]
        players = {bot for each in deal_sets for table in each.tables for bot in table.bots}
        owner_of = {bot: owners[bot_of(bot)] for bot in players if not is_house(bot)}
        found, pairs = suspicions(deal_sets, owner_of, on_progress), []
        by_skill = RANKED_BY[plan.format] is RankingRule.SKILL
        now: Json = {}
        if by_skill and any(each.stands for each in found):
            now = live_standings(record)["games"][number]
        for each in found:
            places: list[Json] = []
            if by_skill and each.stands:
                without = live_standings(without_shared(record, each.owners))["games"][number]
                places = _places(now, without, each.owners, owners)
            pairs.append(
                {
                    "owners": list(each.owners),
                    "deal_sets": each.deal_sets,
                    "joint": each.joint and _evidence(each.joint),
                    "difference": _evidence(each.difference),
                    "stands": each.stands,
                    "places": places,
                }
            )
        games.append({"game": game.terms.game.id, "seats": game.terms.seats, "pairs": pairs})
    return {"competition": plan.name, "approximate": True, "false_alarms": ALPHA, "games": games}


def without_shared(record: CompetitionRecord, owners: Collection[str]) -> CompetitionRecord:
    """The record without the deal-sets in which bots of all these owners sat.

    With one owner, those without any of its bots are left.
    """
    owner_of = {each.name: each.owner for each in record.candidates}
    games = tuple(
        replace(
            game,
            deal_sets=tuple(
                replace(
                    each,
                    void=each.void
                    or {owner_of.get(bot_of(bot)) for bot in each.plan.bots} >= set(owners),
                )
                for each in game.deal_sets
            ),
        )
        for game in record.games
    )
    return replace(record, games=games)


def _evidence(found: Evidence) -> Json:
    return {
        "points": round(found.points, 6),
        "e_value": found.e_value,
        "stands": found.stands,
    }


def _places(now: Json, without: Json, pair: Collection[str], owners: dict[str, str]) -> list[Json]:
    """The places of the bots of two owners, with and without the tables that they shared."""
    then = {row["bot"]: row["place"] for row in without["rows"]}
    return [
        {"bot": row["bot"], "place": row["place"], "without": then.get(row["bot"])}
        for row in now["rows"]
        if owners[bot_of(row["bot"])] in pair and row["place"]
    ]

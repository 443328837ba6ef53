"""The collusion report of a competition: evidence that bots of two owners help each other, by game."""

from collections.abc import Callable

from arena.competition.pair_margins import measure
from arena.competition.plan import read_plan
from arena.competition.record import CompetitionRecord, bot_of
from arena.competition.standings import Json, as_measured, counted, is_house
from arena.rating.collusion import ALPHA, LEAST_SEATS, suspicions

NO_BOUND = "no rule bounds scores in this game, so there is no bet on them"
TWO_SEATS = "at tables of two, one bot's gain is the other's loss"


def suspected(
    record: CompetitionRecord, on_progress: Callable[[int, int], None] = lambda *_: None
) -> Json:
    """The evidence about each two owners whose bots met, largest first.

    `on_progress` is called with the pairs of a game tested so far and their total. Disqualified bots and the arena's
    own bots are left out.
    """
    plan = read_plan(record.config)
    owners = {each.name: each.owner for each in record.candidates}
    games = []
    for number, game in enumerate(plan.games):
        terms, by = game.terms, measure(game.terms)
        problem = TWO_SEATS if terms.seats < LEAST_SEATS else NO_BOUND if by.bound is None else ""
        found: list[Json] = []
        if by.bound is not None and not problem:
            game_record = record.games[number]
            own = counted(game_record, record.disqualified)
            house = {bot for each in own for bot in each.plan.bots if is_house(bot)}
            deal_sets = [as_measured(each.plan, game_record.outcomes, by, house) for each in own]
            players = {bot for each in deal_sets for table in each.tables for bot in table.bots}
            owner_of = {bot: owners[bot_of(bot)] for bot in players if not is_house(bot)}
            found = [
                {
                    "owners": list(each.owners),
                    "e_value": each.e_value,
                    "deal_sets": each.deal_sets,
                    "gain": round(each.gain, 6),
                    "stands": each.stands,
                }
                for each in suspicions(deal_sets, owner_of, by.bound, on_progress)
            ]
        head = {"game": terms.game.id, "seats": terms.seats, "problem": problem}
        games.append(head | {"pairs": found})
    return {"competition": plan.name, "false_alarms": ALPHA, "games": games}

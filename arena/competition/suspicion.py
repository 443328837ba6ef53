"""Which owners' bots do better together than their skills say, game by game: a function of the record."""

from collections.abc import Callable

from arena.competition.margins import measure
from arena.competition.plan_file import read_plan
from arena.competition.record import CompetitionRecord, bot_of
from arena.competition.tables import Json, as_measured, counted, is_house
from arena.ladder.collusion import ALPHA, LEAST_SEATS, suspicions

NO_BOUND = "no rule bounds scores in this game, so nothing can be bet on them"
TWO_SEATS = "where two sit alone, one's gain is the other's loss"


def suspected(
    record: CompetitionRecord, told: Callable[[int, int], None] = lambda *_: None
) -> Json:
    """What a bet on each two owners whose bots met has come to, the most suspect first.

    `told` hears how many of how many pairs of a game have been looked at. Disqualified bots and the
    arena's own are left out.
    """
    plan = read_plan(record.config)
    owners = {each.name: each.owner for each in record.candidates}
    games = []
    for number, game in enumerate(plan.games):
        terms, by = game.terms, measure(game.terms)
        problem = TWO_SEATS if terms.seats < LEAST_SEATS else NO_BOUND if by.bound is None else ""
        found: list[Json] = []
        if by.bound is not None and not problem:
            held = record.games[number]
            own = counted(held, record.disqualified)
            house = {bot for each in own for bot in each.plan.bots if is_house(bot)}
            deal_sets = [as_measured(each.plan, held.outcomes, by, house) for each in own]
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
                for each in suspicions(deal_sets, owner_of, by.bound, told)
            ]
        about = {"game": terms.game.id, "seats": terms.seats, "problem": problem}
        games.append(about | {"pairs": found})
    return {"competition": plan.name, "false_alarms": ALPHA, "games": games}

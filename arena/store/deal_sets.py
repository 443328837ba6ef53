"""The deal-sets of a competition's games in the store, with their matches. They are stored before play."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from operator import itemgetter

from sqlalchemy import ColumnElement, Connection, and_, insert, select

from arena.schedule.deal_sets import DealSetPlan, MatchPlan
from arena.store import schema
from arena.store.rows import find_rows


def add_deal_sets(
    connection: Connection,
    competition_game: int,
    new: Sequence[DealSetPlan],
    **columns: object,
) -> None:
    """Add deal-sets with their matches; `columns` are further columns, the same for all deal-sets."""
    if not new:
        return
    games = schema.competition_games
    terms = connection.execute(select(games.c.terms).where(games.c.id == competition_game))
    game = terms.scalar_one()["game"]
    connection.execute(
        insert(schema.deal_sets),
        [
            {
                "competition_game": competition_game,
                "id": each.id,
                "number": each.number,
                "seed": each.seed,
                "bots": each.bots,
                **columns,
            }
            for each in new
        ],
    )
    planned = [(each, match) for each in new for match in each.matches]
    connection.execute(
        insert(schema.matches),
        [
            {
                "id": match.id,
                "competition_game": competition_game,
                "deal_set": each.id,
                "rotation": match.rotation,
                "game": game,
                "bots": match.bots,
                "status": schema.PLANNED,
            }
            for each, match in planned
        ],
    )
    connection.execute(
        insert(schema.match_seats),
        [
            {"match": match.id, "seat": seat, "bot": bot}
            for _, match in planned
            for seat, bot in enumerate(match.bots)
        ],
    )


def read_deal_sets(
    connection: Connection, competition_game: int, ids: Collection[str] | None = None
) -> tuple[DealSetPlan, ...]:
    """The deal-sets of a game, or those of these ids, by number; their matches are in order of rotation."""
    sets, matches = schema.deal_sets, schema.matches
    wanted: ColumnElement[bool] = sets.c.competition_game == competition_game
    if ids is not None:
        wanted = and_(wanted, sets.c.id.in_(ids))
    # Sorted here: to read a few in this order, SQLite would pass all of the game.
    rows = sorted(find_rows(connection, select(sets).where(wanted)), key=itemgetter("number"))
    seeds = {row["id"]: row["seed"] for row in rows}
    of_set: dict[str, list[MatchPlan]] = defaultdict(list)
    own = and_(
        matches.c.competition_game == sets.c.competition_game, matches.c.deal_set == sets.c.id
    )
    query = select(matches).join(sets, own).where(wanted).order_by(matches.c.rotation)
    for row in find_rows(connection, query):
        deal_set, bots = row["deal_set"], tuple(row["bots"])
        plan = MatchPlan(row["id"], deal_set, row["rotation"], bots, seeds[deal_set])
        of_set[deal_set].append(plan)
    return tuple(
        DealSetPlan(
            row["id"], row["number"], tuple(row["bots"]), row["seed"], tuple(of_set[row["id"]])
        )
        for row in rows
    )

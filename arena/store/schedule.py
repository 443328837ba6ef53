"""The schedule of a tournament in the store, written before the first match is played."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select

from arena.ladder.schedule import DealSetPlan, MatchPlan
from arena.store import schema


def write_schedule(
    connection: Connection, tournament: int, game: str, deal_sets: Sequence[DealSetPlan]
) -> bool:
    """Add those of `deal_sets` that are new.

    Returns False, and adds nothing, if the schedule so far is another one than
    the beginning of this.
    """
    table = schema.deal_sets
    held = {
        row["number"]: row["id"]
        for row in connection.execute(
            select(table.c.number, table.c.id).where(table.c.tournament == tournament)
        ).mappings()
    }
    if any(held.get(each.number, each.id) != each.id for each in deal_sets):
        return False
    new = [each for each in deal_sets if each.number not in held]
    if not new:
        return True
    add_deal_sets(connection, tournament, game, new)
    return True


def add_deal_sets(
    connection: Connection,
    tournament: int,
    game: str,
    new: Sequence[DealSetPlan],
    **columns: object,
) -> None:
    """Add deal-sets with their matches; `columns` are the same for all of them."""
    connection.execute(
        insert(schema.deal_sets),
        [
            {
                "tournament": tournament,
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
                "tournament": tournament,
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


def remove_unplayed(connection: Connection, tournament: int) -> None:
    """Remove a tournament of which no match has ended; any other is left as it is."""
    matches, seats = schema.matches, schema.match_seats
    own = matches.c.tournament == tournament
    ended = select(matches.c.id).where(own, matches.c.status != schema.PLANNED).limit(1)
    if connection.execute(ended).first() is not None:
        return
    connection.execute(delete(seats).where(seats.c.match.in_(select(matches.c.id).where(own))))
    for table in (matches, schema.deal_sets, schema.entrants):
        connection.execute(delete(table).where(table.c.tournament == tournament))
    connection.execute(delete(schema.tournaments).where(schema.tournaments.c.id == tournament))


def read_schedule(connection: Connection, tournament: int) -> tuple[DealSetPlan, ...]:
    """The deal-sets in order, each with its matches in order of rotation."""
    return _read(connection, schema.deal_sets.c.tournament == tournament)


def read_deal_sets(
    connection: Connection, tournament: int, ids: Collection[str]
) -> tuple[DealSetPlan, ...]:
    """Those of the deal-sets that are named, likewise."""
    sets = schema.deal_sets
    return _read(connection, and_(sets.c.tournament == tournament, sets.c.id.in_(ids)))


def _read(connection: Connection, wanted: ColumnElement[bool]) -> tuple[DealSetPlan, ...]:
    sets, matches = schema.deal_sets, schema.matches
    rows = connection.execute(select(sets).where(wanted).order_by(sets.c.number)).mappings().all()
    seeds = {row["id"]: row["seed"] for row in rows}
    of_set: dict[str, list[MatchPlan]] = defaultdict(list)
    own = and_(matches.c.tournament == sets.c.tournament, matches.c.deal_set == sets.c.id)
    for row in connection.execute(
        select(matches).join(sets, own).where(wanted).order_by(matches.c.rotation)
    ).mappings():
        of_set[row["deal_set"]].append(
            MatchPlan(
                id=row["id"],
                deal_set_id=row["deal_set"],
                rotation=row["rotation"],
                bots=tuple(row["bots"]),
                seed=seeds[row["deal_set"]],
            )
        )
    return tuple(
        DealSetPlan(
            id=row["id"],
            number=row["number"],
            bots=tuple(row["bots"]),
            seed=row["seed"],
            matches=tuple(of_set[row["id"]]),
        )
        for row in rows
    )

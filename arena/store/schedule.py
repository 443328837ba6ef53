"""The schedule of a tournament in the store, written before the first match is played."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

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
    connection.execute(
        insert(table),
        [
            {
                "tournament": tournament,
                "id": each.id,
                "number": each.number,
                "seed": each.seed,
                "bots": each.bots,
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
    return True


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
    sets, matches = schema.deal_sets, schema.matches
    rows = (
        connection.execute(
            select(sets).where(sets.c.tournament == tournament).order_by(sets.c.number)
        )
        .mappings()
        .all()
    )
    seeds = {row["id"]: row["seed"] for row in rows}
    of_set: dict[str, list[MatchPlan]] = defaultdict(list)
    for row in connection.execute(
        select(matches).where(matches.c.tournament == tournament).order_by(matches.c.rotation)
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

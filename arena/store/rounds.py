"""The rounds of a competition's game, stored when they are drawn and before the first card.

After a restart each round is drawn again and must be the same. If it differs, its inputs have changed, and
it is not played.
"""

from collections import defaultdict

from sqlalchemy import Connection, delete, insert, select

from arena.results.record import Round
from arena.store import schema
from arena.store.errors import StoreError
from arena.store.rows import find_rows


class DrawDiffers(StoreError):
    """A stored round was drawn differently the second time, which is an incident. The text says which."""


def keep(connection: Connection, competition_game: int, drawn: Round) -> bool:
    """Store a round of a game; return False if it was already stored.

    Raises:
      DrawDiffers: if the stored round of that number differs.
      StoreError: if the previous round is not stored.
    """
    stored = read(connection, competition_game)
    if drawn.number <= len(stored):
        require_same(stored[drawn.number - 1], drawn)
        return False
    if drawn.number != len(stored) + 1:
        raise StoreError(f"round {drawn.number} was drawn before round {len(stored) + 1}")
    _insert(connection, competition_game, drawn)
    return True


def replace(connection: Connection, competition_game: int, drawn: Round) -> None:
    """Replace the round of the same number, because its plan has more deal-sets."""
    pairings, table = schema.pairings, schema.rounds
    for rows, number in ((pairings, pairings.c.round), (table, table.c.number)):
        of_game = rows.c.competition_game == competition_game
        connection.execute(delete(rows).where(of_game, number == drawn.number))
    _insert(connection, competition_game, drawn)


def _insert(connection: Connection, competition_game: int, drawn: Round) -> None:
    connection.execute(
        insert(schema.rounds).values(
            competition_game=competition_game,
            number=drawn.number,
            inputs_sha256=drawn.inputs_sha256,
        )
    )
    rows = [(group, False) for group in drawn.groups]
    rows += [((bot,), True) for bot in drawn.byes]
    connection.execute(
        insert(schema.pairings),
        [
            {
                "competition_game": competition_game,
                "round": drawn.number,
                "place": place,
                "members": members,
                "bye": bye,
            }
            for place, (members, bye) in enumerate(rows)
        ],
    )


def read(connection: Connection, competition_game: int) -> tuple[Round, ...]:
    """Return the rounds of a game so far, in order."""
    groups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    byes: dict[int, list[str]] = defaultdict(list)
    pairings = select(schema.pairings).filter_by(competition_game=competition_game)
    for row in find_rows(connection, pairings.order_by("round", "place")):
        if row["bye"]:
            byes[row["round"]] += row["members"]
        else:
            groups[row["round"]].append(tuple(row["members"]))
    rounds = select(schema.rounds).filter_by(competition_game=competition_game).order_by("number")
    return tuple(
        Round(number, tuple(groups[number]), tuple(byes[number]), row["inputs_sha256"])
        for row in find_rows(connection, rounds)
        for number in (row["number"],)
    )


def require_same(stored: Round, drawn: Round) -> None:
    """Require that a round that was drawn again equals the stored one. Raises `DrawDiffers` if it does not."""
    if stored.inputs_sha256 != drawn.inputs_sha256:
        raise DrawDiffers(
            f"round {drawn.number} was drawn from other entrants or results than there are now"
        )
    if stored != drawn:
        raise DrawDiffers(
            f"round {drawn.number} was drawn differently from the same entrants and results: "
            "continue with the version of the arena that drew it"
        )

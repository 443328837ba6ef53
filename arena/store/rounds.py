"""The rounds of a tournament as they were drawn, kept before the first card.

After a stop a round is drawn again, and must come out the same: a draw that differs means that what it
was made from has changed, and nothing is played on it.
"""

from collections import defaultdict

from sqlalchemy import Connection, insert, select

from arena.competition.rounds import Round
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError


class DrawDiffers(StoreError):
    """A round that was drawn before came out otherwise: an incident. The text says which."""


class Rounds:
    """The rounds of one tournament. Calls block for as long as the disk takes."""

    def __init__(self, database: Database, tournament: int) -> None:
        self._database = database
        self._tournament = tournament

    def keep(self, drawn: Round) -> None:
        """Keep a round; the same again changes nothing.

        Raises:
          DrawDiffers: if a round of that number was drawn otherwise.
          StoreError: if the round before it is not there.
        """
        with self._database.writing() as connection:
            keep(connection, self._tournament, drawn)

    def all(self) -> tuple[Round, ...]:
        """The rounds so far, in order."""
        with self._database.reading() as connection:
            return read(connection, self._tournament)


def keep(connection: Connection, tournament: int, drawn: Round) -> bool:
    """Keep a round of a tournament, as `Rounds.keep`; False if it was kept before."""
    held = read(connection, tournament)
    if drawn.number <= len(held):
        require_same(held[drawn.number - 1], drawn)
        return False
    if drawn.number != len(held) + 1:
        raise StoreError(f"round {drawn.number} was drawn before round {len(held) + 1}")
    _insert(connection, tournament, drawn)
    return True


def _insert(connection: Connection, tournament: int, drawn: Round) -> None:
    connection.execute(
        insert(schema.rounds).values(
            tournament=tournament,
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
                "tournament": tournament,
                "round": drawn.number,
                "place": place,
                "members": members,
                "bye": bye,
            }
            for place, (members, bye) in enumerate(rows)
        ],
    )


def read(connection: Connection, tournament: int) -> tuple[Round, ...]:
    """The rounds of a tournament so far, in order."""
    rounds, pairings = schema.rounds, schema.pairings
    groups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    byes: dict[int, list[str]] = defaultdict(list)
    for row in connection.execute(
        select(pairings)
        .where(pairings.c.tournament == tournament)
        .order_by(pairings.c.round, pairings.c.place)
    ).mappings():
        if row["bye"]:
            byes[row["round"]] += row["members"]
        else:
            groups[row["round"]].append(tuple(row["members"]))
    held = connection.execute(
        select(rounds).where(rounds.c.tournament == tournament).order_by(rounds.c.number)
    ).mappings()
    return tuple(
        Round(
            row["number"],
            tuple(groups[row["number"]]),
            tuple(byes[row["number"]]),
            row["inputs_sha256"],
        )
        for row in held
    )


def require_same(held: Round, drawn: Round) -> None:
    """Require that a round that was drawn again is the one that was kept.

    Raises:
      DrawDiffers: if it is not.
    """
    if held.inputs_sha256 != drawn.inputs_sha256:
        raise DrawDiffers(
            f"round {drawn.number} was drawn from other entrants or results than there are now"
        )
    if held != drawn:
        raise DrawDiffers(
            f"round {drawn.number} was drawn from the same entrants and results, and otherwise: "
            "go on with the version of the arena that drew it"
        )

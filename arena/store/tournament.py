"""One tournament in the store: its settings, its schedule, and how its matches ended."""

from typing import Final

from sqlalchemy import select

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan
from arena.store import schema
from arena.store.database import Database
from arena.store.leases import Leases
from arena.store.matches import outcomes_of_tournament
from arena.store.rounds import Rounds
from arena.store.schedule import read_schedule
from arena.store.settings import Settings, settings_of


class Tournament:
    """One tournament in a store. Its results come in as `arena.store.matches` records them."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._number: Final = number

    def settings(self) -> Settings:
        """What the tournament was started with."""
        with self._database.reading() as connection:
            table = schema.tournaments
            row = connection.execute(select(table).where(table.c.id == self._number))
            return settings_of(connection, row.mappings().one())

    def deal_sets(self) -> tuple[DealSetPlan, ...]:
        """The schedule, in order."""
        with self._database.reading() as connection:
            return read_schedule(connection, self._number)

    def outcomes(self) -> dict[str, MatchOutcome]:
        """How the matches ended that were played, by match id; aborted ones included."""
        with self._database.reading() as connection:
            return outcomes_of_tournament(connection, self._number)

    def published(self) -> frozenset[str]:
        """The matches of which there are replays, by id."""
        table = schema.matches
        with self._database.reading() as connection:
            own = select(table.c.id).where(table.c.tournament == self._number, table.c.published)
            return frozenset(connection.execute(own).scalars())

    def states(self) -> dict[str, str]:
        """How each deal-set stands, by id: `waiting`, `leased`, `complete` or `given up`."""
        table = schema.deal_sets
        with self._database.reading() as connection:
            own = select(table.c.id, table.c.state).where(table.c.tournament == self._number)
            return {row.id: row.state for row in connection.execute(own)}

    def created(self) -> str:
        """When it was made: ISO 8601, UTC."""
        table = schema.tournaments
        with self._database.reading() as connection:
            own = select(table.c.created).where(table.c.id == self._number)
            return str(connection.execute(own).scalar_one())

    def leases(self, *, up_to: int | None = None) -> Leases:
        """Its deal-sets on lease, all of them or up to that number."""
        return Leases(self._database, self._number, up_to)

    def rounds(self) -> Rounds:
        """Its rounds as they were drawn; none in formats that are planned whole."""
        return Rounds(self._database, self._number)

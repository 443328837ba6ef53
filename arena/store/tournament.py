"""One tournament in the store: its settings, its schedule, and how its matches ended."""

from typing import Final

from sqlalchemy import select

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan
from arena.store import schema
from arena.store.database import Database
from arena.store.matches import outcomes_of_tournament
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

"""Reads competitions of the store: their plans, rounds, deal-sets, results and official standings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import and_, bindparam, func, select

from arena.errors import RefusalError
from arena.results.deal_sets import DealSetState
from arena.results.record import CompetitionRecord, PlayedCount, Round, WorkerBegins
from arena.results.states import State
from arena.store import official_standings, rounds, schema
from arena.store.competition_rows import (
    Competition,
    GameProgress,
    NoCompetition,
    competition_row,
    count_deal_sets,
    count_rounds,
    game_id,
    game_ids,
    read_competition,
    read_game,
    readable_config,
)
from arena.store.database import Database
from arena.store.deal_sets import begins_at_workers, played_since, workers_of
from arena.store.entrants import read_entrants
from arena.store.errors import StoreError
from arena.store.moments import unix_ms
from arena.store.official_standings import OfficialStandings
from arena.store.rows import find_rows

_STATE: Final = select(schema.competitions.c.state).where(
    schema.competitions.c.name == bindparam("competition")
)


class NoOfficialStandings(RefusalError, StoreError, reason="UNKNOWN_STANDINGS"):
    """There are no official standings of that number."""


class CompetitionReader:
    """Reads the competitions of a store. Calls block on the disk; any thread may call.

    Raises:
      NoCompetition: from any method with the name of a competition, if there is none of that name.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[Competition, ...]:
        """Return every competition, oldest first."""
        query = select(schema.competitions).order_by(schema.competitions.c.id)
        with self._database.reading() as connection:
            return tuple(read_competition(connection, row) for row in find_rows(connection, query))

    def count_states(self) -> tuple[Mapping[State, int], int]:
        """Return the number of competitions in each state, and of those that the arena paused."""
        table = schema.competitions
        is_by_arena = and_(table.c.state == str(State.PAUSED), table.c.waits != "")
        counted = dict.fromkeys(State, 0)
        with self._database.reading() as connection:
            states = select(table.c.state, func.count()).group_by(table.c.state)
            counted |= {State(state): number for state, number in connection.execute(states)}
            by_arena = connection.scalar(select(func.count()).where(is_by_arena)) or 0
        return counted, by_arena

    def get(self, name: str, game: int | None = None) -> Competition:
        """Return a competition by name; with the number of a game, only the bots that enter it."""
        with self._database.reading() as connection:
            return read_competition(connection, competition_row(connection, name), game)

    def state(self, name: str) -> State:
        """Return only the state, which is read before each deal-set."""
        with self._database.reading() as connection:
            state = connection.execute(_STATE, {"competition": name}).scalar_one_or_none()
        if state is None:
            raise NoCompetition(name)
        return State(state)

    def record(self, name: str) -> CompetitionRecord:
        """Return all rounds, deal-sets and results, at one moment."""
        with self._database.reading() as connection:
            row = competition_row(connection, name)
            return CompetitionRecord(
                readable_config(row),
                read_entrants(connection, row["id"]),
                tuple(read_game(connection, game) for game in game_ids(connection, row["id"])),
            )

    def played_since(self, name: str, game: int, since: datetime) -> PlayedCount:
        """Return the complete deal-sets of a game with a match that has ended since `since`, and those matches."""
        with self._database.reading() as connection:
            return played_since(connection, game_id(connection, name, game), unix_ms(since))

    def rounds(self, name: str, game: int) -> tuple[Round, ...]:
        """Return the rounds of a game so far, in order."""
        with self._database.reading() as connection:
            return rounds.read(connection, game_id(connection, name, game))

    def progress(self, name: str) -> tuple[GameProgress, ...]:
        with self._database.reading() as connection:
            return tuple(
                GameProgress(count_rounds(connection, game), count_deal_sets(connection, game))
                for game in game_ids(connection, competition_row(connection, name)["id"])
            )

    def workers(self, name: str) -> tuple[str, ...]:
        """Return the workers that have played deal-sets which count, in order of name."""
        with self._database.reading() as connection:
            games = game_ids(connection, competition_row(connection, name)["id"])
            return workers_of(connection, games)

    def begins_at_workers(self, name: str) -> tuple[WorkerBegins, ...]:
        """Return the begins of deal-sets at workers, by game."""
        with self._database.reading() as connection:
            return tuple(
                begins_at_workers(connection, game)
                for game in game_ids(connection, competition_row(connection, name)["id"])
            )

    def waiting(self) -> tuple[tuple[str, int, int], ...]:
        """Return for each running competition with deal-sets its plan, the number that wait, and the number of taken ones that are at no worker."""
        competitions, games, sets = (
            schema.competitions,
            schema.competition_games,
            schema.deal_sets,
        )
        taken = and_(sets.c.state == DealSetState.IN_PLAY, sets.c.player.is_(None))
        query = (
            select(
                competitions.c.config,
                func.count().filter(sets.c.state == DealSetState.WAITING),
                func.count().filter(taken),
            )
            .join(games, games.c.competition == competitions.c.id)
            .join(sets, sets.c.competition_game == games.c.id)
            .where(competitions.c.state == str(State.RUNNING))
            .group_by(competitions.c.id, competitions.c.config)
        )
        with self._database.reading() as connection:
            return tuple((row[0], row[1], row[2]) for row in connection.execute(query))

    def published(self, name: str) -> frozenset[str]:
        matches = schema.matches
        with self._database.reading() as connection:
            games = game_ids(connection, competition_row(connection, name)["id"])
            published = select(matches.c.id).where(
                matches.c.competition_game.in_(games), matches.c.published
            )
            return frozenset(connection.execute(published).scalars())

    def published_number(self, name: str) -> int:
        matches = schema.matches
        with self._database.reading() as connection:
            games = game_ids(connection, competition_row(connection, name)["id"])
            counted = select(func.count()).where(
                matches.c.competition_game.in_(games), matches.c.published
            )
            return int(connection.execute(counted).scalar_one())

    def official(self, name: str, number: int | None = None) -> OfficialStandings | None:
        """Official standings by number, or the latest; None if there are none yet.

        Raises `NoOfficialStandings` if there are none of that number.
        """
        with self._database.reading() as connection:
            standings = official_standings.read(
                connection, competition_row(connection, name)["id"], number
            )
        if standings is None and number is not None:
            raise NoOfficialStandings(f"number {number} of {name!r}")
        return standings

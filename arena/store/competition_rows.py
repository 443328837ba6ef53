"""The rows of competitions and their games, read within a transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, RowMapping, func, select

from arena.errors import RefusalError
from arena.results.deal_sets import DealSetState
from arena.results.record import GameRecord
from arena.results.states import State
from arena.store import official_standings, rounds, schema
from arena.store.deal_sets import read_deal_sets
from arena.store.entrants import EnteredBot, read_entrants
from arena.store.errors import StoreError
from arena.store.matches import outcomes_of_game
from arena.store.rows import find_row


class NoCompetition(RefusalError, StoreError, reason="UNKNOWN_COMPETITION"):
    """There is no competition of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.detail = repr(name)


@dataclass(frozen=True, slots=True)
class Competition:
    """A competition without its rounds and results."""

    name: str
    config: str
    """The organiser's TOML; for public readers, the TOML without seed and commands."""
    state: State
    organiser: str
    created: str
    """ISO 8601, UTC."""
    terms: tuple[Mapping[str, Any], ...]
    """The terms of each game, as `arena.referee.wire.terms.terms_json` wrote them when the competition was made."""
    entries: tuple[EnteredBot, ...]
    """In order of seed."""
    official: int
    """The number of its official standings."""
    announcement: str = ""
    """The text of its organisers for all readers."""
    announced: str | None = None
    """ISO 8601, UTC; None without an announcement."""
    waits: str = ""
    """Why the arena paused it, or plays no deal-set of it although it runs; empty if there is no such reason."""

    @property
    def limits(self) -> Mapping[str, str]:
        """Why bots are not drawn, or what limits how often they are drawn, by bot; empty for a competition that does not run."""
        if self.state is not State.RUNNING:
            return {}
        limits = {bot.name: bot.away or bot.limited for bot in self.entries if bot.out is None}
        return {bot: text for bot, text in limits.items() if text}


@dataclass(frozen=True, slots=True)
class GameProgress:
    """The progress of a game."""

    rounds: int
    deal_sets: Mapping[DealSetState, int] = field(default_factory=dict)
    """The number of deal-sets in each state."""


def competition_row(connection: Connection, name: str) -> RowMapping:
    """Return the row of a competition. Raises `NoCompetition` if there is none of that name."""
    row = find_row(connection, schema.competitions, name=name)
    if row is None:
        raise NoCompetition(name)
    return row


def readable_config(row: RowMapping) -> str:
    """Return the plan that the reader may read: for public readers the organiser's text is null."""
    config: str = row["config"] or row["public_config"]
    return config


def read_competition(
    connection: Connection, row: RowMapping, game: int | None = None
) -> Competition:
    """Return the competition of a row, with its entrants, or those that enter one of its games."""
    games = schema.competition_games
    terms = select(games.c.terms).where(games.c.competition == row["id"]).order_by(games.c.number)
    return Competition(
        row["name"],
        readable_config(row),
        State(row["state"]),
        row["organiser"],
        row["created"],
        tuple(connection.execute(terms).scalars()),
        read_entrants(connection, row["id"], game),
        official_standings.count(connection, row["id"]),
        row["announcement"],
        row["announced"],
        row["waits"],
    )


def game_ids(connection: Connection, competition: int) -> tuple[int, ...]:
    """Return the ids of a competition's games, in the order of its plan."""
    table = schema.competition_games
    query = select(table.c.id).where(table.c.competition == competition).order_by(table.c.number)
    return tuple(connection.execute(query).scalars())


def game_id(connection: Connection, name: str, number: int) -> int:
    """Return the id of a competition's game, by its number in the plan."""
    return game_ids(connection, competition_row(connection, name)["id"])[number]


def count_rounds(connection: Connection, game: int) -> int:
    """Return the number of drawn rounds."""
    query = select(func.count()).select_from(schema.rounds).filter_by(competition_game=game)
    return connection.execute(query).scalar_one()


def count_deal_sets(connection: Connection, game: int) -> dict[DealSetState, int]:
    """Return the number of deal-sets in each state."""
    sets = schema.deal_sets
    counted = connection.execute(
        select(sets.c.state, func.count())
        .where(sets.c.competition_game == game)
        .group_by(sets.c.state)
    )
    return {row[0]: row[1] for row in counted}


def read_game(connection: Connection, game: int) -> GameRecord:
    """Return the rounds, deal-sets and outcomes of a game."""
    return GameRecord(
        rounds.read(connection, game),
        read_deal_sets(connection, game),
        outcomes_of_game(connection, game),
    )

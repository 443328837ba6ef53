"""Spot checks in the store: second plays of matches at other workers."""

from collections.abc import Sequence

from sqlalchemy import insert, select

from arena.results.spot_checks import CheckedMatch
from arena.store import schema
from arena.store.database import Database
from arena.store.rows import find_rows


class SpotChecks:
    """The spot checks of a store. Calls block on the disk; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, checked: Sequence[CheckedMatch], now_unix_ms: int) -> None:
        """Store the second plays of matches at a time, in one transaction.

        Raises `StoreError` if that is not possible.
        """
        rows = [
            {
                "match": match.match_id,
                "worker": match.worker,
                "checker": match.checker,
                "scores": match.scores_again,
                "at_unix_ms": now_unix_ms,
            }
            for match in checked
        ]
        with self._database.writing() as connection:
            connection.execute(insert(schema.spot_checks), rows)

    def of(self, competition: str) -> tuple[CheckedMatch, ...]:
        """Return the checked matches of a competition, oldest first."""
        checks, matches = schema.spot_checks, schema.matches
        games, competitions = schema.competition_games, schema.competitions
        query = (
            select(checks, matches.c.deal_set, matches.c.bots, matches.c.scores.label("counted"))
            .join(matches, checks.c.match == matches.c.id)
            .join(games, matches.c.competition_game == games.c.id)
            .join(competitions, games.c.competition == competitions.c.id)
            .where(competitions.c.name == competition, matches.c.scores.is_not(None))
            .order_by(checks.c.id)
        )
        with self._database.reading() as connection:
            return tuple(
                CheckedMatch(
                    row["match"],
                    row["deal_set"],
                    row["worker"],
                    row["checker"],
                    tuple(row["bots"]),
                    tuple(row["counted"]),
                    tuple(row["scores"]),
                )
                for row in find_rows(connection, query)
            )

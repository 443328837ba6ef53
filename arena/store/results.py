"""One tournament in the store, and its results as they come."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, Select, and_, insert, select, update

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.schedule import read_schedule
from arena.store.settings import Settings, settings_of


class Tournament:
    """One tournament in a store: the `Results` of `arena.ladder.tournament`."""

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
        table = schema.matches
        with self._database.reading() as connection:
            rows = _rows(
                connection,
                select(table).where(
                    table.c.tournament == self._number, table.c.status != schema.PLANNED
                ),
            )
            faults = _rows(
                connection,
                select(schema.faults).where(schema.faults.c.tournament == self._number),
            )
        of_match: dict[str, list[RowMapping]] = defaultdict(list)
        for fault in faults:
            of_match[fault["match"]].append(fault)
        return {row["id"]: _outcome(row, of_match[row["id"]]) for row in rows}

    def record(self, match: MatchPlan, outcome: MatchOutcome) -> None:
        """Keep an outcome; it is on disk when this returns.

        Recording the same again changes nothing. A result may follow an aborted
        attempt, and nothing may follow a result.

        Raises:
          StoreError: if the file cannot be written, the match is not in the
            schedule, or it has another result already.
        """
        if outcome.match_id != match.id:
            raise ValueError(f"match {match.id} cannot have the outcome of {outcome.match_id}")
        table = schema.matches
        this = and_(table.c.tournament == self._number, table.c.id == match.id)
        with self._database.writing() as connection:
            row = connection.execute(select(table).where(this)).mappings().one_or_none()
            if row is None:
                raise StoreError(f"match {match.id} is not in the schedule of this tournament")
            if row["status"] == schema.FINISHED:
                if _outcome(row, self._faults(connection, match.id)) != outcome:
                    raise StoreError(f"match {match.id} already has another result")
                return
            connection.execute(update(table).where(this).values(_columns(outcome)))
            rows = [
                {
                    "tournament": self._number,
                    "match": match.id,
                    "seat": seat,
                    "kind": kind,
                    "count": count,
                }
                for seat, kinds in enumerate(outcome.faults)
                for kind, count in kinds.items()
            ]
            if outcome.has_result and rows:
                connection.execute(insert(schema.faults), rows)

    def _faults(self, connection: Connection, match_id: str) -> Sequence[RowMapping]:
        table = schema.faults
        this = and_(table.c.tournament == self._number, table.c.match == match_id)
        return _rows(connection, select(table).where(this))


def _rows(connection: Connection, query: Select[Any]) -> Sequence[RowMapping]:
    return connection.execute(query).mappings().all()


def _columns(outcome: MatchOutcome) -> dict[str, Any]:
    result = outcome.has_result
    return {
        "status": schema.FINISHED if result else schema.ABORTED,
        "scores": outcome.scores if result else None,
        "places": outcome.places if result else None,
        "ending": outcome.ending,
        "hands": outcome.hands,
        "replay": outcome.replay_id,
        "evidence": outcome.evidence,
        "journal": outcome.journal_position,
    }


def _outcome(row: RowMapping, faults: Sequence[RowMapping]) -> MatchOutcome:
    by_seat: tuple[dict[str, int], ...] = ()
    if row["status"] == schema.FINISHED:
        by_seat = tuple({} for _ in row["bots"])
        for fault in faults:
            by_seat[fault["seat"]][fault["kind"]] = fault["count"]
    return MatchOutcome(
        match_id=row["id"],
        scores=tuple(row["scores"] or ()),
        places=tuple(row["places"] or ()),
        ending=row["ending"],
        faults=by_seat,
        hands=row["hands"],
        replay_id=row["replay"],
        evidence=row["evidence"],
        journal_position=row["journal"] or "",
    )

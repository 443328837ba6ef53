"""Deal-sets on lease: who plays which, until when, and what was reported.

A statement takes what it leases under the database's own locks, so any number of workers may ask at
once. Where rows can be locked (PostgreSQL), workers step over those that another is taking; SQLite's
writers take turns as it is. Times are the caller's: the clock of whoever serves all workers.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, or_, select, update

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan
from arena.ladder.work import LEASE_S, Contradicted, DealSetJob, OutOfDate, report_sha256
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.matches import EndedMatch, record
from arena.store.schedule import read_deal_sets

MAX_ATTEMPTS: Final = 5
"""Leases of one deal-set, without a report, after which it is given up."""


class Leases:
    """The leases of one tournament. Calls block for as long as the disk takes."""

    def __init__(self, database: Database, tournament: int, up_to: int | None = None) -> None:
        """Deal-sets of a number above `up_to` are not leased: a tournament may be played in part."""
        self._database = database
        self._tournament = tournament
        self._up_to = up_to

    def start_anew(self) -> None:
        """End all leases, and try again what was given up.

        For one who alone plays the tournament, before the first lease: whoever held them is gone.
        """
        table = schema.deal_sets
        with self._database.writing() as connection:
            connection.execute(
                update(table)
                .where(self._own, table.c.state.not_in((schema.COMPLETE, schema.VOID)))
                .values(state=schema.WAITING, holder=None, until_unix_ms=None, attempts=0)
            )

    def lease(self, worker: str, most: int, *, now_unix_ms: int) -> tuple[DealSetJob, ...]:
        """Up to `most` deal-sets that are nobody's, in the order of the schedule."""
        table = schema.deal_sets
        lapsed = and_(table.c.state == schema.LEASED, table.c.until_unix_ms <= now_unix_ms)
        with self._database.writing() as connection:
            connection.execute(
                update(table)
                .where(self._own, lapsed, table.c.attempts >= MAX_ATTEMPTS)
                .values(state=schema.GIVEN_UP, holder=None, until_unix_ms=None)
            )
            found = connection.execute(
                select(table.c.id, table.c.epoch)
                .where(self._asked, or_(table.c.state == schema.WAITING, lapsed))
                .order_by(table.c.number)
                .limit(most)
                .with_for_update(skip_locked=True)
            ).all()
            if not found:
                return ()
            ids = [deal_set for deal_set, _ in found]
            connection.execute(
                update(table)
                .where(self._own, table.c.id.in_(ids))
                .values(
                    state=schema.LEASED,
                    holder=worker,
                    epoch=table.c.epoch + 1,
                    attempts=table.c.attempts + 1,
                    until_unix_ms=now_unix_ms + _LEASE_MS,
                )
            )
            plans = {each.id: each for each in read_deal_sets(connection, self._tournament, ids)}
        return tuple(DealSetJob(plans[deal_set], epoch + 1) for deal_set, epoch in found)

    def heartbeat(self, worker: str, *, now_unix_ms: int) -> frozenset[str]:
        """Prolong the leases of a worker; the ids of the deal-sets that are still its own.

        A lease that has lapsed is prolonged too, if nobody has taken the deal-set since.
        """
        table = schema.deal_sets
        mine = and_(self._own, table.c.state == schema.LEASED, table.c.holder == worker)
        with self._database.writing() as connection:
            # Clocks may be set back: a lease is never shortened.
            until = now_unix_ms + _LEASE_MS
            connection.execute(
                update(table).where(mine, table.c.until_unix_ms < until).values(until_unix_ms=until)
            )
            return frozenset(connection.execute(select(table.c.id).where(mine)).scalars())

    def report(
        self,
        worker: str,
        job: DealSetJob,
        outcomes: Mapping[str, MatchOutcome],
        *,
        now_unix_ms: int,
    ) -> None:
        """A deal-set is complete, its matches having ended so; those not recorded yet are now.

        The same report again changes nothing.

        Raises:
          OutOfDate: if it was leased again since.
          Contradicted: if another report was made of it, or its matches were recorded otherwise.
          ValueError: if a match of it has no result.
        """
        _require_whole(job.deal_set, outcomes)
        told = report_sha256(outcomes)
        with self._database.writing() as connection:
            row = self._row(connection, job)
            if row["epoch"] != job.epoch:
                raise _out_of_date(worker, job, row)
            if row["state"] == schema.COMPLETE:
                if row["report_sha256"] != told:
                    raise Contradicted(f"deal-set {job.id} has another report already")
                return
            self._require_held(worker, job, row)
            self._record(connection, job.deal_set, outcomes, now_unix_ms)
            self._set(connection, job, state=schema.COMPLETE, report_sha256=told)

    def _record(
        self,
        connection: Connection,
        deal_set: DealSetPlan,
        outcomes: Mapping[str, MatchOutcome],
        now_unix_ms: int,
    ) -> None:
        table = schema.matches
        ids = [match.id for match in deal_set.matches]
        games = {
            row["id"]: row["game"]
            for row in connection.execute(
                select(table.c.id, table.c.game).where(table.c.id.in_(ids))
            ).mappings()
        }
        ended = [
            EndedMatch(outcomes[match.id], games[match.id], match.bots, deal_set.id, now_unix_ms)
            for match in deal_set.matches
        ]
        try:
            record(connection, ended)
        except StoreError as error:
            raise Contradicted(f"deal-set {deal_set.id}: {error}") from error

    def give_up(self, worker: str, job: DealSetJob) -> None:
        """The arena cannot finish a deal-set; it is leased no more until `start_anew`.

        Raises:
          OutOfDate: if it was leased again since.
        """
        with self._database.writing() as connection:
            self._require_held(worker, job, self._row(connection, job))
            self._set(connection, job, state=schema.GIVEN_UP)

    @property
    def _own(self) -> ColumnElement[bool]:
        return schema.deal_sets.c.tournament == self._tournament

    @property
    def _asked(self) -> ColumnElement[bool]:
        if self._up_to is None:
            return self._own
        return and_(self._own, schema.deal_sets.c.number <= self._up_to)

    def _row(self, connection: Connection, job: DealSetJob) -> RowMapping:
        table = schema.deal_sets
        query = select(table).where(self._own, table.c.id == job.id).with_for_update()
        return connection.execute(query).mappings().one()

    def _require_held(self, worker: str, job: DealSetJob, row: RowMapping) -> None:
        held = row["state"] == schema.LEASED and row["holder"] == worker
        if not held or row["epoch"] != job.epoch:
            raise _out_of_date(worker, job, row)

    def _set(self, connection: Connection, job: DealSetJob, **values: str) -> None:
        table = schema.deal_sets
        connection.execute(
            update(table)
            .where(self._own, table.c.id == job.id)
            .values(holder=None, until_unix_ms=None, **values)
        )


_LEASE_MS: Final = int(LEASE_S * 1000)


def _out_of_date(worker: str, job: DealSetJob, row: RowMapping) -> OutOfDate:
    return OutOfDate(
        f"deal-set {job.id} was leased to {worker} as number {job.epoch}; it is {row['state']} now, "
        f"at number {row['epoch']}"
    )


def _require_whole(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> None:
    asked: Sequence[str] = [match.id for match in deal_set.matches]
    if sorted(asked) != sorted(outcomes) or not all(each.has_result for each in outcomes.values()):
        raise ValueError(f"a report of deal-set {deal_set.id} has a result for each of its matches")

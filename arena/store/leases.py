"""Leases of deal-sets: which worker plays which deal-set until when, and the reports.

Each lease is one transaction, so any number of workers may ask at the same time. In PostgreSQL a worker skips
rows that another has locked; in SQLite writers take turns. The caller passes the time, so that all leases are
measured by one clock.
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, or_, select, update

from arena.schedule.deal_sets import DealSetPlan, MatchOutcome
from arena.schedule.work import LEASE_S, Contradicted, DealSetJob, OutOfDate, report_sha256
from arena.store import schema
from arena.store.database import Database
from arena.store.deal_sets import read_deal_sets
from arena.store.errors import StoreError
from arena.store.matches import EndedMatch, record
from arena.store.rows import find_rows

MAX_ATTEMPTS: Final = 5
"""Leases of one deal-set without a report after which it is given up."""


class Leases:
    """The leases of one game of a competition. Calls block on the disk."""

    def __init__(self, database: Database, competition_game: int) -> None:
        self._database = database
        self._game = competition_game

    def start_anew(self) -> None:
        """End all leases, and reset deal-sets that were given up.

        The process that plays the competition calls it before its first lease.
        """
        table = schema.deal_sets
        with self._database.writing() as connection:
            connection.execute(
                update(table)
                .where(self._own, table.c.state.not_in((schema.COMPLETE, schema.VOID)))
                .values(state=schema.WAITING, holder=None, until_unix_ms=None, attempts=0)
            )

    def lease(self, worker: str, most: int, *, now_unix_ms: int) -> tuple[DealSetJob, ...]:
        """Lease up to `most` free deal-sets, in the order of the schedule."""
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
                .where(self._own, or_(table.c.state == schema.WAITING, lapsed))
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
            plans = {each.id: each for each in read_deal_sets(connection, self._game, ids)}
        return tuple(DealSetJob(plans[deal_set], epoch + 1) for deal_set, epoch in found)

    def heartbeat(self, worker: str, *, now_unix_ms: int) -> frozenset[str]:
        """Renew the leases of a worker; returns the ids of the deal-sets that it still has.

        A lease that has expired is renewed too, unless the deal-set was leased again.
        """
        table = schema.deal_sets
        mine = and_(self._own, table.c.state == schema.LEASED, table.c.holder == worker)
        with self._database.writing() as connection:
            # A lease is never shortened, as clocks may be set back.
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
        """Complete a deal-set with the outcomes of all its matches, which are recorded if they are not yet.

        The same report again changes nothing.

        Raises:
          OutOfDate: if the deal-set was leased again since.
          Contradicted: if it has another report, or its matches have other results.
          ValueError: if one of its matches has no result.
        """
        _require_whole(job.deal_set, outcomes)
        sha256 = report_sha256(outcomes)
        with self._database.writing() as connection:
            row = self._row(connection, job)
            if row["epoch"] != job.epoch:
                raise _out_of_date(worker, job, row)
            if row["state"] == schema.COMPLETE:
                if row["report_sha256"] != sha256:
                    raise Contradicted(f"deal-set {job.id} has another report already")
                return
            self._require_holder(worker, job, row)
            self._record(connection, job.deal_set, outcomes, now_unix_ms)
            self._set(connection, job, state=schema.COMPLETE, report_sha256=sha256)

    def _record(
        self,
        connection: Connection,
        deal_set: DealSetPlan,
        outcomes: Mapping[str, MatchOutcome],
        now_unix_ms: int,
    ) -> None:
        table = schema.matches
        ids = [match.id for match in deal_set.matches]
        query = select(table.c.id, table.c.game).where(table.c.id.in_(ids))
        games = {row["id"]: row["game"] for row in find_rows(connection, query)}
        ended = [
            EndedMatch(outcomes[match.id], games[match.id], match.bots, deal_set.id, now_unix_ms)
            for match in deal_set.matches
        ]
        try:
            record(connection, ended)
        except StoreError as error:
            raise Contradicted(f"deal-set {deal_set.id}: {error}") from error

    def give_up(self, worker: str, job: DealSetJob) -> None:
        """Give up a deal-set that the arena cannot finish; it is not leased again before `start_anew`.

        Raises:
          OutOfDate: if the deal-set was leased again since.
        """
        with self._database.writing() as connection:
            self._require_holder(worker, job, self._row(connection, job))
            self._set(connection, job, state=schema.GIVEN_UP)

    @property
    def _own(self) -> ColumnElement[bool]:
        return schema.deal_sets.c.competition_game == self._game

    def _row(self, connection: Connection, job: DealSetJob) -> RowMapping:
        table = schema.deal_sets
        query = select(table).where(self._own, table.c.id == job.id).with_for_update()
        return connection.execute(query).mappings().one()

    def _require_holder(self, worker: str, job: DealSetJob, row: RowMapping) -> None:
        is_holder = row["state"] == schema.LEASED and row["holder"] == worker
        if not is_holder or row["epoch"] != job.epoch:
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
    same = {match.id for match in deal_set.matches} == outcomes.keys()
    if not same or not all(each.has_result for each in outcomes.values()):
        raise ValueError(f"a report of deal-set {deal_set.id} needs a result for each match")

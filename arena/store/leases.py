"""Leases of deal-sets: which worker plays which deal-set until when, and the reports.

Each lease is one transaction, so any number of workers may ask at the same time. In PostgreSQL a worker skips
rows that another has locked; in SQLite writers take turns. The caller passes the time, so that all leases are
measured by one clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, bindparam, select, update

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


class LeaseBegin(NamedTuple):
    """A leased deal-set that is to begin at a player."""

    worker: str
    """The holder of the lease."""
    job: DealSetJob
    player: str
    """The worker process that plays it."""


class LeaseReport(NamedTuple):
    """The report of a leased deal-set."""

    worker: str
    """The holder of the lease."""
    job: DealSetJob
    outcomes: Mapping[str, MatchOutcome]
    """By match id; each match has a result."""


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
            # Two queries, each of which reads an index from its start: one with OR would pass all complete deal-sets.
            free = [
                row
                for state in (table.c.state == schema.WAITING, lapsed)
                for row in connection.execute(
                    select(table.c.number, table.c.id, table.c.epoch, table.c.begin)
                    .where(self._own, state)
                    .order_by(table.c.number)
                    .limit(most)
                    .with_for_update(skip_locked=True)
                )
            ]
            found = [tuple(row)[1:] for row in sorted(free)[:most]]
            if not found:
                return ()
            ids = [deal_set for deal_set, _, _ in found]
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
        return tuple(DealSetJob(plans[each], epoch + 1, begin) for each, epoch, begin in found)

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

    def begin_many(self, begins: Sequence[LeaseBegin]) -> Sequence[DealSetJob]:
        """Have leased deal-sets begin at players, in one transaction: reports of earlier begins count no longer.

        Returns the jobs to report. No deal-set is named twice.

        Raises:
          OutOfDate: if one was leased or begun again since; then none begins.
        """
        table = schema.deal_sets
        with self._database.writing() as connection:
            rows = self._rows(connection, [each.job for each in begins])
            for each in begins:
                _require_holder(each.worker, each.job, rows[each.job.id])
            connection.execute(
                update(table)
                .where(self._own, table.c.id == bindparam("deal_set"))
                .values(begin=table.c.begin + 1, player=bindparam("at")),
                [{"deal_set": each.job.id, "at": each.player} for each in begins],
            )
        return [replace(each.job, begin=each.job.begin + 1) for each in begins]

    def report_many(self, reports: Sequence[LeaseReport], *, now_unix_ms: int) -> None:
        """Complete deal-sets with the outcomes of all their matches, in one transaction.

        The outcomes are recorded if they are not yet. The same report again changes nothing.

        Raises:
          OutOfDate: if one was leased or begun again since; then nothing is changed, as with all errors.
          Contradicted: if one has another report, or its matches have other results.
          ValueError: if a match has no result.
        """
        for each in reports:
            _require_whole(each.job.deal_set, each.outcomes)
        with self._database.writing() as connection:
            rows = self._rows(connection, [each.job for each in reports])
            new: dict[str, tuple[LeaseReport, str]] = {}
            for each in reports:
                sha256, row = report_sha256(each.outcomes), rows[each.job.id]
                _require_latest(each.worker, each.job, row)
                known = new[each.job.id][1] if each.job.id in new else row["report_sha256"]
                if known not in (None, sha256):
                    raise Contradicted(f"deal-set {each.job.id} has another report already")
                if known is None:
                    _require_holder(each.worker, each.job, row)
                    new[each.job.id] = each, sha256
            self._complete(connection, [*new.values()], now_unix_ms)

    def _complete(
        self,
        connection: Connection,
        reports: Sequence[tuple[LeaseReport, str]],
        now_unix_ms: int,
    ) -> None:
        """Record reports, each with its hash, of deal-sets that have none."""
        if not reports:
            return
        table = schema.matches
        planned = [(each, match) for each, _ in reports for match in each.job.deal_set.matches]
        query = select(table.c.id, table.c.game).where(
            table.c.id.in_([match.id for _, match in planned])
        )
        games = {row["id"]: row["game"] for row in find_rows(connection, query)}
        ended = [
            EndedMatch(
                each.outcomes[match.id], games[match.id], match.bots, each.job.id, now_unix_ms
            )
            for each, match in planned
        ]
        try:
            record(connection, ended)
        except StoreError as error:
            names = ", ".join(each.job.id for each, _ in reports)
            raise Contradicted(f"deal-set {names}: {error}") from error
        sets = schema.deal_sets
        connection.execute(
            update(sets)
            .where(self._own, sets.c.id == bindparam("deal_set"))
            .values(
                state=schema.COMPLETE,
                report_sha256=bindparam("sha256"),
                holder=None,
                until_unix_ms=None,
            ),
            [{"deal_set": each.job.id, "sha256": sha256} for each, sha256 in reports],
        )

    def give_up(self, worker: str, job: DealSetJob) -> None:
        """Give up a deal-set that the arena cannot finish; it is not leased again before `start_anew`.

        Raises:
          OutOfDate: if the deal-set was leased or begun again since.
        """
        table = schema.deal_sets
        with self._database.writing() as connection:
            _require_holder(worker, job, self._rows(connection, [job])[job.id])
            connection.execute(
                update(table)
                .where(self._own, table.c.id == job.id)
                .values(state=schema.GIVEN_UP, holder=None, until_unix_ms=None)
            )

    @property
    def _own(self) -> ColumnElement[bool]:
        return schema.deal_sets.c.competition_game == self._game

    def _rows(self, connection: Connection, jobs: Sequence[DealSetJob]) -> Mapping[str, RowMapping]:
        table = schema.deal_sets
        query = select(table).where(self._own, table.c.id.in_([job.id for job in jobs]))
        # In one order, so that no two transactions wait for each other. It is that of the primary key: SQLite would pass
        # all deal-sets to sort by another index.
        locked = query.order_by(table.c.id).with_for_update()
        return {row["id"]: row for row in find_rows(connection, locked)}


_LEASE_MS: Final = int(LEASE_S * 1000)


def _require_latest(worker: str, job: DealSetJob, row: RowMapping) -> None:
    if (row["epoch"], row["begin"]) != (job.epoch, job.begin):
        raise _out_of_date(worker, job, row)


def _require_holder(worker: str, job: DealSetJob, row: RowMapping) -> None:
    _require_latest(worker, job, row)
    if row["state"] != schema.LEASED or row["holder"] != worker:
        raise _out_of_date(worker, job, row)


def _out_of_date(worker: str, job: DealSetJob, row: RowMapping) -> OutOfDate:
    return OutOfDate(
        f"deal-set {job.id} was leased to {worker} as number {job.epoch}, with begin {job.begin}; it is "
        f"{row['state']} now, at number {row['epoch']} and begin {row['begin']}"
    )


def _require_whole(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> None:
    same = {match.id for match in deal_set.matches} == outcomes.keys()
    if not same or not all(each.has_result for each in outcomes.values()):
        raise ValueError(f"a report of deal-set {deal_set.id} needs a result for each match")

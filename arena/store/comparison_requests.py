"""Comparison requests: owners ask whether one version is better than another."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, RowMapping, insert, select, update

from arena.errors import RefusalError
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.moments import iso_utc, unix_ms
from arena.store.rows import dataclass_of, find_row, find_rows


class ComparisonState(StrEnum):
    """The state of a comparison."""

    OPEN = "open"
    DECIDED = "decided"
    STOPPED = "stopped"
    """It reached its own limit or that of its owner, or was cancelled, before it was decided."""


class NoComparison(RefusalError, StoreError, reason="UNKNOWN_COMPARISON"):
    """The owner has no comparison of that number."""


class QuotaSpent(RefusalError, StoreError, reason="QUOTA_SPENT"):
    """The owner's processor time for a day is used up."""

    retry_s = 3_600.0


class TooManyOpen(RefusalError, StoreError, reason="TOO_MANY_COMPARISONS"):
    """The owner has as many open comparisons as allowed."""


class TooManyChallenges(RefusalError, StoreError, reason="TOO_MANY_CHALLENGES"):
    """The owner has made, or the bot has received, as many challenges today as allowed."""

    retry_s = 3_600.0


class Quota(NamedTuple):
    """The quota of one owner's comparisons."""

    core_ms_a_day: int
    """The processor time on a day, in milliseconds."""
    open: int
    """The number of simultaneously open comparisons."""
    challenges_a_day: int
    """The number of challenges that the owner may make on a day."""


class Challenge(NamedTuple):
    """The challenged bot of a comparison."""

    opponent: str
    """A bot, without a version."""
    accepts_a_day: int | None
    """The number of challenges a day that it accepts in the game of the comparison; None without a limit."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A comparison request with its results so far."""

    id: int
    owner: str
    opponent: str
    """The bot that it challenges, without a version; empty if it is no challenge."""
    created_unix_ms: int
    query: Mapping[str, Any]
    """The versions and terms, as `arena.contests.comparison_requests` writes them."""
    state: ComparisonState
    reason: str
    """Why it ended; empty while it is open."""
    core_ms_by_day: Mapping[str, int]
    """Processor time that was reserved for it on each day, in milliseconds; days are in UTC, as 2026-11-25."""
    margins: tuple[float, ...]
    """The margin of each deal-set, in order."""


class ComparisonRequests:
    """The comparison requests of a store. Calls block on the disk; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        owner: str,
        query: Mapping[str, Any],
        challenge: Challenge | None = None,
        *,
        now: datetime,
        quota: Quota,
    ) -> ComparisonRequest:
        """Add a comparison request, which may be a challenge.

        Raises:
          QuotaSpent: if the owner's comparisons have used the processor time of today.
          TooManyOpen: if the owner has as many open ones as allowed.
          TooManyChallenges: if the owner has made, or the bot has received, as many challenges
            today as allowed.
        """
        table = schema.comparison_requests
        with self._database.writing() as connection:
            _require_quota(connection, owner, now, quota)
            if challenge is not None:
                most = quota.challenges_a_day
                _require_challenge(connection, owner, challenge, query["terms"]["game"], now, most)
            number: int = connection.execute(
                insert(table)
                .values(
                    owner=owner,
                    opponent="" if challenge is None else challenge.opponent,
                    created_unix_ms=unix_ms(now),
                    query=dict(query),
                    state=str(ComparisonState.OPEN),
                    core_ms_by_day={},
                    margins=[],
                )
                .returning(table.c.id)
            ).scalar_one()
        return self.get(number, owner)

    def reopen(
        self, request: ComparisonRequest, query: Mapping[str, Any], *, now: datetime, quota: Quota
    ) -> ComparisonRequest:
        """Continue a comparison request with its margins, by another query.

        Raises `QuotaSpent` or `TooManyOpen` as `create` does.
        """
        table = schema.comparison_requests
        with self._database.writing() as connection:
            _require_quota(connection, request.owner, now, quota, request.id)
            values = {"query": dict(query), "state": str(ComparisonState.OPEN), "reason": ""}
            connection.execute(update(table).filter_by(id=request.id).values(**values))
        return self.get(request.id, request.owner)

    def get(self, number: int, owner: str | None = None) -> ComparisonRequest:
        """Return a comparison request by number; if `owner` is given, only a request of this owner.

        Raises `NoComparison` if there is none.
        """
        with self._database.reading() as connection:
            row = find_row(connection, schema.comparison_requests, id=number)
        if row is None or owner not in (None, row["owner"]):
            raise NoComparison(str(number))
        return _request(row)

    def open(self) -> tuple[ComparisonRequest, ...]:
        """Undecided comparison requests, oldest first."""
        return self._all(state=str(ComparisonState.OPEN))

    def of_owner(self, owner: str) -> tuple[ComparisonRequest, ...]:
        """Return all comparison requests of an owner, oldest first."""
        return self._all(owner=owner)

    def of_opponents(self, bots: Collection[str]) -> tuple[ComparisonRequest, ...]:
        """Return all challenges of these bots, oldest first."""
        return self._where(schema.comparison_requests.c.opponent.in_(bots))

    def _all(self, **values: str) -> tuple[ComparisonRequest, ...]:
        table = schema.comparison_requests
        return self._where(*(table.c[name] == value for name, value in values.items()))

    def _where(self, *conditions: ColumnElement[bool]) -> tuple[ComparisonRequest, ...]:
        query = select(schema.comparison_requests).where(*conditions).order_by("id")
        with self._database.reading() as connection:
            return tuple(map(_request, find_rows(connection, query)))

    def spent_ms(self, owner: str, *, now: datetime) -> int:
        """Return the processor time of an owner's comparisons today, in UTC, in milliseconds."""
        with self._database.reading() as connection:
            return _spent_ms(connection, owner, now)

    def keep_margins(
        self, number: int, margins: Sequence[float], spent_ms: int, *, now: datetime
    ) -> bool:
        """Store all margins so far, and add the processor time of the latest; return False if the comparison is not open any more."""
        spent = dict(self.get(number).core_ms_by_day)
        spent[_day(now)] = spent.get(_day(now), 0) + spent_ms
        return self._change_open(number, margins=list(margins), core_ms_by_day=spent)

    def end(self, number: int, state: ComparisonState, reason: str) -> None:
        """End an open comparison; one that has ended is not changed."""
        self._change_open(number, state=str(state), reason=reason)

    def _change_open(self, number: int, **values: object) -> bool:
        open_ = {"id": number, "state": str(ComparisonState.OPEN)}
        change = update(schema.comparison_requests).filter_by(**open_).values(**values)
        with self._database.writing() as connection:
            return connection.execute(change).rowcount == 1


def _require_quota(
    connection: Connection, owner: str, now: datetime, quota: Quota, reopened: int | None = None
) -> None:
    """Require that an owner may have another open comparison; a `reopened` one may already be open."""
    spent = _spent_ms(connection, owner, now)
    if spent >= quota.core_ms_a_day:
        raise QuotaSpent(
            f"{owner} has used {spent / 60_000:.0f} of {quota.core_ms_a_day / 60_000:.0f} core-minutes today"
        )
    table = schema.comparison_requests
    query = select(table.c.id).filter_by(owner=owner, state=str(ComparisonState.OPEN))
    others = {*connection.execute(query).scalars()} - {reopened}
    if len(others) >= quota.open:
        raise TooManyOpen(f"{owner} has {len(others)} open ones; at most {quota.open} are allowed")


def _require_challenge(
    connection: Connection, owner: str, challenge: Challenge, game: str, now: datetime, most: int
) -> None:
    """Require that an owner may make another challenge today, and that the bot accepts another one."""
    table = schema.comparison_requests
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    # Challenges after `now` count too, as clocks may be set back.
    today = select(table).where(
        table.c.opponent != "", table.c.created_unix_ms >= unix_ms(midnight)
    )
    made = len(find_rows(connection, today.filter_by(owner=owner)))
    if made >= most:
        raise TooManyChallenges(f"{owner} has made {made} today; at most {most} are allowed")
    opponent, accepts = challenge
    if accepts is None:
        return
    rows = find_rows(connection, today.filter_by(opponent=opponent))
    had = sum(row["query"]["terms"]["game"] == game for row in rows)
    if had >= accepts:
        raise TooManyChallenges(
            f"{opponent!r} has had {had} in {game} today, and its owner accepts {accepts}"
        )


def _spent_ms(connection: Connection, owner: str, now: datetime) -> int:
    query = select(schema.comparison_requests.c.core_ms_by_day).filter_by(owner=owner)
    # Days after `now` count too, as clocks may be set back.
    return sum(
        spent
        for (by_day,) in connection.execute(query)
        for day, spent in by_day.items()
        if day >= _day(now)
    )


def _day(now: datetime) -> str:
    return iso_utc(now)[:10]


def _request(row: RowMapping) -> ComparisonRequest:
    state, margins = ComparisonState(row["state"]), tuple(row["margins"])
    return dataclass_of(ComparisonRequest, row, state=state, margins=margins)

"""Questions of owners: is this version better than that one? Asked, answered bit by bit, and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import RowMapping, func, insert, select, update

from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError

DAY_MS: Final = 24 * 3600 * 1000


class QuestionState(StrEnum):
    """What becomes of a question."""

    OPEN = "open"
    ANSWERED = "answered"
    STOPPED = "stopped"
    """It reached its limit, or its owner's, or was cancelled, before it was decided."""


class NoQuestion(StoreError):
    """There is no such question of this owner."""


class QuotaSpent(StoreError):
    """The owner's play for a day is used up."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as far as it is answered."""

    id: int
    owner: str
    asked_unix_ms: int
    ask: Mapping[str, Any]
    """What was asked, as `arena.server.competitions.questions` writes it."""
    state: QuestionState
    why: str
    core_ms: int
    """Processor time that was set aside for it."""
    margins: tuple[float, ...]
    """Of each deal-set, in order."""


class Questions:
    """The questions of a store. Calls block for as long as the disk takes; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(
        self, owner: str, ask: Mapping[str, Any], *, now: datetime, core_ms_a_day: int
    ) -> Question:
        """Ask a question.

        Raises:
          QuotaSpent: if the owner has had its play for a day.
        """
        table, now_ms = schema.questions, int(now.timestamp() * 1000)
        with self._database.writing() as connection:
            # Clocks may be set back: what lies ahead counts too.
            spent = connection.execute(
                select(func.coalesce(func.sum(table.c.core_time), 0)).where(
                    table.c.owner == owner, table.c.asked_unix_ms > now_ms - DAY_MS
                )
            ).scalar_one()
            if spent >= core_ms_a_day:
                raise QuotaSpent(
                    f"{owner} has used {spent / 60_000:.0f} core-minutes for questions within a "
                    f"day, and {core_ms_a_day / 60_000:.0f} is the most"
                )
            number: int = connection.execute(
                insert(table)
                .values(
                    owner=owner,
                    asked_unix_ms=now_ms,
                    ask=dict(ask),
                    state=str(QuestionState.OPEN),
                    margins=[],
                )
                .returning(table.c.id)
            ).scalar_one()
        return self.get(number, owner)

    def get(self, number: int, owner: str | None = None) -> Question:
        """A question; of one owner, if that is given.

        Raises:
          NoQuestion: if there is none.
        """
        table = schema.questions
        with self._database.reading() as connection:
            query = select(table).where(table.c.id == number)
            row = connection.execute(query).mappings().one_or_none()
        if row is None or owner not in (None, row["owner"]):
            raise NoQuestion(f"there is no question {number} of yours")
        return _question(row)

    def open(self) -> tuple[Question, ...]:
        """Questions that are still to be answered, the oldest first."""
        table = schema.questions
        with self._database.reading() as connection:
            query = select(table).where(table.c.state == QuestionState.OPEN).order_by(table.c.id)
            return tuple(map(_question, connection.execute(query).mappings().all()))

    def asked(self, owner: str) -> tuple[Question, ...]:
        """All questions of an owner, the oldest first."""
        table = schema.questions
        with self._database.reading() as connection:
            query = select(table).where(table.c.owner == owner).order_by(table.c.id)
            return tuple(map(_question, connection.execute(query).mappings().all()))

    def spent_ms(self, owner: str, *, now: datetime) -> int:
        """The processor time of an owner's questions within a day."""
        since = int(now.timestamp() * 1000) - DAY_MS
        return sum(each.core_ms for each in self.asked(owner) if each.asked_unix_ms > since)

    def played(self, number: int, margins: Sequence[float], core_ms: int) -> bool:
        """Keep all margins so far; False if the question is not open any more."""
        table = schema.questions
        with self._database.writing() as connection:
            done = connection.execute(
                update(table)
                .where(table.c.id == number, table.c.state == QuestionState.OPEN)
                .values(margins=list(margins), core_time=core_ms)
            )
            return done.rowcount == 1

    def end(self, number: int, state: QuestionState, why: str) -> None:
        """Answer an open question, or stop it; one that has ended stays as it is."""
        table = schema.questions
        with self._database.writing() as connection:
            connection.execute(
                update(table)
                .where(table.c.id == number, table.c.state == QuestionState.OPEN)
                .values(state=str(state), why=why)
            )


def _question(row: RowMapping) -> Question:
    return Question(
        row["id"],
        row["owner"],
        row["asked_unix_ms"],
        row["ask"],
        QuestionState(row["state"]),
        row["why"],
        row["core_time"],
        tuple(row["margins"]),
    )

"""The store itself: opening the file, what is in it, and starting tournaments or going on."""

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from sqlalchemy import Connection, RowMapping, select
from sqlalchemy.exc import IntegrityError

from arena.ladder.schedule import DealSetPlan
from arena.store import checker, schema
from arena.store.competitions import Competitions
from arena.store.database import BUSY_TIMEOUT_S, Database, is_there
from arena.store.errors import EntrantsChanged, SettingsDiffer, StoreBusy, StoreError
from arena.store.keys import Keys
from arena.store.matches import Matches
from arena.store.news import News
from arena.store.questions import Questions
from arena.store.registry import Registry
from arena.store.schedule import remove_unplayed, write_schedule
from arena.store.settings import (
    Settings,
    changed_entrants,
    differences,
    insert_settings,
    settings_of,
    update_versions,
)
from arena.store.tournament import Tournament

_LOOK_S: Final = 0.05
"""Between two tries to open a store that another program has."""


def open_store(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> "Store":
    """Open the store at `path`; make it if it is not there, bring it up to date if it is old.

    However short `busy_timeout_s` is, opening it waits for `BUSY_TIMEOUT_S`: a program that closes the file just
    then has it for a moment.

    Raises:
      StoreError: if the file cannot be opened, is no store of the arena, is
        damaged, or was written by a newer version of the arena.
    """
    if not path.absolute().parent.is_dir():
        raise StoreError(f"{path} cannot be made: there is no folder {path.parent}")
    database = Database(path, busy_timeout_s)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return Store(database)


def _prepare(database: Database) -> None:
    until_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            database.prepare()
        except StoreBusy:
            if time.monotonic() > until_s:
                raise
            time.sleep(_LOOK_S)
        else:
            return


def open_public(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> "Store":
    """Open the store at `path` for those who may know what is public, and change nothing.

    SQLite itself refuses to write, to read the keys, and to tell the seeds of deals: they are
    read as None. PostgreSQL does by views that have no more.

    Raises:
      StoreError: if there is none, it cannot be read, or it has another version's schema.
    """
    if not is_there(path):
        raise StoreError(f"there is no {path}")
    database = Database(path, busy_timeout_s, public_only=True)
    try:
        database.require_present()
    except BaseException:
        database.close()
        raise
    return Store(database)


class Store:
    """An open store. Calls block for as long as the disk takes; any thread may make them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. The store and its tournaments cannot be used any more."""
        self._database.close()

    def keys(self) -> Keys:
        """The keys of bots and organisers."""
        return Keys(self._database)

    def matches(self) -> Matches:
        """All matches that have ended."""
        return Matches(self._database)

    def registry(self) -> Registry:
        """Owners, bots and versions."""
        return Registry(self._database)

    def competitions(self) -> Competitions:
        """Competitions: who is in, what was drawn, and their tables."""
        return Competitions(self._database)

    def questions(self) -> Questions:
        """Questions of owners about their versions."""
        return Questions(self._database)

    def news(self) -> News:
        """Tells one who looks into the store again and again whether it is worth while."""
        return News(self._database.version)

    def violations(self) -> tuple[str, ...]:
        """What does not hold in the store and should, a sentence each; it reads all of it."""
        with self._database.reading() as connection:
            return tuple(checker.violations(connection))

    def tournaments(self) -> tuple[Settings, ...]:
        """The tournaments in the store, oldest first."""
        with self._database.reading() as connection:
            table = schema.tournaments
            rows = connection.execute(select(table).order_by(table.c.id)).mappings().all()
            return tuple(settings_of(connection, row) for row in rows)

    def tournament(self, name: str) -> Tournament:
        """The tournament of that name.

        Raises:
          StoreError: if there is none.
        """
        with self._database.reading() as connection:
            row = _find(connection, name)
        if row is None:
            raise StoreError(f"{self._database.path} holds no tournament {name!r}")
        return Tournament(self._database, row["id"])

    def open_tournament(
        self,
        settings: Settings,
        deal_sets: Sequence[DealSetPlan],
        *,
        now: datetime,
        accept_changed: bool = False,
        replace_unplayed: bool = False,
    ) -> Tournament:
        """Start the tournament with this schedule, or go on with it if it is there.

        A schedule may be longer than it was before; then the rest is added.

        Args:
          settings: What it is played by, and by whom.
          deal_sets: The schedule.
          now: When it is created, if it is; with a time zone.
          accept_changed: Whether it goes on with bots of another version than it began with.
          replace_unplayed: Whether this takes the place of one with other settings of which no
            match has ended.

        Raises:
          EntrantsChanged: if it is there with other versions of some bots, naming these.
          SettingsDiffer: if it is there with other settings, naming each.
          StoreError: if its schedule is not the beginning of this one.
        """
        with self._database.writing() as connection:
            row = _find(connection, settings.name)
            if row is not None and replace_unplayed and _is_other(connection, row, settings):
                remove_unplayed(connection, row["id"])
                row = _find(connection, settings.name)
            if row is None:
                number = insert_settings(connection, settings, now)
            else:
                number = row["id"]
                held = settings_of(connection, row)
                self._require_same(held, settings)
                if not accept_changed:
                    self._require_unchanged(held, settings)
                update_versions(connection, number, settings)
            if not self._write_schedule(connection, number, settings, deal_sets):
                raise StoreError(
                    f"{self._database.path} holds another schedule of the tournament "
                    f"{settings.name!r}: go on with the version of the arena that began it, or "
                    "start another in a new folder"
                )
        return Tournament(self._database, number)

    def _write_schedule(
        self,
        connection: Connection,
        number: int,
        settings: Settings,
        deal_sets: Sequence[DealSetPlan],
    ) -> bool:
        try:
            return write_schedule(connection, number, settings.terms["game"], deal_sets)
        except IntegrityError as error:
            raise StoreError(
                f"{self._database.path} has matches already that the tournament {settings.name!r} "
                "would play: give it another name"
            ) from error

    def _require_same(self, held: Settings, given: Settings) -> None:
        different = list(differences(held, given))
        if different:
            raise SettingsDiffer(
                f"{self._database.path} already holds the tournament {held.name!r} with "
                f"{' and '.join(different)}: give it the same settings to go on, or start "
                "another in a new folder"
            )

    def _require_unchanged(self, held: Settings, given: Settings) -> None:
        changed = changed_entrants(held, given)
        if changed:
            raise EntrantsChanged(
                f"{' and '.join(changed)} changed since the tournament {held.name!r} in "
                f"{self._database.path} began, and its results would be of both versions"
            )


def _is_other(connection: Connection, row: RowMapping, settings: Settings) -> bool:
    held = settings_of(connection, row)
    return any(differences(held, settings)) or bool(changed_entrants(held, settings))


def _find(connection: Connection, name: str) -> RowMapping | None:
    table = schema.tournaments
    found = connection.execute(select(table).where(table.c.name == name))
    return found.mappings().one_or_none()

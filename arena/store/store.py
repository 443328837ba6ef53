"""The store: how to open it, and its parts."""

import time
from pathlib import Path
from typing import Final, Self

from arena.store import checker
from arena.store.change_detector import ChangeDetector
from arena.store.comparison_requests import ComparisonRequests
from arena.store.competitions import Competitions
from arena.store.data_folder import require_format
from arena.store.database import BUSY_TIMEOUT_S, Database, is_there, require_url
from arena.store.errors import StoreBusy, StoreError
from arena.store.keys import Keys
from arena.store.matches import StoredMatches
from arena.store.registry import Registry
from arena.store.spot_checks import SpotChecks
from arena.store.webhooks import Webhooks

_POLL_S: Final = 0.05
"""Seconds between two attempts to open a store that another program has locked."""


def open_store(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> "Store":
    """Open the store at `path`. A missing store is made, and one of an older version is migrated.

    Opening waits up to `BUSY_TIMEOUT_S` for other programs, even if `busy_timeout_s` is shorter, because a
    program that closes the file locks it for a moment.

    Raises `StoreError` if the file cannot be opened, is not a store of the arena, is damaged, or it or its
    folder was written by a version of the arena that this one cannot read.
    """
    if not path.absolute().parent.is_dir():
        raise StoreError(f"{path} cannot be made: there is no folder {path.parent}")
    _require_format(path)
    database = Database(path, busy_timeout_s)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return Store(database)


def _require_format(path: Path) -> None:
    """Require that no newer arena has written the folder of the store."""
    folder = path.absolute().parent
    try:
        require_format(folder)
    except OSError as error:
        raise StoreError(f"the format of {folder} cannot be read: {error.strerror}") from error


def _prepare(database: Database) -> None:
    until_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            database.prepare()
        except StoreBusy:
            if time.monotonic() > until_s:
                raise
            time.sleep(_POLL_S)
        else:
            return


def open_public(path: Path, *, url: str = "", busy_timeout_s: float = BUSY_TIMEOUT_S) -> "Store":
    """Open the store at `path`, or the one with the address `url`, for a public reader.

    Keys, invitations and the audit cannot be read; seeds, commands and evidence are read as None. SQLite
    enforces this by an authorizer, PostgreSQL by views.

    Raises `StoreError` if it does not exist, cannot be read, or was written by another version of the arena.
    """
    if url:
        require_url(url)
    elif not is_there(path):
        raise StoreError(f"there is no {path}")
    else:
        _require_format(path)
    database = Database(path, busy_timeout_s, public_only=True, url=url)
    try:
        database.require_present()
    except BaseException:
        database.close()
        raise
    return Store(database)


class Store:
    """An open store. Calls block on the disk; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store. Neither the store nor its parts can be used afterwards."""
        self._database.close()

    def keys(self) -> Keys:
        return Keys(self._database)

    def matches(self) -> StoredMatches:
        return StoredMatches(self._database)

    def registry(self) -> Registry:
        return Registry(self._database)

    def competitions(self) -> Competitions:
        """Competitions: entrants, rounds, deal-sets, official standings."""
        return Competitions(self._database)

    def comparison_requests(self) -> ComparisonRequests:
        return ComparisonRequests(self._database)

    def spot_checks(self) -> SpotChecks:
        """Second plays of matches at other workers."""
        return SpotChecks(self._database)

    def webhooks(self) -> Webhooks:
        """Webhooks, and what is to be sent to them."""
        return Webhooks(self._database)

    def change_detector(self) -> ChangeDetector:
        """Return a detector for a caller that polls the store: it tells whether the store was written since the last poll."""
        return ChangeDetector(self._database.version)

    def violations(self) -> tuple[str, ...]:
        """Return the rules that stored rows break, in sentences. Reads the whole store."""
        with self._database.reading() as connection:
            return tuple(checker.violations(connection))

"""The data folder of an arena that runs: locked, its files open, and what earlier processes left read."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import Recovery, recover
from arena.replay.signing import Signer, arena_key
from arena.replay.write import remove_partials
from arena.server import data_folder
from arena.server.competition_service import CompetitionService
from arena.server.listen import CannotServe
from arena.server.metrics import Metrics
from arena.server.standings_process import StandingsProcess
from arena.server.submissions.intake import SubmissionIntake
from arena.store import Store, kept_at, open_store

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """What is open before trio starts."""

    replays: Path
    """The folder of replays."""
    server_id: str
    signer: Signer
    store: Store
    deal_log: DealLog
    journal: Journal
    recovery: Recovery
    """The matches that an earlier process had in play."""
    monitor: data_folder.FolderMonitor
    intake: SubmissionIntake
    standings: StandingsProcess
    service: CompetitionService


async def open_folder(
    data: Path,
    stack: contextlib.AsyncExitStack,
    *,
    metrics: Metrics,
    on_broken: Callable[[str], None],
) -> OpenFolder:
    """Open a data folder; a new one is made.

    Args:
      data: The folder.
      stack: Closes everything.
      metrics: Gets the figures of the journal.
      on_broken: Called with the reason when the journal or the deal log can no longer be written.

    Raises:
      CannotServe: if another arena runs in it, or it cannot be written.
      StoreError: if the store cannot be opened.
    """
    replays = data / "replays"
    _take(data, replays, stack)
    try:
        server_id, signer = data_folder.arena_id(data), arena_key(data)
    except (OSError, ValueError) as error:
        raise CannotServe(f"the arena has no id or no key: {error}") from error
    folder, store_file = data / "journal", data_folder.store_path(data)
    store = stack.enter_context(open_store(store_file))
    deal_log = stack.enter_context(
        DealLog(folder, public=data / "commitments", on_broken=on_broken)
    )
    intake = SubmissionIntake(data, store.registry(), store.keys(), lambda: datetime.now(UTC))
    await asyncio.to_thread(intake.clear)
    # What an earlier process left is read before this one writes anything.
    recovery = await asyncio.to_thread(
        recover, folder, replays, is_secret=lambda _: True, signer=signer
    )
    for damage in (*deal_log.damage, *recovery.damage):
        _log.warning("the journal is damaged", extra={"why": damage})
    journal = stack.enter_context(
        Journal(folder, matches=recovery.matches, on_broken=on_broken, metrics=metrics)
    )
    monitor = data_folder.FolderMonitor(data, kept_at(store_file), replays)
    stack.enter_context(contextlib.closing(monitor))
    standings = StandingsProcess(store_file)
    service = CompetitionService(store.competitions(), signer, compute=standings.unsigned)
    return OpenFolder(
        replays,
        server_id,
        signer,
        store,
        deal_log,
        journal,
        recovery,
        monitor,
        intake,
        standings,
        service,
    )


def _take(data: Path, replays: Path, stack: contextlib.AsyncExitStack) -> None:
    """Make the folder, keep other arenas out of it, and remove what earlier ones left."""
    try:
        for folder in (replays, data):  # the inner one tells what is no folder
            folder.mkdir(parents=True, exist_ok=True)
        lock = stack.enter_context(os.fdopen(data_folder.open_lock(data), "r+"))
    except OSError as error:
        raise CannotServe(f"cannot write in {data}: {error.strerror}") from error
    _hold(lock, data)
    data_folder.write_format(data)
    stack.callback(data_folder.remove_notice, data)
    data_folder.remove_notice(data)
    remove_partials(replays)
    remove_partials(data / "journal")


def _hold(lock: IO[str], data: Path) -> None:
    """Keep a second arena out of the folder for as long as `lock` is open."""
    if not data_folder.take_lock(lock.fileno()):
        text = f"another arena is running in the folder {data}; give this one its own with --data"
        raise CannotServe(text)

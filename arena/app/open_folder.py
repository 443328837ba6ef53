"""The data folder of an arena that runs: it is locked, its files are open, and the files of earlier processes are read."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from arena.api.sign_in_providers import FILE, SignInProviders, read_providers
from arena.bots.intake import SubmissionIntake
from arena.contests.competition_service import CompetitionService
from arena.contests.standings_process import StandingsProcess
from arena.live.listen import CannotServe
from arena.live.matches.results import ArenaRecords
from arena.live.metrics import Metrics
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.records.signing import arena_key
from arena.records.write import remove_partials
from arena.store import Store, data_folder, kept_at, open_store
from arena.validation import InvalidInput, text_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """The files that are open before trio starts."""

    records: ArenaRecords
    store: Store
    monitor: data_folder.FolderMonitor
    intake: SubmissionIntake
    standings: StandingsProcess
    service: CompetitionService
    providers: SignInProviders


async def open_folder(
    data: Path,
    stack: contextlib.AsyncExitStack,
    *,
    metrics: Metrics,
    on_broken: Callable[[str], None],
) -> OpenFolder:
    """Open a data folder; a new one is made.

    Args:
      on_broken: Called with the reason when the journal or the deal log cannot be written any more.

    Raises:
      CannotServe: if another arena runs in it, or it cannot be written.
      StoreError: if the store cannot be opened.
    """
    replays = data / "replays"
    _take(data, replays, stack)
    try:
        server_id, signer = data_folder.arena_id(data), arena_key(data)
        second_lock = stack.enter_context(os.fdopen(data_folder.open_second_lock(data)))
    except (OSError, ValueError) as error:
        raise CannotServe(f"the arena has no id or no key: {error}") from error
    _take_lock(second_lock.fileno(), data)
    _clear(data, replays, stack)
    folder, store_file = data / "journal", data_folder.store_path(data)
    store = stack.enter_context(open_store(store_file))
    deal_log = stack.enter_context(
        DealLog(folder, public=data / "commitments", on_broken=on_broken)
    )
    intake = SubmissionIntake(data, store.registry(), store.keys(), lambda: datetime.now(UTC))
    await asyncio.to_thread(intake.clear)
    # The files of an earlier process are read before this one writes anything.
    recovery = await asyncio.to_thread(
        recover, folder, replays, is_secret=lambda _: True, signer=signer
    )
    for damage in (*deal_log.damage, *recovery.damage):
        _log.warning("the journal is damaged", extra={"why": damage})
    journal = stack.enter_context(
        Journal(
            folder,
            matches=recovery.matches,
            on_broken=on_broken,
            on_write=metrics.wrote,
            on_sync=metrics.synced,
        )
    )
    monitor = data_folder.FolderMonitor(data, kept_at(store_file), replays)
    stack.enter_context(contextlib.closing(monitor))
    standings = StandingsProcess(store_file)
    service = CompetitionService(store.competitions(), signer, compute=standings.unsigned)
    records = ArenaRecords(journal, deal_log, replays, store.matches(), recovery, server_id, signer)
    return OpenFolder(records, store, monitor, intake, standings, service, _providers(data))


def _providers(data: Path) -> SignInProviders:
    path = data / FILE
    try:
        return SignInProviders(read_providers(text_of(path.read_bytes())) if path.exists() else {})
    except ImportError:
        raise CannotServe(
            f"{path} needs packages: pip install 'cardarena-engine[sign-in]'"
        ) from None
    except OSError as error:
        raise CannotServe(f"{path} cannot be read: {error.strerror}") from None
    except InvalidInput as error:
        raise CannotServe("\n  ".join((f"{path} is not valid:", *error.problems))) from None


def _take(data: Path, replays: Path, stack: contextlib.AsyncExitStack) -> None:
    """Make the folder, and lock it against other arenas."""
    try:
        for folder in (replays, data):  # the inner one fails if a file has its name
            folder.mkdir(parents=True, exist_ok=True)
        lock = stack.enter_context(os.fdopen(data_folder.open_lock(data), "r+"))
    except OSError as error:
        raise CannotServe(f"cannot write in {data}: {error.strerror}") from error
    _take_lock(lock.fileno(), data)
    data_folder.write_format(data)


def _take_lock(lock: int, data: Path) -> None:
    if not data_folder.take_lock(lock):
        text = f"another arena is running in the folder {data}; give this one its own with --data"
        raise CannotServe(text)


def _clear(data: Path, replays: Path, stack: contextlib.AsyncExitStack) -> None:
    stack.callback(data_folder.remove_notice, data)
    data_folder.remove_notice(data)
    remove_partials(replays)
    remove_partials(data / "journal")

"""The qualifier: qualifies submitted versions, several at a time where cores allow, while matches are in play.

The registry lists the versions to be qualified. After a restart, an interrupted qualification begins again.
"""

import contextlib
import functools
import hashlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

import trio

from arena.bots.blobs import Blobs, remove_unpacked
from arena.bots.logs import logs_folder
from arena.results.qualification_report import QualificationReport, report_of
from arena.results.versions import NotNow, VersionEvent
from arena.sandbox.output import LOG_SUFFIX
from arena.store import ChangeDetector, Registry, StoreError, Version
from arena.store.failures import is_of_arena
from arena.store.registry import Banned

POLL_S: Final = 1.0
"""The time in seconds between two polls of the registry."""
AT_A_TIME: Final = max(2, min(8, (os.cpu_count() or 1) // 2))
"""The number of simultaneous qualifications. Two cores suffice for two, because a bot waits for most of its qualification."""
MOST_S: Final = 300.0
"""Time limit of a qualification in seconds: its checks take up to 120 s, and the installation of wheels as long."""
END_S: Final = 5.0
"""The time in seconds for the process of a qualification to end its bots and itself."""
MAX_TRIES: Final = 3
"""The number of attempts for a version after failures of the arena; then the version waits for the next start of the arena."""
ARENA: Final = "arena"
"""The author of the qualifier's events in the history of a version."""

_log = logging.getLogger(__name__)


class NotQualified(Exception):
    """The arena failed to qualify a version; the text says why, for its log."""


class Qualify(Protocol):
    """Qualifies the archive at a path, in a work folder that does not exist yet."""

    def __call__(
        self, archive: Path, work: Path, again: str, seed: str, runtime_sha256: str
    ) -> Awaitable[QualificationReport]:
        """Return the report. `runtime_sha256` is the bot's built runtime, or empty. May raise `NotQualified`."""
        ...


class Qualifier:
    """Qualifies submitted versions. Runs in trio, beside the arena."""

    def __init__(
        self,
        data: Path,
        registry: Registry,
        now: Callable[[], datetime],
        qualify: Qualify | None = None,
        changes: ChangeDetector | None = None,
    ) -> None:
        """Qualify versions of a registry.

        Args:
          qualify: Qualifies one version; by default in a separate process.
          changes: Detects changes of the store; without it the registry is read every second.
        """
        self._data = data
        self._registry = registry
        self._blobs = Blobs(data)
        self._now = now
        self._qualify = qualify or functools.partial(in_a_process, data)
        self._changes = changes or ChangeDetector(lambda: None)
        self._tries: dict[str, int] = {}
        self._in_hand: set[str] = set()
        """The versions that are being qualified."""

    async def run(self) -> None:
        """Qualify versions until cancelled."""
        async with trio.open_nursery() as nursery:
            for _ in range(AT_A_TIME):
                nursery.start_soon(self._run_one)

    async def _run_one(self) -> None:
        """Qualify versions one after the other until cancelled."""
        while True:
            try:
                worked = self._changes() and await self.poll()
            except StoreError as error:
                self._changes.forget()
                _log.warning("the registry cannot be read", extra={"why": str(error)})
                worked = False
            if not worked:
                await trio.sleep(POLL_S)

    async def poll(self) -> bool:
        """Qualify the version that has waited longest; return false if none waits."""
        # A version whose qualification ends while the registry is read may appear in its earlier state.
        in_hand = frozenset(self._in_hand)
        waiting = await trio.to_thread.run_sync(self._registry.unqualified)
        free = (version for version in waiting if str(version) not in in_hand)
        version = next(filter(self._may_begin, free), None)
        if version is None:
            return False
        self._changes.forget()  # more may wait
        self._tries[str(version)] = self._tries.get(str(version), 0) + 1
        self._in_hand.add(str(version))
        try:
            await self._qualify_version(version)
        except Exception as error:
            if is_of_arena(error):
                raise
            # Errors of the files or the report of one version must not stop the qualification of others.
            fields = {"version": str(version), "why": str(error)}
            is_known = isinstance(error, (NotQualified, OSError))
            exc_info = None if is_known else error
            _log.error("a version cannot be qualified", extra=fields, exc_info=exc_info)
        finally:
            self._in_hand.remove(str(version))
        return True

    def _may_begin(self, version: Version) -> bool:
        name = str(version)
        return name not in self._in_hand and self._tries.get(name, 0) < MAX_TRIES

    async def _qualify_version(self, version: Version) -> None:
        # Two bots may be submitted with the same contents. The name is short, as it is part of paths of sockets.
        name = hashlib.sha256(str(version).encode()).hexdigest()[:16]
        work = self._data / "qualification" / name
        await trio.to_thread.run_sync(remove_unpacked, work)
        _log.info("a version is being qualified", extra={"version": str(version)})
        try:
            archive = await trio.to_thread.run_sync(self._blobs.archive, version.sha256)
            report = await self._qualify(
                archive.path, work, f"./{version.bot}", _seed(version), version.runtime_sha256
            )
            await trio.to_thread.run_sync(self._keep, version, report, work)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(remove_unpacked, work)
        fields = {"version": str(version), "summary": report.summary}
        _log.info("a version was qualified", extra=fields)

    def _keep(self, version: Version, report: QualificationReport, work: Path) -> None:
        folder = logs_folder(self._data, version)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for log in (work / "bots").glob(f"*{LOG_SUFFIX}"):
            # Owners get no logs of the opponents.
            if not log.name.startswith(("sample_", "random-")):
                # Paths of the arena are removed.
                text = log.read_bytes().replace(f"{work.absolute() / 'bot'}/".encode(), b"")
                text = _packages_in(self._data).sub(b"", text)
                (folder / f"qualification-{log.name}").write_bytes(text)
        now = self._now()
        self._registry.keep_report(version.bot, version.number, report.as_json(), now=now)
        events = (
            [VersionEvent.CHECKED]
            if report.started and version.state is VersionEvent.SUBMITTED
            else []
        )
        events.append(VersionEvent.QUALIFIED if report.qualified else VersionEvent.REJECTED)
        # If its owner has retired it or was banned during the qualification, that state remains.
        with contextlib.suppress(NotNow, Banned):
            for event in events:
                self._registry.record(
                    version.bot, version.number, event, who=ARENA, reason=report.summary, now=now
                )


def _packages_in(data: Path) -> re.Pattern[bytes]:
    """Matches the paths of the folders of packages in a bot's tracebacks."""
    folder = re.escape(f"{data.absolute()}/".encode())
    return re.compile(folder + rb"(installed/[0-9a-f]{64}|runtimes/[^/\s]+/site)/")


def _seed(version: Version) -> str:
    """Return the seed of the deals: different for each version, and the same if it is qualified again."""
    return f"q{version.number}"


async def _end(process: trio.Process) -> None:
    """Interrupt a qualification, so that it ends its bots; kill it if it does not end."""
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
        with trio.move_on_after(END_S):
            await process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def in_a_process(
    data: Path, archive: Path, work: Path, again: str, seed: str, runtime_sha256: str
) -> QualificationReport:
    """Qualify in a separate process, which ends if it takes too long or the arena stops.

    Raises `NotQualified` if it ends without a report.
    """
    work.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = work.parent / f"{work.name}.json"
    words = (archive, work, target, again, seed, data, runtime_sha256)
    command = [sys.executable, "-m", "arena.app.qualification", *map(str, words)]
    process = await trio.lowlevel.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that its children can be killed with it
    )
    errors = b""
    assert process.stderr is not None
    try:
        with trio.move_on_after(MOST_S):
            async for chunk in process.stderr:
                errors = (errors + chunk)[-2_000:]
            await process.wait()
    finally:
        with trio.CancelScope(shield=True):
            await _end(process)
    try:
        values: Any = json.loads(await trio.Path(target).read_text("utf-8"))
        return report_of(values)
    except (OSError, ValueError, KeyError, TypeError):
        how = f"exit code {process.returncode}: {errors.decode('utf-8', 'replace').strip()}"
        raise NotQualified(f"no report was made, {how}") from None
    finally:
        await trio.Path(target).unlink(missing_ok=True)

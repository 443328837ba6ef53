"""The qualifier: takes up what was submitted, one version after the other, beside the matches in play.

What is to be qualified stands in the registry alone, so a restart forgets nothing: a version whose
qualification was cut short is taken up again, from its beginning.
"""

import contextlib
import functools
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

from arena.competition.report import Report, report_of
from arena.competition.versions import Event, NotNow
from arena.jail import LOG_SUFFIX
from arena.server.submissions.logs import logs_folder
from arena.store import Blobs, News, Registry, StoreError, Version
from arena.store.blobs import remove_unpacked
from arena.store.registry import Banned

LOOK_S: Final = 1.0
"""Between two looks at what was submitted."""
MOST_S: Final = 180.0
"""After which a process that qualifies is ended: it takes 60 s, and a busy machine some more."""
END_S: Final = 5.0
"""Time that such a process has to end its bots, and itself."""
MAX_TRIES: Final = 3
"""Of a version whose qualification the arena itself fails; then it waits for the next start."""
ARENA: Final = "arena"
"""Who says so, in the events of a version."""

_log = logging.getLogger(__name__)


class NotQualified(Exception):
    """The arena could not find out whether a version may play; the text says why, for its log."""


class Qualify(Protocol):
    """Finds out whether the archive at a path may play, in a folder that is not there yet."""

    def __call__(
        self, archive: Path, work: Path, again: str, seed: str, runtime_sha256: str
    ) -> Awaitable[Report]:
        """Of a bot that has a runtime, or an empty text. May raise `NotQualified`."""
        ...


class Qualifier:
    """Runs in trio, beside the arena."""

    def __init__(
        self,
        data: Path,
        registry: Registry,
        now: Callable[[], datetime],
        qualify: Qualify | None = None,
        news: News | None = None,
    ) -> None:
        """`now` gives the time in UTC; `qualify` starts a process for each, if nothing else is given.

        Without `news` of the store it is looked into each second.
        """
        self._data = data
        self._registry = registry
        self._blobs = Blobs(data)
        self._now = now
        self._qualify = qualify or functools.partial(in_a_process, data)
        self._news = news or News(lambda: None)
        self._tries: dict[str, int] = {}

    async def run(self) -> None:
        """Qualify whatever comes, until cancelled."""
        while True:
            try:
                worked = self._news() and await self.look()
            except StoreError as error:
                self._news.forget()
                _log.warning("what is submitted cannot be seen", extra={"why": str(error)})
                worked = False
            if not worked:
                await trio.sleep(LOOK_S)

    async def look(self) -> bool:
        """Qualify the version that waits longest; false if none does."""
        waiting = await trio.to_thread.run_sync(self._registry.unqualified)
        version = next(
            (each for each in waiting if self._tries.get(str(each), 0) < MAX_TRIES), None
        )
        if version is None:
            return False
        self._news.forget()  # there may be more of them
        self._tries[str(version)] = self._tries.get(str(version), 0) + 1
        try:
            await self._one(version)
        except (NotQualified, OSError) as error:
            fields = {"version": str(version), "why": str(error)}
            _log.error("a version cannot be qualified", extra=fields)
        return True

    async def _one(self, version: Version) -> None:
        work = self._data / "qualification" / version.sha256[:16]
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

    def _keep(self, version: Version, report: Report, work: Path) -> None:
        """Keep the logs and the report, and then say what the version is now."""
        folder = logs_folder(self._data, version)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for log in (work / "bots").glob(f"*{LOG_SUFFIX}"):
            # Opponents' logs are not this owner's.
            if not log.name.startswith(("sample_", "random-")):
                # Where the arena keeps its files is nobody else's.
                told = log.read_bytes().replace(f"{work.absolute() / 'bot'}/".encode(), b"")
                told = _packages_in(self._data).sub(b"", told)
                (folder / f"qualification-{log.name}").write_bytes(told)
        now = self._now()
        self._registry.keep_report(version.bot, version.number, report.as_json(), now=now)
        events = [Event.CHECKED] if report.started and version.state is Event.SUBMITTED else []
        events.append(Event.QUALIFIED if report.qualified else Event.REJECTED)
        # Its owner may have retired it meanwhile, or was banned: then that stays.
        with contextlib.suppress(NotNow, Banned):
            for event in events:
                self._registry.record(
                    version.bot,
                    version.number,
                    event,
                    who=ARENA,
                    reason=report.summary,
                    now=now,
                )


def _packages_in(data: Path) -> re.Pattern[bytes]:
    """How the folders of packages begin, as a bot's tracebacks name them."""
    folder = re.escape(f"{data.absolute()}/".encode())
    return re.compile(folder + rb"(installed/[0-9a-f]{64}|runtimes/[^/\s]+/site)/")


def _seed(version: Version) -> str:
    """Of the deals: others for each version, and the same when it is taken up again."""
    return f"q{version.number}"


async def _end(process: trio.Process) -> None:
    """End a process that qualifies: in order, so that it ends its bots, or else by force."""
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
        with trio.move_on_after(END_S):
            await process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def in_a_process(
    data: Path, archive: Path, work: Path, again: str, seed: str, runtime_sha256: str
) -> Report:
    """Qualify in a process of its own, which is ended if it takes too long or the arena stops.

    Raises:
      NotQualified: if it ends without a report.
    """
    work.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = work.parent / f"{work.name}.json"
    words = (archive, work, target, again, seed, data, runtime_sha256)
    command = [sys.executable, "-m", "arena.qualification", *map(str, words)]
    process = await trio.lowlevel.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that all that it starts can be ended with it
    )
    said = b""
    assert process.stderr is not None
    try:
        with trio.move_on_after(MOST_S):
            async for chunk in process.stderr:
                said = (said + chunk)[-2_000:]
            await process.wait()
    finally:
        with trio.CancelScope(shield=True):
            await _end(process)
    try:
        values: Any = json.loads(await trio.Path(target).read_text("utf-8"))
        return report_of(values)
    except (OSError, ValueError, KeyError, TypeError):
        how = f"exit code {process.returncode}: {said.decode('utf-8', 'replace').strip()}"
        raise NotQualified(f"no report was made, {how}") from None
    finally:
        await trio.Path(target).unlink(missing_ok=True)

"""The findings of `arena doctor`: what a machine lacks for playing, serving, submitted bots and pages."""

import ctypes
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from arena.app.data_checks import examine_data
from arena.app.findings import Finding, Readiness
from arena.compiled import built
from arena.live.listen import CannotServe, require_free
from arena.records.journal.disk_budget import DiskBudget
from arena.sandbox.sandbox import UPLOADS_AT, Sandbox
from arena.sandbox.spawner.order import Level
from arena.store import StoreError, answering_version, url_beside
from arena.store.data_folder import is_running, store_path

_PAGES_NEED: Final = ("starlette", "uvicorn", "jinja2", "markdown_it")
_UNSYNCHRONISED: Final = 5
"""The result of adjtimex while no program sets the clock: TIME_ERROR."""
_TIMEX_BYTES: Final = 512
"""A size that exceeds a `struct timex` on all systems."""
_SPADE: Final = "2660"
_CONNECT_S: Final = 5.0


class Goal(StrEnum):
    """The purpose of a machine."""

    PLAY = "play"
    SERVE = "serve"
    SUBMISSIONS = "submissions"
    PAGES = "pages"
    DATA = "data"
    """To hold results that agree with each other: this reads all of a folder."""


MACHINE: Final = frozenset(Goal) - {Goal.DATA}
"""The goals of a machine, which are checked in a moment."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The goals of a machine, with their parameters."""

    goals: AbstractSet[Goal]
    data: Path
    port: int
    web_port: int
    store: str = ""
    """The address of a store in PostgreSQL; empty for the one of the data folder."""


def examine(
    wanted: Wanted, sandbox: Sandbox, progress: Callable[[str], None] = lambda _: None
) -> Iterator[Finding]:
    """Check everything that the goals need, in the order of the goals."""
    if wanted.goals & MACHINE:
        yield from _machine(wanted, sandbox)
    if Goal.DATA in wanted.goals:
        yield from examine_data(wanted.data, progress)


def _machine(wanted: Wanted, sandbox: Sandbox) -> Iterator[Finding]:
    yield _python()
    if wanted.goals & {Goal.PLAY, Goal.SUBMISSIONS}:
        yield sandbox_finding(sandbox, submissions=Goal.SUBMISSIONS in wanted.goals)
        if sandbox.level in UPLOADS_AT:
            yield groups_finding(sandbox)
    yield data_finding(wanted.data)
    if Goal.SERVE in wanted.goals:
        yield port_finding("port", wanted.port, "--port", wanted.data)
        yield clock_finding(_adjtimex())
        if url := wanted.store or url_beside(store_path(wanted.data)):
            yield store_finding(url)
    if Goal.PAGES in wanted.goals:
        yield packages_finding()
        yield port_finding("port of pages", wanted.web_port, "--web-port", wanted.data)
        yield fonts_finding(_fonts_with_suits())


def _python() -> Finding:
    version = platform.python_version()
    if built() == "compiled":
        return Finding("Python", Readiness.OK, f"{version}, compiled")
    cure = "install the compiled wheel, or run scripts/compile in a checkout"
    return Finding(
        "Python", Readiness.WEAK, f"{version}, pure: matches take more processor time", cure
    )


def sandbox_finding(sandbox: Sandbox, *, submissions: bool) -> Finding:
    """Return the sandbox level; submitted bots need S2."""
    level = sandbox.level
    if level in UPLOADS_AT:
        return Finding("sandbox", Readiness.OK, level.value)
    why, _, cure = sandbox.why_not_better.partition(": ")
    return Finding(
        "sandbox",
        Readiness.LACKS if submissions else Readiness.WEAK,
        f"{level.value}, as {why}",
        cure or "docs/sandbox.md has what each system needs",
    )


def groups_finding(sandbox: Sandbox) -> Finding:
    """Return whether the memory and processor of a whole bot are limited."""
    if sandbox.level is Level.S3:
        return Finding("control groups", Readiness.OK, "delegated")
    why, _, cure = sandbox.why_not(Level.S3).partition(": ")
    text = f"the total memory and processor time of a bot are not limited, as {why}"
    return Finding("control groups", Readiness.WEAK, text, cure or "a unit with Delegate=yes")


def data_finding(
    data: Path, measured: Callable[[Path], tuple[int, int, int]] = shutil.disk_usage
) -> Finding:
    """Return whether the data folder can be written, and its disk has space for matches."""
    folder = data.absolute()
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        text = f"{data} cannot be written by this user"
        return Finding("data folder", Readiness.LACKS, text, "name another one with --data")
    if full := DiskBudget(partial(measured, folder)).why_full():
        return Finding(
            "data folder", Readiness.LACKS, full, "free disk space: new matches are refused"
        )
    _, _, free_bytes = measured(folder)
    return Finding("data folder", Readiness.OK, f"{data}, {free_bytes / 1e9:.1f} GB free")


def port_finding(subject: str, port: int, option: str, data: Path) -> Finding:
    """Return whether a port is free on this machine."""
    try:
        require_free("127.0.0.1", port)
    except CannotServe as error:
        if is_running(data):
            return Finding(subject, Readiness.OK, f"{port}, in use while an arena runs in {data}")
        return Finding(subject, Readiness.LACKS, str(error), f"choose another with {option}")
    return Finding(subject, Readiness.OK, f"{port} is free")


def _adjtimex() -> int | None:
    """Return the state of the kernel's clock; None if the system does not report it."""
    adjtimex = getattr(ctypes.CDLL(None), "adjtimex", None)
    return None if adjtimex is None else int(adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)))


def clock_finding(state: int | None) -> Finding:
    """Return whether a program sets the clock, from the result of adjtimex."""
    if state is None or state < 0:
        return Finding("clock", Readiness.OK, "this system does not tell whether it is set")
    if state != _UNSYNCHRONISED:
        return Finding("clock", Readiness.OK, "synchronised")
    text = "not synchronised: dates of matches and ends of codes and bans may be wrong"
    return Finding("clock", Readiness.WEAK, text, "install chrony or systemd-timesyncd")


def store_finding(url: str) -> Finding:
    """Return whether a store in PostgreSQL answers, and is new enough."""
    try:
        return Finding("PostgreSQL", Readiness.OK, answering_version(url, _CONNECT_S))
    except StoreError as error:
        text, _, cure = str(error).partition(": ")
        return Finding(
            "PostgreSQL", Readiness.LACKS, text, cure or "docs/organising.md: PostgreSQL"
        )


def packages_finding(needed: Collection[str] = _PAGES_NEED) -> Finding:
    """Return whether the packages that draw pages are installed."""
    if missing := [name for name in needed if find_spec(name) is None]:
        cure = "pip install 'cardarena-engine[web]'"
        return Finding("packages", Readiness.LACKS, f"{', '.join(missing)} not installed", cure)
    return Finding("packages", Readiness.OK, "those of pages are installed")


def _fonts_with_suits() -> int | None:
    """Return the number of installed fonts with the suits of cards; None without fontconfig."""
    if shutil.which("fc-list") is None:
        return None
    command = ["fc-list", f":charset={_SPADE}", "family"]
    return len(subprocess.run(command, capture_output=True, check=False).stdout.splitlines())


def fonts_finding(count: int | None) -> Finding:
    """Return whether a browser on this machine can draw cards. Browsers of other machines have their own fonts."""
    if count is None:
        return Finding(
            "fonts", Readiness.OK, "no fontconfig here; browsers of other machines have fonts"
        )
    if count == 0:
        text = "none has the suits of cards, for a browser on this machine"
        return Finding("fonts", Readiness.WEAK, text, "apt install fonts-dejavu-core")
    return Finding("fonts", Readiness.OK, f"{count} have the suits of cards")

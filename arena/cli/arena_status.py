"""How an arena is doing, read from outside: from its data folder and its page of status."""

import http.client
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from arena.server.data_folder import Notice, is_running, read_notice

TIMEOUT_S: Final = 5.0
MAX_PAGE_BYTES: Final = 1 << 20
MAX_NUMBER: Final = 2**53
"""All counts of an arena stay below this."""
TAIL_BYTES: Final = 1 << 20
"""How much of the log's end is searched for incidents."""
INCIDENTS: Final = 5
"""How many of the last are told."""
_YEAR_9999_UNIX_S: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
"""Later times have no date."""
SIGNS: Final = ("version", "draining")
"""Keys that every arena's page has, of any version, and other programs' pages lack."""
OLDER_PAGE: Final = b"the metrics are at /metrics"
"""The answer of older arenas, which have no status page."""


class NoAnswer(Exception):
    """There is no arena that could be asked. The text says what there is instead."""


def _count(found: object) -> bool:
    return _number(found) and isinstance(found, int)


def _number(found: object) -> bool:
    return (
        isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found <= MAX_NUMBER
    )


def _moment(found: Any) -> bool:
    return _number(found) and found < _YEAR_9999_UNIX_S


def _time_ms(found: object) -> bool:
    return found is None or _number(found)


def _counts(found: object) -> bool:
    return isinstance(found, dict) and all(map(_count, found.values()))


def _word(found: object) -> bool:
    return isinstance(found, str)


def _flag(found: object) -> bool:
    return isinstance(found, bool)


def _processes(found: object) -> bool:
    return isinstance(found, list) and all(_fits(each, _PROCESS) for each in found)


_PROCESS: Final = {
    "number": _count,
    "pid": _count,
    "starts": _count,
    "matches": _count,
    "decisions": _count,
}
_TIMES: Final = {"count": _count, "p50": _time_ms, "p99": _time_ms}
SHAPE: Final[Mapping[str, Any]] = {
    "version": _word,
    "draining": _flag,
    "matches": {
        "in_play": _count,
        "begun": _count,
        "ended": _counts,
        "aborted": _counts,
        "taken": _flag,
        "refused": _count,
    },
    "bots": {"connected": _count, "known": _count},
    "connections": {"open": _count, "cut": _count},
    "waiting_bytes": _count,
    "decisions": _counts,
    "faults": _counts,
    "refused": {"calls": _counts, "messages": _counts},
    "times_ms": {"charged": _TIMES, "turnaround": _TIMES, "journal_sync": _TIMES},
    "lag": {
        "late_p99_ms": _number,
        "pauses": _count,
        "paused_s": _number,
        "longest_pause_ms": _number,
        "refunded_s": _number,
    },
    "journal": {"written_bytes": _count, "unsynced_bytes": _count},
    "deal_sets": _counts,
    "process": {
        "resident_bytes": _count,
        "open_files": _count,
        "threads": _count,
        "cpu_s": _number,
        "started_unix_s": _moment,
    },
    "playing": _processes,
}
"""What a page of status has to hold (`arena.server.services.status` makes it)."""


@dataclass(frozen=True, slots=True)
class Incident:
    """A line of the log that a person should see."""

    time: str
    event: str
    incident: str = ""
    match: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What could be learnt of a running arena."""

    notice: Notice | None
    """None if it was asked by the address of its metrics."""
    page: Mapping[str, Any] | None
    """What it tells of itself, as `SHAPE` says; None if it serves no metrics."""
    incidents: tuple[Incident, ...] = ()
    """The last of its log, oldest first."""
    disk: tuple[int, int] | None = None
    """Bytes in all and free where its data are."""


def status_of_folder(data: Path) -> Status:
    """The state of the arena that runs in a folder.

    Raises:
      NoAnswer: if none runs there, or it serves metrics and does not answer.
    """
    try:
        running = is_running(data)
    except OSError as error:
        raise NoAnswer(f"cannot look into {data}: {error.strerror}") from error
    notice = read_notice(data)
    if not running:
        raise NoAnswer(_not_running(data, notice))
    if notice is None:
        raise NoAnswer(f"an arena is just starting or ending in the folder {data}")
    page = fetch(notice.metrics) if notice.metrics else None
    total, _, free = shutil.disk_usage(data)
    return Status(notice, page, tuple(last_incidents(data)), (total, free))


def status_of_page(url: str) -> Status:
    """The state of the arena whose metrics are at `url`.

    Raises:
      NoAnswer: if there is no such page.
    """
    return Status(None, fetch(url))


def _not_running(data: Path, notice: Notice | None) -> str:
    if notice is None:
        return f"no arena runs in the folder {data}"
    return (
        f"no arena runs in the folder {data}; the last one, process {notice.pid}, was killed: "
        "what was in play goes on when an arena is started there again"
    )


def fetch(url: str) -> dict[str, Any]:
    """Read what the arena with its metrics at `url` tells of itself, as `SHAPE` says.

    `url` may be a host and a port alone.

    Raises:
      NoAnswer: if nobody answers there, or no arena whose status can be read.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    kinds: dict[str, type[http.client.HTTPConnection]] = {
        "http": http.client.HTTPConnection,
        "https": http.client.HTTPSConnection,
    }
    try:
        kind, host, port = kinds.get(parts.scheme), parts.hostname, parts.port
    except ValueError:
        kind = host = port = None
    if kind is None or not host:
        raise NoAnswer(f"{url!r} is no address of metrics; give one as http://127.0.0.1:9464")
    beside = parts.path.rstrip("/").removesuffix("/metrics").removesuffix("/status")
    connection = kind(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", f"{beside}/status")
        with connection.getresponse() as response:
            data = response.read(MAX_PAGE_BYTES)
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or "it does not answer as an arena does"
        raise NoAnswer(f"no arena answers at {url}: {why}") from error
    finally:
        connection.close()
    if response.status == http.HTTPStatus.NOT_FOUND and data.startswith(OLDER_PAGE):
        raise NoAnswer(
            f"the arena at {url} is of an older version, which has metrics and no status"
        )
    page = _parsed(data) if response.status == http.HTTPStatus.OK else None
    if not isinstance(page, dict) or not _fits(page, {key: SHAPE[key] for key in SIGNS}):
        raise NoAnswer(f"what answers at {url} is no arena")
    if not _fits(page, SHAPE):
        raise NoAnswer(
            f"the status of the arena at {url}, version {page['version'] or 'unknown'}, "
            "cannot be read by this version of the command"
        )
    return {key: page[key] for key in SHAPE}


def _parsed(data: bytes) -> object:
    """What a page holds; None if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _fits(found: object, shape: Mapping[str, Any]) -> bool:
    """Whether all that a shape names is there, and of its kind."""
    return isinstance(found, dict) and all(
        key in found
        and (_fits(found[key], kind) if isinstance(kind, Mapping) else kind(found[key]))
        for key, kind in shape.items()
    )


def last_incidents(data: Path) -> list[Incident]:
    """The last errors that an arena's log tells of, oldest first."""
    try:
        with (data / "arena.log").open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            tail = file.read(TAIL_BYTES)
    except OSError:
        return []
    return list(_errors(tail))[-INCIDENTS:]


def _errors(tail: bytes) -> Iterator[Incident]:
    for line in tail.splitlines():
        if b'"error"' not in line and b'"critical"' not in line:
            continue
        try:
            found = json.loads(line)
        except ValueError:
            continue  # cut off, by the search or by a kill
        if isinstance(found, dict) and found.get("level") in ("error", "critical"):
            keys = ("timestamp", "event", "incident", "match", "error")
            yield Incident(*(str(found.get(key, "")) for key in keys))


def as_json(status: Status) -> dict[str, Any]:
    """A status for programs.

    Times are bounds in milliseconds; null if nothing was counted, or it was above all bounds.
    """
    found: dict[str, Any] = {"up": True}
    notice, page = status.notice, status.page
    if notice is not None:
        since = datetime.fromtimestamp(notice.started_unix_s, UTC)
        found |= asdict(notice)
        found["since"] = since.isoformat(timespec="seconds")
    if status.disk is not None:
        found["disk"] = dict(zip(("total_bytes", "free_bytes"), status.disk, strict=True))
    if page is not None:
        found |= page
    found["incidents"] = [asdict(each) for each in status.incidents]
    return found

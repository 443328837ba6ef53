"""The state of an arena, read from its data folder and its status page."""

import http.client
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from arena.api.status_page import ArenaSigns, StatusPage
from arena.store.data_folder import RunningNotice, is_running, read_notice
from arena.validation import InvalidInput, read_json

TIMEOUT_S: Final = 5.0
MAX_PAGE_BYTES: Final = 1 << 20
TAIL_BYTES: Final = 1 << 20
"""The part at the log's end that is searched for errors."""
INCIDENTS: Final = 5
"""The number of latest errors that are shown."""
OLDER_PAGE: Final = b"the metrics are at /metrics"
"""The answer of arenas without a status page."""


class NoStatus(Exception):
    """No arena answers. The text says what answered instead."""


@dataclass(frozen=True, slots=True)
class Incident:
    """An error in the arena's log."""

    time: str
    event: str
    incident: str = ""
    match: str = ""
    competition: str = ""
    error: str = ""
    """The error, or why it came to this."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a running arena."""

    notice: RunningNotice | None
    """The notice of the data folder; None if the status was requested by the address of the metrics."""
    page: StatusPage | None
    """None if the arena serves no metrics."""
    incidents: tuple[Incident, ...] = ()
    """The last errors of its log, oldest first."""
    disk: tuple[int, int] | None = None
    """Size and free bytes of the disk with its data folder."""


def status_of_folder(data: Path) -> Status:
    """Return the state of the arena that runs in a folder.

    Raises `NoStatus` if none runs there, or it serves metrics and does not answer.
    """
    try:
        running = is_running(data)
    except OSError as error:
        raise NoStatus(f"cannot read {data}: {error.strerror}") from error
    notice = read_notice(data)
    if not running:
        raise NoStatus(_not_running(data, notice))
    if notice is None:
        raise NoStatus(f"an arena is just starting or ending in the folder {data}")
    page = fetch(notice.metrics) if notice.metrics else None
    total, _, free = shutil.disk_usage(data)
    return Status(notice, page, tuple(last_incidents(data)), (total, free))


def status_of_page(url: str) -> Status:
    """Return the state of the arena whose metrics are at `url`. Raises `NoStatus` if there is no such page."""
    return Status(None, fetch(url))


def _not_running(data: Path, notice: RunningNotice | None) -> str:
    if notice is None:
        return f"no arena runs in the folder {data}"
    return (
        f"no arena runs in the folder {data}; the last one, process {notice.pid}, was killed: "
        "matches in play continue when an arena is started there again"
    )


def fetch(url: str) -> StatusPage:
    """Read the status page of the arena with its metrics at `url`, which may be a host and a port alone.

    Raises `NoStatus` if nothing answers there, or no arena whose status can be read.
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
        raise NoStatus(f"{url!r} is no address of metrics; give one as http://127.0.0.1:9464")
    beside = parts.path.rstrip("/").removesuffix("/metrics").removesuffix("/status")
    connection = kind(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", f"{beside}/status")
        with connection.getresponse() as response:
            data = response.read(MAX_PAGE_BYTES)
    except TimeoutError as error:
        raise NoStatus(f"no arena answers at {url} within {TIMEOUT_S} s") from error
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or "it does not answer as an arena does"
        raise NoStatus(f"no arena answers at {url}: {why}") from error
    finally:
        connection.close()
    if response.status == http.HTTPStatus.NOT_FOUND and data.startswith(OLDER_PAGE):
        raise NoStatus(
            f"the arena at {url} is of an older version, which has metrics and no status"
        )
    try:
        signs = read_json(ArenaSigns, data if response.status == http.HTTPStatus.OK else b"")
    except InvalidInput:
        raise NoStatus(f"what answers at {url} is no arena") from None
    try:
        return read_json(StatusPage, data)
    except InvalidInput:
        raise NoStatus(
            f"the status of the arena at {url}, version {signs.version or 'unknown'}, "
            "cannot be read by this version of the command"
        ) from None


def last_incidents(data: Path) -> list[Incident]:
    """Return the last errors in an arena's log, oldest first."""
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
            line_json = json.loads(line)
        except ValueError:
            continue  # incomplete, because the search began within it or the arena was killed
        if isinstance(line_json, dict) and line_json.get("level") in ("error", "critical"):
            known = {"error": line_json.get("why", ""), **line_json}
            keys = ("timestamp", "event", "incident", "match", "competition", "error")
            yield Incident(*(str(known.get(key, "")) for key in keys))


def status_json(status: Status) -> dict[str, Any]:
    """Return a status as JSON.

    Times are bounds in milliseconds; null if nothing was counted, or if they are above all bounds.
    """
    shown: dict[str, Any] = {"up": True}
    notice, page = status.notice, status.page
    if notice is not None:
        since = datetime.fromtimestamp(notice.started_unix_s, UTC)
        shown |= asdict(notice)
        shown["since"] = since.isoformat(timespec="seconds")
    if status.disk is not None:
        shown["disk"] = dict(zip(("total_bytes", "free_bytes"), status.disk, strict=True))
    if page is not None:
        shown |= asdict(page)
    shown["incidents"] = [asdict(incident) for incident in status.incidents]
    return shown

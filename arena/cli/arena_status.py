"""How an arena is doing, read from outside: from its data folder and its page of metrics."""

import http.client
import json
import math
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from arena.server.data_folder import Notice, is_running, read_notice

TIMEOUT_S: Final = 5.0
MAX_PAGE_BYTES: Final = 4 << 20
TAIL_BYTES: Final = 1 << 20
"""How much of the log's end is searched for incidents."""
INCIDENTS: Final = 5
"""How many of the last are told."""
PREFIX: Final = "cardarena_"

Labels = tuple[tuple[str, str], ...]


class NoAnswer(Exception):
    """There is no arena that could be asked. The text says what there is instead."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of metrics that was read."""

    samples: Mapping[str, Mapping[Labels, float]]
    """By the sample's name, then by its labels."""

    def value(self, name: str, **labels: str) -> float:
        """One number; 0 if there is none."""
        return self.samples.get(name, {}).get(tuple(sorted(labels.items())), 0.0)

    def total(self, name: str) -> float:
        """The sum over all labels."""
        return sum(self.samples.get(name, {}).values())

    def by(self, name: str, label: str) -> dict[str, int]:
        """Numbers above 0 by one label, the greatest first."""
        found: dict[str, int] = {}
        for labels, value in self.samples.get(name, {}).items():
            key = dict(labels).get(label, "")
            found[key] = found.get(key, 0) + int(value)
        return {key: n for key, n in sorted(found.items(), key=lambda item: -item[1]) if n}

    def quantile_s(self, name: str, share: float) -> float | None:
        """The bucket's bound below which a share of the times were; None if there were none.

        Infinite if they were above all bounds.
        """
        buckets = sorted(
            (float(dict(labels)["le"]), value)
            for labels, value in self.samples.get(f"{name}_bucket", {}).items()
        )
        if not buckets or not buckets[-1][1]:
            return None
        wanted = share * buckets[-1][1]
        return next(bound for bound, so_far in buckets if so_far >= wanted)


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
    page: Page | None
    """None if it serves no metrics."""
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


def fetch(url: str) -> Page:
    """Read a page of metrics; `url` may be a host and a port alone.

    Raises:
      NoAnswer: if that is not possible, or it is not the page of an arena.
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
    connection = kind(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", parts.path if parts.path not in ("", "/") else "/metrics")
        with connection.getresponse() as response:
            text = response.read(MAX_PAGE_BYTES).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or "it does not answer as a page of metrics does"
        raise NoAnswer(f"no arena answers at {url}: {why}") from error
    finally:
        connection.close()
    page = _parsed(text) if response.status == http.HTTPStatus.OK else Page({})
    if f"{PREFIX}draining" not in page.samples:
        raise NoAnswer(f"what answers at {url} is no arena")
    return page


def _parsed(text: str) -> Page:
    samples: dict[str, dict[Labels, float]] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = tuple(sorted(sample.labels.items()))
                if math.isfinite(sample.value):
                    samples.setdefault(sample.name, {})[labels] = sample.value
    except (ValueError, LookupError, TypeError):  # whatever the parser trips over
        return Page({})
    return Page(samples)


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
        found |= _numbers(page)
    found["incidents"] = [asdict(each) for each in status.incidents]
    return found


def _numbers(page: Page) -> dict[str, Any]:
    def value(name: str) -> float:
        return page.value(f"{PREFIX}{name}")

    def times_ms(name: str) -> dict[str, float | None]:
        metric = f"{PREFIX}{name}"
        p50, p99 = (_ms(page.quantile_s(metric, share)) for share in (0.5, 0.99))
        return {"count": page.value(f"{metric}_count"), "p50": p50, "p99": p99}

    (version, *_), *_ = (*page.samples.get(f"{PREFIX}build_info", {}), (("version", ""),))
    admission_open = page.samples.get(f"{PREFIX}admission_open")
    found: dict[str, Any] = {
        "version": version[1],
        "draining": bool(value("draining")),
        "matches": {
            "in_play": int(value("matches_in_play")),
            "begun": int(page.total(f"{PREFIX}matches_begun_total")),
            "ended": page.by(f"{PREFIX}matches_ended_total", "ending"),
            "aborted": page.by(f"{PREFIX}matches_aborted_total", "cause"),
            "taken": admission_open is None or bool(value("admission_open")),
            "refused": int(value("admission_refused_total")),
        },
        "bots": {"connected": int(value("sessions_connected")), "known": int(value("sessions"))},
        "waiting_bytes": int(value("outbox_bytes")),
        "decisions": page.by(f"{PREFIX}decisions_total", "game"),
        "faults": page.by(f"{PREFIX}faults_total", "kind"),
        "refused": {
            "calls": page.by(f"{PREFIX}calls_refused_total", "reason"),
            "messages": page.by(f"{PREFIX}messages_refused_total", "reason"),
        },
        "times_ms": {
            "charged": times_ms("charged_seconds"),
            "turnaround": times_ms("turnaround_seconds"),
            "journal_sync": times_ms("journal_sync_seconds"),
        },
        "lag": {
            "late_p99_ms": round(value("loop_late_p99_seconds") * 1000, 1),
            "pauses": int(value("loop_pauses_total")),
            "paused_s": round(value("loop_paused_seconds_total"), 3),
            "longest_pause_ms": round(value("loop_longest_pause_seconds") * 1000, 1),
            "refunded_s": round(value("refunded_seconds_total"), 3),
        },
        "journal": {
            "written_bytes": int(value("journal_written_bytes_total")),
            "unsynced_bytes": int(value("journal_unsynced_bytes")),
        },
        "deal_sets": page.by(f"{PREFIX}deal_sets_total", "step"),
        "process": {
            "resident_bytes": int(page.value("process_resident_memory_bytes")),
            "open_files": int(page.value("process_open_fds")),
            "threads": int(value("process_threads")),
            "cpu_s": page.value("process_cpu_seconds_total"),
            "started_unix_s": page.value("process_start_time_seconds"),
        },
    }
    return found


def _ms(seconds: float | None) -> float | None:
    if seconds is None or math.isinf(seconds):
        return None
    return seconds * 1000

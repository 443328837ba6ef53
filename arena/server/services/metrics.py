"""What an arena has counted, for Prometheus, and the port on which that and its status are served.

A page costs play little: the numbers are read in one go on the thread of the
host loop, and written as text on another. The port serves its two pages to few at a time,
and shows numbers alone: no label names a bot, a match, a card or a token.
"""

import asyncio
import contextlib
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from arena.referee import AbortCause, FaultKind
from arena.server.counts import Counts, Histogram
from arena.server.data_folder import arena_version
from arena.server.listen import CannotServe
from arena.server.services.status import status_page
from arena.server.services.watched import DEAL_STEPS, Watched, refusal_word

PREFIX: Final = "cardarena_"
MAX_READERS: Final = 8
"""Connections served at a time; more are closed at once."""
MAX_HEAD_BYTES: Final = 8_192
HEAD_S: Final = 5.0
"""Time to ask, and again to take the answer."""
METRICS_PATH: Final = "/metrics"
STATUS_PATH: Final = "/status"
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
STATUS_TYPE: Final = "application/json"
TEXT_TYPE: Final = "text/plain; charset=utf-8"


def families(watched: Watched) -> list[Metric]:
    """All metrics but those of the process, as they stand. Call it on the thread of the arena."""
    counts = watched.counts
    return [
        *_play(watched, counts),
        *_time(watched, counts),
        *_bots(watched, counts),
        *_calls(counts),
        *_disk(watched, counts),
        *_machine(),
    ]


def _play(watched: Watched, counts: Counts) -> Iterator[Metric]:
    arena, games = watched.arena, dict(counts.games)
    yield _info("build", "The version of the arena.", {"version": arena_version()})
    yield _gauge(
        "draining", "1 while the arena is about to end and takes nothing new.", arena.draining
    )
    yield _gauge("matches_in_play", "Matches in play.", len(arena.matches.referee.tables))
    yield _counter(
        "matches_begun",
        "Matches begun, or gone on with after a restart.",
        ("game",),
        {(game,): found.begun for game, found in games.items()},
    )
    yield _counter(
        "matches_ended",
        "Matches that came to an end, by how they ended.",
        ("game", "ending"),
        {
            (game, ending.name.lower()): number
            for game, found in games.items()
            for ending, number in found.ended.items()
        },
    )
    yield _counter(
        "decisions",
        "Decisions of seats, those played by fallback too.",
        ("game",),
        {(game,): found.decisions for game, found in games.items()},
    )
    yield _counter(
        "faults",
        "What bots did wrong, by kind.",
        ("kind",),
        {(kind.name.lower(),): counts.faults[kind] for kind in FaultKind},
    )
    yield _counter(
        "matches_aborted",
        "Matches that the arena aborted, by cause.",
        ("cause",),
        {(cause.name.lower(),): counts.aborted[cause] for cause in AbortCause},
    )
    yield _counter(
        "deal_sets",
        "Deal-sets by what became of them; those void were drawn before.",
        ("step",),
        {(step,): watched.deal_log.counts[step] for step in DEAL_STEPS},
    )
    yield _gauge("admission_open", "1 while new matches are taken.", watched.takes_matches)
    refused = {(): watched.refused_matches}
    yield _counter("admission_refused", "Matches that were refused as too much.", (), refused)
    yield from _elsewhere(() if arena.elsewhere is None else arena.elsewhere.told())


def _elsewhere(processes: Sequence[Mapping[str, int]]) -> Iterator[Metric]:
    told = {(str(each["number"]),): each for each in processes}
    for name, text, key in (
        ("playing_decisions", "Decisions in processes that play for this one.", "decisions"),
        ("playing_starts", "Starts of processes that play for this one.", "starts"),
    ):
        values = {process: each[key] for process, each in told.items()}
        yield _counter(name, text, ("process",), values)
    total = sum(each["matches"] for each in told.values())
    yield _gauge("playing_matches", "Matches in play in processes that play for this one.", total)


def _time(watched: Watched, counts: Counts) -> Iterator[Metric]:
    yield _histogram("charged_seconds", "Time charged to a bot for a decision.", counts.charged)
    yield _histogram(
        "turnaround_seconds",
        "From the arrival of an answer to the sending of the ask that followed, journal included.",
        counts.turnaround,
    )
    refunded = {(): counts.refunded_s}
    yield _counter("refunded_seconds", "Time not charged, as the arena was late.", (), refunded)
    if watched.lag is not None:
        seen = watched.lag.counts()
        yield _counter("loop_ticks", "Ticks of the lag meter.", (), {(): seen.ticks})
        yield _counter("loop_pauses", "Ticks over 20 ms late.", (), {(): seen.pauses})
        paused = {(): seen.paused_s}
        yield _counter("loop_paused_seconds", "Sum of these pauses.", (), paused)
        longest_s = seen.longest_pause_s
        yield _gauge("loop_longest_pause_seconds", "The longest of these pauses.", longest_s)
        late_s = watched.lag.p99_ms() / 1000
        yield _gauge("loop_late_p99_seconds", "Lateness of the last 10 s at p99.", late_s)


def _bots(watched: Watched, counts: Counts) -> Iterator[Metric]:
    sessions = list(watched.arena.sessions)
    queued = [session.queued for session in sessions]
    size = sum(size for _, size in queued)
    yield _gauge(
        "sessions", "Bots seen since the start, and those that may come back.", len(sessions)
    )
    yield _gauge("sessions_connected", "Bots with a stream.", watched.connected_bots)
    yield _gauge("outbox_bytes", "Bytes that wait to be sent to all bots.", size)
    yield _gauge("outbox_frames", "Frames that wait to be sent.", sum(each for each, _ in queued))
    most = max((size for _, size in queued), default=0)
    yield _gauge("outbox_bytes_max", "Bytes that wait for the bot that has the most.", most)
    if watched.connections is not None:
        yield _gauge("connections", "Connections with clients.", watched.connections.open)
        cut = {(): watched.connections.cut}
        yield _counter("connections_cut", "Connections that were cut, as they flooded.", (), cut)
    yield _counter("messages", "Messages from bots.", (), {(): counts.messages})
    yield _counter(
        "messages_refused",
        "Messages from bots that could not be taken, by reason.",
        ("reason",),
        {(refusal_word(reason),): number for reason, number in counts.messages_refused.items()},
    )
    yield _counter("streams_opened", "Streams that said hello.", (), {(): counts.streams_opened})
    closed = {(reason,): number for reason, number in counts.streams_closed.items()}
    yield _counter("streams_closed", "Streams that ended, by reason.", ("reason",), closed)


def _calls(counts: Counts) -> Iterator[Metric]:
    calls = dict(counts.calls)
    yield _counter("calls", "Calls that ended, by gRPC's status.", ("call", "code"), calls)
    refused = {(reason,): number for reason, number in counts.calls_refused.items()}
    yield _counter("calls_refused", "Calls that were refused, by reason.", ("reason",), refused)


def _disk(watched: Watched, counts: Counts) -> Iterator[Metric]:
    written = {(): watched.journal.written_bytes}
    yield _counter("journal_written_bytes", "Bytes written to the journal.", (), written)
    unsynced = watched.journal.unsynced_bytes
    yield _gauge(
        "journal_unsynced_bytes", "Bytes written that may be lost by a power cut.", unsynced
    )
    yield _histogram("journal_write_seconds", "Writes of the journal.", counts.journal_write)
    yield _histogram(
        "journal_sync_seconds", "Syncs of the journal, until the arena knows.", counts.journal_sync
    )
    with contextlib.suppress(OSError):
        total, _, free = shutil.disk_usage(watched.data)
        yield _gauge("disk_bytes", "Size of the disk of the data folder.", total)
        yield _gauge("disk_free_bytes", "Room on the disk of the data folder.", free)
    promised = watched.promised_bytes
    yield _gauge("disk_promised_bytes", "Room on it that matches in play may use.", promised)


def _machine() -> Iterator[Metric]:
    yield _gauge(
        "process_threads", "Threads of the process that Python knows.", threading.active_count()
    )
    with contextlib.suppress(RuntimeError):
        yield _gauge("process_tasks", "Tasks of the host loop.", len(asyncio.all_tasks()))


# Families.


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value=value)


def _info(name: str, text: str, labels: Mapping[str, str]) -> Metric:
    family = GaugeMetricFamily(f"{PREFIX}{name}_info", text, labels=list(labels))
    family.add_metric(list(labels.values()), 1)
    return family


def _counter(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for key, value in sorted(values.items()):
        family.add_metric(key, value)
    return family


def _histogram(name: str, text: str, histogram: Histogram) -> Metric:
    so_far, buckets = 0, []
    bounds = [*(repr(bound) for bound in histogram.bounds_s), "+Inf"]
    for bound, count in zip(bounds, list(histogram.counts), strict=True):
        so_far += count
        buckets.append((bound, so_far))
    return HistogramMetricFamily(PREFIX + name, text, buckets=buckets, sum_value=histogram.sum_s)


class _Taken(Collector):
    """Metrics that were read before."""

    def __init__(self, found: Iterable[Metric]) -> None:
        self._found = list(found)

    def collect(self) -> Iterable[Metric]:
        return self._found


async def page(watched: Watched) -> bytes:
    """The metrics as Prometheus's text. Call it in the host loop."""
    found = families(watched)
    return await asyncio.to_thread(_written, found)


def _written(found: Iterable[Metric]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Taken(found))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


# The port.


class MetricsPort:
    """Serves `GET /metrics` and `GET /status`. Lives in the host loop."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._server: asyncio.Server | None = None
        self._readers = 0

    async def start(self, host: str, port: int) -> str:
        """Listen, on a free port if it is 0; returns the address of the metrics.

        Raises:
          CannotServe: if nobody can listen there.
        """
        try:
            self._server = await asyncio.start_server(
                self._serve, host, port, limit=MAX_HEAD_BYTES, backlog=MAX_READERS
            )
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else "no such host"
            raise CannotServe(f"cannot serve metrics on {host}:{port}: {why}") from error
        bound = self._server.sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{bound}{METRICS_PATH}"

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._readers += 1
        try:
            if self._readers <= MAX_READERS:
                async with asyncio.timeout(HEAD_S):
                    head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._answer(head))
                async with asyncio.timeout(HEAD_S):
                    await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # a client whose request makes no sense is hung up on
        finally:
            self._readers -= 1
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0].decode("latin-1")
        if method not in (b"GET", b"HEAD"):
            return _response("405 Method Not Allowed", b"")
        if path == METRICS_PATH:
            body, kind = await page(self._watched), METRICS_TYPE
        elif path == STATUS_PATH:
            body, kind = await status_page(self._watched), STATUS_TYPE
        else:
            said = f"there are the pages {METRICS_PATH} and {STATUS_PATH}\n"
            return _response("404 Not Found", said.encode())
        return _response("200 OK", b"" if method == b"HEAD" else body, kind)


def _response(status: str, body: bytes, kind: str = TEXT_TYPE) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body

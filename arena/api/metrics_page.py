"""The metrics page: the counts of an arena, as text for Prometheus.

The numbers are read at one moment on the thread of the host loop, and written as text on another thread. No label
names a bot, a match, a card or a token.
"""

import asyncio
import contextlib
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from arena.api.metrics_source import DEAL_STEPS, MetricsSource, refusal_word
from arena.api.store_figures import StoreFigures
from arena.live.metrics import Histogram
from arena.referee.spec import AbortCause, FaultKind
from arena.store.data_folder import arena_version, last_backup_unix_s

PREFIX: Final = "cardarena_"
_Gauge: TypeAlias = tuple[str, str, Callable[[MetricsSource], float]]
_Counter: TypeAlias = tuple[
    str, str, tuple[str, ...], Callable[[MetricsSource], Mapping[Any, float]]
]
_Timing: TypeAlias = tuple[str, str, Callable[[MetricsSource], Histogram]]


def _queued(source: MetricsSource, part: int) -> list[int]:
    """Return, by bot, the number of frames (part 0) or bytes (part 1) that wait to be sent."""
    return [session.queued[part] for session in source.arena.sessions]


def _one(value: float) -> Mapping[Any, float]:
    return {(): value}


# fmt: off
_GAUGES: Final[tuple[_Gauge, ...]] = (
    # name                     what it is                                                    the value
    ("draining",               "1 while the arena is ending and accepts no bots and matches.",   lambda source: source.arena.draining),
    ("matches_in_play",        "Matches in play.",                                           lambda source: len(source.arena.matches.referee.runners)),
    ("admission_open",         "1 while new matches are accepted.",                             lambda source: source.takes_matches),
    ("sessions",               "Bots seen since the start, and those that may come back.",   lambda source: len(source.arena.sessions)),
    ("sessions_connected",     "Bots with a stream.",                                        lambda source: source.connected_bots),
    ("outbox_bytes",           "Bytes that wait to be sent to all bots.",                    lambda source: sum(_queued(source, 1))),
    ("outbox_frames",          "Frames that wait to be sent.",                               lambda source: sum(_queued(source, 0))),
    ("outbox_bytes_max",       "Bytes that wait for the bot that has the most.",             lambda source: max(_queued(source, 1), default=0)),
    ("journal_unsynced_bytes", "Bytes written that may be lost by a power cut.",             lambda source: source.journal.unsynced_bytes),
    ("disk_promised_bytes",    "Room on it that matches in play may use.",                   lambda source: source.promised_bytes),
    ("process_threads",        "Threads of the process that Python knows.",                  lambda _: threading.active_count()),
)
_LAG_GAUGES: Final[tuple[_Gauge, ...]] = (
    ("loop_longest_pause_seconds", "The longest of these pauses.",                           lambda source: source.pauses.longest_pause_s),
    ("loop_late_p99_seconds",      "Lateness of the last 10 s at p99.",                      lambda source: source.late_p99_ms / 1000),
)
_COUNTERS: Final[tuple[_Counter, ...]] = (
    # name, what it counts, labels, and values by label
    ("matches_begun", "Matches begun, or resumed after a restart.", ("game",),
        lambda source: {(game,): counts.begun for game, counts in source.counts.games.items()}),
    ("matches_ended", "Matches that have ended, by ending.", ("game", "ending"),
        lambda source: {
            (game, ending.name.lower()): number
            for game, counts in source.counts.games.items()
            for ending, number in counts.ended.items()
        }),
    ("decisions", "Decisions of seats, including those of the fallback.", ("game",),
        lambda source: {(game,): counts.decisions for game, counts in source.counts.games.items()}),
    ("faults", "Faults of bots, by kind.", ("kind",),
        lambda source: {(kind.name.lower(),): source.counts.faults[kind] for kind in FaultKind}),
    ("matches_aborted", "Matches that the arena aborted, by cause.", ("cause",),
        lambda source: {(cause.name.lower(),): source.counts.aborted[cause] for cause in AbortCause}),
    ("deal_sets", "Deal-sets by step; those that are void were drawn before.", ("step",),
        lambda source: {(step,): source.deal_log.counts[step] for step in DEAL_STEPS}),
    ("admission_refused", "Matches that were refused because of load or a full disk.", (),
        lambda source: _one(source.refused_matches)),
    ("worker_decisions", "Decisions of workers since they started.", ("process",),
        lambda source: {(str(worker.number),): worker.decisions for worker in source.workers if worker.number}),
    ("worker_failed_begins", "Begins of deal-sets that failed at workers.", (),
        lambda source: _one(source.failed_begins)),
    ("worker_starts", "Starts of workers.", ("process",),
        lambda source: {(str(worker.number),): worker.starts for worker in source.workers if worker.number}),
    ("refunded_seconds", "Time that was not charged because the arena was late.", (),
        lambda source: _one(source.counts.refunded_s)),
    ("messages", "Messages from bots.", (), lambda source: _one(source.counts.messages)),
    ("messages_refused", "Messages from bots that were refused, by reason.", ("reason",),
        lambda source: {(refusal_word(at),): number for at, number in source.counts.messages_refused.items()}),
    ("streams_opened", "Streams that said hello.", (), lambda source: _one(source.counts.streams_opened)),
    ("streams_closed", "Streams that ended, by reason.", ("reason",),
        lambda source: {(reason,): number for reason, number in source.counts.streams_closed.items()}),
    ("calls", "Calls that ended, by gRPC's status.", ("call", "code"), lambda source: source.counts.calls),
    ("calls_refused", "Calls that were refused, by reason.", ("reason",),
        lambda source: {(reason,): number for reason, number in source.counts.calls_refused.items()}),
    ("journal_written_bytes", "Bytes written to the journal.", (),
        lambda source: _one(source.journal.written_bytes)),
)
_LAG_COUNTERS: Final[tuple[_Counter, ...]] = (
    ("loop_ticks", "Ticks of the lag meter.", (), lambda source: _one(source.pauses.ticks)),
    ("loop_pauses", "Ticks over 20 ms late.", (), lambda source: _one(source.pauses.pauses)),
    ("loop_paused_seconds", "Sum of these pauses.", (), lambda source: _one(source.pauses.paused_s)),
)
_TIMINGS: Final[tuple[_Timing, ...]] = (
    ("charged_seconds", "Time charged to a bot for a decision.", lambda source: source.counts.charged),
    ("turnaround_seconds", "Time from the arrival of an answer to the sending of the next ask, including the journal.",
        lambda source: source.counts.turnaround),
    ("journal_write_seconds", "Writes of the journal.", lambda source: source.counts.journal_write),
    ("journal_sync_seconds", "Syncs of the journal, until their end is known.", lambda source: source.counts.journal_sync),
)
# fmt: on


def families(source: MetricsSource) -> list[Metric]:
    """Return the metrics that are in memory. Call it on the thread of the arena."""
    measured = source.lag is not None
    return [
        _info("build", "The version of the arena.", {"version": arena_version()}),
        *(_gauge(name, text, read(source)) for name, text, read in _GAUGES),
        *(_gauge(name, text, read(source)) for name, text, read in _LAG_GAUGES if measured),
        _gauges(
            "worker_matches",
            "Matches in play at workers.",
            "speed_class",
            _by_class(_worker_matches(source)),
        ),
        *(_counter(name, text, labels, read(source)) for name, text, labels, read in _COUNTERS),
        *(
            _counter(name, text, labels, read(source))
            for name, text, labels, read in _LAG_COUNTERS
            if measured
        ),
        *(_histogram(name, text, read(source)) for name, text, read in _TIMINGS),
        *_of_the_machine(source),
    ]


def _worker_matches(source: MetricsSource) -> Mapping[int | None, int]:
    """Return the matches of the connected workers by speed class; None is the arena's own machine."""
    matches = Counter[int | None]()
    for worker in source.workers:
        if worker.number:
            matches[worker.speed_class if worker.name else None] += worker.matches
    return matches


def _of_the_machine(source: MetricsSource) -> Iterator[Metric]:
    """Yield the metrics that some systems do not have, or not at all times."""
    if source.connections is not None:
        yield _gauge("connections", "Connections with clients.", source.connections.open)
        cut = _one(source.connections.cut)
        yield _counter(
            "connections_cut", "Connections that were closed because they flooded.", (), cut
        )
    with contextlib.suppress(OSError):
        total, _, free = shutil.disk_usage(source.data)
        yield _gauge("disk_bytes", "Size of the disk of the data folder.", total)
        yield _gauge("disk_free_bytes", "Room on the disk of the data folder.", free)
    yield _gauge(
        "backup_timestamp_seconds",
        "Time when the newest backup was begun; 0 without a backup.",
        last_backup_unix_s(source.data),
    )
    if source.certificate is not None:
        yield _gauge(
            "certificate_expires_timestamp_seconds",
            "When the certificate in use expires.",
            source.certificate.expires_unix_s,
        )
    with contextlib.suppress(RuntimeError):
        yield _gauge("process_tasks", "Tasks of the host loop.", len(asyncio.all_tasks()))


def of_the_store(
    figures: StoreFigures | None, waiting_again: Mapping[int | None, int]
) -> Iterator[Metric]:
    """Yield the metrics that are read from the store; a store that does not answer has only one of them.

    `waiting_again` has the numbers of deal-sets that were begun and that no worker has now, by speed class.
    """
    yield _gauge("store_up", "1 if the store answered.", figures is not None)
    if figures is None:
        return
    yield _gauge("store_read_seconds", "Time to read the figures of the store.", figures.read_s)
    states = {(state.value,): number for state, number in figures.competitions.items()}
    yield _gauges("competitions", "Competitions, by state.", "state", states)
    yield _gauge(
        "competitions_paused_by_error",
        "Competitions that the arena paused because of an error.",
        figures.paused_by_arena,
    )
    yield _gauge(
        "versions_waiting",
        "Submitted versions that are not qualified yet.",
        figures.waiting_versions,
    )
    waiting = Counter(figures.waiting_deal_sets)
    waiting.update(+Counter(waiting_again))
    yield _gauges(
        "deal_sets_waiting",
        "Deal-sets of running competitions that may begin, and that no worker has.",
        "speed_class",
        _by_class(waiting),
    )
    yield _gauge(
        "comparisons_open", "Comparisons of owners without a verdict.", figures.open_comparisons
    )


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value=value)


def _gauges(name: str, text: str, label: str, values: Mapping[tuple[str], float]) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, text, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric(key, value)
    return family


def _by_class(values: Mapping[int | None, int]) -> Mapping[tuple[str], int]:
    """Values by the label of a speed class, which is empty for the arena's own machine."""
    return {("" if key is None else str(key),): value for key, value in values.items()}


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


class _MetricsRead(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


async def metrics_page(source: MetricsSource) -> bytes:
    """Return the metrics as Prometheus's text. Call it in the host loop."""
    stored: Iterable[Metric] = ()
    if source.store is not None:
        stored = of_the_store(await source.store.figures(), source.waiting_again)
    metrics = [*families(source), *stored]
    return await asyncio.to_thread(_text, metrics)


def _text(metrics: Iterable[Metric]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_MetricsRead(metrics))
    ProcessCollector(registry=registry)
    return generate_latest(registry)

"""The status of an arena, read from its parts."""

import asyncio
import json
import math
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from prometheus_client import ProcessCollector

from arena.api.metrics_source import DEAL_STEPS, MetricsSource, refusal_word
from arena.api.status_page import MatchCounts, StatusPage
from arena.live.metrics import Histogram
from arena.store.data_folder import arena_version


async def status_page(source: MetricsSource) -> bytes:
    """Return the status as JSON. Call it in the host loop; files are read and text is made on other threads."""
    process = await asyncio.to_thread(_process)
    page = status(source, process)
    return await asyncio.to_thread(lambda: json.dumps(asdict(page)).encode())


def status(source: MetricsSource, process: Mapping[str, float]) -> StatusPage:
    """Return the status of all parts at one moment. Call it on the thread of the arena."""
    arena, counts = source.arena, source.counts
    games = dict(counts.games)
    ended: Counter[str] = Counter()
    for game in games.values():
        ended.update({ending.name.lower(): number for ending, number in game.ended.items()})
    messages = {refusal_word(reason): n for reason, n in counts.messages_refused.items()}
    clients, pauses = source.connections, source.pauses
    return StatusPage(
        version=arena_version(),
        draining=arena.draining,
        matches=MatchCounts(
            in_play=len(arena.matches.referee.runners),
            begun=sum(game.begun for game in games.values()),
            ended=_most_first(ended),
            aborted=_most_first(_named(counts.aborted)),
            taken=source.takes_matches,
            refused=source.refused_matches,
        ),
        bots={"connected": source.connected_bots, "known": len(arena.sessions)},
        connections={
            "open": 0 if clients is None else clients.open,
            "cut": 0 if clients is None else clients.cut,
        },
        waiting_bytes=sum(session.queued[1] for session in arena.sessions),
        decisions=_most_first({name: game.decisions for name, game in games.items()}),
        faults=_most_first(_named(counts.faults)),
        refused={"calls": _most_first(counts.calls_refused), "messages": _most_first(messages)},
        times_ms={
            "charged": _quantiles(counts.charged),
            "turnaround": _quantiles(counts.turnaround),
            "journal_sync": _quantiles(counts.journal_sync),
        },
        lag={
            "late_p99_ms": round(source.late_p99_ms, 1),
            "pauses": pauses.pauses,
            "paused_s": round(pauses.paused_s, 3),
            "longest_pause_ms": round(pauses.longest_pause_s * 1000, 1),
            "refunded_s": round(counts.refunded_s, 3),
        },
        journal={
            "written_bytes": source.journal.written_bytes,
            "unsynced_bytes": source.journal.unsynced_bytes,
        },
        deal_sets=_most_first({step: source.deal_log.counts[step] for step in DEAL_STEPS}),
        process=process,
        workers=tuple(source.workers),
        placements=tuple(source.placements),
    )


def _named(counts: Mapping[Any, int]) -> dict[str, int]:
    return {kind.name.lower(): number for kind, number in counts.items()}


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts above 0, the greatest first."""
    return {name: n for name, n in sorted(counts.items(), key=lambda row: (-row[1], row)) if n}


def _quantiles(histogram: Histogram) -> dict[str, float | None]:
    p50, p99 = (_ms(histogram.quantile_s(share)) for share in (0.5, 0.99))
    return {"count": sum(histogram.counts), "p50": p50, "p99": p99}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None or math.isinf(seconds) else seconds * 1000


def _process() -> dict[str, float]:
    """Return the system's figures of the process. It reads files, so call it on another thread than the loop's."""
    samples = {
        sample.name: sample.value
        for family in ProcessCollector(registry=None).collect()
        for sample in family.samples
    }
    return {
        "resident_bytes": int(samples.get("process_resident_memory_bytes", 0)),
        "open_files": int(samples.get("process_open_fds", 0)),
        "threads": threading.active_count(),
        "cpu_s": samples.get("process_cpu_seconds_total", 0.0),
        "started_unix_s": samples.get("process_start_time_seconds", 0.0),
    }

"""How an arena is doing, as the JSON that `arena status` reads.

It holds numbers and words from fixed lists: nothing of a bot, a match, a card or a token.
"""

import asyncio
import json
import math
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from prometheus_client import ProcessCollector

from arena.server.counts import Histogram
from arena.server.data_folder import arena_version
from arena.server.services.watched import DEAL_STEPS, Watched, refusal_word


async def status_page(watched: Watched) -> bytes:
    """The status as JSON. Call it in the host loop."""
    told = status(watched)
    return await asyncio.to_thread(_written, told)


def status(watched: Watched) -> dict[str, Any]:
    """All but what is told of the process, as it stands. Call it on the thread of the arena.

    Numbers count from the start of the arena. Times are the upper bounds of the buckets they
    fell in, in milliseconds; null if nothing was counted, or it was above all bounds.
    """
    arena, counts = watched.arena, watched.counts
    games = dict(counts.games)
    ended: Counter[str] = Counter()
    for game in games.values():
        ended.update({ending.name.lower(): number for ending, number in game.ended.items()})
    return {
        "version": arena_version(),
        "draining": arena.draining,
        "matches": {
            "in_play": len(arena.matches.referee.tables),
            "begun": sum(game.begun for game in games.values()),
            "ended": _most_first(ended),
            "aborted": _most_first(_named(counts.aborted)),
            "taken": watched.takes_matches,
            "refused": watched.refused_matches,
        },
        "bots": {"connected": watched.connected_bots, "known": len(arena.sessions)},
        "connections": _connections(watched),
        "waiting_bytes": sum(session.queued[1] for session in arena.sessions),
        "decisions": _most_first({name: game.decisions for name, game in games.items()}),
        "faults": _most_first(_named(counts.faults)),
        "refused": {
            "calls": _most_first(counts.calls_refused),
            "messages": _most_first(
                {refusal_word(reason): n for reason, n in counts.messages_refused.items()}
            ),
        },
        "times_ms": {
            "charged": _times_ms(counts.charged),
            "turnaround": _times_ms(counts.turnaround),
            "journal_sync": _times_ms(counts.journal_sync),
        },
        "lag": _lag(watched),
        "journal": {
            "written_bytes": watched.journal.written_bytes,
            "unsynced_bytes": watched.journal.unsynced_bytes,
        },
        "deal_sets": _most_first({step: watched.deal_log.counts[step] for step in DEAL_STEPS}),
        "process": {"threads": threading.active_count()},
        "playing": []
        if arena.elsewhere is None
        else [dict(each) for each in arena.elsewhere.told()],
    }


def _connections(watched: Watched) -> dict[str, int]:
    seen = watched.connections
    return {"open": 0, "cut": 0} if seen is None else {"open": seen.open, "cut": seen.cut}


def _lag(watched: Watched) -> dict[str, float]:
    seen = None if watched.lag is None else watched.lag.counts()
    late_ms = 0.0 if watched.lag is None else watched.lag.p99_ms()
    return {
        "late_p99_ms": round(late_ms, 1),
        "pauses": 0 if seen is None else seen.pauses,
        "paused_s": 0.0 if seen is None else round(seen.paused_s, 3),
        "longest_pause_ms": 0.0 if seen is None else round(seen.longest_pause_s * 1000, 1),
        "refunded_s": round(watched.counts.refunded_s, 3),
    }


def _named(counts: Mapping[Any, int]) -> dict[str, int]:
    """Counts by the names of an enumeration."""
    return {each.name.lower(): number for each, number in counts.items()}


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Those above 0, the greatest first."""
    return {name: n for name, n in sorted(counts.items(), key=lambda each: (-each[1], each)) if n}


def _times_ms(histogram: Histogram) -> dict[str, float | None]:
    p50, p99 = (_ms(histogram.quantile_s(share)) for share in (0.5, 0.99))
    return {"count": sum(histogram.counts), "p50": p50, "p99": p99}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None or math.isinf(seconds) else seconds * 1000


def _written(told: dict[str, Any]) -> bytes:
    """As JSON, with what the system counts of the process. That reads files: not in the loop."""
    samples = {
        sample.name: sample.value
        for family in ProcessCollector(registry=None).collect()
        for sample in family.samples
    }
    process = {
        "resident_bytes": int(samples.get("process_resident_memory_bytes", 0)),
        "open_files": int(samples.get("process_open_fds", 0)),
        "cpu_s": samples.get("process_cpu_seconds_total", 0.0),
        "started_unix_s": samples.get("process_start_time_seconds", 0.0),
    }
    return json.dumps({**told, "process": {**process, **told["process"]}}).encode()

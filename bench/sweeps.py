"""Sweeps: measurements of the arena over one growing parameter, in a run of some minutes.

`bench.plots` draws them. Each is a list of points. Those of the first also have a bare gRPC server, measured in turns.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from arena.games.catalogue import game_by_id
from bench import arena_server, ask_cost, load, paced, trivial, wire
from bench.end_to_end import HANDS
from bench.processes import PATIENCE_S, Failed, Process

Progress = Callable[[str], None]

STREAMS: Final = (2, 4, 8, 32, 64)
"""Numbers of streams, from two, as a match of the trivial game has two seats."""
MATCHES: Final = (1, 8, 64)

PACED_STREAMS: Final = 64
PACES_PER_S: Final = (500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000)
PACE_S: Final = 6.0
LEAST_DECISIONS: Final = 10_000
"""Answers at each pace, enough for the 99.9th percentile."""
SATURATED_MS: Final = 100.0
"""A median above this shows that the server does not keep up; at a higher pace the result would only depend on the
duration."""

HELD_MATCHES: Final = (0, 400, 800, 1_200, 1_600, 2_000)
HELD_STREAMS: Final = 8
HELD_GAMES: Final = (trivial.ID, "pineapple", "democracy")
HELD_DECISIONS: Final = 10
"""Decisions of each seat in each match, after which all wait."""
STILL_S: Final = 1.0
"""Seconds without a decision after which an arena is at rest."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions a second on a number of streams, with a number of matches on each."""

    streams: int
    matches: int
    per_s: float
    bare_per_s: float
    """Round trips a second of the bare server, one at a time on each stream."""
    asks_per_frame: float


@dataclass(frozen=True, slots=True)
class Paced:
    """Turnarounds of a server at an offered number of decisions a second."""

    server: str
    """`arena` or `bare`."""
    offered_per_s: float
    done_per_s: float
    decisions: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    most_ms: float


@dataclass(frozen=True, slots=True)
class Held:
    """The memory of the arena's process with a number of matches in play."""

    game: str
    matches: int
    memory_mb: float
    """Resident memory in MiB."""


def decisions(quick: bool, progress: Progress) -> Iterator[Decisions]:
    """Decisions of the trivial game a second, by streams and matches on each."""
    rounds, seconds = (1, 0.5) if quick else (3, 0.7)
    for streams in STREAMS[::2] if quick else STREAMS:
        for matches in MATCHES:
            case = wire.Case(f"{streams}\N{MULTIPLICATION SIGN}{matches}", streams, matches)
            got = wire.compare(case, rounds, seconds, progress)
            yield Decisions(
                streams,
                matches,
                round(got.arena_per_s),
                round(got.bare_per_s),
                round(got.asks_per_frame, 1),
            )


def turnarounds(quick: bool, progress: Progress) -> Iterator[Paced]:
    """Measure turnarounds of the arena and of a bare server, in turns at each pace."""
    job = arena_server.Job(trivial.ID, PACED_STREAMS, 2, 1, {"turns": 1 << 60})
    with contextlib.ExitStack() as stack:
        arena, lengths = _paced_load(
            stack,
            Process("bench.arena_server", json.dumps(asdict(job))),
            game=trivial.ID,
            first=True,
        )
        bare, _ = _paced_load(
            stack, Process("bench.bare", str(lengths.asked)), answer_bytes=lengths.answered
        )
        sides = {"arena": arena, "bare": bare}
        for pace in PACES_PER_S[:3] if quick else PACES_PER_S:
            seconds = 1.0 if quick else max(PACE_S, LEAST_DECISIONS / pace)
            for name, side in list(sides.items()):
                progress(f"{name} at {pace:,} decisions a second")
                side.tell(json.dumps(asdict(paced.Pace(pace, seconds))))
                found = paced.Turnaround(**json.loads(side.line(seconds)))
                yield Paced(name, pace, **asdict(found))
                if found.p50_ms > SATURATED_MS:
                    del sides[name]


def _paced_load(
    stack: contextlib.ExitStack, server: Process, **play: Any
) -> tuple[Process, paced.Lengths]:
    stack.callback(server.end)
    job = load.Job(server.line(), PACED_STREAMS, **play)
    client = Process("bench.paced", json.dumps(asdict(job)))
    stack.callback(client.end)
    return client, paced.Lengths(**json.loads(client.line()))


def memory(quick: bool, progress: Progress) -> Iterator[Held]:
    """Measure the memory of the arena's process, a new one for each point."""
    for game in HELD_GAMES[:2] if quick else HELD_GAMES:
        for matches in HELD_MATCHES[:3] if quick else HELD_MATCHES:
            progress(f"{matches:,} matches of {game}")
            yield Held(game, matches, round(_held_mb(game, matches), 1))


def _held_mb(game: str, matches: int) -> float:
    on_each = 2 * matches // HELD_STREAMS
    seats = 2 if game == trivial.ID else min(game_by_id(game).seats)
    options: dict[str, object] = {"turns": 1 << 60} if game == trivial.ID else {"hands": HANDS}
    job = arena_server.Job(game, HELD_STREAMS, seats, on_each, options, counts=True)
    with contextlib.ExitStack() as stack:
        server = Process("bench.arena_server", json.dumps(asdict(job)))
        stack.callback(server.end)
        play = load.Job(
            server.line(),
            HELD_STREAMS,
            game,
            on_each,
            first=game == trivial.ID,
            until=HELD_DECISIONS,
        )
        bots = Process("bench.load", json.dumps(asdict(play)))
        stack.callback(bots.end)
        bots.line()
        bots.tell(str(PATIENCE_S * 10))
        _await_rest(server)
        return server.memory_mb


def _await_rest(server: Process) -> None:
    """Wait until an arena has made no decision for `STILL_S`."""
    decided, still_s, end_s = -1, 0.0, time.monotonic() + PATIENCE_S * 4
    while still_s < STILL_S:
        if time.monotonic() > end_s:
            raise Failed("matches that should wait play on")
        time.sleep(0.1)
        server.tell("")
        now = int(server.line())
        decided, still_s = now, still_s + 0.1 if now == decided else 0.0


def asks(quick: bool, progress: Progress) -> Iterator[ask_cost.AskCost]:
    """Measure the CPU time for listing the moves, building the view and encoding an ask."""
    for game in ask_cost.FAMILIES:
        for seats in game.seats:
            progress(f"asks of {game.id}, {seats} seats")
            yield ask_cost.measure(game, seats, 0.05 if quick else 0.6)


SWEEPS: Final[dict[str, tuple[str, Callable[[bool, Progress], Iterator[Any]]]]] = {
    "decisions": ("Decisions a second by streams and matches on each", decisions),
    "turnarounds": ("Turnarounds by decisions offered a second, 64 streams", turnarounds),
    "memory": ("Memory of the arena's process by matches in play", memory),
    "asks": ("An ask by seats", asks),
}
"""The title of the table and the function of each sweep, by name."""


def rows(points: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of a table of points; nested values are only in the JSON."""
    plain = [asdict(point) for point in points]
    heads = [name for name, value in plain[0].items() if not isinstance(value, tuple | list)]
    return heads, [[_cell(point[name]) for name in heads] for point in plain]


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 100 else f"{value:,}"

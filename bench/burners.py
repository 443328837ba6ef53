"""A machine whose bots burn all processors: is the arena late, is an honest bot charged, do pages answer?

A ladder of two honest bots and two that compute in eight threads each (`bench.burning_bot`), in the best sandbox of this
machine, with the pages of `arena web` beside it. Goals: the arena is late by at most 20 ms at the 99th percentile, no
honest bot has a fault, no call is refused, and every page answers.

Run it as a program: `python -m bench.burners --help`.
"""

import json
import statistics
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, Final

import click

from arena.store import open_store
from arena.store.data_folder import store_path
from bench.competitions import LADDER, RANDOM_BOT, begin
from bench.processes import START_S, cpu_s, running, served, status_of

GAME: Final = "sixty_six"
HANDS: Final = 12
BURNER: Final = str(Path(__file__).with_name("burning_bot.py"))
LOOK_S: Final = 0.5
"""Between two looks at the status and at a page."""
PAGE_S: Final = 10.0
"""A page that takes longer did not answer."""
PAGES: Final = ("/", "/live", "/matches", "/competitions/bench")


@click.command()
@click.option("--seconds", default=30.0, show_default=True, help="Duration of the count.")
@click.option("--burners", default=2, show_default=True, help="Bots that compute all the time.")
def main(seconds: float, burners: int) -> None:
    """Play honest bots beside bots that burn all processors, and print how the arena does."""
    bots = {f"honest{at}": RANDOM_BOT for at in range(2)}
    bots |= {f"burner{at}": BURNER for at in range(burners)}
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder)
        begin(data, LADDER.format(game=GAME, hands=HANDS), bots)
        serve, pages = ("-m", "arena", "serve"), ("-m", "arena", "web", "--port", "0")
        words = ("--data", folder)
        with (
            served(*serve, *words) as arena,
            running(*pages, *words, first_line=r"(http://\S+:\d+)") as (_, line),
        ):
            click.echo(json.dumps(_measured(data, arena, line[1], seconds), indent=2))


def _measured(data: Path, arena: int, site: str, seconds: float) -> dict[str, Any]:
    end_s = time.monotonic() + START_S
    while not sum(status_of(data)["decisions"].values()) and time.monotonic() < end_s:
        time.sleep(LOOK_S)
    for page in PAGES:  # the first visit starts what computes pages
        with urllib.request.urlopen(site + page, timeout=START_S) as answer:
            answer.read()
    before, used_s = status_of(data), cpu_s(arena)
    late_ms, pages_ms, unanswered = [], [], 0
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        late_ms.append(status_of(data)["lag"]["late_p99_ms"])
        for page in PAGES:
            began_s = time.perf_counter()
            try:
                with urllib.request.urlopen(site + page, timeout=PAGE_S) as answer:
                    answer.read()
            except OSError:
                unanswered += 1
            pages_ms.append((time.perf_counter() - began_s) * 1000)
        time.sleep(LOOK_S)
    after = status_of(data)
    decisions = sum(after["decisions"].values()) - sum(before["decisions"].values())
    return {
        "decisions": decisions,
        "arena_cpu_share": round((cpu_s(arena) - used_s) / seconds, 3),
        "late_p99_ms": {"median": statistics.median(late_ms), "most": max(late_ms)},
        "faults": _faults(data),
        "refused": after["refused"],
        "pages_ms": {"median": round(statistics.median(pages_ms)), "most": round(max(pages_ms))},
        "pages_unanswered": unanswered,
    }


def _faults(data: Path) -> dict[str, int]:
    """Return how many faults each bot has in matches that have ended."""
    counted: Counter[str] = Counter()
    with open_store(store_path(data)) as store:
        for match in store.matches().find(limit=500):
            for bot, faults in zip(match.bots, match.outcome.faults, strict=True):
                counted[bot] += sum(faults.values())
    return dict(counted)


if __name__ == "__main__":
    main()

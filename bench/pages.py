"""Pages of the site over many matches: the processor that each costs to make again, and its size."""

import gzip
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import urlencode

from arena.api.site_archive import SiteArchive
from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch, open_store
from arena.store.data_folder import store_path
from arena.web.addresses import Links
from arena.web.site import Site

GAMES: Final = ("klaberjass", "sixty_six", "jam", "abstrac")
BOTS: Final = tuple(f"bot-{number}" for number in range(40))
PAGES: Final = (
    ("index", {}),
    ("matches", {}),
    ("matches", {"bot": BOTS[0], "ending": "any"}),
    ("matches.klaberjass.9", {}),
    ("competitions", {}),
    ("bots", {}),
    (f"bots/{BOTS[0]}", {}),
    ("games", {}),
    ("games/klaberjass", {}),
    ("search", {"q": "bot"}),
    ("live", {}),
    ("write", {}),
)
_BATCH: Final = 1_000


def measure(matches: int, progress: Callable[[str], None]) -> list[dict[str, str | float]]:
    """Make every page of a folder with so many matches: the least of several times after a first one that fills caches, and sizes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        progress(f"storing {matches:,} matches")
        _store(folder, matches)
        archive = SiteArchive(folder)
        site = Site(archive)
        costs = [_cost(site, path, query) for path, query in PAGES]
        archive.close()
    return costs


def _cost(site: Site, path: str, query: dict[str, str]) -> dict[str, str | float]:
    body, times = "", []
    for _ in range(6):
        begun_s = time.process_time()
        body = site.page(path, query).html(Links(path))
        times.append(time.process_time() - begun_s)
    named = f"/{path}?{urlencode(query)}" if query else f"/{path}"
    raw = body.encode()
    sizes = {"kb": len(raw) / 1000, "kb_compressed": len(gzip.compress(raw, 5)) / 1000}
    return {"page": named, "cpu_ms": min(times[1:]) * 1000} | sizes


def _store(folder: Path, matches: int) -> None:
    """Store matches of two of the bots each, all of them with replays."""
    random = Random(7)
    with open_store(store_path(folder)) as store:
        for begin in range(0, matches, _BATCH):
            ended = []
            for number in range(begin, min(begin + _BATCH, matches)):
                scores = (random.randrange(500), random.randrange(500))
                places = (1, 2) if scores[0] >= scores[1] else (2, 1)
                outcome = MatchOutcome(
                    f"m{number}", scores, places, "completed", ({}, {}), hands=12,
                    cost=random.randrange(200), costliest_hand=random.randrange(12) + 1,
                )  # fmt: skip
                bots = tuple(random.sample(BOTS, 2))
                ended.append(StoredMatch(outcome, GAMES[number % len(GAMES)], bots, "", number))
            store.matches().record(ended, [match.outcome.match_id for match in ended])

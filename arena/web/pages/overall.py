"""The page of all games: bots ranked across games, in bands of those that cannot be told apart."""

import math
from collections.abc import Sequence
from typing import Final

from arena.api.site_archive import SiteArchive
from arena.results.overall import overall_standings, scores_of
from arena.web import plots
from arena.web.page import Json, Page
from arena.web.pages.counted import counted

LEAST_GAMES: Final = 3
"""A bot in fewer games has no place across games: its score says little beyond those."""
WIDEST: Final = 2.0
"""Nor has one whose interval is wider than this ±: it spans all scores."""


def overall(archive: SiteArchive) -> Page:
    """Make `/overall`: bots ranked across games, each from the games that it plays."""
    games = {game: scores_of(one.results.standings) for game, one in counted(archive).items()}
    rows = [row.as_json() for row in overall_standings(games)]
    placed = [
        row
        for row in rows
        if row["games"] >= LEAST_GAMES and (row["half_width_95"] or math.inf) <= WIDEST
    ]
    drawn = [
        plots.PlottedSkill(row["bot"], 1, row["score"], row["half_width_95"]) for row in placed
    ]
    ends = plots.span(drawn)
    pictures = {
        "bands": bands(placed),
        "bars": {row.bot: plots.interval(row, *ends) for row in drawn},
        "least_games": LEAST_GAMES,
        "widest": WIDEST,
    }
    about = "Bots ranked across games, each from the games that it plays."
    without = [row for row in rows if row not in placed]
    view = {"games": list(games), "rows": placed, "without_place": without}
    return Page("overall.html", "All games", view, pictures, description=about)


def bands(rows: Sequence[Json]) -> Sequence[Sequence[Json]]:
    """Rows, best first, in bands: in each, all intervals overlap that of its first row."""
    parted: list[list[Json]] = []
    for row in rows:
        first = parted[-1][0] if parted else row
        gap = first["score"] - row["score"]
        if not parted or gap > (first["half_width_95"] or 0) + (row["half_width_95"] or 0):
            parted.append([])
        parted[-1].append(row)
    return parted

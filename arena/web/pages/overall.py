"""The page of all games: bots ranked across games, in bands of those that cannot be told apart."""

from collections.abc import Sequence

from arena.api.site_archive import SiteArchive
from arena.results.overall import LEAST_GAMES, WIDEST, overall_standings, scores_of
from arena.web import plots
from arena.web.page import Json, Page
from arena.web.pages.counted import counted


def overall(archive: SiteArchive) -> Page:
    """Make `/overall`: bots ranked across games, each from the games that it plays."""
    games = {game: scores_of(one.results.standings) for game, one in counted(archive).items()}
    view: Json = {"games": list(games)} | overall_standings(games).as_json()
    pictures = {
        "bands": bands(view["rows"]),
        "bars": plots.bars(view["rows"]),
        "least_games": LEAST_GAMES,
        "widest": WIDEST,
    }
    about = "Bots ranked across games, each from the games that it plays."
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

"""Which standings count for a game, and their rows, for all pages that show them; and the page of all games."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.api.public_competition import GameResults
from arena.api.site_archive import SiteArchive
from arena.referee.wire.enums import word_of
from arena.results.overall import (
    LEAST_GAMES,
    WIDEST,
    overall_standings,
    rank_of_standings,
    scores_of,
)
from arena.web import plots
from arena.web.page import Json, Page
from cardarena.v1 import competitions_pb2

_COPIED: Final = (
    "tier",
    "deal_sets",
    "opponents_met",
    "opponents",
    "present_h",
    "matches",
    "wins",
    "draws",
    "losses",
    "faults",
)
"""The columns of standings that pages show unchanged from `arena.contests.standings`."""


class Counted(NamedTuple):
    """The standings that count for a game, and their competition."""

    competition: str
    results: GameResults


def first_to_count(archive: SiteArchive) -> Sequence[competitions_pb2.CompetitionInfo]:
    """Competitions in the order in which their standings count, see `rank_of_standings`; the newest first within it."""
    return sorted(
        archive.competitions(),
        key=lambda info: rank_of_standings(word_of(info, "format"), word_of(info, "state")),
    )


def counted(archive: SiteArchive, game: str = "") -> dict[str, Counted]:
    """Return the standings that count, by game: the first that rank two bots; of one game or of all.

    Standings that rank fewer bots, such as those of a draft, are skipped.
    """
    chosen: dict[str, Counted] = {}
    for info in first_to_count(archive):
        games = {of_info.game for of_info in info.games}
        if chosen.keys() >= games or game not in ("", *games):
            continue
        for results in archive.competition(info.name).games:
            of_results = results.terms["game"]
            if game in ("", of_results) and len(scores_of(results.standings)) > 1:
                chosen.setdefault(of_results, Counted(info.name, results))
    return chosen


def standings_rows(rows: Sequence[Json]) -> Sequence[Json]:
    """Rows of standings for pages: with places as ranges, and one interval, in official standings for all bots together."""
    return [
        {
            "bot": row["bot"],
            "place": place,
            "points": row["points"],
            "note": row["note"],
            "score": row["score"],
            "half_width_95": row["half_width_95_together"] or row["half_width_95"],
            **{column: row[column] for column in _COPIED},
        }
        for row, place in zip(rows, place_ranges(rows), strict=True)
    ]


def first_rows(standings: Json) -> list[Json]:
    """Return the rows with the first place, as `standings_rows` returns them: several if bots share the place."""
    rows = standings["rows"]
    shown = zip(rows, standings_rows(rows), strict=True)
    return [row for stored, row in shown if stored["place"] == 1]


def place_ranges(rows: Sequence[Json]) -> list[str]:
    """Return the place of each row, as a range if bots share it."""
    places = [row["place"] for row in rows]
    shared = Counter(places)
    return [
        ""
        if place is None
        else f"{place}" + (f"–{place + shared[place] - 1}" if shared[place] > 1 else "")
        for place in places
    ]


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

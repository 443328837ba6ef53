"""Which standings count for a game: those that the home page, the game, its bots and its table of leaders show."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.api.public_competition import GameResults
from arena.api.site_archive import SiteArchive
from arena.results.overall import rank_of_standings
from arena.web.page import Json


class Counted(NamedTuple):
    """The standings that count for a game, and their competition."""

    competition: str
    results: GameResults


def first_to_count(summaries: Sequence[Json]) -> Sequence[Json]:
    """Competitions in the order in which their standings count, see `rank_of_standings`; the given order is kept within it."""
    return sorted(summaries, key=lambda row: rank_of_standings(row["format"], row["state"]))


def counted(archive: SiteArchive, game: str = "") -> dict[str, Counted]:
    """The standings that count, by game: the first that rank two bots; of one game or of all.

    Standings that rank fewer, as those of a draft, hide no others.
    """
    chosen: dict[str, Counted] = {}
    for summary in first_to_count(archive.competitions()):
        games = {terms["game"] for terms in summary["games"]}
        if chosen.keys() >= games or game not in ("", *games):
            continue
        for results in archive.competition(summary["competition"]).games:
            ranked = [row for row in results.standings["rows"] if row["score"] is not None]
            if len(ranked) > 1 and game in ("", results.game):
                chosen.setdefault(results.game, Counted(summary["competition"], results))
    return chosen

"""Standings, pairs and prizes as comma-separated values, from the JSON of standings."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from arena.results.deal_sets import bot_of

Json = dict[str, Any]

_COLUMNS: Final = (
    "bot",
    "version",
    "place",
    "points",
    "note",
    "tier",
    "score",
    "half_width_95",
    "half_width_95_together",
    "skill",
    "forfeited",
    "deal_sets",
    "opponents_met",
    "opponents",
    "present_h",
    "matches",
    "wins",
    "draws",
    "losses",
)


def standings_csv(standings: Mapping[str, Any]) -> str:
    """Standings as comma-separated values, a line for each game and bot."""
    rows = [
        {"game": game["game"], "seats": game["seats"]}
        | {name: row[name] for name in _COLUMNS}
        | {"faults": sum(row["faults"].values())}
        for game in standings["games"]
        for row in game["rows"]
    ]
    return _csv(rows)


def prizes(standings: Mapping[str, Any], owners: Mapping[str, str]) -> list[Json]:
    """Return the order of prizes in each game: the places, where bots that share one are ordered by tie-breaks.

    Bots that stay tied share a prize, and there are fewer prizes below it. Unranked and disqualified bots have none.
    `owners` are by bot; a version counts as its bot.
    """
    prized = []
    for game in standings["games"]:
        prize = 1
        for tied in _in_order_of_prizes(game):
            prized += [
                {
                    "game": game["game"],
                    "seats": game["seats"],
                    "prize": prize,
                    "bot": row["bot"],
                    "owner": owners.get(bot_of(row["bot"]), ""),
                    "place": row["place"],
                    "points": row["points"],
                    "score": row["score"],
                    "tied_with": sorted(other["bot"] for other in tied if other is not row),
                }
                for row in tied
            ]
            prize += len(tied)
    return prized


def _in_order_of_prizes(game: Mapping[str, Any]) -> Iterator[list[Json]]:
    rank = {
        bot: number
        for shared in game["prizes"]
        for number, group in enumerate(shared)
        for bot in group
    }

    def order(row: Json) -> tuple[int, int]:
        return row["place"], rank.get(row["bot"], 0)

    ranked = sorted((row for row in game["rows"] if row["place"]), key=order)
    for _, tied in groupby(ranked, order):
        yield list(tied)


def prizes_csv(prized: Sequence[Json]) -> str:
    """Prizes as comma-separated values."""
    return _csv([row | {"tied_with": " ".join(row["tied_with"])} for row in prized])


def pairs_csv(standings: Mapping[str, Any]) -> str:
    """Return the results between each two bots as comma-separated values, a line for each game and pair."""
    return _csv(
        [
            {"game": game["game"], "seats": game["seats"], **pair, "margins_in": game["margins_in"]}
            for game in standings["games"]
            for pair in game["pairs"]
        ]
    )


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["game"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()

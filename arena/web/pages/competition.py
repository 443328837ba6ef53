"""Pages of a competition, of its official standings, and of the newest standings of a game."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import Any, Final

from arena.api.pair_tests import margins_over
from arena.api.public_competition import GameResults, PublicCompetition
from arena.api.site_archive import SiteArchive
from arena.records.phrases import count
from arena.web import plots
from arena.web.addresses import NoSuchPage, slug
from arena.web.page import Json, Page
from arena.web.pages.counted import counted
from arena.web.rendering import faults_per_match, fraction, game_title, signed

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
"""The columns of standings that pages show as `arena.contests.standings` has them."""


def competition(archive: SiteArchive, name: str) -> Page:
    """Make `/competitions/NAME`. Raises `NoSuchPage` if there is no such competition."""
    public = archive.competition(name)
    games = tuple(map(_game_view, public.games))
    head = {key: value for key, value in public.standings.items() if key != "games"}
    evidence = list(map(_pictures, games, public.games))
    pictures = {
        "pictures": evidence,
        "games_title": game_title(games[0]["game"]) if len(games) == 1 else f"{len(games)} games",
        "stats": _stats(public, evidence),
        "overall_columns": [
            ("bot", ""),
            ("mean of the games", "n"),
            *((game_title(game["game"]), "n narrow-off") for game in games),
        ],
        "limits": public.summary["limits"],
        "finals": archive.finals(name) if public.games[0].format is None else (),
    }
    title = f"{name}: {pictures['games_title']}"
    view = {"summary": public.summary, "standings": head, "games": games}
    about = f"{title}. {evidence[0]['progress']}. Standings with intervals, matches, and the proof of the deals."
    feed = f"competitions/{slug(name)}"
    return Page("competition.html", title, view, pictures, about, feed=feed)


def _stats(public: PublicCompetition, evidence: Sequence[Json]) -> Sequence[tuple[str, str]]:
    """The figures at the top of the page, each with what it counts."""
    bots, closed = len(public.summary["bots"]), sum(of_game["closed"] for of_game in evidence)
    first = first_rows(public.games[0].standings)
    leads = [(first[0]["bot"], "leads")] if len(first) == len(public.games) == 1 else []
    return [*leads, (f"{bots}", "bots"), (f"{closed:,}", "deal-sets closed")]


def official(archive: SiteArchive, name: str, number: str) -> Page:
    """Make `/competitions/NAME.official-N`: the signed standings, and how to verify them.

    Raises `NoSuchPage` if there are no such standings.
    """
    signed = archive.official(name, int(number))
    pictures = {
        "rows": [standings_rows(of_game["rows"]) for of_game in signed["games"]],
        "ranked_by": [of_game["ranked_by"] for of_game in signed["games"]],
    }
    about = f"Signed standings of the competition {name}, and the deal-sets that they follow from."
    title = f"Official standings {number} of {name}"
    return Page("official.html", title, signed, pictures, about)


def collusion(archive: SiteArchive, name: str) -> Page:
    """Make `/competitions/NAME.collusion`, for organisers: which owners' bots may help each other, and which workers a bot.

    Raises `NoSuchPage` if there is no such competition.
    """
    return Page("collusion.html", f"Collusion in {name}", archive.collusion(name))


class Order(StrEnum):
    """A sort order of the rows of standings."""

    RANK = "rank"
    BOT = "bot"
    DEAL_SETS = "deal-sets"
    FAULTS = "faults"


_SORT_KEYS: Final[Mapping[Order, Callable[[Json], Any]]] = {
    Order.BOT: lambda row: row["bot"].casefold(),
    Order.DEAL_SETS: lambda row: -row["deal_sets"],
    Order.FAULTS: lambda row: -(faults_per_match(row) or 0.0),
}


def standings_path(game_id: str, order: Order = Order.RANK) -> str:
    """The path of a game's standings in an order."""
    return f"standings/{game_id}" + ("" if order is Order.RANK else f".by-{order}")


def standings(archive: SiteArchive, game_id: str, by: str) -> Page:
    """Make `/standings/GAME`: the standings that count for the game, see `arena.web.pages.counted`.

    Raises `NoSuchPage` if no competition has the game.
    """
    names = archive.of_game(game_id)
    if not names:
        raise NoSuchPage(f"no competition has the game {game_id!r}", "competitions")
    of_game = counted(archive, game_id).get(game_id)
    name = of_game.competition if of_game else names[0]
    public = archive.competition(name)
    results = next(of_game for of_game in public.games if of_game.game == game_id)
    game, order = _game_view(results), Order(by or Order.RANK)
    rows = list(game["standings"])
    if order is not Order.RANK:
        rows.sort(key=_SORT_KEYS[order])
    about = (
        f"The bots that play {game_title(game_id)}, by skill with its interval, and their faults."
    )
    return Page(
        "standings.html",
        f"Standings of {game_title(game_id)}",
        {"competition": name, "game": game},
        {
            "rows": rows,
            "evidence": _pictures(game, results),
            "live": public.standings["live"],
            "sorts": {
                str(other): standings_path(game_id, other) for other in Order if other is not order
            },
            "others": [other for other in names if other != name],
        },
        about,
    )


def _game_view(results: GameResults) -> Json:
    """A game of a competition.

    `ranked_by`, `problem` and `needed` are those of `arena.contests.standings`. `prizes` are the orders of bots that
    share a place, `cycles` bots of which each is better than the next, and `better` the chances of `_better`.
    """
    standings = results.standings
    return {
        "game": results.game,
        "format": results.format,
        "ranked_by": standings["ranked_by"],
        "problem": standings["problem"],
        "needed": standings["needed"],
        "standings": standings_rows(standings["rows"]),
        "prizes": [order for order in standings["prizes"] if len(order) > 1],
        "cycles": standings["cycles"],
        "rounds": results.rounds,
        "better": _better(standings["pairs"]),
        "terms": results.terms,
        "deal_sets": results.deal_sets,
    }


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


def _better(pairs: Sequence[Json]) -> Mapping[str, Mapping[str, float]]:
    """The chance of a bot to be better than another one, by both names; pairs that met only."""
    chances: dict[str, dict[str, float]] = {}
    for pair in pairs:
        if pair["chance"] is not None:
            chances.setdefault(pair["bot"], {})[pair["other"]] = pair["chance"]
            chances.setdefault(pair["other"], {})[pair["bot"]] = 1 - pair["chance"]
    return chances


def first_rows(standings: Json) -> list[Json]:
    """The rows with the first place: several if bots share it."""
    return [row for row in standings["rows"] if row["place"] == 1]


def place_ranges(rows: Sequence[Json]) -> list[str]:
    """The place of each row, as a range if bots share it."""
    places = [row["place"] for row in rows]
    shared = Counter(places)
    return [
        ""
        if place is None
        else f"{place}" + (f"–{place + shared[place] - 1}" if shared[place] > 1 else "")
        for place in places
    ]


# Parts of the HTML that JSON does not have: plots, cross-tables and brackets.


_LEAST_UNDECIDED: Final = 0.051
"""The least chance that a cell shows of a pair whose sequential test is not decided: not one of the surest shades."""
_MOST_COMPARED: Final = 20
"""The most bots of a table of pairs."""
_BRACKET_SCORES: Final = {
    "duels": "Figures are margins over the other bot, in {margins_in}.",
    "tables": "Figures are skill among the bots of the table, in points a match.",
    "groups": "Figures are points in the group.",
}


def _pictures(game: Json, results: GameResults) -> Json:
    rows, by_skill = game["standings"], game["ranked_by"] == "skill"
    drawn = [plotted(row["bot"], row) for row in rows]
    ends = plots.span(drawn)
    duels = "duels" if results.terms["seats"] == 2 else "tables"
    rounds = _with_matches(results)
    states = Counter(deal_set["state"] for deal_set in results.deal_sets)
    shown = [deal_set for deal_set in results.deal_sets if deal_set["matches"]]
    closed, planned, void = states["closed"], len(results.deal_sets), states["void"]
    progress = f"{closed:,} of {count(planned, 'deal-set')} closed" + (
        f", {void} void" if void else ""
    )
    return {
        "closed": closed,
        "planned": planned - void,
        "progress": progress,
        "newest": shown[-1]["matches"][0] if shown else "",
        "bars": {row.bot: plots.interval(row, *ends) for row in drawn},
        "tiers": _tiers(rows) if by_skill else (),
        "pairs": _pairs(rows, game["better"], results) if by_skill else None,
        "test": _test(results),
        "cross_table": _cross_table(rows, rounds) if results.format == "swiss" else (),
        "brackets": _brackets(rounds) if results.format in {"knockout", "groups"} else {},
        "points": results.format == "groups",
        "bracket_scores": _BRACKET_SCORES[
            "groups" if results.format == "groups" else duels
        ].format_map(results.standings),
    }


def plotted(label: str, row: Json) -> plots.PlottedSkill:
    """The skill of a row of standings, for a plot."""
    return plots.PlottedSkill(label, row["tier"], row["score"], row["half_width_95"])


def _tiers(rows: Sequence[Json]) -> Sequence[tuple[str, Sequence[Json]]]:
    """The rows of each tier below its heading; those without a tier come last."""
    tiers: dict[int, list[Json]] = {}
    for row in rows:
        tiers.setdefault(row["tier"] or 0, []).append(row)
    named = [
        (f"Tier {tier} · " + ("cannot be told apart" if len(of_tier) > 1 else "alone"), of_tier)
        for tier, of_tier in sorted(tiers.items())
        if tier
    ]
    return [*named, ("Not ranked", tiers[0])] if 0 in tiers else named


def _with_matches(results: GameResults) -> Sequence[Json]:
    """The groups of all rounds, each with the public matches of its deal-sets, and a strip of margins if it has two bots."""
    left: dict[frozenset[str], list[Json]] = {}
    for deal_set in results.deal_sets:
        if deal_set["matches"]:
            left.setdefault(frozenset(deal_set["bots"]), []).append(deal_set)
    used: Counter[frozenset[str]] = Counter()
    groups = []
    for group in results.rounds:
        bots, number = frozenset(group["bots"]), group["deal_sets"]
        played, begin = left.get(bots, ())[used[bots] :][:number], used[bots]
        used[bots] += number
        strip, pair = None, ""
        if len(group["bots"]) == 2 and None not in bots:
            one, other = group["bots"]
            pair = f"bots/{slug(one)}.vs-{slug(other)}" if played else ""
            margins = margins_over(results.margins, one, other)[begin : begin + number]
            label = f"margins of {one} over {other} in {len(margins)} deal-sets"
            strip = plots.strip(margins, label, decided="decided" in group["note"])
        matches = [match for deal_set in played for match in deal_set["matches"]]
        newest = matches[-1] if matches else ""
        groups.append({**group, "matches": matches, "newest": newest, "pair": pair, "strip": strip})
    return groups


def _cross_table(rows: Sequence[Json], meetings: Sequence[Json]) -> Sequence[Json]:
    """The rows of a Swiss: numbers from 1, to which cells of other rows refer, and a cell for each round."""
    rounds = [list(groups) for _, groups in itertools.groupby(meetings, key=itemgetter("stage"))]
    numbers = {row["bot"]: number for number, row in enumerate(rows, 1)}
    return [
        {
            "number": numbers[row["bot"]],
            "row": row,
            "cells": [_cell(row["bot"], groups, numbers) for groups in rounds],
        }
        for row in rows
    ]


def _cell(bot: str, groups: Sequence[Json], numbers: Mapping[str, int]) -> Json:
    """A bot's round in a cross-table, as shown and as spoken, with its colour and its first match."""
    group = next((group for group in groups if bot in group["bots"]), None)
    if group is None:
        return {"text": "", "spoken": "not drawn", "css": "none", "match": ""}
    score = group["scores"][group["bots"].index(bot)] if group["scores"] else None
    others = [str(other) for other in group["bots"] if other != bot]
    match = next(iter(group["matches"]), "")
    if not others:
        spoken = f"bye, {fraction(score or 0)} points"
        return {"text": "bye", "spoken": spoken, "css": "none", "match": ""}
    met = " ".join(str(numbers.get(other, other)) for other in others)
    against = f"against {', '.join(others)}"
    if score is None:
        return {"text": f"… {met}", "spoken": f"not over, {against}", "css": "none", "match": match}
    share = score / len(others)
    css = "h7" if share > 0.5 else "h4" if share == 0.5 else "h1"
    if len(others) == 1:
        sign, word = {1.0: ("+", "won"), 0.5: ("=", "drawn"), 0.0: ("−", "lost")}[score]
        return {"text": f"{sign}{met}", "spoken": f"{word} {against}", "css": css, "match": match}
    points = fraction(score)
    return {
        "text": f"{points} ({met})",
        "spoken": f"{points} points {against}",
        "css": css,
        "match": match,
    }


def _brackets(rounds: Sequence[Json]) -> Json:
    """The parts of a bracket by name, each with its stages by name, which are columns."""
    parts: dict[str, dict[str, list[Json]]] = {}
    double = any(group["stage"].startswith("losers'") for group in rounds)
    for group in rounds:
        part = "Bracket"
        if group["stage"].startswith("group "):
            part = "Groups"
        elif group["stage"] == "finals":
            part = "Finals"
        elif group["stage"].startswith("losers'"):
            part = "Losers' bracket"
        elif "grand" in group["stage"]:
            part = "Grand final"
        elif double:
            part = "Winners' bracket"
        parts.setdefault(part, {}).setdefault(group["stage"], []).append(group)
    return parts


def _pairs(
    rows: Sequence[Json], better: Mapping[str, Mapping[str, float]], results: GameResults
) -> Json | None:
    """The chance that each bot is better than each other one, as the cells of a table."""
    bots = [row["bot"] for row in rows if row["score"] is not None][:_MOST_COMPARED]
    if len(bots) < 2:
        return None

    decided = {
        frozenset((pair["bot"], pair["other"]))
        for pair in results.standings["pairs"]
        if pair["better"]
    }

    def cell(one: str, other: str) -> Json:
        chance = better.get(one, {}).get(other)
        if one == other:
            return {"text": "", "css": "self", "path": ""}
        path = f"bots/{slug(one)}.vs-{slug(other)}"
        if chance is not None:
            if frozenset((one, other)) not in decided:  # never surer than the test of the two
                chance = min(max(chance, _LEAST_UNDECIDED), 1 - _LEAST_UNDECIDED)
            words = plots.chance_words(chance)
            spoken = f"{one} is better than {other} with {words} %"
            return {"text": words, "css": plots.shade(chance), "path": path, "spoken": spoken}
        if not margins_over(results.margins, one, other):
            return {"text": "·", "css": "none", "path": ""}
        spoken = f"{one} has met {other}, and no chance is known yet"
        return {"text": "?", "css": "none", "path": path, "spoken": spoken}

    return {"bots": bots, "cells": [[cell(one, other) for other in bots] for one in bots]}


def _test(results: GameResults) -> Json | None:
    """The sequential test of the two best bots that met: its verdict, plot and last points."""
    test = results.test
    if test is None:
        return None
    one, other, unit = test["one"], test["other"], results.standings["margins_in"]
    path = [plots.PlottedTest(*point) for point in test["path"]]
    last, more = path[-1], test["more"]
    verdict = f"{test['decision'].capitalize()}: {signed(last.mean)} {unit}, {_band(last.low, last.high)}."
    return {
        "one": one,
        "other": other,
        "verdict": verdict + (f" About {more} more deal-sets are needed." if more else ""),
        "rows": [
            (str(tested.deal_sets), signed(tested.mean), _end(tested.low), _end(tested.high))
            for tested in path[-10:]
        ],
        "margins_in": unit,
        "plot": plots.progress_plot(one, other, path, unit),
    }


def _end(value: float) -> str:
    """An end of a band; early bands are unbounded."""
    return signed(value) if math.isfinite(value) else "open"


def _band(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"from {signed(low)} to {signed(high)}"
    return "without a band yet"


def paths(archive: SiteArchive) -> Iterator[str]:
    """The paths of the pages of competitions."""
    yield from (f"competitions/{slug(row['competition'])}" for row in archive.competitions())


def official_paths(archive: SiteArchive) -> Iterator[str]:
    """The paths of the pages of official standings."""
    for row in archive.competitions():
        for number in range(1, row["official"] + 1):
            yield f"competitions/{slug(row['competition'])}.official-{number}"


def standings_paths(archive: SiteArchive) -> Iterator[str]:
    """The paths of the standings of all games of competitions, in each order."""
    games = {terms["game"] for row in archive.competitions() for terms in row["games"]}
    yield from (standings_path(game, order) for game in sorted(games) for order in Order)

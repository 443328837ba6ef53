"""Pages of a competition, of its official standings, and of the newest standings of a game."""

import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from arena.api.pair_tests import margins_over, points
from arena.api.public_competition import GameResults, PublicCompetition
from arena.api.site_archive import SiteArchive
from arena.records.phrases import count
from arena.referee.wire.enums import word_of
from arena.results.worth import ANY_WORTH
from arena.web import plots
from arena.web.addresses import NoSuchPage, slug
from arena.web.page import Json, Page
from arena.web.pages.certainty import (
    MOST_COMPARED,
    challenger_rows,
    chances,
    pairs_table,
    shown_test,
)
from arena.web.pages.counted import counted, first_rows, standings_rows
from arena.web.pages.lists import match_rows
from arena.web.rendering import faults_per_match, fraction, game_title
from cardarena.v1 import lobby_pb2

if TYPE_CHECKING:
    from arena.results.pairs import Pair


def competition(archive: SiteArchive, name: str) -> Page:
    """Make `/competitions/NAME`. Raises `NoSuchPage` if there is no such competition."""
    public = archive.competition(name)
    games = tuple(map(_game_view, public.games))
    head = {key: value for key, value in public.standings.items() if key != "games"}
    info, is_ladder = public.info, public.games[0].format == "ladder"
    is_over = word_of(info, "state") == "finished"
    evidence = [
        _pictures(game, results, is_over=is_over)
        for game, results in zip(games, public.games, strict=True)
    ]
    of_this = lobby_pb2.MatchFilter(competition=name, published=True)
    listed = (*archive.listed(of_this, worth=ANY_WORTH)[0], *archive.listed(of_this)[0])
    of_kinds = {row.worth: row for row in reversed(listed) if row.worth}  # the newest of each
    in_order = (*of_kinds.values(), *(row for row in listed if not row.worth), *listed)
    shown = {row.match.match_id: row for row in in_order if row.match.published}
    pictures = {
        "pictures": evidence,
        "games_title": game_title(games[0]["game"]) if len(games) == 1 else f"{len(games)} games",
        "stats": _stats(public, evidence),
        "overall_columns": [
            ("bot", ""),
            ("mean of the games", "n"),
            *((game_title(game["game"]), "n narrow-off") for game in games),
        ],
        "challenged": [challenger_rows(results, info.challenger) for results in public.games],
        "stories": match_rows([*shown.values()][:STORIES]),
        "shared": [row["bot"] for row in first_rows(public.games[0].standings)]
        if len(games) == 1 and evidence[0]["closed"]
        else (),
        "command": f"arena competition enter {name} BOT",
        "takes_bots": word_of(info, "entry") == "open"
        and (word_of(info, "state") == "draft" or (is_ladder and not is_over)),
        "finals": archive.finals(name) if is_ladder else (),
    }
    title = f"{name}: {pictures['games_title']}"
    view = {"competition": info, "standings": head, "games": games}
    about = f"{title}. {evidence[0]['progress']}. Standings with intervals, matches, and the proof of the deals."
    feed = f"competitions/{slug(name)}"
    return Page("competition.html", title, view, pictures, about, feed=feed)


def _stats(public: PublicCompetition, evidence: Sequence[Json]) -> Sequence[tuple[str, str]]:
    """Return the figures at the top of the page, each with what it counts."""
    closed = sum(of_game["closed"] for of_game in evidence)
    bots = [(f"{len(public.info.bots)}", "bots")]
    if not closed:
        return bots
    first, challenger = first_rows(public.games[0].standings), public.info.challenger
    if challenger:
        met = challenger_rows(public.games[0], challenger)
        beaten = sum(row["verb"] == "beat" for row in met)
        bots.insert(0, (f"{beaten} of {len(met)}", f"beaten by {challenger}"))
    verb = "won" if evidence[0]["over"] else "leads"
    leads = [(first[0]["bot"], verb)] if len(first) == len(public.games) == 1 else []
    return [*leads, *bots, (f"{closed:,}", "deal-sets closed")]


def official(archive: SiteArchive, name: str, number: str) -> Page:
    """Make `/competitions/NAME.official-N`: the signed standings, and how to verify them.

    Raises `NoSuchPage` if there are no such standings.
    """
    signed = archive.official(name, int(number))
    rows = [standings_rows(of_game["rows"]) for of_game in signed["games"]]
    ranked_by = [of_game["ranked_by"] for of_game in signed["games"]]
    pictures = {
        "rows": rows,
        "ranked_by": ranked_by,
        "bars": list(map(plots.bars, rows)),
        "tiers": [
            _tiers(of_game) if rule == "skill" else ()
            for of_game, rule in zip(rows, ranked_by, strict=True)
        ],
    }
    about = f"Signed standings of the competition {name}, and the deal-sets that they follow from."
    title = f"Official standings {number} of {name}"
    return Page("official.html", title, signed, pictures, about)


def collusion(archive: SiteArchive, name: str) -> Page:
    """Make `/competitions/NAME.collusion`, for organisers: owners whose bots may help each other, and workers that may help a bot.

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
    """Return the path of a game's standings in an order."""
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
    results = next(of_game for of_game in public.games if of_game.terms["game"] == game_id)
    game, order = _game_view(results), Order(by or Order.RANK)
    is_over = word_of(public.info, "state") == "finished"
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
            "evidence": _pictures(game, results, is_over=is_over),
            "live": public.standings["live"],
            "sorts": {
                str(other): standings_path(game_id, other) for other in Order if other is not order
            },
            "others": [other for other in names if other != name],
        },
        about,
    )


def _game_view(results: GameResults) -> Json:
    """Return a game of a competition.

    `ranked_by`, `problem` and `needed` are those of `arena.contests.standings`. `prizes` are the orders of bots that
    share a place, `cycles` bots of which each is better than the next, and `better` the chances of `chances`.
    """
    standings = results.standings
    return {
        "game": results.terms["game"],
        "format": results.format,
        "ranked_by": standings["ranked_by"],
        "problem": standings["problem"],
        "needed": standings["needed"],
        "standings": standings_rows(standings["rows"]),
        "prizes": [order for order in standings["prizes"] if len(order) > 1],
        "cycles": standings["cycles"],
        "rounds": results.rounds,
        "better": chances(standings["pairs"]),
        "terms": results.terms,
        "deal_sets": results.deal_sets,
    }


# Parts of the HTML that JSON does not have: plots, cross-tables and brackets.


_BRACKET_SCORES: Final = {
    "duels": "Figures are margins over the other bot, in {margins_in}.",
    "tables": "Figures are skill among the bots of the table, in points a match.",
    "groups": "Figures are points in the group.",
}


STORIES: Final = 3
"""The number of matches of a competition that its page highlights."""


def _pictures(game: Json, results: GameResults, *, is_over: bool = False) -> Json:
    by_skill = game["ranked_by"] == "skill"
    stages = _stage_names(results)
    rows = [{**row, "note": _named(row["note"], stages)} for row in game["standings"]]
    duels = "duels" if results.terms["seats"] == 2 else "tables"
    rounds = _with_matches(results, stages, is_over=is_over)
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
        "waiting": results.waiting,
        "over": is_over,
        "newest": shown[-1]["matches"][0] if shown else "",
        "rows": rows,
        "bars": plots.bars(rows),
        "sparks": _sparks(results, rows) if results.format == "ladder" else {},
        "tiers": _tiers(rows) if by_skill else (),
        "pairs": pairs_table(rows, game["better"], results) if by_skill else None,
        "test": shown_test(results),
        "cross_table": _cross_table(rows, rounds) if results.format == "swiss" else (),
        "brackets": _brackets(rounds) if results.format in {"knockout", "groups"} else {},
        "points": results.format == "groups",
        "bracket_scores": _BRACKET_SCORES[
            "groups" if results.format == "groups" else duels
        ].format_map(results.standings),
    }


def _sparks(results: GameResults, rows: Sequence[Json]) -> Mapping[str, object]:
    """Return the line of each bot; a bot with too few deal-sets has none."""
    drawn = ((row["bot"], spark(results.margins, row["bot"])) for row in rows[:MOST_COMPARED])
    return {bot: line for bot, line in drawn if line}


def spark(margins: "Mapping[Pair, Sequence[float]]", player: str) -> object:
    """Return a bot's mean margin over its opponents after the first deal-sets against each of them; None without enough deal-sets."""
    others = {bot for pair in margins if player in pair for bot in pair} - {player}
    of_pairs = [margins_over(margins, player, other) for other in sorted(others)]
    sums = [tuple(itertools.accumulate(of_pair)) for of_pair in of_pairs if of_pair]
    most = max(map(len, sums), default=0)
    means = [
        statistics.fmean(
            so_far[min(number, len(so_far)) - 1] / min(number, len(so_far)) for so_far in sums
        )
        for number in (points(most) if most else ())
    ]
    return plots.spark(means, f"mean margin, {count(most, 'deal-set')} against an opponent")


def _tiers(rows: Sequence[Json]) -> Sequence[tuple[str, Sequence[Json]]]:
    """Return the rows of each tier below its heading; those without a tier come last."""
    tiers: dict[int, list[Json]] = {}
    for row in rows:
        tiers.setdefault(row["tier"] or 0, []).append(row)
    named = [
        (f"Tier {tier} · " + ("cannot be told apart" if len(of_tier) > 1 else "alone"), of_tier)
        for tier, of_tier in sorted(tiers.items())
        if tier
    ]
    return [*named, ("Not ranked", tiers[0])] if 0 in tiers else named


_STAGES: Final[Mapping[int, str]] = {2: "semi-finals", 4: "quarter-finals"}
"""The names of stages of a single knockout, by their games."""


def _stage_names(results: GameResults) -> Mapping[str, str]:
    """Return the names of the last rounds of a single knockout of two seats."""
    if results.format != "knockout" or any(
        len(group["bots"]) > 2 or group["stage"].startswith("losers'") for group in results.rounds
    ):
        return {}
    games = Counter(group["stage"] for group in results.rounds)
    return {
        stage: _STAGES[number]
        for stage, number in games.items()
        if stage.startswith("round ") and number in _STAGES
    }


def _named(note: str, stages: Mapping[str, str]) -> str:
    """Return a note with the names of its stages."""
    for stage, name in stages.items():
        note = note.replace(stage, name)
    return note.replace("by seed", "level: by seed")


def _how(group: Json) -> str:
    """Return the results of the bots that advance, with the number of deal-sets."""
    number = count(group["deal_sets"], "deal-set") if group["deal_sets"] else ""
    if "by seed" in group["note"]:
        return f"level after {number}: the better seed advances"
    note = group["note"] or ("on points" if group["going_on"] else "")
    return ", ".join(filter(None, (note, number)))


def _with_matches(
    results: GameResults, stages: Mapping[str, str], *, is_over: bool
) -> Sequence[Json]:
    """Return the groups of all rounds, each with the public matches of its deal-sets.

    A group of two bots has a strip of their margins; in larger groups of duels each pair has one, of all its deal-sets.
    The first bot in the finals of a finished competition is their winner.
    """
    winners = [row["bot"] for row in first_rows(results.standings)] if is_over else []
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
        going_on = winners if group["stage"] == "finals" and is_over else group["going_on"]
        stage = stages.get(group["stage"], group["stage"])
        shown = {**group, "going_on": going_on, "stage": stage, "matches": matches}
        pairs = [] if len(group["bots"]) == 2 else _pair_strips(group["bots"], results)
        shown |= {"how": _how(shown), "newest": newest, "pair": pair, "strip": strip}
        groups.append({**shown, "pairs": pairs})
    return groups


def _pair_strips(bots: Sequence[str | None], results: GameResults) -> Sequence[Json]:
    """Return the margins of each two bots of a group of duels, in all their deal-sets."""
    if results.terms["seats"] != 2 or None in bots:
        return ()
    pairs = itertools.combinations(filter(None, bots), 2)
    won: dict[tuple[str, str], int] = {}
    for row in results.standings["pairs"]:
        won[row["bot"], row["other"]] = row["wins"]
        won[row["other"], row["bot"]] = row["losses"]
    return [
        {
            "bots": pair,
            "score": f"{won.get(pair, 0)}–{won.get(pair[::-1], 0)}",
            "strip": plots.strip(margins, f"margins of {pair[0]} over {pair[1]}"),
            "path": f"bots/{slug(pair[0])}.vs-{slug(pair[1])}",
        }
        for pair in pairs
        if (margins := margins_over(results.margins, *pair))
    ]


def _cross_table(rows: Sequence[Json], meetings: Sequence[Json]) -> Sequence[Json]:
    """Return the rows of a Swiss: numbers from 1, to which cells of other rows refer, and a cell for each round."""
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
    """Return a bot's round in a cross-table, in shown and spoken form, with its colour and its first match."""
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
    """Return the parts of a bracket by name, each with its stages by name, which are columns."""
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


def paths(archive: SiteArchive) -> Iterator[str]:
    """Yield the paths of the pages of competitions."""
    yield from (f"competitions/{slug(info.name)}" for info in archive.competitions())


def official_paths(archive: SiteArchive) -> Iterator[str]:
    """Yield the paths of the pages of official standings."""
    for info in archive.competitions():
        for number in range(1, info.official + 1):
            yield f"competitions/{slug(info.name)}.official-{number}"


def standings_paths(archive: SiteArchive) -> Iterator[str]:
    """Yield the paths of the standings of all games of competitions, in each order."""
    games = {game.game for info in archive.competitions() for game in info.games}
    yield from (standings_path(game, order) for game in sorted(games) for order in Order)

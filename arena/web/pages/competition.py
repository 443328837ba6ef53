"""Pages of a competition, of its official standings, and of the newest standings of a game."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from arena.competition.plan_text import FINALS
from arena.web import plots
from arena.web.addresses import NoSuchPage, slug
from arena.web.page import Page
from arena.web.rendering import fraction, game_title
from arena.web.site_archive import (
    PAGE,
    CompetitionSummary,
    DealSetRecord,
    DisplayState,
    GameResults,
    Json,
    SiteArchive,
)

if TYPE_CHECKING:
    from arena.competition.draws import GroupResult

POLLS: Final = 60
"""The number of points in the plot of the sequential test."""


@dataclass(frozen=True, slots=True)
class StandingsRow:
    """A bot in the standings of a game."""

    bot: str
    place: str
    """The place, a range such as `2–3` if bots share it, or empty if the bot has none yet."""
    points: float | None
    """The points in a Swiss; None in other formats."""
    note: str
    """Its result in a knockout or in groups, such as `out in round 2`."""
    score: float | None
    """Skill in points a match, less the penalty for forfeits; None if it is not ranked by skill."""
    half_width_95: float | None
    """Half of the 95 % interval of the skill; in official standings, for all bots together."""
    tier: int | None
    deal_sets: int
    """The number of complete deal-sets."""
    opponents_met: int | None
    """On a ladder, the number of different bots met since its first deal-set; None elsewhere."""
    opponents: int | None
    """On a ladder, the number of bots of other owners that played since then; None elsewhere."""
    present_h: float | None
    """In live standings of a ladder, for how many hours it was connected; None elsewhere."""
    matches: int
    wins: int
    draws: int
    losses: int
    faults: Mapping[str, int]

    @property
    def record(self) -> str:
        """Matches won, drawn and lost: `3-0-1`; empty before the first match."""
        return f"{self.wins}-{self.draws}-{self.losses}" if self.matches else ""

    @property
    def faults_per_match(self) -> float | None:
        """The mean number of faults a match; None before the first match."""
        return sum(self.faults.values()) / self.matches if self.matches else None


@dataclass(frozen=True, slots=True)
class CompetitionGameView:
    """A game of a competition."""

    game: str
    format: str | None
    """None for a ladder."""
    ranked_by: str
    """`skill`, `points` or `bracket`, see `RankingRule` of `arena.competition.standings`."""
    problem: str
    """Why no bot is ranked by skill; empty if bots are."""
    needed: int | None
    """About how many more deal-sets it takes to call a bot better than another by skill; None after the first call,
    and where it is not known."""
    standings: tuple[StandingsRow, ...]
    prizes: Sequence[Sequence[Sequence[str]]]
    """For each shared place, the order of its bots for prizes; bots that stay tied are together."""
    cycles: Sequence[Sequence[str]]
    """Bots of which each is better than the next, and the last better than the first."""
    rounds: "tuple[GroupResult, ...]"
    better: Mapping[str, Mapping[str, float]]
    """The chance of a bot to be better than another one, by both names; pairs that met only."""
    terms: Json
    deal_sets: tuple[DealSetRecord, ...]

    @property
    def planned(self) -> int:
        """The number of drawn deal-sets."""
        return len(self.deal_sets)

    def count(self, state: DisplayState) -> int:
        """The number of deal-sets in a state."""
        return sum(each.state == state for each in self.deal_sets)


@dataclass(frozen=True, slots=True)
class CompetitionView:
    """A competition."""

    summary: CompetitionSummary
    standings: Json
    """The standings of `arena.competition.standings` without their games: whether they are live,
    number, hash, key and signature, the overall standings, and the bots that are out."""
    games: tuple[CompetitionGameView, ...]


def competition(archive: SiteArchive, name: str) -> Page:
    """Make `/competitions/NAME`.

    Raises:
      NoSuchPage: if there is no such competition.
    """
    found = archive.competition(name)
    games = tuple(map(_game_view, found.games))
    head = {key: value for key, value in found.standings.items() if key != "games"}
    of_ladder = f"{name}{FINALS}"
    pictures = {
        "pictures": list(map(_pictures, games, found.games)),
        "finals": [
            each.competition
            for each in archive.competitions()
            if found.games[0].format is None and each.competition.startswith(of_ladder)
        ],
    }
    title = game_title(games[0].game) if len(games) == 1 else f"{len(games)} games"
    view = CompetitionView(found.summary, head, games)
    return Page("competition.html", f"Competition {name}: {title}", view, pictures)


def official(archive: SiteArchive, name: str, number: str) -> Page:
    """Make `/competitions/NAME.official-N`: the signed standings, and how to verify them.

    Raises:
      NoSuchPage: if there are no such standings.
    """
    found = archive.official(name, int(number))
    pictures = {
        "rows": [standings_rows(each["rows"]) for each in found["games"]],
        "ranked_by": [each["ranked_by"] for each in found["games"]],
    }
    return Page("official.html", f"Official standings {number} of {name}", found, pictures)


def collusion(archive: SiteArchive, name: str) -> Page:
    """Make `/competitions/NAME.collusion`, for organisers: which owners' bots may help each other.

    Raises:
      NoSuchPage: if there is no such competition.
    """
    from arena.competition.collusion_report import suspected  # loads numpy

    return Page("collusion.html", f"Collusion in {name}", suspected(archive.record(name)))


class Order(StrEnum):
    """A sort order of the rows of standings."""

    RANK = "rank"
    BOT = "bot"
    DEAL_SETS = "deal-sets"
    FAULTS = "faults"


_SORT_KEYS: Final[Mapping[Order, Callable[[StandingsRow], Any]]] = {
    Order.BOT: lambda row: row.bot.casefold(),
    Order.DEAL_SETS: lambda row: -row.deal_sets,
    Order.FAULTS: lambda row: -(row.faults_per_match or 0.0),
}


def standings_path(game_id: str, order: Order = Order.RANK) -> str:
    """The path of a game's standings in an order."""
    return f"standings/{game_id}" + ("" if order is Order.RANK else f".by-{order}")


def standings(archive: SiteArchive, game_id: str, by: str) -> Page:
    """Make `/standings/GAME`: the standings of the game's newest competition.

    Raises:
      NoSuchPage: if no competition has the game.
    """
    found = archive.of_game(game_id)
    if not found:
        raise NoSuchPage(f"no competition has the game {game_id!r}", "competitions")
    newest = archive.competition(found[0].competition)
    results = next(each for each in newest.games if each.game == game_id)
    game, order = _game_view(results), Order(by or Order.RANK)
    rows = list(game.standings)
    if order is not Order.RANK:
        rows.sort(key=_SORT_KEYS[order])
    return Page(
        "standings.html",
        f"Standings of {game_title(game_id)}",
        {"competition": found[0].competition, "game": game},
        {
            "rows": rows,
            "own": _pictures(game, results),
            "live": newest.standings["live"],
            "sorts": {
                str(each): standings_path(game_id, each) for each in Order if each is not order
            },
            "earlier": [each.competition for each in found[1:]],
        },
    )


def _game_view(found: GameResults) -> CompetitionGameView:
    own = found.standings
    return CompetitionGameView(
        game=found.game,
        format=found.format,
        ranked_by=own["ranked_by"],
        problem=own["problem"],
        needed=own["needed"],
        standings=standings_rows(own["rows"]),
        prizes=[each for each in own["prizes"] if len(each) > 1],
        cycles=own["cycles"],
        rounds=found.rounds,
        better=_better(own["pairs"]),
        terms=found.terms,
        deal_sets=found.deal_sets,
    )


def standings_rows(rows: Sequence[Json]) -> tuple[StandingsRow, ...]:
    """Rows of standings for pages."""
    copied = {each.name for each in fields(StandingsRow)} - {"place", "half_width_95"}
    return tuple(
        StandingsRow(
            place=place,
            half_width_95=row["half_width_95_together"] or row["half_width_95"],
            **{name: row[name] for name in copied},
        )
        for row, place in zip(rows, place_ranges(rows), strict=True)
    )


def _better(pairs: Sequence[Json]) -> Mapping[str, Mapping[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for each in pairs:
        if each["chance"] is not None:
            found.setdefault(each["bot"], {})[each["other"]] = each["chance"]
            found.setdefault(each["other"], {})[each["bot"]] = 1 - each["chance"]
    return found


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


@dataclass(frozen=True, slots=True)
class Cell:
    """A bot's round in a cross-table."""

    text: str
    spoken: str


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A bot in the cross-table of a Swiss."""

    number: int
    """From 1; cells of other rows refer to it."""
    row: StandingsRow
    cells: tuple[Cell, ...]
    """One cell for each round."""


@dataclass(frozen=True, slots=True)
class BracketStage:
    """A column of a bracket."""

    name: str
    groups: "tuple[GroupResult, ...]"


_BRACKET_SCORES: Final = {
    "duels": "Figures are points a deal-set more than the other bot.",
    "tables": "Figures are skill among the bots of the table, in points a match.",
    "groups": "Figures are points in the group.",
}


def _pictures(game: CompetitionGameView, found: GameResults) -> dict[str, Any]:
    rows, by_skill = game.standings, game.ranked_by == "skill"
    duels = "duels" if found.terms["seats"] == 2 else "tables"
    return {
        "skills": plots.standings_plot(
            [
                plots.PlottedSkill(row.bot, row.tier, row.score, row.half_width_95)
                for row in sorted(rows, key=lambda row: -(row.score or -math.inf))
            ]
        ),
        "pairs": _pairs(rows, game.better) if by_skill else None,
        "test": _test(found) if by_skill else None,
        "cross_table": _cross_table(game) if found.format == "swiss" else (),
        "brackets": _brackets(game.rounds) if found.format in {"knockout", "groups"} else (),
        "points": found.format == "groups",
        "bracket_scores": _BRACKET_SCORES["groups" if found.format == "groups" else duels],
    }


def _cross_table(game: CompetitionGameView) -> tuple[CrossRow, ...]:
    rounds = [list(own) for _, own in itertools.groupby(game.rounds, key=lambda each: each.stage)]
    numbers = {row.bot: number for number, row in enumerate(game.standings, 1)}
    return tuple(
        CrossRow(number, row, tuple(_cell(row.bot, each, numbers) for each in rounds))
        for number, row in enumerate(game.standings, 1)
    )


def _cell(bot: str, groups: "Sequence[GroupResult]", numbers: Mapping[str, int]) -> Cell:
    own = next((each for each in groups if bot in each.bots), None)
    if own is None:
        return Cell("", "not drawn")
    score = own.scores[own.bots.index(bot)] if own.scores else None
    others = [str(each) for each in own.bots if each != bot]
    if not others:
        return Cell("bye", f"bye, {fraction(score or 0)} points")
    met = " ".join(str(numbers.get(each, each)) for each in others)
    against = f"against {', '.join(others)}"
    if score is None:
        return Cell(f"… {met}", f"not over, {against}")
    if len(others) == 1:
        sign, word = {1.0: ("+", "won"), 0.5: ("=", "drawn"), 0.0: ("−", "lost")}[score]
        return Cell(f"{sign}{met}", f"{word} {against}")
    return Cell(f"{fraction(score)} ({met})", f"{fraction(score)} points {against}")


def _brackets(rounds: "Sequence[GroupResult]") -> tuple[tuple[str, tuple[BracketStage, ...]], ...]:
    """The parts of a bracket by name, each with its stages."""
    parts: dict[str, dict[str, list[GroupResult]]] = {}
    double = any(each.stage.startswith("losers'") for each in rounds)
    for each in rounds:
        part = "Bracket"
        if each.stage.startswith("group "):
            part = "Groups"
        elif each.stage == "finals":
            part = "Finals"
        elif each.stage.startswith("losers'"):
            part = "Losers' bracket"
        elif "grand" in each.stage:
            part = "Grand final"
        elif double:
            part = "Winners' bracket"
        parts.setdefault(part, {}).setdefault(each.stage, []).append(each)
    return tuple(
        (part, tuple(BracketStage(name, tuple(groups)) for name, groups in stages.items()))
        for part, stages in parts.items()
    )


def _pairs(
    rows: Sequence[StandingsRow], better: Mapping[str, Mapping[str, float]]
) -> dict[str, Any] | None:
    """The chance that each bot is better than each other one: a plot, and the cells of a table."""
    bots = [row.bot for row in rows if row.score is not None][:PAGE]
    if len(bots) < 2:
        return None
    chances = [[better.get(one, {}).get(other) for other in bots] for one in bots]
    cells = [
        [
            ""
            if one == other
            else "not met"
            if chance is None
            else f"{plots.chance_words(chance)} %"
            for other, chance in zip(bots, own, strict=True)
        ]
        for one, own in zip(bots, chances, strict=True)
    ]
    return {"bots": bots, "cells": cells, "plot": plots.pairs_plot(bots, chances)}


def _test(found: GameResults) -> dict[str, Any] | None:
    """The sequential test of the two best bots that met: its verdict, plot and last points."""
    from arena.anytime.verdict import verdict  # loads numpy

    order = [row["bot"] for row in found.standings["rows"]]
    pairs = (
        (one, other)
        for one, other in itertools.combinations(order, 2)
        if len(found.margins.get((min(one, other), max(one, other)), ())) > 1
    )
    one, other = next(pairs, ("", ""))
    if not one:
        return None
    sign = 1 if one < other else -1
    margins = [sign * each for each in found.margins[min(one, other), max(one, other)]]
    points = sorted({*range(1, len(margins) + 1, math.ceil(len(margins) / POLLS)), len(margins)})
    verdicts = [verdict(margins[:point], found.bound) for point in points]
    path = [
        plots.PlottedTest(point, each.mean, each.low, each.high)
        for point, each in zip(points, verdicts, strict=True)
    ]
    last = verdicts[-1]
    more = last.needed.likely if last.needed is not None else None
    said = (
        f"{last.decision.value}, {last.mean:+.2f} points a deal-set, {_band(last.low, last.high)}."
    )
    return {
        "one": one,
        "other": other,
        "said": said + (f" About {more} more deal-sets are needed." if more else ""),
        "rows": [
            (str(each.deal_sets), f"{each.mean:+.2f}", _end(each.low), _end(each.high))
            for each in path[-10:]
        ],
        "plot": plots.progress_plot(one, other, path),
    }


def _end(value: float) -> str:
    """An end of a band; early bands are unbounded."""
    return f"{value:+.2f}" if math.isfinite(value) else "open"


def _band(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"from {low:+.2f} to {high:+.2f}"
    return "without a band yet"


def paths(archive: SiteArchive) -> list[str]:
    """The paths of all pages of this module."""
    summaries = archive.competitions()
    games = sorted({game.game for each in summaries for game in each.games})
    found = [standings_path(game, order) for game in games for order in Order]
    for each in summaries:
        own = f"competitions/{slug(each.competition)}"
        found += [own, *(f"{own}.official-{at}" for at in range(1, each.official + 1))]
    return found

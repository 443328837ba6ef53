"""The standings of a competition as JSON values, computed from its record alone.

This is the only place where bots are ranked. The format decides by what: round robin, gauntlet and ladder rank
by skill with its interval, Swiss and groups by points, knockouts by the bracket. Bots of one tier, of equal points
or of one stage share a place; tie-breaks order prizes alone. Commands, pages, exports and signatures show these standings.

Live standings may be computed at any time. Official ones have intervals that hold for all bots at once and a
hash of all inputs, and are signed as the bytes of `official_bytes`. The same deal-sets give the same bytes.
"""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from arena.anytime.verdict import Decision, Verdict
from arena.competition.draws import FinalPlace, places
from arena.competition.ladder_rows import LEAST_MET, Meetings, meetings, with_rows
from arena.competition.pair_margins import Measure, measure
from arena.competition.pairing import HOUSE
from arena.competition.plan import CompetitionPlan, Format, read_plan
from arena.competition.record import (
    CompetitionRecord,
    DrawnDealSet,
    GameRecord,
    Out,
    bot_of,
)
from arena.competition.tie_breaks import Tied, mutual_margin, prize_order
from arena.rating import pairs
from arena.rating.head_to_head import WinRecord, records
from arena.rating.margin_fit import DealSet, MatchScores, NotComparable, fit
from arena.rating.ranking import Ranked, Row, Standings, par_players, ranked
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, is_complete

METHOD: Final = "margin fit 4"
"""The version of the method. It changes when the same deal-sets give other standings."""

MIN_DEAL_SETS: Final = 10
"""Complete deal-sets that a bot on a ladder needs to be ranked."""

_DIGITS: Final = 6
"""Decimals of numbers in standings: few enough that rounding errors of machines do not show."""


class RankingRule(StrEnum):
    """What decides the places of a format."""

    SKILL = "skill"
    """Bots of one tier, which are not separated, share a place."""
    POINTS = "points"
    """Bots of equal points share a place."""
    BRACKET = "bracket"
    """Bots that went out in one stage share a place."""


RANKED_BY: Final[Mapping[Format | None, RankingRule]] = {
    None: RankingRule.SKILL,  # ladders
    Format.ROUND_ROBIN: RankingRule.SKILL,
    Format.GAUNTLET: RankingRule.SKILL,
    Format.SWISS: RankingRule.POINTS,
    Format.GROUPS: RankingRule.POINTS,
    Format.KNOCKOUT: RankingRule.BRACKET,
}
"""The ranking rule of each format."""

Json = dict[str, Any]


def live_standings(record: CompetitionRecord) -> Json:
    """The standings at present. They are not signed."""
    return _standings(record, official=False) | {"live": True}


def official_standings(record: CompetitionRecord, number: int) -> Json:
    """The official standings of this number."""
    made = _standings(record, official=True)
    return made | {"live": False, "number": number, "inputs_sha256": record.inputs_sha256}


def official_bytes(standings: Json) -> bytes:
    """The bytes of official standings that are stored and signed."""
    return json.dumps(standings, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _standings(record: CompetitionRecord, *, official: bool) -> Json:
    plan = read_plan(record.config)
    made = [
        _GameStandings(plan, number, record, official=official).as_json()
        for number in range(len(plan.games))
    ]
    return {
        "competition": plan.name,
        "kind": str(plan.kind),
        "format": plan.format and str(plan.format),
        "season": plan.season,
        "method": METHOD,
        "games": made,
        "overall": _overall(made) if len(made) > 1 else None,
        "out": [
            {"bot": each.name, "why": str(each.out), "reason": each.reason}
            for each in record.candidates
            if each.out is not None
        ],
    }


class _GameStandings:
    """The standings of one game."""

    def __init__(
        self, plan: CompetitionPlan, number: int, record: CompetitionRecord, *, official: bool
    ) -> None:
        self._plan, self._number, self._record = plan, number, record
        self._official = official
        self._terms = plan.games[number].terms
        self._measure = measure(self._terms)
        game = record.games[number]
        self._counted, current = rated(plan, game, record.disqualified)
        self._game = game
        self._meetings: Mapping[str, Meetings] = {}
        self._below: Mapping[str, str] = {}
        self._retired: frozenset[str] = frozenset()
        if plan.format is None:
            self._set_below(current)
        plans = tuple(each.plan for each in self._counted)
        self._house = {bot for each in plans for bot in each.bots if is_house(bot)}
        self._ranked: Ranked = ranked(plans, game.outcomes, excluded=self._house, below=self._below)
        self._records = records(plans, game.outcomes)
        found = self._ranked.standings
        names = [row.bot for row in found.rows]
        self._chances = {
            (one, other): chance
            for one, chances in zip(names, found.better, strict=True)
            for other, chance in zip(names, chances, strict=True)
        }
        self._placed = self._places()

    def _set_below(self, current: Collection[str]) -> None:
        """Note which players of a ladder are not ranked, each with the reason."""
        plans = [each.plan for each in self._counted]
        owner_of = {each.name: each.owner for each in self._record.candidates}
        gone = {each.name for each in self._record.candidates if each.out is Out.WITHDRAWN}
        played = Counter(bot for each in plans for bot in set(each.bots) if not is_house(bot))
        last = {bot: at for at, each in enumerate(plans) for bot in each.bots}
        self._meetings = meetings(plans, current, owner_of)
        self._retired = frozenset(played) - set(current)

        def why(player: str) -> str:
            if player in self._retired:
                return "retired"
            if bot_of(player) in gone:
                return "withdrawn"
            if played[player] < MIN_DEAL_SETS:
                return f"{played[player]} of {MIN_DEAL_SETS} deal-sets"
            if len(plans) - 1 - last[player] >= MIN_DEAL_SETS * len(current) / self._terms.seats:
                return "absent"
            share = self._meetings[player].share
            return f"met {share:.0%} of its opponents' play" if share < LEAST_MET else ""

        self._below = {player: reason for player in played if (reason := why(player))}

    def as_json(self) -> Json:
        found = self._ranked.standings
        return {
            "game": self._terms.game.id,
            "rules_version": self._terms.game.rules_version,
            "seats": self._terms.seats,
            "fair_deals": not self._terms.seeded,
            "ranked_by": str(RANKED_BY[self._plan.format]),
            "rows": self._rows(found),
            "deal_sets": {"complete": found.complete, "planned": self._planned()},
            "needed": found.needed,
            "problem": found.problem,
            "forfeit_points": _rounded(found.forfeit_points),
            "fallback_skill": _rounded(found.fallback_skill),
            "prizes": self._prizes(found),
            **self._pairs(found),
        }

    def _prizes(self, found: Standings) -> list[list[list[str]]]:
        """For each place that several bots share, the order of prizes by tie-breaks."""
        if self._plan.format is None:
            return []
        skills = {row.bot: row.skill for row in found.rows}
        shared: dict[int, list[str]] = defaultdict(list)
        for each in self._placed:
            shared[each.place].append(each.bot)
        plans = [each.plan for each in self._counted]
        margins = pairs.pair_margins(
            as_measured(each, self._game.outcomes, self._measure, self._house) for each in plans
        )
        seeds = {each.name: each.seed for each in self._record.candidates}
        forfeits = count_forfeits(self._game)
        return [
            [
                list(group)
                for group in prize_order(
                    [
                        Tied(
                            bot,
                            _rounded(skills.get(bot)) or 0.0,
                            mutual_margin(bot, set(bots) - {bot}, margins),
                            forfeits.get(bot, 0),
                            seeds[bot_of(bot)],
                        )
                        for bot in bots
                    ]
                )
            ]
            for bots in shared.values()
            if len(bots) > 1
        ]

    def _planned(self) -> int:
        out = self._record.disqualified
        return sum(
            not each.void and out.isdisjoint(map(bot_of, each.plan.bots))
            for each in self._game.deal_sets
        )

    def _rows(self, found: Standings) -> list[Json]:
        widths: Mapping[str, float | None] = {}
        if self._official:
            widths = self._ranked.simultaneous(seed=self._record.inputs_sha256)
        placed = {each.bot: each for each in self._placed}
        versions = {each.name: each.version for each in self._record.candidates}
        rows = [
            self._row(
                row, placed.get(row.bot), versions.get(bot_of(row.bot), ""), widths.get(row.bot)
            )
            for row in found.rows
            if bot_of(row.bot) not in self._record.disqualified
        ]
        rows.sort(key=lambda row: (row["place"] or math.inf, row["bot"] in self._retired))
        known = {bot_of(row["bot"]) for row in rows} | self._record.disqualified
        # A bot that has not said which games it plays is shown once it has played this one.
        only_game = len(self._plan.games) == 1
        missing = [
            each
            for each in self._record.candidates
            if each.name not in known
            and each.enters(self._number)
            and (only_game or each.games is not None)
        ]
        return rows + [
            self._row(_unplayed(each.name), placed.get(each.name), each.version, None)
            for each in missing
        ]

    def _places(self) -> tuple[FinalPlace, ...]:
        """The places of all bots, by the ranking rule of the format."""
        out = self._record.disqualified
        if RANKED_BY[self._plan.format] is RankingRule.SKILL:
            rows = self._ranked.standings.rows
            tiers = {row.bot: row.tier for row in rows if row.tier and bot_of(row.bot) not in out}
            return tuple(
                FinalPlace(bot, 1 + sum(other < tier for other in tiers.values()), None, "")
                for bot, tier in tiers.items()
            )
        found = places(self._plan, self._number, self._record.candidates, self._game.past())
        return _without(found, out)

    def _pairs(self, found: Standings) -> Json:
        """The pairs of bots, the cycles, and the share of differences that skills leave unexplained."""
        measured = [
            as_measured(each.plan, self._game.outcomes, self._measure, self._house)
            for each in self._counted
        ]
        margins = {
            pair: own
            for pair, own in pairs.pair_margins(measured).items()
            if not self._house.intersection(pair) and not self._retired.intersection(pair)
        }
        decided = pairs.verdicts(margins, self._measure.bound)
        share = None
        if not found.problem:
            try:
                share = pairs.unexplained_share(fit(measured), margins)
            except NotComparable:
                share = None
        return {
            "pairs": [self._pair(*pair, margins[pair], decided[pair]) for pair in sorted(margins)],
            "cycles": [list(each) for each in pairs.cycles(decided)],
            "unexplained": _rounded(share),
        }

    def _row(
        self, row: Row, placed: FinalPlace | None, version: str, simultaneous: float | None
    ) -> Json:
        won = self._records.of_bot.get(row.bot, WinRecord())
        met = self._meetings.get(row.bot)
        return {
            "bot": row.bot,
            "version": short_version(row.bot, version),
            "place": placed.place if placed else None,
            "points": placed.points if placed else None,
            "note": self._below.get(row.bot, placed.note if placed else ""),
            "tier": row.tier,
            "score": _rounded(row.score),
            "half_width_95": _rounded(row.half_width),
            "half_width_95_together": _rounded(simultaneous),
            "skill": _rounded(row.skill),
            "forfeited": _rounded(row.forfeited),
            "deal_sets": row.deal_sets,
            "opponents_met": met.met if met else None,
            "opponents": met.opponents if met else None,
            "present_h": self._present_h(row.bot) if met else None,
            "matches": row.matches,
            "wins": won.wins,
            "draws": won.draws,
            "losses": won.losses,
            "faults": dict(row.faults),
        }

    def _present_h(self, player: str) -> float | None:
        """Hours for which a bot on a ladder was connected; None in official standings, which hold no times."""
        if self._official:
            return None
        present_ms = {each.name: each.present_ms for each in self._record.candidates}
        return round(present_ms.get(bot_of(player), 0) / 3_600_000, 1)

    def _pair(self, one: str, other: str, margins: Sequence[float], found: Verdict) -> Json:
        better = {Decision.BETTER: one, Decision.WORSE: other}
        met = self._records.of_pair.get((one, other), WinRecord())
        return {
            "bot": one,
            "other": other,
            "deal_sets": len(margins),
            "margin": _rounded(found.mean),
            "low": _rounded(found.low),
            "high": _rounded(found.high),
            "decision": str(found.decision),
            "better": better.get(found.decision),
            "approximate": found.approximate,
            "chance": _rounded(self._chances.get((one, other))),
            "wins": met.wins,
            "draws": met.draws,
            "losses": met.losses,
        }


def short_version(bot: str, version: str) -> str:
    """A registered version as it is, or else a short hash of the contents; empty if the version is unknown."""
    if version.startswith(f"{bot}@"):
        return version
    return hashlib.sha256(version.encode()).hexdigest()[:8] if version else ""


def is_house(bot: str) -> bool:
    """Whether it is one of the arena's own bots, which fill empty seats and are not ranked."""
    return bot.startswith(HOUSE)


def counted(game: GameRecord, disqualified: frozenset[str]) -> tuple[DrawnDealSet, ...]:
    """The deal-sets that count."""
    return tuple(
        each
        for each in game.deal_sets
        if not each.void
        and is_complete(each.plan, game.outcomes)
        and disqualified.isdisjoint(map(bot_of, each.plan.bots))
    )


def rated(
    plan: CompetitionPlan, game: GameRecord, disqualified: frozenset[str]
) -> tuple[tuple[DrawnDealSet, ...], frozenset[str]]:
    """The deal-sets that count, with the players of rows as bots, and the players that may be ranked."""
    found = counted(game, disqualified)
    if plan.format is None:
        return with_rows(found, plan.ladder.row)
    return found, frozenset(bot for each in found for bot in each.plan.bots)


def as_measured(
    plan: DealSetPlan, outcomes: Mapping[str, MatchOutcome], by: Measure, house: Collection[str]
) -> DealSet:
    """A deal-set with the scores for comparing pairs: points, or wins in a race."""
    tables = []
    for match in plan.matches:
        scores = outcomes[match.id].scores
        if by.races:  # bots beaten less bots that were better, so that no two differ by more than 1
            most = 2 * (len(scores) - 1)
            scores = tuple(
                sum((own > other) - (own < other) for other in scores) / most for own in scores
            )
        tables.append(MatchScores(par_players(match.bots, plan.bots, house), scores))
    return DealSet(tuple(tables))


def _unplayed(bot: str) -> Row:
    return Row(bot, None, None, None, None, 0, None, 0, {})


def _without(found: Sequence[FinalPlace], disqualified: frozenset[str]) -> tuple[FinalPlace, ...]:
    """The places without disqualified bots; bots below them move up."""
    others = [each for each in found if each.bot not in disqualified]
    return tuple(
        replace(each, place=1 + sum(other.place < each.place for other in others))
        for each in others
    )


def _overall(games: Sequence[Json]) -> list[Json]:
    """The scores of each bot in units of each game's spread, and their mean over all games.

    A bot has a mean if it is ranked in every game, and another bot is too: the mean of a single bot could be
    compared with none. Bots without a mean come last. Errors of games count as independent, and spreads as known.
    """
    rows: list[dict[str, Json]] = [
        {row["bot"]: row for row in game["rows"] if row["score"] is not None} for game in games
    ]
    spreads = [_spread([row["score"] for row in each.values()]) for each in rows]
    in_all = set.intersection(*map(set, rows))
    found = []
    for bot in sorted(set().union(*rows)):
        own = [each.get(bot, _NO_SCORE) for each in rows]
        units, widths = (
            [_in_units(row[name], spread) for row, spread in zip(own, spreads, strict=True)]
            for name in ("score", "half_width_95")
        )
        known = [each for each in units if each is not None]
        errors = [each for each in widths if each is not None]
        score = half_width = None
        if len(in_all) > 1 and bot in in_all:
            score = _rounded(math.fsum(known) / len(known))
            whole = len(errors) == len(widths)
            half_width = _rounded(math.hypot(*errors) / len(errors)) if whole else None
        found.append(
            {
                "bot": bot,
                "score": score,
                "half_width_95": half_width,
                "by_game": [_rounded(each) for each in units],
            }
        )
    return sorted(found, key=lambda row: (-_or_least(row["score"]), row["bot"]))


_NO_SCORE: Final[Json] = {"score": None, "half_width_95": None}


def _in_units(value: float | None, spread: float) -> float | None:
    if value is None:
        return None
    return value / spread if spread else 0.0


def _or_least(value: float | None) -> float:
    return -math.inf if value is None else value


def _spread(scores: Sequence[float]) -> float:
    """The standard deviation of a game's scores."""
    if len(scores) < 2:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.sqrt(math.fsum((each - mean) ** 2 for each in scores) / len(scores))


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, _DIGITS) + 0.0  # turns -0.0 into 0.0


def count_forfeits(game: GameRecord) -> dict[str, int]:
    """The number of forfeited seats of each bot, by name."""
    forfeits: Counter[str] = Counter()
    for each in game.deal_sets:
        for match in each.plan.matches:
            outcome = game.outcomes.get(match.id)
            if outcome is not None and outcome.has_result and outcome.forfeited:
                seats = zip(match.bots, outcome.forfeited, strict=True)
                forfeits.update(bot for bot, forfeited in seats if forfeited)
    return dict(forfeits)

"""The standings of a competition as JSON values, computed from its record alone.

This is the only place where bots are ranked. The format decides how: round robin, gauntlet and ladder rank by skill
with its interval, Swiss and groups by points, knockouts by the bracket. Bots of one tier, of equal points or of one
stage share a place; tie-breaks order prizes alone. Commands, pages, exports and signatures show these standings.

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

from arena.contests.draws import places
from arena.contests.formats.tournament_format import FinalPlace
from arena.contests.ladder_rows import LEAST_MET, Meetings, meetings, with_rows
from arena.contests.pair_margins import measure, pair_margins
from arena.contests.pairing import MIN_DEAL_SETS
from arena.contests.plan import CompetitionPlan, Format, read_plan
from arena.contests.tie_breaks import Tied, mutual_margin, prize_order
from arena.results import pairs
from arena.results.anytime.verdict import Decision, PairVerdict
from arena.results.deal_sets import HOUSE, DealSet, bot_of, is_complete
from arena.results.head_to_head import WinRecord, records
from arena.results.overall import spread
from arena.results.ranking import Ranked, Row, Standings, ranked
from arena.results.record import CompetitionRecord, GameRecord, Out
from arena.sandbox.house_levels import HOUSE_BOTS

METHOD: Final = "margin fit 6"
"""The version of the method. It changes if the same deal-sets give different standings."""

_DIGITS: Final = 6
"""Decimals of numbers in standings: so few that rounding differences between machines do not appear."""


class RankingRule(StrEnum):
    """The rule that decides the places of a format."""

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

Json = dict[str, Any]


def live_standings(record: CompetitionRecord) -> Json:
    """Return the standings at present. They are not signed."""
    return _standings(record) | {"live": True}


def official_standings(record: CompetitionRecord, number: int) -> Json:
    """Return the official standings of this number."""
    inputs = record.inputs_sha256
    made = _standings(record, inputs)
    return made | {"live": False, "number": number, "inputs_sha256": inputs}


def official_bytes(standings: Json) -> bytes:
    """Return the bytes of official standings that are stored and signed."""
    return json.dumps(standings, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _standings(record: CompetitionRecord, inputs_sha256: str = "") -> Json:
    """Return the standings: official ones have the hash of their inputs, which takes a tenth of the time of the standings."""
    plan = read_plan(record.config)
    made = [
        _GameStandings(plan, number, record, inputs_sha256).as_json()
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
            {"bot": candidate.name, "why": str(candidate.out), "reason": candidate.reason}
            for candidate in record.candidates
            if candidate.out is not None
        ],
    }


class _GameStandings:
    def __init__(
        self, plan: CompetitionPlan, number: int, record: CompetitionRecord, inputs_sha256: str
    ) -> None:
        self._plan, self._number, self._record = plan, number, record
        self._inputs_sha256 = inputs_sha256
        self._terms = plan.games[number].terms
        self._measure = measure(self._terms)
        game = record.games[number]
        self._team_of = {
            candidate.name: plan.team_of(candidate.owner) for candidate in record.candidates
        }
        self._counted, current = rated(plan, game, record.disqualified)
        self._game = game
        self._meetings: Mapping[str, Meetings] = {}
        self._below: Mapping[str, str] = {}
        self._retired: frozenset[str] = frozenset()
        if plan.format is None:
            self._set_below(current)
        self._house = {bot for deal_set in self._counted for bot in deal_set.bots if is_house(bot)}
        self._ranked: Ranked = ranked(
            [deal_set for deal_set in self._counted if not self._is_within_a_team(deal_set)],
            game.outcomes,
            excluded=self._house,
            below=self._below,
        )
        self._records = records(self._counted, game.outcomes)
        self._margins = pair_margins(self._counted, game.outcomes, self._measure)
        ranking = self._ranked.standings
        names = [row.bot for row in ranking.rows]
        self._chances = {
            (one, other): chance
            for one, chances in zip(names, ranking.better, strict=True)
            for other, chance in zip(names, chances, strict=True)
        }
        self._placed = self._places()

    def _set_below(self, current: Collection[str]) -> None:
        """Note which players of a ladder are not ranked, each with the reason."""
        candidates = self._record.candidates
        gone = {candidate.name for candidate in candidates if candidate.out is Out.WITHDRAWN}
        played = Counter(
            bot for deal_set in self._counted for bot in set(deal_set.bots) if not is_house(bot)
        )
        # Incomplete deal-sets count too, because deal-sets with remote bots take longer.
        drawn = [deal_set for deal_set in self._game.deal_sets if not deal_set.is_void]
        last = {bot_of(bot): at for at, deal_set in enumerate(drawn) for bot in deal_set.bots}
        absent_after = MIN_DEAL_SETS * len(current) / self._terms.seats
        # The arena's own bots play only with bots of others, like the bots of one owner.
        owner_of = self._team_of | dict.fromkeys(HOUSE_BOTS, HOUSE)
        self._meetings = meetings(self._counted, current, owner_of)
        self._retired = frozenset(played) - set(current)

        def why(player: str) -> str:
            if player in self._retired:
                return "retired"
            if bot_of(player) in gone:
                return "withdrawn"
            if played[player] < MIN_DEAL_SETS:
                return f"{played[player]} of {MIN_DEAL_SETS} deal-sets"
            if len(drawn) - 1 - last[bot_of(player)] >= absent_after:
                return "absent"
            share = self._meetings[player].share
            return f"met {share:.0%} of its opponents' play" if share < LEAST_MET else ""

        self._below = {player: reason for player in played if (reason := why(player))}
        if len(alone := played.keys() - self._below.keys()) == 1 < len(played):
            self._below |= dict.fromkeys(alone, "no other bot is ranked")

    def _is_within_a_team(self, deal_set: DealSet) -> bool:
        """Return whether two bots of a team met; the deal-set then has no weight for places."""
        if len(set(self._team_of.values())) == 1:
            return False  # there is no other bot
        return any(
            len(teams) > len(set(teams))
            for teams in (
                [self._team_of[bot_of(bot)] for bot in match.bots if bot_of(bot) in self._team_of]
                for match in deal_set.matches
            )
        )

    def as_json(self) -> Json:
        ranking = self._ranked.standings
        return {
            "game": self._terms.game.id,
            "rules_version": self._terms.game.rules_version,
            "seats": self._terms.seats,
            "fair_deals": not self._terms.seeded,
            "ranked_by": str(RANKED_BY[self._plan.format]),
            "rows": self._rows(ranking),
            "deal_sets": {
                "complete": ranking.complete,
                "planned": self._planned(),
                "within_teams": sum(map(self._is_within_a_team, self._counted)),
            },
            "needed": ranking.needed,
            "problem": ranking.problem,
            "forfeit_points": _rounded(ranking.forfeit_points),
            "fallback_skill": _rounded(ranking.fallback_skill),
            "prizes": self._prizes(ranking),
            **self._pairs(),
        }

    def _prizes(self, ranking: Standings) -> list[list[list[str]]]:
        """Return the order of prizes by tie-breaks for each place that several bots share."""
        if self._plan.format is None:
            return []
        skills = {row.bot: row.skill for row in ranking.rows}
        shared: dict[int, list[str]] = defaultdict(list)
        for placed in self._placed:
            shared[placed.place].append(placed.bot)
        seeds = {candidate.name: candidate.seed for candidate in self._record.candidates}
        forfeits = count_forfeits(self._game)
        return [
            [
                list(group)
                for group in prize_order(
                    [
                        Tied(
                            bot,
                            _rounded(skills.get(bot)) or 0.0,
                            mutual_margin(bot, set(bots) - {bot}, self._margins),
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
            not deal_set.is_void
            and out.isdisjoint(map(bot_of, deal_set.bots))
            and not self._is_within_a_team(deal_set)
            for deal_set in self._game.deal_sets
        )

    def _rows(self, ranking: Standings) -> list[Json]:
        widths: Mapping[str, float | None] = {}
        if self._inputs_sha256:
            widths = self._ranked.simultaneous(seed=self._inputs_sha256)
        placed = {placed_bot.bot: placed_bot for placed_bot in self._placed}
        versions = {candidate.name: candidate.version for candidate in self._record.candidates}
        rows = [
            self._row(
                row, placed.get(row.bot), versions.get(bot_of(row.bot), ""), widths.get(row.bot)
            )
            for row in ranking.rows
            if bot_of(row.bot) not in self._record.disqualified
        ]
        rows.sort(key=lambda row: (row["place"] or math.inf, row["bot"] in self._retired))
        known = {bot_of(row["bot"]) for row in rows} | self._record.disqualified
        # A bot that has not declared its games is shown after it has played this one.
        only_game = len(self._plan.games) == 1
        missing = [
            candidate
            for candidate in self._record.candidates
            if candidate.name not in known
            and candidate.enters(self._number)
            and (only_game or candidate.games is not None)
        ]
        return rows + [
            self._row(
                _unplayed(candidate.name), placed.get(candidate.name), candidate.version, None
            )
            for candidate in missing
        ]

    def _places(self) -> tuple[FinalPlace, ...]:
        out = self._record.disqualified
        if RANKED_BY[self._plan.format] is RankingRule.SKILL:
            rows = self._ranked.standings.rows
            tiers = {row.bot: row.tier for row in rows if row.tier and bot_of(row.bot) not in out}
            return tuple(
                FinalPlace(bot, 1 + sum(other < tier for other in tiers.values()), None, "")
                for bot, tier in tiers.items()
            )
        by_format = places(self._plan, self._number, self._record.candidates, self._game.past())
        return _without(by_format, out)

    def _pairs(self) -> Json:
        """Return the pairs of bots, the cycles, and the share of differences that no scale explains, all by one measure of margins."""
        margins = {
            pair: of_pair
            for pair, of_pair in self._margins.items()
            if not self._house.intersection(pair) and not self._retired.intersection(pair)
        }
        decided = pairs.verdicts(margins, self._measure.bound)
        return {
            "margins_in": self._measure.unit,
            "pairs": [self._pair(*pair, margins[pair], decided[pair]) for pair in sorted(margins)],
            "cycles": [list(cycle) for cycle in pairs.cycles(decided)],
            "unexplained": _rounded(pairs.unexplained_share(margins)),
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
        if self._inputs_sha256:
            return None
        present_ms = {candidate.name: candidate.present_ms for candidate in self._record.candidates}
        return round(present_ms.get(bot_of(player), 0) / 3_600_000, 1)

    def _pair(self, one: str, other: str, margins: Sequence[float], verdict: PairVerdict) -> Json:
        better = {Decision.BETTER: one, Decision.WORSE: other}
        met = self._records.of_pair.get((one, other), WinRecord())
        return {
            "bot": one,
            "other": other,
            "deal_sets": len(margins),
            "margin": _rounded(verdict.mean),
            "low": _rounded(verdict.low),
            "high": _rounded(verdict.high),
            "decision": str(verdict.decision),
            "better": better.get(verdict.decision),
            "approximate": verdict.approximate,
            "chance": _rounded(self._chances.get((one, other))),
            "wins": met.wins,
            "draws": met.draws,
            "losses": met.losses,
        }


def short_version(bot: str, version: str) -> str:
    """Return a registered version unchanged, or a short hash of the contents; empty if the version is unknown."""
    if version.startswith(f"{bot}@"):
        return version
    return hashlib.sha256(version.encode()).hexdigest()[:8] if version else ""


def is_house(bot: str) -> bool:
    """Return whether it is one of the arena's own bots, which fill empty seats and are not ranked."""
    return bot.startswith(HOUSE)


def counted(game: GameRecord, disqualified: frozenset[str]) -> tuple[DealSet, ...]:
    """Return the deal-sets that count."""
    return tuple(
        deal_set
        for deal_set in game.deal_sets
        if not deal_set.is_void
        and is_complete(deal_set, game.outcomes)
        and disqualified.isdisjoint(map(bot_of, deal_set.bots))
    )


def rated(
    plan: CompetitionPlan, game: GameRecord, disqualified: frozenset[str]
) -> tuple[tuple[DealSet, ...], frozenset[str]]:
    """Return the deal-sets that count, with the players of rows as bots, and the players that may be ranked."""
    deal_sets = counted(game, disqualified)
    if plan.format is None:
        return with_rows(deal_sets, plan.ladder.row)
    return deal_sets, frozenset(bot for deal_set in deal_sets for bot in deal_set.bots)


def _unplayed(bot: str) -> Row:
    return Row(bot, None, None, None, None, 0, None, 0, {})


def _without(
    ranked_bots: Sequence[FinalPlace], disqualified: frozenset[str]
) -> tuple[FinalPlace, ...]:
    """Return the places without disqualified bots; bots below them move up."""
    others = [place for place in ranked_bots if place.bot not in disqualified]
    return tuple(
        replace(place, place=1 + sum(other.place < place.place for other in others))
        for place in others
    )


def _overall(games: Sequence[Json]) -> list[Json]:
    """Return the scores of each bot in units of each game's spread, and their mean over all games.

    A bot has a mean if it is ranked in every game, and another bot is too: the mean of a single bot could not be
    compared. Bots without a mean come last. Errors of games count as independent, and spreads as known.
    """
    rows: list[dict[str, Json]] = [
        {row["bot"]: row for row in game["rows"] if row["score"] is not None} for game in games
    ]
    spreads = [spread([row["score"] for row in of_game.values()]) for of_game in rows]
    in_all = set.intersection(*map(set, rows))
    means = []
    for bot in sorted(set().union(*rows)):
        of_bot = [of_game.get(bot, _NO_SCORE) for of_game in rows]
        units, widths = (
            [_in_units(row[name], spread) for row, spread in zip(of_bot, spreads, strict=True)]
            for name in ("score", "half_width_95")
        )
        known = [unit for unit in units if unit is not None]
        errors = [width for width in widths if width is not None]
        score = half_width = None
        if len(in_all) > 1 and bot in in_all:
            score = _rounded(math.fsum(known) / len(known))
            whole = len(errors) == len(widths)
            half_width = _rounded(math.hypot(*errors) / len(errors)) if whole else None
        means.append(
            {
                "bot": bot,
                "score": score,
                "half_width_95": half_width,
                "by_game": [_rounded(unit) for unit in units],
            }
        )
    return sorted(means, key=lambda row: (-_or_least(row["score"]), row["bot"]))


_NO_SCORE: Final[Json] = {"score": None, "half_width_95": None}


def _in_units(value: float | None, spread: float) -> float | None:
    if value is None:
        return None
    return value / spread if spread else 0.0


def _or_least(value: float | None) -> float:
    return -math.inf if value is None else value


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, _DIGITS) + 0.0  # turns -0.0 into 0.0


def count_forfeits(game: GameRecord) -> dict[str, int]:
    """Return the number of forfeited seats of each bot, by name."""
    forfeits: Counter[str] = Counter()
    for deal_set in game.deal_sets:
        for match in deal_set.matches:
            outcome = game.outcomes.get(match.id)
            if outcome is not None and outcome.has_result and outcome.forfeited:
                seats = zip(match.bots, outcome.forfeited, strict=True)
                forfeits.update(bot for bot, forfeited in seats if forfeited)
    return dict(forfeits)

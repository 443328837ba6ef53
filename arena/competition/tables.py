"""The table of a competition as values that JSON can hold: a function of its record alone.

A live table may be looked at any time and says that it is live. A frozen one is official: it has intervals
that hold for all bots at once, a hash of everything that it was made from, and is kept and signed as the
bytes that `frozen_bytes` makes. Whoever has the deal-sets makes the same bytes.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from arena.anytime.verdict import Decision, Verdict
from arena.competition.draws import Place, places
from arena.competition.margins import Measure, measure
from arena.competition.pairing import HOUSE
from arena.competition.plan_file import CompetitionPlan, read_plan
from arena.competition.record import (
    CompetitionRecord,
    DrawnDealSet,
    GameRecord,
    bot_of,
    is_complete,
)
from arena.competition.tie_breaks import Tied, mutual_margin, prize_order
from arena.ladder import pairs
from arena.ladder.margins import DealSet, NotComparable, Table, fit
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan
from arena.ladder.standings import Ranked, Row, Standings, par_players, ranked

METHOD: Final = "margin fit 1"
"""Names how tables are made; another number says that another table may come of the same deal-sets."""

MIN_DEAL_SETS: Final = 10
"""Deal-sets below which a bot on a ladder is not ranked."""

_DIGITS: Final = 6
"""Decimals of a number in a table: less than any machine's sums differ by."""

Json = dict[str, Any]


def live(record: CompetitionRecord) -> Json:
    """The table as it stands. It counts for nothing."""
    return _table(record, frozen=False) | {"live": True}


def frozen(record: CompetitionRecord, number: int) -> Json:
    """The official table of this number."""
    made = _table(record, frozen=True)
    return made | {"live": False, "number": number, "inputs_sha256": record.inputs_sha256}


def frozen_bytes(table: Json) -> bytes:
    """What is kept and signed of a frozen table."""
    return json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _table(record: CompetitionRecord, *, frozen: bool) -> Json:
    plan = read_plan(record.config)
    made = [
        _GameTable(plan, number, record, frozen=frozen).as_json()
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


class _GameTable:
    """One game's table."""

    def __init__(
        self, plan: CompetitionPlan, number: int, record: CompetitionRecord, *, frozen: bool
    ) -> None:
        self._plan, self._number, self._record = plan, number, record
        self._frozen = frozen
        self._terms = plan.games[number].terms
        self._measure = measure(self._terms)
        game = record.games[number]
        self._counted = counted(game, record.disqualified)
        self._game = game
        plans = tuple(each.plan for each in self._counted)
        self._house = {bot for each in plans for bot in each.bots if is_house(bot)}
        least = MIN_DEAL_SETS if plan.format is None else 0
        self._ranked: Ranked = ranked(
            plans, game.outcomes, apart=self._house, least_deal_sets=least
        )

    def as_json(self) -> Json:
        found = self._ranked.standings
        return {
            "game": self._terms.game.id,
            "rules_version": self._terms.game.rules_version,
            "seats": self._terms.seats,
            "fair_deals": not self._terms.seeded,
            "rows": self._rows(found),
            "deal_sets": {"complete": found.complete, "planned": self._planned()},
            "problem": found.problem,
            "walkover": _rounded(found.walkover),
            "fallback_skill": _rounded(found.fallback_skill),
            "prizes": self._prizes(found),
            **self._pairs(found),
        }

    def _prizes(self, found: Standings) -> list[list[list[str]]]:
        """For each place that several share: who is paid first, as far as that can be told."""
        came, skills = self._places(), {row.bot: row.skill for row in found.rows}
        shared: dict[int, list[str]] = defaultdict(list)
        for each in came:
            shared[each.place].append(each.bot)
        plans = [each.plan for each in self._counted]
        margins = pairs.pair_margins(
            as_measured(each, self._game.outcomes, self._measure, self._house) for each in plans
        )
        left, seeds = seats_left(self._game), {e.name: e.seed for e in self._record.candidates}
        return [
            [
                list(group)
                for group in prize_order(
                    [
                        Tied(
                            bot,
                            _rounded(skills.get(bot)) or 0.0,
                            mutual_margin(bot, set(bots) - {bot}, margins),
                            left.get(bot, 0),
                            seeds[bot],
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
        if self._frozen:
            widths = self._ranked.simultaneous(seed=self._record.inputs_sha256)
        came = {each.bot: each for each in self._places()}
        versions = {each.name: each.version for each in self._record.candidates}
        rows = [
            _row(row, came.get(row.bot), versions.get(bot_of(row.bot), ""), widths.get(row.bot))
            for row in found.rows
            if bot_of(row.bot) not in self._record.disqualified
        ]
        if came:
            rows.sort(key=lambda row: row["place"] or math.inf)
        missing = [
            each
            for each in self._record.candidates
            if each.name not in {bot_of(row["bot"]) for row in rows} | self._record.disqualified
        ]
        return rows + [
            _row(_unplayed(each.name), came.get(each.name), each.version, None) for each in missing
        ]

    def _places(self) -> tuple[Place, ...]:
        if self._plan.format is None:
            return ()
        found = places(self._plan, self._number, self._record.candidates, self._game.past())
        return _without(found, self._record.disqualified)

    def _pairs(self, found: Standings) -> Json:
        measured = [
            as_measured(each.plan, self._game.outcomes, self._measure, self._house)
            for each in self._counted
        ]
        margins = {
            pair: own
            for pair, own in pairs.pair_margins(measured).items()
            if not self._house.intersection(pair)
        }
        decided = pairs.verdicts(margins, self._measure.bound)
        share = None
        if not found.problem:
            try:
                share = pairs.unexplained_share(fit(measured), margins)
            except NotComparable:
                share = None
        return {
            "pairs": [_pair(*pair, margins[pair], decided[pair]) for pair in sorted(margins)],
            "cycles": [list(each) for each in pairs.cycles(decided)],
            "unexplained": _rounded(share),
        }


def is_house(bot: str) -> bool:
    """Whether it is one of the arena's own bots, who fill seats and are not ranked."""
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


def as_measured(
    plan: DealSetPlan, outcomes: Mapping[str, MatchOutcome], by: Measure, house: Collection[str]
) -> DealSet:
    """A deal-set with scores as pairs are compared by: points, or who won a race."""
    tables = []
    for match in plan.matches:
        scores = outcomes[match.id].scores
        if by.races:  # half the difference of two is won, drawn or lost
            scores = tuple(
                sum((own > other) - (own < other) for other in scores) / 2 for own in scores
            )
        tables.append(Table(par_players(match.bots, plan.bots, house), scores))
    return DealSet(tuple(tables))


def _row(row: Row, came: Place | None, version: str, together: float | None) -> Json:
    return {
        "bot": row.bot,
        "version": version,
        "place": came.place if came else None,
        "points": came.points if came else None,
        "note": came.note if came else "",
        "tier": row.tier,
        "score": _rounded(row.score),
        "half_width_95": _rounded(row.half_width),
        "half_width_95_together": _rounded(together),
        "skill": _rounded(row.skill),
        "left": _rounded(row.left),
        "deal_sets": row.deal_sets,
        "matches": row.matches,
        "faults": dict(row.faults),
    }


def _unplayed(bot: str) -> Row:
    return Row(bot, None, None, None, None, 0, None, 0, {})


def _without(found: Sequence[Place], disqualified: frozenset[str]) -> tuple[Place, ...]:
    """The places of the others: whoever stood behind one that is gone moves up."""
    kept = [each for each in found if each.bot not in disqualified]
    return tuple(
        replace(each, place=1 + sum(other.place < each.place for other in kept)) for each in kept
    )


def _pair(one: str, other: str, margins: Sequence[float], said: Verdict) -> Json:
    return {
        "bot": one,
        "other": other,
        "deal_sets": len(margins),
        "margin": _rounded(said.mean),
        "low": _rounded(said.low),
        "high": _rounded(said.high),
        "decision": str(said.decision),
        "better": one
        if said.decision is Decision.BETTER
        else other
        if said.decision is Decision.WORSE
        else None,
        "approximate": said.approximate,
    }


def _overall(games: Sequence[Json]) -> list[Json]:
    """The mean of each bot's standing over all games, each in units of its game's spread.

    Only bots that are ranked in every game. The games' errors are taken as independent, and their
    spreads as known.
    """
    rows: list[dict[str, Json]] = [
        {row["bot"]: row for row in game["rows"] if row["score"] is not None} for game in games
    ]
    everywhere = set.intersection(*(set(each) for each in rows)) if rows else set()
    spreads = [_spread([row["score"] for row in each.values()]) for each in rows]
    found = []
    for bot in sorted(everywhere):
        own = [each[bot] for each in rows]
        units = [row["score"] / s if s else 0.0 for row, s in zip(own, spreads, strict=True)]
        widths = [
            None if row["half_width_95"] is None else row["half_width_95"] / s if s else 0.0
            for row, s in zip(own, spreads, strict=True)
        ]
        known = [each for each in widths if each is not None]
        whole = len(known) == len(widths)
        found.append(
            {
                "bot": bot,
                "score": _rounded(math.fsum(units) / len(units)),
                "half_width_95": _rounded(math.hypot(*known) / len(known)) if whole else None,
                "by_game": [_rounded(each) for each in units],
            }
        )
    return sorted(found, key=lambda row: (-row["score"], row["bot"]))


def _spread(scores: Sequence[float]) -> float:
    """The standard deviation of a game's scores."""
    if len(scores) < 2:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.sqrt(math.fsum((each - mean) ** 2 for each in scores) / len(scores))


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, _DIGITS) + 0.0  # no minus before a zero


def seats_left(game: GameRecord) -> dict[str, int]:
    """How many seats each bot left, for whom prizes hang on it."""
    left: Counter[str] = Counter()
    for each in game.deal_sets:
        for match in each.plan.matches:
            outcome = game.outcomes.get(match.id)
            if outcome is not None and outcome.has_result and outcome.left:
                left.update(bot for bot, gone in zip(match.bots, outcome.left, strict=True) if gone)
    return dict(left)

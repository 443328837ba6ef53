"""The public part of a competition: standings, rounds and closed deal-sets.

Of an open deal-set only its existence is public, and how many wait for a table: its matches have the same cards, so the result of one would reveal
the cards of another.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from arena.api.pair_tests import leading_test
from arena.results.deal_sets import DealSet, DealSetState, MatchOutcome, is_complete, winners
from arena.results.states import State
from arena.store import Competition, Store

if TYPE_CHECKING:
    from arena.results.pairs import Pair

Json: TypeAlias = Mapping[str, Any]
"""Values that JSON has under the same names."""


class DisplayState(StrEnum):
    """The public state of a deal-set."""

    CLOSED = "closed"
    """All its matches have results, and their replays are published."""
    OPEN = "open"
    VOID = "void"
    """Given up or cancelled: it does not count."""


_VOID: Final = (DealSetState.VOID, DealSetState.GIVEN_UP)


@dataclass(frozen=True, slots=True)
class GameResults:
    """The closed deal-sets of a game of a competition, and their results."""

    game: str
    format: str | None
    """None for a ladder."""
    terms: Json
    standings: Json
    rounds: Sequence[Json]
    """The groups of all rounds, see `arena.contests.draws.GroupResult`; empty for formats without rounds."""
    deal_sets: Sequence[Json]
    waiting: int
    """The number of deal-sets that wait for their next table, see `waiting`."""
    margins: "Mapping[Pair, Sequence[float]]"
    """The margins of each pair of bots in their closed deal-sets, in order."""
    test: Json | None
    """The sequential test of the two best bots, see `leading_test`; None where places do not follow skill."""


@dataclass(frozen=True, slots=True)
class PublicCompetition:
    """The public part of a competition."""

    summary: Json
    standings: Json
    """The official standings if it is finished, otherwise the live ones."""
    games: tuple[GameResults, ...]


@lru_cache(1_024)
def _plan(config: str) -> Mapping[str, Any]:
    return tomllib.loads(config)


def _utc(moment: datetime | str | None) -> str:
    """Return a moment of a plan, to the minute; empty for None."""
    if moment is None:
        return ""
    known = moment if isinstance(moment, datetime) else datetime.fromisoformat(moment)
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M}"


def summary_of(row: Competition) -> Json:
    """Return a competition in a list; `created`, `opens` and `announced` are UTC, to the minute, and `format` is None for a ladder.

    `entry` says whose bots may enter; `challenger` is that of a gauntlet.
    """
    plan = _plan(row.config)
    return {
        "competition": row.name,
        "kind": plan["kind"],
        "format": plan.get("format"),
        "state": str(row.state),
        "games": [{"game": terms["game"], "seats": terms["seats"]} for terms in row.terms],
        "bots": sorted(bot.name for bot in row.entries),
        "created": row.created.replace("T", " ")[:16],
        "opens": _utc(plan.get("opens")),
        "entry": plan.get("entry", "open"),
        "challenger": plan.get("gauntlet", {}).get("challenger", ""),
        "season": plan.get("season", ""),
        "official": row.official,
        "waits": row.waits if row.state in (State.PAUSED, State.RUNNING) else "",
        "limits": row.limits,
        "announcement": row.announcement,
        "announced": (row.announced or "").replace("T", " ")[:16],
    }


def public_competition(
    store: Store, summary: Json, shown: frozenset[str] | None
) -> PublicCompetition:
    """Compute the public part of a competition; `shown` are the ids of the matches that have pages, None for all."""
    # Imported here, because they load numpy.
    from arena.contests.draws import round_results
    from arena.contests.official_standings import latest_standings
    from arena.contests.pair_margins import measure, pair_margins
    from arena.contests.plan import read_plan
    from arena.contests.standings import rated

    held, name = store.competitions(), summary["competition"]
    record, published, terms = held.record(name), held.published(name), held.get(name).terms
    plan, standings = read_plan(record.config), latest_standings(held, name)

    def results(number: int) -> GameResults:
        game, measured_by = record.games[number], measure(plan.games[number].terms)
        deal_sets = [
            _deal_set(deal_set, game.outcomes, published, shown) for deal_set in game.deal_sets
        ]
        of_rows, _ = rated(plan, game, record.disqualified)
        of_game = standings["games"][number]
        margins = pair_margins(of_rows, game.outcomes, measured_by)
        bots = [row["bot"] for row in of_game["rows"]]
        by_skill = of_game["ranked_by"] == "skill"
        return GameResults(
            game=terms[number]["game"],
            format=summary["format"],
            terms=terms[number],
            standings=of_game,
            rounds=list(map(asdict, round_results(plan, number, record.candidates, game.past()))),
            deal_sets=deal_sets,
            waiting=waiting(game.deal_sets, game.outcomes),
            margins=margins,
            test=leading_test(bots, margins, measured_by.bound) if by_skill else None,
        )

    return PublicCompetition(summary, standings, tuple(map(results, range(len(terms)))))


def waiting(deal_sets: Sequence[DealSet], outcomes: Mapping[str, MatchOutcome]) -> int:
    """Count the deal-sets of which some matches have ended, but not all: the arena plays tables of several deal-sets together."""
    return sum(
        deal_set.state not in _VOID
        and not is_complete(deal_set, outcomes)
        and any(match.id in outcomes for match in deal_set.matches)
        for deal_set in deal_sets
    )


def _deal_set(
    plan: DealSet,
    outcomes: Mapping[str, MatchOutcome],
    published: frozenset[str],
    shown: frozenset[str] | None,
) -> Json:
    """Return a deal-set with the ids of its public matches and the names of their winners; an open deal-set has neither."""
    state = DisplayState.OPEN
    if plan.state in _VOID:
        state = DisplayState.VOID
    elif is_complete(plan, outcomes) and all(match.id in published for match in plan.matches):
        state = DisplayState.CLOSED
    closed = state is DisplayState.CLOSED
    seen = [match for match in plan.matches if closed and (shown is None or match.id in shown)]
    return {
        "number": plan.number,
        "bots": plan.bots,
        "state": state,
        "matches": [match.id for match in seen],
        "winners": [winners(match.bots, outcomes[match.id].places) for match in seen],
    }

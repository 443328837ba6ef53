"""A competition as a message, and its public part: standings, rounds and closed deal-sets.

Of an open deal-set only its existence is public, and how many wait for a table: its matches have the same cards, so the result of one would reveal
the cards of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from arena.api.pair_tests import Json, leading_test
from arena.contests.plan import entered_names, read_plan
from arena.referee.wire.enums import enum_number
from arena.results.deal_sets import DealSet, DealSetState, MatchOutcome, is_complete, winners
from arena.store import Competition, Store
from arena.store.competition_rows import GameProgress
from arena.store.moments import unix_ms
from cardarena.v1 import bots_pb2
from cardarena.v1 import competitions_pb2 as messages

if TYPE_CHECKING:
    from arena.results.pairs import Pair


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

    format: str
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

    info: messages.CompetitionInfo
    standings: Json
    """The official standings if it is finished, otherwise the live ones."""
    games: tuple[GameResults, ...]


_plan: Final = lru_cache(1_024)(read_plan)


def competition_message(
    stored: Competition, progress: Sequence[GameProgress] | None, waits: str
) -> messages.CompetitionInfo:
    """Return a competition as a message.

    Without progress it has neither games nor bots, as in lists of a call; with an empty one, games have no counts.
    """
    plan = _plan(stored.config)
    info = messages.CompetitionInfo(
        name=stored.name,
        format=enum_number(messages.CompetitionFormat, plan.format or plan.kind),
        entry=enum_number(messages.EntryPolicy, plan.entry),
        season=plan.season,
        state=enum_number(messages.CompetitionState, stored.state),
        organiser=stored.organiser,
        created_unix_ms=_unix_ms(stored.created),
        opens_unix_ms=_unix_ms(plan.opens),
        closes_unix_ms=_unix_ms(plan.closes),
        entered=sum(entered.out is None for entered in stored.entries),
        official=stored.official,
        timetable=plan.timetable,
        waits=waits,
        announcement=stored.announcement,
        announced_unix_ms=_unix_ms(stored.announced),
        challenger=plan.gauntlet.challenger if plan.gauntlet else "",
    )
    if progress is None:
        return info
    counts = progress or [GameProgress(0)] * len(plan.games)
    for game, played in zip(plan.games, counts, strict=True):
        count = played.deal_sets.get
        info.games.add(
            game=game.terms.game.id,
            seats=game.terms.seats,
            rounds=played.rounds,
            complete=count(DealSetState.COMPLETE, 0),
            in_play=count(DealSetState.IN_PLAY, 0),
            waiting=count(DealSetState.WAITING, 0),
            given_up=count(DealSetState.GIVEN_UP, 0),
            voided=count(DealSetState.VOID, 0),
        )
    limits = stored.limits
    for bot in stored.entries:
        info.bots.add(
            bot=bot.name,
            owner=bot.owner,
            kind=enum_number(bots_pb2.BotKind, bot.kind),
            seed=bot.seed,
            out=enum_number(messages.CompetitionExit, bot.out or ""),
            reason=bot.reason,
            away=limits.get(bot.name, ""),
            games=entered_names(plan, bot.games),
        )
    return info


def _unix_ms(moment: datetime | str | None) -> int:
    known = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return unix_ms(known) if known else 0


def public_competition(
    store: Store, info: messages.CompetitionInfo, shown: frozenset[str] | None
) -> PublicCompetition:
    """Compute the public part of a competition; `shown` are the ids of the matches that have pages, None for all."""
    # Imported here, because they load numpy.
    from arena.contests.draws import round_results
    from arena.contests.official_standings import latest_standings
    from arena.contests.pair_margins import measure, pair_margins
    from arena.contests.standings import rated

    held, name = store.competitions(), info.name
    record, published, terms = held.record(name), held.published(name), held.get(name).terms
    plan, standings = _plan(record.config), latest_standings(held, name)

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
            format=str(plan.format or plan.kind),
            terms=terms[number],
            standings=of_game,
            rounds=list(map(asdict, round_results(plan, number, record.candidates, game.past()))),
            deal_sets=deal_sets,
            waiting=waiting(game.deal_sets, game.outcomes),
            margins=margins,
            test=leading_test(bots, margins, measured_by.bound) if by_skill else None,
        )

    return PublicCompetition(info, standings, tuple(map(results, range(len(terms)))))


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

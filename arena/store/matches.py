"""Matches that have ended, with their results, and matches that competitions plan."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Connection,
    Result,
    RowMapping,
    and_,
    bindparam,
    insert,
    or_,
    select,
    update,
)

from arena.competition.record import bot_of
from arena.competition.states import State
from arena.schedule.deal_sets import MatchOutcome, aborted
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.rows import find_rows

MAX_PAGE: Final = 501
"""Most matches that `StoredMatches.find` returns: a page of 500, and one to show that more follow."""

# Statements that run for every match are built once: building one takes longer than running it.
_IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
_BY_ID: Final = select(schema.matches).where(schema.matches.c.id.in_(_IDS))
_FAULTS: Final = select(schema.faults).where(schema.faults.c.match.in_(_IDS))
_ADD: Final = insert(schema.matches)
_ADD_SEATS: Final = insert(schema.match_seats)
_ADD_FAULTS: Final = insert(schema.faults)
_CHANGE: Final = update(schema.matches).where(schema.matches.c.id == bindparam("match"))
_PUBLISH: Final = update(schema.matches).where(schema.matches.c.id.in_(_IDS)).values(published=True)


@dataclass(frozen=True, slots=True)
class EndedMatch:
    """A match that has ended, to be stored."""

    outcome: MatchOutcome
    game: str
    bots: tuple[str, ...]
    """Names in seat order."""
    deal_set: str
    """Empty for a single match."""
    ended_unix_ms: int


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A stored match that has ended."""

    outcome: MatchOutcome
    game: str
    bots: tuple[str, ...]
    """Names in seat order."""
    deal_set: str
    """Empty for a single match."""
    competition: str
    """Empty for a match without a competition."""
    ended_unix_ms: int
    published: bool
    """Whether it has a replay, which has the match's id."""

    @property
    def closed(self) -> bool:
        """Whether it is a single match, or every match of its deal-set is over and published."""
        return not self.deal_set or self.published


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Which matches are wanted. Empty and false fields do not restrict."""

    game: str = ""
    bots: tuple[str, ...] = ()
    """All of them played, at any seats."""
    competition: str = ""
    ending: str = ""
    faulted: bool = False
    """A bot committed a fault."""
    published: bool = False
    """It has a replay."""
    closed: bool = False
    """It is a single match, or every match of its deal-set is over and published."""


class StoredMatches:
    """The matches of a store. Calls block on the disk; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcomes(self, match_ids: Collection[str]) -> dict[str, MatchOutcome]:
        """The outcomes, by id, of those of these matches that have ended, also by an abort."""
        with self._database.reading() as connection:
            found = _rows(connection, match_ids)
            return _outcomes(connection, [row for row in found if row["status"] != schema.PLANNED])

    def record(self, ended: Sequence[EndedMatch], published: Collection[str] = ()) -> None:
        """Store the outcomes of matches, and that those `published` have replays, in one transaction.

        Recording the same again changes nothing. A result may replace an aborted attempt; nothing may replace
        a result.

        Raises:
          StoreError: if the file cannot be written, or a match has another result already.
        """
        with self._database.writing() as connection:
            record(connection, ended)
            if published:
                connection.execute(_PUBLISH, {"ids": list(published)})

    def mark_published(self, match_ids: Collection[str]) -> None:
        """Record that these matches have replays."""
        self.record((), match_ids)

    def mark_removed(self, match_ids: Collection[str]) -> None:
        """Record that the replays of these matches were removed."""
        with self._database.writing() as connection:
            gone = update(schema.matches).where(schema.matches.c.id.in_(match_ids))
            connection.execute(gone.values(published=False))

    def of_unfinished_competitions(self) -> frozenset[str]:
        """The ids of the matches of competitions that are not finished, played or not."""
        matches, games, all_of = schema.matches, schema.competition_games, schema.competitions
        with self._database.reading() as connection:
            found = connection.execute(
                select(matches.c.id)
                .join(games, games.c.id == matches.c.competition_game)
                .join(all_of, all_of.c.id == games.c.competition)
                .where(all_of.c.state != str(State.FINISHED))
            )
            return frozenset(found.scalars())

    def get(self, match_id: str) -> StoredMatch | None:
        """The match of an id; None if no match of that id has ended."""
        with self._database.reading() as connection:
            found = _stored(connection, schema.matches.c.id == match_id, limit=1)
        return found[0] if found else None

    def bots(self, competition: str = "") -> tuple[str, ...]:
        """The names of all bots of matches, or of those of a competition, also of planned ones."""
        seats, matches = schema.match_seats, schema.matches
        query = select(seats.c.bot).distinct().order_by(seats.c.bot)
        if competition:
            query = query.join(matches, seats.c.match == matches.c.id).where(
                *_conditions(MatchFilter(competition=competition))
            )
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def games(self, wanted: MatchFilter = MatchFilter()) -> frozenset[str]:
        """The ids of the games of matches that have ended."""
        table = schema.matches
        query = select(table.c.game).distinct().where(table.c.status != schema.PLANNED)
        with self._database.reading() as connection:
            return frozenset(connection.execute(query.where(*_conditions(wanted))).scalars())

    def find(
        self,
        wanted: MatchFilter = MatchFilter(),
        *,
        limit: int = 50,
        after: tuple[int, str] | None = None,
    ) -> tuple[StoredMatch, ...]:
        """Matches that have ended, newest first, `MAX_PAGE` at most.

        `after` is the `ended_unix_ms` and the id of the last match of the previous page.
        """
        table, conditions = schema.matches, _conditions(wanted)
        if after is not None:
            ended, match_id = after
            earlier = and_(table.c.ended_unix_ms == ended, table.c.id < match_id)
            conditions.append(or_(table.c.ended_unix_ms < ended, earlier))
        with self._database.reading() as connection:
            return _stored(connection, *conditions, limit=min(limit, MAX_PAGE))


def _conditions(wanted: MatchFilter) -> list[Any]:
    table, seats = schema.matches, schema.match_seats
    conditions: list[Any] = []
    if wanted.game:
        conditions.append(table.c.game == wanted.game)
    if wanted.ending:
        conditions.append(table.c.ending == wanted.ending)
    for bot in wanted.bots:
        of_bot = select(seats.c.match).where(seats.c.bot == bot)
        conditions.append(table.c.id.in_(of_bot))
    if wanted.competition:
        competitions, games = schema.competitions, schema.competition_games
        own = (
            select(games.c.id)
            .join(competitions, games.c.competition == competitions.c.id)
            .where(competitions.c.name == wanted.competition)
        )
        conditions.append(table.c.competition_game.in_(own))
    if wanted.faulted:
        conditions.append(table.c.id.in_(select(schema.faults.c.match)))
    if wanted.published:
        conditions.append(table.c.published)
    if wanted.closed:
        conditions.append(or_(table.c.deal_set.is_(None), table.c.published))
    return conditions


def record(connection: Connection, ended: Sequence[EndedMatch]) -> None:
    """Store the outcomes of matches within a transaction, as `StoredMatches.record` does."""
    for distinct in _without_repeats(ended):
        _record(connection, distinct)


def _without_repeats(ended: Sequence[EndedMatch]) -> Iterator[list[EndedMatch]]:
    """The matches in order, in lists without repeated ids: a result may follow an aborted attempt."""
    seen: dict[str, EndedMatch] = {}
    for each in ended:
        if each.outcome.match_id in seen:
            yield list(seen.values())
            seen = {}
        seen[each.outcome.match_id] = each
    if seen:
        yield list(seen.values())


def _record(connection: Connection, ended: Sequence[EndedMatch]) -> None:
    """Store the outcomes of different matches, with one statement for each kind of change."""
    rows = {row["id"]: row for row in _rows(connection, [each.outcome.match_id for each in ended])}
    new: list[dict[str, Any]] = []
    seats: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    for each in ended:
        outcome, match_id = each.outcome, each.outcome.match_id
        row = rows.get(match_id)
        if row is not None and row["status"] == schema.FINISHED:
            if _outcomes(connection, [row])[match_id] != outcome:
                raise StoreError(f"match {match_id} already has another result")
            continue
        values = _columns(outcome) | {"ended_unix_ms": each.ended_unix_ms}
        if row is None:
            places = {"deal_set": each.deal_set or None, "game": each.game, "bots": each.bots}
            new.append({"id": match_id} | places | values)
            seats += [
                {"match": match_id, "seat": seat, "bot": bot} for seat, bot in enumerate(each.bots)
            ]
        elif _are_planned(row["bots"], each.bots):
            changed.append({"match": match_id} | values)
        else:
            raise StoreError(f"match {match_id} is planned between other bots")
        if outcome.has_result:
            faults += [
                {"match": match_id, "seat": seat, "kind": kind, "count": count}
                for seat, kinds in enumerate(outcome.faults)
                for kind, count in kinds.items()
            ]
    kinds = ((_ADD, new), (_ADD_SEATS, seats), (_CHANGE, changed), (_ADD_FAULTS, faults))
    for statement, values_of_all in kinds:
        if values_of_all:
            connection.execute(statement, values_of_all)


def _are_planned(planned: Sequence[str], bots: Sequence[str]) -> bool:
    """Whether these bots were planned.

    A remote bot of a ladder is planned as a version and sits under its name. A submitted bot of a tournament is
    planned by its name and sits as a version.
    """
    return len(planned) == len(bots) and all(
        bot in (player, bot_of(player)) or bot_of(bot) == player
        for player, bot in zip(planned, bots, strict=True)
    )


def _columns(outcome: MatchOutcome) -> dict[str, Any]:
    result = outcome.has_result
    return {
        "status": schema.FINISHED if result else schema.ABORTED,
        "scores": outcome.scores if result else None,
        "places": outcome.places if result else None,
        "forfeited": (outcome.forfeited or None) if result else None,
        "fallback_share": (outcome.fallback_share or None) if result else None,
        "ending": outcome.ending,
        "hands": outcome.hands,
        "decisions": outcome.decisions,
        "evidence": outcome.evidence,
        "journal": outcome.journal_position,
    }


def outcomes_of_game(connection: Connection, competition_game: int) -> dict[str, MatchOutcome]:
    """The outcomes of a competition's game by match id, with aborted ones."""
    table = schema.matches
    own = table.c.competition_game == competition_game
    return _outcomes_where(connection, and_(own, table.c.status != schema.PLANNED))


def outcomes_of_deal_set(
    connection: Connection, competition_game: int, deal_set: str
) -> dict[str, MatchOutcome]:
    """The outcomes of a deal-set by match id; matches that were not played yet count as aborted."""
    table = schema.matches
    own = and_(table.c.competition_game == competition_game, table.c.deal_set == deal_set)
    ids = connection.execute(select(table.c.id).where(own)).scalars().all()
    ended = _outcomes_where(connection, and_(own, table.c.status != schema.PLANNED))
    return {match_id: ended.get(match_id) or aborted(match_id) for match_id in ids}


def _rows(connection: Connection, match_ids: Collection[str]) -> Sequence[RowMapping]:
    return connection.execute(_BY_ID, {"ids": list(match_ids)}).mappings().all()


def _outcomes(connection: Connection, rows: Sequence[RowMapping]) -> dict[str, MatchOutcome]:
    """The outcomes of a few rows of matches, with their faults."""
    finished = [row["id"] for row in rows if row["status"] == schema.FINISHED]
    faults = _by_match(connection.execute(_FAULTS, {"ids": finished})) if finished else {}
    return {row["id"]: _outcome(row, faults.get(row["id"], ())) for row in rows}


def _outcomes_where(connection: Connection, condition: Any) -> dict[str, MatchOutcome]:
    """The outcomes of all matches of a condition; their ids may be too many for one statement."""
    table, faults = schema.matches, schema.faults
    rows = find_rows(connection, select(table).where(condition))
    own = select(faults).where(faults.c.match.in_(select(table.c.id).where(condition)))
    by_match = _by_match(connection.execute(own))
    return {row["id"]: _outcome(row, by_match.get(row["id"], ())) for row in rows}


def _stored(connection: Connection, *conditions: Any, limit: int) -> tuple[StoredMatch, ...]:
    table, games, competitions = schema.matches, schema.competition_games, schema.competitions
    joined = table.outerjoin(games, table.c.competition_game == games.c.id).outerjoin(
        competitions, games.c.competition == competitions.c.id
    )
    query = (
        select(table, competitions.c.name)
        .select_from(joined)
        .where(table.c.status != schema.PLANNED, *conditions)
        .order_by(table.c.ended_unix_ms.desc(), table.c.id.desc())
        .limit(limit)
    )
    rows = find_rows(connection, query)
    faults = _by_match(connection.execute(_FAULTS, {"ids": [row["id"] for row in rows]}))
    return tuple(
        StoredMatch(
            outcome=_outcome(row, faults.get(row["id"], ())),
            game=row["game"],
            bots=tuple(row["bots"]),
            deal_set=row["deal_set"] or "",
            competition=row["name"] or "",
            ended_unix_ms=row["ended_unix_ms"] or 0,
            published=row["published"],
        )
        for row in rows
    )


def _by_match(faults: Result[Any]) -> dict[str, list[RowMapping]]:
    of_match: dict[str, list[RowMapping]] = defaultdict(list)
    for row in faults.mappings():
        of_match[row["match"]].append(row)
    return of_match


def _outcome(row: RowMapping, faults: Sequence[RowMapping]) -> MatchOutcome:
    by_seat: tuple[dict[str, int], ...] = ()
    if row["status"] == schema.FINISHED:
        by_seat = tuple({} for _ in row["bots"])
        for fault in faults:
            by_seat[fault["seat"]][fault["kind"]] = fault["count"]
    return MatchOutcome(
        match_id=row["id"],
        scores=tuple(row["scores"] or ()),
        places=tuple(row["places"] or ()),
        ending=row["ending"],
        faults=by_seat,
        forfeited=tuple(row["forfeited"] or ()),
        fallback_share=tuple(row["fallback_share"] or ()),
        hands=row["hands"] or 0,
        decisions=row["decisions"] or 0,
        evidence=row["evidence"] or "",
        journal_position=row["journal"] or "",
    )

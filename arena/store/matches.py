"""Matches that have ended, with their results, and matches that competitions plan."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Result,
    RowMapping,
    Text,
    and_,
    bindparam,
    cast,
    func,
    insert,
    or_,
    select,
    update,
)

from arena.results.deal_sets import HOUSE, MatchOutcome, bot_of
from arena.results.states import State
from arena.results.worth import ANY_WORTH, COMPARED, ComparedMatch, EarlierMatches, margin
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.rows import find_rows

MAX_PAGE: Final = 501
"""The maximal number of matches that `StoredMatches.find` returns: a page of 500, and one to show that more follow."""
MOST_KINDS: Final = 32
"""The number of kinds of matches, by game and hands, for which compared matches are cached."""
MOST_SEATS: Final = 10
"""An upper bound of the number of seats of any game."""

# Statements that run for every match are built once: building one takes longer than running it.
_IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
_BY_ID: Final = select(schema.matches).where(schema.matches.c.id.in_(_IDS))
_FAULTS: Final = select(schema.faults).where(schema.faults.c.match.in_(_IDS))
_ADD: Final = insert(schema.matches)
_ADD_SEATS: Final = insert(schema.match_seats)
_ADD_FAULTS: Final = insert(schema.faults)
_CHANGE: Final = update(schema.matches).where(schema.matches.c.id == bindparam("match"))
_LATEST: Final = (
    select(
        schema.matches.c.id,
        schema.matches.c.ended_unix_ms,
        schema.matches.c.bots,
        schema.matches.c.scores,
        schema.matches.c.cost,
    )
    .where(
        schema.matches.c.game == bindparam("game"),
        schema.matches.c.hands == bindparam("hands"),
        schema.matches.c.status == schema.FINISHED,
        schema.matches.c.ended_unix_ms >= bindparam("since"),
    )
    .order_by(schema.matches.c.ended_unix_ms.desc())
    .limit(COMPARED)
)
_PUBLISH: Final = update(schema.matches).where(schema.matches.c.id.in_(_IDS)).values(published=True)


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A match that has ended, as it is stored."""

    outcome: MatchOutcome
    game: str
    bots: tuple[str, ...]
    """Names in seat order."""
    deal_set: str
    """Empty for a single match."""
    ended_unix_ms: int
    competition: str = ""
    """Empty for a match without a competition; set where a match is read."""
    published: bool = False
    """Whether it has a replay, which has the match's id; set where a match is read."""
    worth: str = ""
    """Why it is worth watching, by `arena.results.worth`; set where a match is read."""

    @property
    def closed(self) -> bool:
        """Whether it is a single match, or every match of its deal-set is over and published."""
        return not self.deal_set or self.published


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """A filter of matches. Empty and false fields do not restrict."""

    game: str = ""
    bots: tuple[str, ...] = ()
    """Only matches in which all of these bots played, at any seats; any version of a bot counts."""
    competition: str = ""
    ending: str = ""
    faulted: bool = False
    """Only matches in which a bot committed a fault."""
    published: bool = False
    """Only matches with a replay."""
    closed: bool = False
    """Only single matches, and those whose deal-set is over and published."""
    lost_by: str = ""
    """Only matches in which this bot, or one of its versions, played and was not first."""
    by_others: bool = False
    """Only matches with a bot other than the arena's own."""
    most_margin: float | None = None
    """Only matches in which the first was at most this many points ahead of the second."""
    worth: str = ""
    """Only matches that are worth watching for this reason; `ANY_WORTH` for any reason."""


class StoredMatches:
    """The matches of a store. Calls block on the disk; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._compared = _ComparedMatches()

    def outcomes(self, match_ids: Collection[str]) -> dict[str, MatchOutcome]:
        """Return the outcomes, by id, of those of these matches that have ended or were aborted."""
        with self._database.reading() as connection:
            rows = _rows(connection, match_ids)
            return _outcomes(connection, [row for row in rows if row["status"] != schema.PLANNED])

    def record(self, ended: Sequence[StoredMatch], published: Collection[str] = ()) -> None:
        """Store the outcomes of matches, and that those `published` have replays, in one transaction.

        Recording the same again changes nothing. A result may replace an aborted attempt; nothing may replace
        a result.

        Raises `StoreError` if the file cannot be written, or a match already has another result.
        """
        # A replay that lacks its mark gets it at the next start.
        with self._database.writing(synced=bool(ended)) as connection:
            record(connection, ended, self._compared)
            if published:
                connection.execute(_PUBLISH, {"ids": list(published)})

    def mark_published(self, match_ids: Collection[str]) -> None:
        self.record((), match_ids)

    def mark_removed(self, match_ids: Collection[str]) -> None:
        with self._database.writing() as connection:
            gone = update(schema.matches).where(schema.matches.c.id.in_(match_ids))
            connection.execute(gone.values(published=False))

    def of_unfinished_competitions(self) -> frozenset[str]:
        """Return the ids of the matches of competitions that are not finished, played or not."""
        matches, games, all_of = schema.matches, schema.competition_games, schema.competitions
        with self._database.reading() as connection:
            ids = connection.execute(
                select(matches.c.id)
                .join(games, games.c.id == matches.c.competition_game)
                .join(all_of, all_of.c.id == games.c.competition)
                .where(all_of.c.state != str(State.FINISHED))
            )
            return frozenset(ids.scalars())

    def get(self, match_id: str) -> StoredMatch | None:
        """Return the match of an id; None if no match of that id has ended."""
        with self._database.reading() as connection:
            stored = _stored(connection, schema.matches.c.id == match_id, limit=1)
        return stored[0] if stored else None

    def bots(self, competition: str = "") -> tuple[str, ...]:
        """Return the names of all bots of matches, or of those of a competition, also of planned ones."""
        seats, matches = schema.match_seats, schema.matches
        query = select(seats.c.bot).distinct().order_by(seats.c.bot)
        if competition:
            query = query.join(matches, seats.c.match == matches.c.id).where(
                *_conditions(MatchFilter(competition=competition))
            )
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def games(self, wanted: MatchFilter = MatchFilter()) -> frozenset[str]:
        """Return the ids of the games of matches that have ended."""
        table = schema.matches
        query = select(table.c.game).distinct().where(table.c.status != schema.PLANNED)
        with self._database.reading() as connection:
            return frozenset(connection.execute(query.where(*_conditions(wanted))).scalars())

    def last_ends(self) -> dict[str, int]:
        """Return when the last match of each competition ended, by its name, in UNIX milliseconds; those without matches are left out."""
        matches, games, held = schema.matches, schema.competition_games, schema.competitions
        of_game = select(func.max(matches.c.ended_unix_ms)).where(
            matches.c.competition_game == games.c.id
        )
        query = select(held.c.name, of_game.scalar_subquery()).join(
            games, games.c.competition == held.c.id
        )
        ends: dict[str, int] = {}
        with self._database.reading() as connection:
            for name, ended in connection.execute(query):
                if ended is not None:
                    ends[name] = max(ended, ends.get(name, 0))
        return ends

    def find(
        self,
        wanted: MatchFilter = MatchFilter(),
        *,
        limit: int = 50,
        after: tuple[int, str] | None = None,
        skip: int = 0,
    ) -> tuple[StoredMatch, ...]:
        """Matches that have ended, newest first, `MAX_PAGE` at most.

        `after` is the `ended_unix_ms` and the id of the last match of the previous page; `skip` of those that follow it
        are skipped.
        """
        table, conditions = schema.matches, _conditions(wanted)
        if after is not None:
            ended, match_id = after
            earlier = and_(table.c.ended_unix_ms == ended, table.c.id < match_id)
            conditions.append(or_(table.c.ended_unix_ms < ended, earlier))
        with self._database.reading() as connection:
            return _stored(connection, *conditions, limit=min(limit, MAX_PAGE), skip=skip)


def _conditions(wanted: MatchFilter) -> list[Any]:
    table, seats = schema.matches, schema.match_seats
    conditions: list[Any] = []
    if wanted.game:
        conditions.append(table.c.game == wanted.game)
    if wanted.ending:
        conditions.append(table.c.ending == wanted.ending)
    for bot in wanted.bots:
        of_bot = select(seats.c.match).where(_is_played_by(bot))
        conditions.append(table.c.id.in_(of_bot))
    if wanted.competition:
        competitions, games = schema.competitions, schema.competition_games
        of_competition = (
            select(games.c.id)
            .join(competitions, games.c.competition == competitions.c.id)
            .where(competitions.c.name == wanted.competition)
        )
        conditions.append(table.c.competition_game.in_(of_competition))
    if wanted.faulted:
        conditions.append(table.c.id.in_(select(schema.faults.c.match)))
    if wanted.published:
        conditions.append(table.c.published)
    if wanted.closed:
        conditions.append(or_(table.c.deal_set.is_(None), table.c.published))
    if wanted.lost_by:
        # Databases index JSON only by constants, so each seat has a separate condition.
        behind = (
            and_(seats.c.seat == seat, table.c.places[seat].as_integer() > 1)
            for seat in range(MOST_SEATS)
        )
        lost = and_(seats.c.match == table.c.id, _is_played_by(wanted.lost_by), or_(*behind))
        conditions.append(select(seats.c.match).where(lost).exists())
    if wanted.by_others:
        others = and_(seats.c.match == table.c.id, seats.c.bot != HOUSE)
        conditions.append(select(seats.c.match).where(others).exists())
    if wanted.worth:
        is_any = wanted.worth == ANY_WORTH
        conditions.append(table.c.worth.is_not(None) if is_any else table.c.worth == wanted.worth)
    if wanted.most_margin is not None:
        conditions.append(table.c.margin <= wanted.most_margin)
    return conditions


def _is_played_by(bot: str) -> ColumnElement[bool]:
    """Return whether a seat is that of a bot, or of one of its versions, as `ann@7`."""
    seats, versions = schema.match_seats, schema.versions
    names = versions.c.bot.concat("@").concat(cast(versions.c.number, Text))
    return or_(seats.c.bot == bot, seats.c.bot.in_(select(names).where(versions.c.bot == bot)))


class _ComparedMatches:
    """The finished matches that others are compared with. Used by one thread at a time.

    A result does not change, so each is read and summarised once: reading all for each match took half of its
    transaction.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[int, dict[str, ComparedMatch]]] = {}
        """The latest of each game and number of hands, by id, and when the last of them ended; those that were used last are
        at the end."""

    def with_(self, connection: Connection, game: str, seats: int, hands: int) -> EarlierMatches:
        """Return the matches with which a match that has just ended is compared."""
        since, known = self._known.pop((game, hands), (0, {}))
        values = {"game": game, "hands": hands, "since": since}
        for match_id, ended, bots, scores, cost in reversed(
            connection.execute(_LATEST, values).all()
        ):
            since = ended
            if match_id not in known:
                known[match_id] = ComparedMatch.of(bots, scores, cost or 0)
        for match_id in list(known)[:-COMPARED]:
            del known[match_id]
        self._known[game, hands] = since, known
        if len(self._known) > MOST_KINDS:
            del self._known[next(iter(self._known))]
        return EarlierMatches([match for match in known.values() if match.seats == seats])


def record(
    connection: Connection, ended: Sequence[StoredMatch], compared: _ComparedMatches | None = None
) -> None:
    """Store the outcomes of matches within a transaction, as `StoredMatches.record` does."""
    for distinct in _without_repeats(ended):
        _record(connection, distinct, compared or _ComparedMatches())


def _without_repeats(ended: Sequence[StoredMatch]) -> Iterator[list[StoredMatch]]:
    """Yield the matches in order, in lists without repeated ids: a result may follow an aborted attempt."""
    seen: dict[str, StoredMatch] = {}
    for match in ended:
        if match.outcome.match_id in seen:
            yield list(seen.values())
            seen = {}
        seen[match.outcome.match_id] = match
    if seen:
        yield list(seen.values())


def _record(
    connection: Connection, ended: Sequence[StoredMatch], compared: _ComparedMatches
) -> None:
    """Store the outcomes of different matches, with one statement for each kind of change."""
    rows = {
        row["id"]: row for row in _rows(connection, [match.outcome.match_id for match in ended])
    }
    recorded = _outcomes(connection, list(rows.values()))
    new: list[dict[str, Any]] = []
    seats: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    earlier: dict[tuple[str, int, int], EarlierMatches] = {}
    """What the matches are compared with, by game, seats and hands."""
    for match in ended:
        outcome, match_id = match.outcome, match.outcome.match_id
        row = rows.get(match_id)
        if row is not None and row["status"] == schema.FINISHED:
            if recorded[match_id] != outcome:
                raise StoreError(f"match {match_id} already has another result")
            continue
        alike = (match.game, len(match.bots), outcome.hands)
        if alike not in earlier:
            earlier[alike] = compared.with_(connection, *alike)
        kind = earlier[alike].worth(outcome, match.bots)
        values = _columns(outcome) | {"ended_unix_ms": match.ended_unix_ms, "worth": kind}
        if row is None:
            places = {"deal_set": match.deal_set or None, "game": match.game, "bots": match.bots}
            new.append({"id": match_id} | places | values)
            seats += [
                {"match": match_id, "seat": seat, "bot": bot} for seat, bot in enumerate(match.bots)
            ]
        elif _are_planned(row["bots"], match.bots):
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
    """Return whether these bots were planned.

    A remote bot of a ladder is planned as a version and plays under its name. A submitted bot of a tournament is
    planned by its name and plays as a version.
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
        "margin": margin(outcome.scores) if result else None,
        "cost": outcome.cost or None,
        "costliest_hand": outcome.costliest_hand or None,
        "evidence": outcome.evidence,
        "journal": outcome.journal_position,
    }


def outcomes_of_game(connection: Connection, competition_game: int) -> dict[str, MatchOutcome]:
    """Return the outcomes of a competition's game by match id, with aborted ones."""
    table = schema.matches
    of_game = table.c.competition_game == competition_game
    return _outcomes_where(connection, and_(of_game, table.c.status != schema.PLANNED))


def _rows(connection: Connection, match_ids: Collection[str]) -> Sequence[RowMapping]:
    return connection.execute(_BY_ID, {"ids": list(match_ids)}).mappings().all()


def _outcomes(connection: Connection, rows: Sequence[RowMapping]) -> dict[str, MatchOutcome]:
    finished = [row["id"] for row in rows if row["status"] == schema.FINISHED]
    faults = _by_match(connection.execute(_FAULTS, {"ids": finished})) if finished else {}
    return {row["id"]: _outcome(row, faults.get(row["id"], ())) for row in rows}


def _outcomes_where(connection: Connection, condition: Any) -> dict[str, MatchOutcome]:
    """Return the outcomes of all matches of a condition; their ids may be too many for one statement."""
    table, faults = schema.matches, schema.faults
    rows = find_rows(connection, select(table).where(condition))
    of_matches = select(faults).where(faults.c.match.in_(select(table.c.id).where(condition)))
    by_match = _by_match(connection.execute(of_matches))
    return {row["id"]: _outcome(row, by_match.get(row["id"], ())) for row in rows}


def _stored(
    connection: Connection, *conditions: Any, limit: int, skip: int = 0
) -> tuple[StoredMatch, ...]:
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
        .offset(skip)
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
            worth=row["worth"] or "",
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
        cost=row["cost"] or 0,
        costliest_hand=row["costliest_hand"] or 0,
        evidence=row["evidence"] or "",
        journal_position=row["journal"] or "",
    )

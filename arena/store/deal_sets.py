"""The deal-sets of a competition's games in the store, with their matches and states.

They are stored before play. The process that plays a competition takes those that wait into play, and reports them. One
process writes results, so a state (`DealSetState`) and a counter are enough: each begin of a deal-set, when it is taken
and when a worker gets it, raises `begin`. A report counts only if it is of the latest begin. So a late report of a
worker, or of an arena that another has replaced, changes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from arena.results.deal_sets import DealSet, DealSetShape, DealSetState, MatchOutcome, MatchPlan
from arena.results.record import PlayedCount, WorkerBegins
from arena.results.states import State
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.matches import StoredMatch, record
from arena.store.rows import dataclass_of, find_rows

# Statements that run for every deal-set are built once: building one takes longer than running it.
_TABLE: Final = schema.deal_sets
_GAME: Final[BindParameter[int]] = bindparam("of_game")
_IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
_OWN: Final = _TABLE.c.competition_game == _GAME
_WAITING: Final = (
    select(_TABLE.c.id, _TABLE.c.begin)
    .where(_OWN, _TABLE.c.state == DealSetState.WAITING)
    .order_by(_TABLE.c.number)
    .limit(bindparam("most"))
)
_WAITING_IF_RUNNING: Final = _WAITING.where(
    exists()
    .where(schema.competition_games.c.id == _GAME)
    .where(schema.competitions.c.id == schema.competition_games.c.competition)
    .where(schema.competitions.c.state == str(State.RUNNING))
)
_TAKE: Final = (
    update(_TABLE)
    .where(_OWN, _TABLE.c.id.in_(_IDS))
    .values(state=DealSetState.IN_PLAY, begin=_TABLE.c.begin + 1, player=None)
)
_CHANGE: Final = (
    update(_TABLE).where(_OWN, _TABLE.c.id.in_(_IDS)).values(state=bindparam("new_state"))
)
_BEGIN: Final = (
    update(_TABLE)
    .where(_OWN, _TABLE.c.id == bindparam("deal_set"))
    .values(begin=_TABLE.c.begin + 1, player=bindparam("worker"))
)
_BEGINS: Final = select(_TABLE.c.id, _TABLE.c.state, _TABLE.c.begin, _TABLE.c.player).where(
    _OWN, _TABLE.c.id.in_(_IDS)
)
_KEEP_FAILED: Final = insert(schema.failed_begins).from_select(
    ["competition_game", "deal_set", "begin", "worker"],
    select(_TABLE.c.competition_game, _TABLE.c.id, _TABLE.c.begin, _TABLE.c.player).where(
        _OWN, _TABLE.c.id.in_(_IDS), _TABLE.c.player.is_not(None)
    ),
)
_PLANS: Final = select(_TABLE).where(_OWN)
_PLANNED_MATCHES: Final = (
    select(
        schema.matches.c.id,
        schema.matches.c.deal_set,
        schema.matches.c.rotation,
        schema.matches.c.bots,
    )
    .join(
        _TABLE,
        and_(
            schema.matches.c.competition_game == _TABLE.c.competition_game,
            schema.matches.c.deal_set == _TABLE.c.id,
        ),
    )
    .where(_OWN)
    .order_by(schema.matches.c.rotation)
)
_SOME_PLANS: Final = _PLANS.where(_TABLE.c.id.in_(_IDS))
_SOME_PLANNED_MATCHES: Final = _PLANNED_MATCHES.where(_TABLE.c.id.in_(_IDS))
_TERMS: Final = select(schema.competition_games.c.terms).where(
    schema.competition_games.c.id == _GAME
)

DealSetReport: TypeAlias = tuple[DealSet, Mapping[str, MatchOutcome]]
"""A deal-set, and the outcomes of all its matches by id."""


class OutOfDate(StoreError):
    """The deal-set was begun again or does not wait for a report, so this report does not count."""


class Contradicted(StoreError):
    """The deal-set has other results: it was played twice, which is an incident."""


class StoredDealSets:
    """The deal-sets of one game, for the process that plays them. Calls block on the disk; any thread may call.

    Calls are synced together with the results of matches. A power cut ends all begins at workers, and a lost report is
    made again from the results, so neither is missed.

    The object knows the begins of the deal-sets that it has taken. All calls except `take` and `put_back` raise
    `OutOfDate`, and change nothing, if another process has begun a deal-set since, or it is not in play any more.
    """

    def __init__(self, database: Database, competition_game: int) -> None:
        self._database, self._game = database, competition_game
        self._game_id = ""
        """The id of the game, once it was read."""
        self._begins: dict[str, int] = {}
        """The latest begin of each deal-set that was taken, by id."""

    def start_anew(self) -> None:
        """Let all deal-sets wait that were in play or given up.

        The process that plays the competition calls this before it takes the first deal-set.
        """
        over = (DealSetState.COMPLETE, DealSetState.VOID)
        with self._database.writing() as connection:
            anew = update(_TABLE).where(_OWN, _TABLE.c.state.not_in(over))
            values = {"of_game": self._game}
            connection.execute(anew.values(state=DealSetState.WAITING), values)

    def take(self, most: int, *, if_running: bool = False) -> tuple[DealSet, ...]:
        """Take up to `most` waiting deal-sets into play, in the order of the schedule.

        With `if_running`, none is taken unless the competition runs.
        """
        chosen = _WAITING_IF_RUNNING if if_running else _WAITING
        with self._database.writing(synced=False) as connection:
            waiting = connection.execute(chosen, {"of_game": self._game, "most": most})
            begins = {row.id: row.begin + 1 for row in waiting}
            if not begins:
                return ()
            connection.execute(_TAKE, {"of_game": self._game, "ids": [*begins]})
            plans = read_deal_sets(connection, self._game, begins)
        self._begins |= begins
        return plans

    def put_back(self, deal_sets: Collection[DealSet]) -> None:
        """Let deal-sets wait again that were taken and have not begun, unless another process has taken them since."""
        values = {"of_game": self._game, "ids": [deal_set.id for deal_set in deal_sets]}
        with self._database.writing() as connection:
            known = [
                row.id
                for row in connection.execute(_BEGINS, values)
                if row.state == DealSetState.IN_PLAY and row.begin == self._begins[row.id]
            ]
            self._change(connection, known, DealSetState.WAITING)

    def begin_many(self, begins: Sequence[tuple[DealSet, str]]) -> Sequence[int]:
        """Count that deal-sets in play begin at workers of these names, in one transaction.

        A deal-set that has begun at a worker since it was taken has failed there. Returns the number of each begin. No
        deal-set is named twice.
        """
        with self._database.writing(synced=False) as connection:
            ids = [plan.id for plan, _ in begins]
            self._keep_failed(connection, self._require(connection, ids, DealSetState.IN_PLAY))
            connection.execute(
                _BEGIN,
                [
                    {"of_game": self._game, "deal_set": plan.id, "worker": worker}
                    for plan, worker in begins
                ],
            )
        numbers = {plan.id: self._begins[plan.id] + 1 for plan, _ in begins}
        self._begins |= numbers
        return [*numbers.values()]

    def report_many(self, reports: Sequence[DealSetReport], *, now_unix_ms: int) -> None:
        """Complete deal-sets with the outcomes of all their matches, in one transaction.

        Outcomes that are missing are recorded. The same report again changes nothing.

        Raises `Contradicted` if a match has another result, and `ValueError` if a match has no result.
        """
        for deal_set, outcomes in reports:
            _require_whole(deal_set, outcomes)
        ids = {deal_set.id for deal_set, _ in reports}
        with self._database.writing(synced=False) as connection:
            self._require(connection, ids, DealSetState.IN_PLAY, DealSetState.COMPLETE)
            game = self._game_id = self._game_id or _game_id(connection, self._game)
            ended = [
                StoredMatch(outcomes[match.id], game, match.bots, deal_set.id, now_unix_ms)
                for deal_set, outcomes in reports
                for match in deal_set.matches
            ]
            try:
                record(connection, ended)
            except StoreError as error:
                raise Contradicted(f"deal-set {', '.join(sorted(ids))}: {error}") from error
            self._change(connection, ids, DealSetState.COMPLETE)

    def give_up(self, deal_set: DealSet) -> None:
        """Give up a deal-set that the arena cannot finish; it waits again only after `start_anew`."""
        with self._database.writing() as connection:
            at_workers = self._require(connection, [deal_set.id], DealSetState.IN_PLAY)
            self._keep_failed(connection, at_workers)
            self._change(connection, [deal_set.id], DealSetState.GIVEN_UP)

    def _keep_failed(self, connection: Connection, at_workers: Collection[str]) -> None:
        """Keep the latest begins of deal-sets at workers as failed."""
        if at_workers:  # few deal-sets fail, and never one that begins for the first time
            connection.execute(_KEEP_FAILED, {"of_game": self._game, "ids": [*at_workers]})

    def _change(self, connection: Connection, ids: Collection[str], state: DealSetState) -> None:
        values = {"of_game": self._game, "ids": [*ids], "new_state": state}
        connection.execute(_CHANGE, values)

    def _require(
        self, connection: Connection, ids: Collection[str], *states: DealSetState
    ) -> list[str]:
        """Require deal-sets in one of these states, at the begins that are known here; return those at workers."""
        at_workers = []
        for row in connection.execute(_BEGINS, {"of_game": self._game, "ids": [*ids]}):
            begin = self._begins.get(row.id, 0)
            if row.state not in states or row.begin != begin:
                raise OutOfDate(
                    f"deal-set {row.id} was begun as number {begin} here; it is {row.state} now, with begin {row.begin}"
                )
            if row.player is not None:
                at_workers.append(row.id)
        return at_workers


def _require_whole(deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> None:
    same = {match.id for match in deal_set.matches} == outcomes.keys()
    if not same or not all(outcome.has_result for outcome in outcomes.values()):
        raise ValueError(f"a report of deal-set {deal_set.id} needs a result for each match")


def _game_id(connection: Connection, competition_game: int) -> str:
    terms = connection.execute(_TERMS, {"of_game": competition_game})
    game: str = terms.scalar_one()["game"]
    return game


def add_deal_sets(connection: Connection, competition_game: int, new: Sequence[DealSet]) -> None:
    """Add waiting deal-sets with their matches."""
    if not new:
        return
    game = _game_id(connection, competition_game)
    connection.execute(
        insert(schema.deal_sets),
        [
            {
                "competition_game": competition_game,
                "id": deal_set.id,
                "number": deal_set.number,
                "seed": deal_set.seed,
                "bots": deal_set.bots,
                "round": deal_set.round,
                "shape": str(deal_set.shape),
                "inputs_sha256": deal_set.inputs_sha256 or None,
            }
            for deal_set in new
        ],
    )
    planned = [(deal_set, match) for deal_set in new for match in deal_set.matches]
    connection.execute(
        insert(schema.matches),
        [
            {
                "id": match.id,
                "competition_game": competition_game,
                "deal_set": deal_set.id,
                "rotation": match.rotation,
                "game": game,
                "bots": match.bots,
                "status": schema.PLANNED,
            }
            for deal_set, match in planned
        ],
    )
    connection.execute(
        insert(schema.match_seats),
        [
            {"match": match.id, "seat": seat, "bot": bot}
            for _, match in planned
            for seat, bot in enumerate(match.bots)
        ],
    )


def read_deal_sets(
    connection: Connection, competition_game: int, ids: Collection[str] | None = None
) -> tuple[DealSet, ...]:
    """Return the deal-sets of a game, or those of these ids, by number; their matches are in order of rotation."""
    values: dict[str, Any] = {"of_game": competition_game}
    plans, planned_matches = _PLANS, _PLANNED_MATCHES
    if ids is not None:
        plans, planned_matches, values["ids"] = _SOME_PLANS, _SOME_PLANNED_MATCHES, [*ids]
    # They are sorted here, because SQLite would read all of the game to return a few in this order.
    rows = sorted(find_rows(connection, plans, values), key=itemgetter("number"))
    of_set: dict[str, list[MatchPlan]] = defaultdict(list)
    for row in find_rows(connection, planned_matches, values):
        match = MatchPlan(row["id"], row["deal_set"], row["rotation"], tuple(row["bots"]))
        of_set[match.deal_set_id].append(match)
    return tuple(
        dataclass_of(
            DealSet,
            row,
            bots=tuple(row["bots"]),
            matches=tuple(of_set[row["id"]]),
            shape=DealSetShape(row["shape"]),
            inputs_sha256=row["inputs_sha256"] or "",
        )
        for row in rows
    )


def void_waiting(connection: Connection, competition_game: int, bot: str) -> None:
    """Make the deal-sets of a bot that have not begun void."""
    sets = schema.deal_sets
    waiting = connection.execute(
        select(sets.c.id, sets.c.bots).where(
            sets.c.competition_game == competition_game,
            sets.c.state.in_((DealSetState.WAITING, DealSetState.GIVEN_UP)),
        )
    ).mappings()
    void = [deal_set["id"] for deal_set in waiting if bot in deal_set["bots"]]
    connection.execute(
        update(sets)
        .where(sets.c.competition_game == competition_game, sets.c.id.in_(void))
        .values(state=DealSetState.VOID)
    )


def restore_void(
    connection: Connection, competition_game: int, bot: str, out: Collection[str]
) -> None:
    """Let the void deal-sets of a bot that have no bot of `out` wait again.

    Complete deal-sets were dropped with their worker, and stay void: all their matches have results.
    """
    sets, matches = schema.deal_sets, schema.matches
    of_game = matches.c.competition_game == competition_game
    unplayed = select(matches.c.deal_set).where(of_game, matches.c.status == schema.PLANNED)
    void = connection.execute(
        select(sets.c.id, sets.c.bots).where(
            sets.c.competition_game == competition_game,
            sets.c.state == DealSetState.VOID,
            sets.c.id.in_(unplayed),
        )
    ).mappings()
    ids = [row["id"] for row in void if bot in row["bots"] and not set(out) & {*row["bots"]}]
    connection.execute(
        update(sets)
        .where(sets.c.competition_game == competition_game, sets.c.id.in_(ids))
        .values(state=DealSetState.WAITING)
    )


def void_played_by(connection: Connection, games: Collection[int], worker: str) -> int:
    """Make the complete deal-sets that a worker, or the workers of a key, played void; return their number."""
    table = schema.deal_sets
    dropped = (
        update(table)
        .where(_complete_of(games), _is_of(table.c.player, worker))
        .values(state=DealSetState.VOID)
    )
    return connection.execute(dropped).rowcount


def workers_of(connection: Connection, games: Collection[int]) -> tuple[str, ...]:
    """Return the workers that have played complete deal-sets, in order of name."""
    player = schema.deal_sets.c.player
    query = select(player).where(_complete_of(games), player.is_not(None))
    return tuple(sorted(connection.execute(query.distinct()).scalars()))


def _is_of(column: ColumnElement[str | None], worker: str) -> ColumnElement[bool]:
    of_key = f"{worker}@"
    return or_(column == worker, func.substr(column, 1, len(of_key)) == of_key)


def begins_at_workers(connection: Connection, competition_game: int) -> WorkerBegins:
    """Return the begins of a game's deal-sets at workers."""
    sets, failed = schema.deal_sets, schema.failed_begins
    complete = select(sets.c.id, sets.c.player).where(
        _complete_of([competition_game]), sets.c.player.is_not(None)
    )
    failures: dict[str, list[str]] = defaultdict(list)
    query = select(failed.c.deal_set, failed.c.worker).order_by(failed.c.begin)
    for deal_set, worker in connection.execute(query.filter_by(competition_game=competition_game)):
        failures[deal_set].append(worker)
    played = {row.id: row.player for row in connection.execute(complete)}
    return WorkerBegins(played, {deal_set: tuple(at) for deal_set, at in failures.items()})


def _complete_of(games: Collection[int]) -> ColumnElement[bool]:
    sets = schema.deal_sets
    return and_(sets.c.competition_game.in_(games), sets.c.state == DealSetState.COMPLETE)


def played_since(connection: Connection, competition_game: int, since_unix_ms: int) -> PlayedCount:
    """Return the complete deal-sets of a game with a match that has ended since `since_unix_ms`, and those matches."""
    matches, sets = schema.matches, schema.deal_sets
    of_set = and_(
        sets.c.competition_game == matches.c.competition_game, sets.c.id == matches.c.deal_set
    )
    query = (
        select(func.count(matches.c.deal_set.distinct()), func.count())
        .select_from(matches.join(sets, of_set))
        .where(
            matches.c.competition_game == competition_game,
            matches.c.ended_unix_ms > since_unix_ms,
            sets.c.state == DealSetState.COMPLETE,
        )
    )
    return PlayedCount(*connection.execute(query).one())

"""Competitions in the store: what was asked for, who is in, what was drawn, and the official tables.

What an organiser has asked for is never changed. Each action of people is in the audit. A round or a
ladder's deal-set is on disk before its first card.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from arena.competition.record import (
    Candidate,
    CompetitionRecord,
    DrawnDealSet,
    GameRecord,
    Out,
    Shape,
)
from arena.competition.rounds import Round
from arena.competition.states import Action, State, after
from arena.ladder.schedule import DealSetPlan
from arena.store import audit, rounds, schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.leases import Leases
from arena.store.matches import outcomes_of_tournament
from arena.store.registry import BotKind
from arena.store.rounds import Rounds
from arena.store.schedule import add_deal_sets, read_schedule


class NoCompetition(StoreError):
    """There is no competition of that name, or no such bot or table in it."""


class NotExpected(StoreError):
    """The competition is in another state than whoever acts on it thinks."""


class MayNotEnter(StoreError):
    """The bot may not take part; the text says why."""


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game of a competition that is made."""

    name: str
    terms: Mapping[str, Any]
    """As `arena.wire.terms.terms_json` writes them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot that takes part, and how it comes to its matches."""

    name: str
    owner: str
    kind: BotKind
    command: str = ""
    """Empty for bots that dial in, or were uploaded."""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """A bot of a competition as the store knows it."""

    entry: Entry
    candidate: Candidate
    present_ms: Mapping[str, int]
    """How long each version of it was there on a ladder, by the player's name."""
    away: str
    """Why it is not drawn just now; empty if it is."""


@dataclass(frozen=True, slots=True)
class Competition:
    """A competition without what was played of it."""

    name: str
    config: str
    state: State
    organiser: str
    created: str
    """ISO 8601, UTC."""
    games: tuple[str, ...]
    """The names of its tournaments."""
    entries: tuple[Held, ...]
    """In order of seed."""
    tables: int
    """Official tables so far."""


@dataclass(frozen=True, slots=True)
class OfficialTable:
    """A frozen table as it was signed."""

    number: int
    body: str
    """JSON, the very characters that are signed."""
    record: tuple[str, ...]
    """JSON, a line for each part of what it was made from."""
    inputs_sha256: str
    public_key: str
    """Hexadecimal, as is the signature."""
    signature: str
    at_unix_ms: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a game has come."""

    rounds: int
    deal_sets: Mapping[str, int] = field(default_factory=dict)
    """How many are in each state."""


class Competitions:
    """The competitions of a store. Calls block for as long as the disk takes; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # What people do.

    def create(
        self,
        name: str,
        config: str,
        games: Sequence[NewGame],
        *,
        seed: str,
        organiser: str,
        now: datetime,
    ) -> None:
        """Make a competition, as a draft.

        Raises:
          StoreError: if there is one of that name, or a tournament that it would have.
        """
        made = now.astimezone(UTC).isoformat(timespec="seconds")
        with self._database.writing() as connection:
            self._require_free(connection, name, games)
            number: int = connection.execute(
                insert(schema.competitions)
                .values(
                    name=name,
                    config=config,
                    config_sha256=_sha256(config),
                    state=str(State.DRAFT),
                    organiser=organiser,
                    created=made,
                )
                .returning(schema.competitions.c.id)
            ).scalar_one()
            for at, game in enumerate(games):
                tournament: int = connection.execute(
                    insert(schema.tournaments)
                    .values(name=game.name, seed=seed, created=made, terms=dict(game.terms))
                    .returning(schema.tournaments.c.id)
                ).scalar_one()
                connection.execute(
                    insert(schema.competition_games).values(
                        competition=number, number=at, tournament=tournament
                    )
                )
            told = {"config_sha256": _sha256(config)}
            _audit(connection, now, organiser, f"create competition {name}", None, told)

    def control(
        self,
        name: str,
        action: Action,
        *,
        who: str,
        expected: State | None = None,
        now: datetime,
        table: OfficialTable | None = None,
    ) -> State:
        """Take an action; the state that it leads to. A table that it makes is kept with it, or neither.

        Raises:
          NoCompetition: if there is none of that name.
          NotExpected: if it is in another state than expected: somebody was faster.
          NotAllowed: if that may not be done now.
        """
        held = schema.competitions
        with self._database.writing() as connection:
            row = _row(connection, name)
            state = State(row["state"])
            if expected is not None and state is not expected:
                raise NotExpected(f"{name} is {state} by now, not {expected}: look at it again")
            new = after(state, action)
            connection.execute(update(held).where(held.c.id == row["id"]).values(state=str(new)))
            what = f"{action} competition {name}"
            _audit(connection, now, who, what, {"state": state}, {"state": new})
            if table is not None:
                _insert_table(connection, row, table, who, now)
        return new

    def enter(
        self, name: str, entry: Entry, *, who: str, now: datetime, max_of_owner: int | None = None
    ) -> None:
        """Have a bot take part, behind all who entered before.

        Raises:
          NoCompetition: if there is none of that name.
          MayNotEnter: if it may not: it was disqualified, is in already, has too many sisters, or
            it is too late.
        """
        table = schema.candidates
        with self._database.writing() as connection:
            row = _row(connection, name)
            held = _held(connection, row["id"])
            _require_welcome(connection, row, held, entry, max_of_owner)
            values = {
                "owner": entry.owner,
                "kind": str(entry.kind),
                "command": entry.command,
                "version": entry.version,
                "entered_unix_ms": _unix_ms(now),
                "out": None,
                "out_after": None,
                "reason": "",
            }
            this = (table.c.competition == row["id"]) & (table.c.name == entry.name)
            if any(each.entry.name == entry.name for each in held):
                connection.execute(update(table).where(this).values(**values))
            else:
                seed = 1 + max((each.candidate.seed for each in held), default=0)
                connection.execute(
                    insert(table).values(
                        competition=row["id"], name=entry.name, seed=seed, **values
                    )
                )
            told = {"bot": entry.name, "owner": entry.owner, "version": entry.version}
            _audit(connection, now, who, f"enter competition {name}", None, told)

    def set_seeds(self, name: str, order: Sequence[str]) -> None:
        """Fix the ranks before the first round, once, as the competition starts.

        Raises:
          NoCompetition: if there is none of that name.
        """
        table = schema.candidates
        with self._database.writing() as connection:
            row = _row(connection, name)
            for seed, bot in enumerate(order, 1):
                this = (table.c.competition == row["id"]) & (table.c.name == bot)
                connection.execute(update(table).where(this).values(seed=seed))

    def go_out(
        self, name: str, bot: str, out: Out, *, reason: str, who: str, now: datetime
    ) -> None:
        """Take a bot out. Its deal-sets that have not begun are not played.

        Raises:
          NoCompetition: if there is no such competition, or no such bot in it.
        """
        table, sets = schema.candidates, schema.deal_sets
        with self._database.writing() as connection:
            row = _row(connection, name)
            found = [e for e in _held(connection, row["id"]) if e.entry.name == bot]
            if not found:
                raise NoCompetition(f"{bot!r} is not in the competition {name!r}")
            before = found[0].candidate
            if before.out is Out.DISQUALIFIED or before.out is out:
                return
            numbers = _tournaments(connection, row["id"])
            out_after = [
                [game, before.out_after.get(game, _rounds_of(connection, tournament))]
                for game, tournament in enumerate(numbers)
            ]
            this = (table.c.competition == row["id"]) & (table.c.name == bot)
            connection.execute(
                update(table).where(this).values(out=str(out), out_after=out_after, reason=reason)
            )
            for tournament in numbers:
                waiting = connection.execute(
                    select(sets.c.id, sets.c.bots).where(
                        sets.c.tournament == tournament,
                        sets.c.state.in_((schema.WAITING, schema.GIVEN_UP)),
                    )
                ).mappings()
                void = [each["id"] for each in waiting if bot in each["bots"]]
                connection.execute(
                    update(sets)
                    .where(sets.c.tournament == tournament, sets.c.id.in_(void))
                    .values(state=schema.VOID)
                )
            told = {"bot": bot, "out": str(out), "reason": reason}
            _audit(connection, now, who, f"out of competition {name}", None, told)

    # What is drawn and played.

    def keep_round(
        self, name: str, game: int, drawn: Round, deal_sets: Sequence[DealSetPlan]
    ) -> None:
        """Keep a round and its deal-sets; the same again changes nothing.

        Raises:
          DrawDiffers: if a round of that number was drawn otherwise.
        """
        with self._database.writing() as connection:
            tournament = _tournament(connection, name, game)
            if not rounds.keep(connection, tournament, drawn):
                return
            table = schema.tournaments
            terms = connection.execute(select(table.c.terms).where(table.c.id == tournament))
            add_deal_sets(
                connection,
                tournament,
                terms.scalar_one()["game"],
                deal_sets,
                round=drawn.number,
            )

    def keep_draw(self, name: str, game: int, drawn: DrawnDealSet) -> None:
        """Keep a deal-set of a ladder."""
        with self._database.writing() as connection:
            tournament = _tournament(connection, name, game)
            table = schema.tournaments
            terms = connection.execute(select(table.c.terms).where(table.c.id == tournament))
            add_deal_sets(
                connection,
                tournament,
                terms.scalar_one()["game"],
                [drawn.plan],
                shape=str(drawn.shape),
                inputs_sha256=drawn.inputs_sha256,
            )

    def leases(self, name: str, game: int) -> Leases:
        """The deal-sets of a game on lease.

        Raises:
          NoCompetition: if there is none of that name.
        """
        with self._database.reading() as connection:
            return Leases(self._database, _tournament(connection, name, game))

    def rounds(self, name: str, game: int) -> Rounds:
        """The rounds of a game."""
        with self._database.reading() as connection:
            return Rounds(self._database, _tournament(connection, name, game))

    def note_presence(self, name: str, present_ms: Mapping[str, Mapping[str, int]]) -> None:
        """Keep how long bots were there on a ladder: by bot, then by player."""
        table = schema.candidates
        with self._database.writing() as connection:
            number = _row(connection, name)["id"]
            for bot, lasted_ms in present_ms.items():
                this = (table.c.competition == number) & (table.c.name == bot)
                connection.execute(update(table).where(this).values(present=dict(lasted_ms)))

    def set_away(self, name: str, bot: str, why: str) -> None:
        """Draw a bot no more, or again where `why` is empty."""
        table = schema.candidates
        with self._database.writing() as connection:
            number = _row(connection, name)["id"]
            this = (table.c.competition == number) & (table.c.name == bot)
            connection.execute(update(table).where(this).values(away=why or None))

    def add_table(self, name: str, table: OfficialTable, *, who: str, now: datetime) -> None:
        """Keep an official table, for good.

        Raises:
          NotExpected: if there is one of its number: somebody was faster.
        """
        with self._database.writing() as connection:
            _insert_table(connection, _row(connection, name), table, who, now)

    # What there is.

    def all(self) -> tuple[Competition, ...]:
        """Every competition, the oldest first."""
        table = schema.competitions
        with self._database.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.id)).mappings().all()
            return tuple(_competition(connection, row) for row in rows)

    def get(self, name: str) -> Competition:
        """A competition.

        Raises:
          NoCompetition: if there is none of that name.
        """
        with self._database.reading() as connection:
            return _competition(connection, _row(connection, name))

    def record(self, name: str) -> CompetitionRecord:
        """All that was drawn and played, at one moment.

        Raises:
          NoCompetition: if there is none of that name.
        """
        with self._database.reading() as connection:
            row = _row(connection, name)
            return CompetitionRecord(
                row["config"],
                tuple(each.candidate for each in _held(connection, row["id"])),
                tuple(_game(connection, each) for each in _tournaments(connection, row["id"])),
            )

    def progress(self, name: str) -> tuple[Progress, ...]:
        """How far each game has come.

        Raises:
          NoCompetition: if there is none of that name.
        """
        sets = schema.deal_sets
        with self._database.reading() as connection:
            found = []
            for tournament in _tournaments(connection, _row(connection, name)["id"]):
                counted = connection.execute(
                    select(sets.c.state, func.count())
                    .where(sets.c.tournament == tournament)
                    .group_by(sets.c.state)
                )
                states = {row[0]: row[1] for row in counted}
                found.append(Progress(_rounds_of(connection, tournament), states))
            return tuple(found)

    def table(self, name: str, number: int | None = None) -> OfficialTable | None:
        """An official table, the latest if no number is given; None if there is none yet.

        Raises:
          NoCompetition: if there is no such competition, or no table of that number.
        """
        table = schema.frozen_tables
        with self._database.reading() as connection:
            own = table.c.competition == _row(connection, name)["id"]
            query = select(table).where(own).order_by(table.c.number.desc()).limit(1)
            if number is not None:
                query = select(table).where(own, table.c.number == number)
            row = connection.execute(query).mappings().one_or_none()
        if row is None:
            if number is None:
                return None
            raise NoCompetition(f"there is no table {number} of the competition {name!r}")
        return OfficialTable(
            row["number"],
            row["body"],
            tuple(row["record"].split("\n")),
            row["inputs_sha256"],
            row["public_key"],
            row["signature"],
            row["at_unix_ms"],
        )

    def _require_free(self, connection: Connection, name: str, games: Sequence[NewGame]) -> None:
        table = schema.competitions
        if connection.execute(select(table.c.id).where(table.c.name == name)).first():
            raise StoreError(f"there is a competition {name!r} already: give this one another name")
        names = [game.name for game in games]
        taken = schema.tournaments
        held = connection.execute(select(taken.c.name).where(taken.c.name.in_(names))).scalars()
        for each in held:
            raise StoreError(f"there is a tournament {each!r} already: give this another name")


def _row(connection: Connection, name: str) -> RowMapping:
    table = schema.competitions
    row = connection.execute(select(table).where(table.c.name == name)).mappings().one_or_none()
    if row is None:
        raise NoCompetition(f"there is no competition {name!r}")
    return row


def _competition(connection: Connection, row: RowMapping) -> Competition:
    own = schema.competition_games
    tournaments = schema.tournaments
    names = connection.execute(
        select(tournaments.c.name)
        .join(own, own.c.tournament == tournaments.c.id)
        .where(own.c.competition == row["id"])
        .order_by(own.c.number)
    ).scalars()
    return Competition(
        row["name"],
        row["config"],
        State(row["state"]),
        row["organiser"],
        row["created"],
        tuple(names),
        _held(connection, row["id"]),
        _tables(connection, row["id"]),
    )


def _held(connection: Connection, competition: int) -> tuple[Held, ...]:
    table = schema.candidates
    rows = connection.execute(
        select(table).where(table.c.competition == competition).order_by(table.c.seed)
    ).mappings()
    return tuple(
        Held(
            Entry(row["name"], row["owner"], BotKind(row["kind"]), row["command"], row["version"]),
            Candidate(
                row["name"],
                row["owner"],
                row["seed"],
                row["version"],
                Out(row["out"]) if row["out"] else None,
                dict(map(tuple, row["out_after"] or ())),
                row["reason"],
            ),
            row["present"] or {},
            row["away"] or "",
        )
        for row in rows
    )


def _require_welcome(
    connection: Connection,
    row: RowMapping,
    held: Sequence[Held],
    entry: Entry,
    max_of_owner: int | None,
) -> None:
    """Require that a bot may enter now."""
    name = row["name"]
    for each in held:
        known, out = each.entry, each.candidate.out
        same_version = bool(entry.version) and known.version == entry.version
        if out is Out.DISQUALIFIED and (
            known.name.casefold() == entry.name.casefold()
            or (same_version and known.kind is not BotKind.REMOTE)
        ):
            was = "" if known.name == entry.name else f" as {known.name!r}"
            raise MayNotEnter(
                f"{entry.name!r} was disqualified from {name!r}{was}: {each.candidate.reason}"
            )
        if known.name == entry.name and out is None:
            raise MayNotEnter(f"{entry.name!r} is in the competition {name!r} already")
        if known.name.casefold() == entry.name.casefold() and known.owner != entry.owner:
            raise MayNotEnter(f"the name {entry.name!r} is taken in {name!r} by {known.owner!r}")
    if row["state"] == State.FINISHED:
        raise MayNotEnter(f"the competition {name!r} is finished")
    started = any(_rounds_of(connection, each) for each in _tournaments(connection, row["id"]))
    if started:
        raise MayNotEnter(f"the competition {name!r} has begun: its first round is drawn")
    sisters = [
        each for each in held if each.entry.owner == entry.owner and each.candidate.out is None
    ]
    if max_of_owner is not None and len(sisters) >= max_of_owner:
        raise MayNotEnter(f"{entry.owner!r} has {len(sisters)} bots in {name!r}, which is the most")


def _tournaments(connection: Connection, competition: int) -> tuple[int, ...]:
    own = schema.competition_games
    query = select(own.c.tournament).where(own.c.competition == competition).order_by(own.c.number)
    return tuple(connection.execute(query).scalars())


def _tournament(connection: Connection, name: str, game: int) -> int:
    return _tournaments(connection, _row(connection, name)["id"])[game]


def _rounds_of(connection: Connection, tournament: int) -> int:
    table = schema.rounds
    query = select(func.count()).where(table.c.tournament == tournament)
    return connection.execute(query).scalar_one()


def _tables(connection: Connection, competition: int) -> int:
    table = schema.frozen_tables
    query = select(func.count()).where(table.c.competition == competition)
    return connection.execute(query).scalar_one()


def _insert_table(
    connection: Connection, row: RowMapping, table: OfficialTable, who: str, now: datetime
) -> None:
    if table.number != 1 + _tables(connection, row["id"]):
        raise NotExpected(f"table {table.number} of {row['name']} is there: look at it again")
    connection.execute(
        insert(schema.frozen_tables).values(
            competition=row["id"],
            number=table.number,
            body=table.body,
            record="\n".join(table.record),
            inputs_sha256=table.inputs_sha256,
            public_key=table.public_key,
            signature=table.signature,
            at_unix_ms=table.at_unix_ms,
        )
    )
    told = {"number": table.number, "inputs_sha256": table.inputs_sha256}
    _audit(connection, now, who, f"table of competition {row['name']}", None, told)


def _game(connection: Connection, tournament: int) -> GameRecord:
    table = schema.deal_sets
    rows = {
        row["id"]: row
        for row in connection.execute(
            select(table).where(table.c.tournament == tournament)
        ).mappings()
    }
    return GameRecord(
        rounds.read(connection, tournament),
        tuple(
            DrawnDealSet(
                plan,
                row["round"],
                Shape(row["shape"]),
                row["state"] == schema.VOID,
                row["inputs_sha256"] or "",
                row["state"] == schema.COMPLETE,
            )
            for plan in read_schedule(connection, tournament)
            for row in (rows[plan.id],)
        ),
        outcomes_of_tournament(connection, tournament),
    )


def _audit(
    connection: Connection, now: datetime, who: str, what: str, before: Any, after: Any
) -> None:
    audit.append(
        connection, at_unix_ms=_unix_ms(now), who=who, what=what, before=before, after=after
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _unix_ms(now: datetime) -> int:
    if now.tzinfo is None:
        raise ValueError("the time of an event needs a time zone")
    return int(now.timestamp() * 1000)

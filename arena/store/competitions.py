"""Competitions in the store: the plan, the entrants, what was drawn and played, and the official standings.

A plan does not change once its competition has begun, except that a round robin may get more deal-sets. Each
action of a person is in the audit. A round, or a ladder's deal-set, is on disk before its first card is dealt.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, func, insert, select, update

from arena.competition.record import (
    CompetitionRecord,
    DealSetShape,
    DrawnDealSet,
    GameRecord,
    Out,
)
from arena.competition.rounds import Round
from arena.competition.states import Action, State, after
from arena.competition.timetable import Played
from arena.errors import RefusalError, refusal
from arena.schedule.deal_sets import DealSetPlan
from arena.store import audit, official_standings, rounds, schema
from arena.store.database import Database
from arena.store.deal_sets import add_deal_sets, read_deal_sets
from arena.store.entrants import (
    CompetitionEntry,
    EnteredBot,
    MayNotEnter,
    change_entrant,
    read_entrants,
    require_may_enter,
    write_entry,
)
from arena.store.errors import StoreError
from arena.store.leases import Leases
from arena.store.matches import outcomes_of_game
from arena.store.moments import iso_utc, unix_ms
from arena.store.names import NameTaken
from arena.store.official_standings import OfficialStandings
from arena.store.rows import find_row, find_rows


class NoCompetition(RefusalError, StoreError):
    """There is no competition of that name."""

    entry = refusal("UNKNOWN_COMPETITION")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.detail = repr(name)


class NoEntrant(RefusalError, StoreError):
    """The bot is not in the competition."""

    entry = refusal("UNKNOWN_BOT")


class NoOfficialStandings(RefusalError, StoreError):
    """There are no official standings of that number."""

    entry = refusal("UNKNOWN_STANDINGS")


class NotExpected(RefusalError, StoreError):
    """The competition is in another state than the caller expected."""

    entry = refusal("OTHER_STATE")


@dataclass(frozen=True, slots=True)
class CompetitionTexts:
    """The two texts of a plan that are stored."""

    config: str
    """The organiser's TOML, with the seed and the commands of bots."""
    public_config: str
    """The same plan without seed and commands, for public readers."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the organiser's TOML."""
        return hashlib.sha256(self.config.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Competition:
    """A competition without its rounds and results."""

    name: str
    config: str
    """The organiser's TOML; for public readers, the TOML without seed and commands."""
    state: State
    organiser: str
    created: str
    """ISO 8601, UTC."""
    terms: tuple[Mapping[str, Any], ...]
    """The terms of each game, as `arena.wire.terms.terms_json` wrote them when the competition was made."""
    entries: tuple[EnteredBot, ...]
    """In order of seed."""
    official: int
    """The number of its official standings."""
    announcement: str = ""
    """What its organisers tell all readers."""
    announced: str | None = None
    """ISO 8601, UTC; None without an announcement."""


@dataclass(frozen=True, slots=True)
class GameProgress:
    """The progress of a game."""

    rounds: int
    deal_sets: Mapping[str, int] = field(default_factory=dict)
    """The number of deal-sets in each state."""


class Competitions:
    """The competitions of a store. Calls block on the disk; any thread may call.

    Raises:
      NoCompetition: from any method with the name of a competition, if there is none of that name.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # Actions of organisers and owners.

    def create(
        self,
        name: str,
        texts: CompetitionTexts,
        terms: Sequence[Mapping[str, Any]],
        *,
        organiser: str,
        now: datetime,
    ) -> None:
        """Make a competition, as a draft; `terms` are those of each game.

        Raises:
          NameTaken: if there is one of that name.
        """
        with self._database.writing() as connection:
            table = schema.competitions
            if find_row(connection, table, name=name) is not None:
                raise NameTaken(f"there is a competition {name!r}")
            competition: int = connection.execute(
                insert(table)
                .values(
                    name=name,
                    **_columns(texts),
                    state=str(State.DRAFT),
                    organiser=organiser,
                    created=iso_utc(now),
                )
                .returning(table.c.id)
            ).scalar_one()
            connection.execute(
                insert(schema.competition_games),
                [
                    {"competition": competition, "number": number, "terms": dict(each)}
                    for number, each in enumerate(terms)
                ],
            )
            after_ = {"config_sha256": texts.sha256}
            audit.append(connection, now, organiser, f"create competition {name}", None, after_)

    def remove_unplayed(self, name: str, *, who: str, now: datetime) -> bool:
        """Remove a competition of which no match has ended; if one has, change nothing and return False."""
        matches, seats, games = schema.matches, schema.match_seats, schema.competition_games
        with self._database.writing() as connection:
            competition = _row(connection, name)["id"]
            if official_standings.count(connection, competition):
                return False
            own = select(games.c.id).where(games.c.competition == competition)
            of_games = matches.c.competition_game.in_(own)
            ended = and_(of_games, matches.c.status != schema.PLANNED)
            if connection.execute(select(matches.c.id).where(ended).limit(1)).first():
                return False
            planned = select(matches.c.id).where(of_games)
            connection.execute(delete(seats).where(seats.c.match.in_(planned)))
            for table in (matches, schema.deal_sets, schema.pairings, schema.rounds):
                connection.execute(delete(table).where(table.c.competition_game.in_(own)))
            for table in (games, schema.entrants):
                connection.execute(delete(table).where(table.c.competition == competition))
            connection.execute(delete(schema.competitions).filter_by(id=competition))
            audit.append(connection, now, who, f"remove competition {name}", None, None)
        return True

    def control(
        self,
        name: str,
        action: Action,
        *,
        who: str,
        expected: State | None = None,
        now: datetime,
        standings: OfficialStandings | None = None,
    ) -> State:
        """Take an action; returns the new state. Official standings are stored in the same transaction.

        Raises:
          NotExpected: if it is not in the expected state, because of another action before.
          NotAllowed: if the action is not allowed in this state.
        """
        with self._database.writing() as connection:
            row = _row(connection, name)
            state = State(row["state"])
            if expected is not None and state is not expected:
                raise NotExpected(f"{name} is {state}, not {expected}")
            new = after(state, action)
            changed = update(schema.competitions).filter_by(id=row["id"]).values(state=str(new))
            connection.execute(changed)
            what = f"{action} competition {name}"
            audit.append(connection, now, who, what, {"state": state}, {"state": new})
            if standings is not None:
                _add_standings(connection, row, standings, who, now)
        return new

    def extend(
        self,
        name: str,
        texts: CompetitionTexts,
        drawn: Round,
        deal_sets: Sequence[DealSetPlan],
        *,
        who: str,
        now: datetime,
    ) -> None:
        """Give a round robin of one game more deal-sets. It is running afterwards, also if it was finished.

        `drawn` is its only round, and `deal_sets` are all its deal-sets as the new plan draws them. The stored
        deal-sets must be the first of these.

        Raises:
          DrawDiffers: if the stored deal-sets are others.
        """
        with self._database.writing() as connection:
            row = _row(connection, name)
            (game,) = _games(connection, row["id"])
            stored = read_deal_sets(connection, game)
            if [each.id for each in stored] != [each.id for each in deal_sets[: len(stored)]]:
                raise rounds.DrawDiffers(
                    f"the first deal-sets of {name!r} were drawn differently: continue with the "
                    "version of the arena that drew them, or choose another name"
                )
            add_deal_sets(connection, game, deal_sets[len(stored) :], round=drawn.number)
            rounds.replace(connection, game, drawn)
            changed = update(schema.competitions).filter_by(id=row["id"])
            connection.execute(changed.values(**_columns(texts), state=str(State.RUNNING)))
            before = {"config_sha256": row["config_sha256"], "state": row["state"]}
            after_ = {"config_sha256": texts.sha256, "state": State.RUNNING}
            audit.append(connection, now, who, f"extend competition {name}", before, after_)

    def enter(
        self,
        name: str,
        entry: CompetitionEntry,
        *,
        who: str,
        now: datetime,
        max_of_owner: int | None = None,
    ) -> None:
        """Enter a bot, with the seed after those of all bots before.

        Raises:
          MayNotEnter: if the bot was disqualified or has entered already, if its owner has too many bots in
            the competition, or if the competition has begun or is finished.
        """
        with self._database.writing() as connection:
            row = _row(connection, name)
            entered = read_entrants(connection, row["id"])
            require_may_enter(name, entered, entry, max_of_owner)
            if row["state"] == State.FINISHED:
                raise MayNotEnter(f"the competition {name!r} is finished")
            if any(_rounds_of(connection, each) for each in _games(connection, row["id"])):
                raise MayNotEnter(f"the competition {name!r} has begun: its first round is drawn")
            write_entry(connection, row["id"], entered, entry, now)
            after_ = {"bot": entry.name, "owner": entry.owner, "version": entry.version}
            audit.append(connection, now, who, f"enter competition {name}", None, after_)

    def set_seeds(self, name: str, order: Sequence[str]) -> None:
        """Set the seeds to this order, when the competition starts and before its first round."""
        with self._database.writing() as connection:
            competition = _row(connection, name)["id"]
            for seed, bot in enumerate(order, 1):
                change_entrant(connection, competition, bot, seed=seed)

    def set_versions(
        self, name: str, versions: Mapping[str, str], *, who: str, now: datetime
    ) -> None:
        """Accept that the files of launched bots changed after they entered; `versions` are by bot."""
        with self._database.writing() as connection:
            competition = _row(connection, name)["id"]
            for bot, version in versions.items():
                change_entrant(connection, competition, bot, version=version)
            what = f"accept changed bots of competition {name}"
            audit.append(connection, now, who, what, None, {"versions": dict(versions)})

    def announce(self, name: str, text: str, *, who: str, now: datetime) -> None:
        """Set the announcement of a competition; an empty text removes it."""
        with self._database.writing() as connection:
            row = _row(connection, name)
            values = {"announcement": text, "announced": iso_utc(now) if text else None}
            changed = update(schema.competitions).filter_by(id=row["id"])
            connection.execute(changed.values(**values))
            before = {"announcement": row["announcement"]}
            what = f"announce competition {name}"
            audit.append(connection, now, who, what, before, {"announcement": text})

    def set_games(self, name: str, bot: str, games: Sequence[int]) -> None:
        """Set the games that a bot enters, by their numbers in the plan.

        Rounds that are drawn must stay the same: once a game has one, nothing changes.
        """
        self._before_play(name, bot, games=list(games))

    def set_version(self, name: str, bot: str, version: str, games: Sequence[int]) -> None:
        """Set the version that plays for a submitted bot, as `ann@7`, and its games; as `set_games`."""
        self._before_play(name, bot, version=version, games=list(games))

    def _before_play(self, name: str, bot: str, **values: object) -> None:
        with self._database.writing() as connection:
            competition = _row(connection, name)["id"]
            if not any(_rounds_of(connection, each) for each in _games(connection, competition)):
                change_entrant(connection, competition, bot, **values)

    def go_out(
        self, name: str, bot: str, out: Out, *, reason: str, who: str, now: datetime
    ) -> None:
        """Withdraw or disqualify a bot. Its deal-sets that have not begun become void.

        Raises:
          NoEntrant: if the bot is not in the competition.
        """
        with self._database.writing() as connection:
            row = _row(connection, name)
            found = [e for e in read_entrants(connection, row["id"]) if e.entry.name == bot]
            if not found:
                raise NoEntrant(f"{bot!r} is not in the competition {name!r}")
            before = found[0].candidate
            if before.out is Out.DISQUALIFIED or before.out is out:
                return
            games = _games(connection, row["id"])
            out_after = [
                [number, before.out_after.get(number, _rounds_of(connection, game))]
                for number, game in enumerate(games)
            ]
            change_entrant(
                connection, row["id"], bot, out=str(out), out_after=out_after, reason=reason
            )
            for game in games:
                _void_waiting(connection, game, bot)
            after_ = {"bot": bot, "out": str(out), "reason": reason}
            audit.append(connection, now, who, f"out of competition {name}", None, after_)

    def drop_worker(self, name: str, worker: str, *, reason: str, who: str, now: datetime) -> int:
        """Make the complete deal-sets that a worker played void; returns how many there were."""
        sets = schema.deal_sets
        with self._database.writing() as connection:
            games = _games(connection, _row(connection, name)["id"])
            played = and_(
                sets.c.competition_game.in_(games),
                sets.c.player == worker,
                sets.c.state == schema.COMPLETE,
            )
            dropped = connection.execute(
                update(sets).where(played).values(state=schema.VOID)
            ).rowcount
            if dropped:
                after_ = {"worker": worker, "deal_sets": dropped, "reason": reason}
                audit.append(
                    connection, now, who, f"drop worker of competition {name}", None, after_
                )
        return dropped

    # Draws and play.

    def keep_round(
        self, name: str, game: int, drawn: Round, deal_sets: Sequence[DealSetPlan]
    ) -> None:
        """Store a round and its deal-sets; storing the same round again changes nothing.

        Raises:
          DrawDiffers: if the stored round of that number is another.
          StoreError: if the round before it is not stored.
        """
        with self._database.writing() as connection:
            of = _game(connection, name, game)
            if rounds.keep(connection, of, drawn):
                add_deal_sets(connection, of, deal_sets, round=drawn.number)

    def keep_draw(self, name: str, game: int, drawn: DrawnDealSet) -> None:
        """Store a deal-set of a ladder."""
        with self._database.writing() as connection:
            add_deal_sets(
                connection,
                _game(connection, name, game),
                [drawn.plan],
                shape=str(drawn.shape),
                inputs_sha256=drawn.inputs_sha256,
            )

    def leases(self, name: str, game: int) -> Leases:
        """The leases of a game's deal-sets."""
        with self._database.reading() as connection:
            return Leases(self._database, _game(connection, name, game))

    def note_presence(self, name: str, present_ms: Mapping[str, Mapping[str, int]]) -> None:
        """Store how long bots were connected while a ladder ran, in milliseconds by bot and player."""
        with self._database.writing() as connection:
            competition = _row(connection, name)["id"]
            for bot, lasted_ms in present_ms.items():
                change_entrant(connection, competition, bot, present=dict(lasted_ms))

    def set_away(self, name: str, bot: str, why: str) -> None:
        """Note why a bot is not drawn, which ladders obey; with an empty `why`, it is drawn again."""
        with self._database.writing() as connection:
            change_entrant(connection, _row(connection, name)["id"], bot, away=why or None)

    def add_standings(
        self, name: str, standings: OfficialStandings, *, who: str, now: datetime
    ) -> None:
        """Store official standings; they never change.

        Raises:
          NotExpected: if theirs is not the next number, because of another action before.
        """
        with self._database.writing() as connection:
            _add_standings(connection, _row(connection, name), standings, who, now)

    # Reading.

    def all(self) -> tuple[Competition, ...]:
        """Every competition, oldest first."""
        query = select(schema.competitions).order_by(schema.competitions.c.id)
        with self._database.reading() as connection:
            return tuple(_competition(connection, row) for row in find_rows(connection, query))

    def get(self, name: str) -> Competition:
        """A competition by name."""
        with self._database.reading() as connection:
            return _competition(connection, _row(connection, name))

    def record(self, name: str) -> CompetitionRecord:
        """All rounds, deal-sets and results, at one moment."""
        with self._database.reading() as connection:
            row = _row(connection, name)
            return CompetitionRecord(
                _config(row),
                tuple(each.candidate for each in read_entrants(connection, row["id"])),
                tuple(_game_record(connection, each) for each in _games(connection, row["id"])),
            )

    def played_since(self, name: str, game: int, since: datetime) -> Played:
        """The complete deal-sets of a game of which a match ended since then, and those matches."""
        matches, sets = schema.matches, schema.deal_sets
        same = and_(
            sets.c.competition_game == matches.c.competition_game, sets.c.id == matches.c.deal_set
        )
        query = select(func.count(matches.c.deal_set.distinct()), func.count()).select_from(
            matches.join(sets, same)
        )
        with self._database.reading() as connection:
            row = connection.execute(
                query.where(
                    matches.c.competition_game == _game(connection, name, game),
                    matches.c.ended_unix_ms > unix_ms(since),
                    sets.c.state == schema.COMPLETE,
                )
            ).one()
        return Played(*row)

    def rounds(self, name: str, game: int) -> tuple[Round, ...]:
        """The rounds of a game so far, in order."""
        with self._database.reading() as connection:
            return rounds.read(connection, _game(connection, name, game))

    def progress(self, name: str) -> tuple[GameProgress, ...]:
        """The progress of each game."""
        with self._database.reading() as connection:
            return tuple(
                GameProgress(_rounds_of(connection, game), _states(connection, game))
                for game in _games(connection, _row(connection, name)["id"])
            )

    def workers(self, name: str) -> tuple[str, ...]:
        """The workers that have played deal-sets which count, in order of name."""
        sets = schema.deal_sets
        with self._database.reading() as connection:
            games = _games(connection, _row(connection, name)["id"])
            query = select(sets.c.player).where(
                sets.c.competition_game.in_(games),
                sets.c.player.is_not(None),
                sets.c.state == schema.COMPLETE,
            )
            return tuple(sorted(connection.execute(query.distinct()).scalars()))

    def published(self, name: str) -> frozenset[str]:
        """The ids of the matches that have replays."""
        matches = schema.matches
        with self._database.reading() as connection:
            games = _games(connection, _row(connection, name)["id"])
            own = select(matches.c.id).where(
                matches.c.competition_game.in_(games), matches.c.published
            )
            return frozenset(connection.execute(own).scalars())

    def official(self, name: str, number: int | None = None) -> OfficialStandings | None:
        """Official standings by number, or the latest; None if there are none yet.

        Raises:
          NoOfficialStandings: if there are none of that number.
        """
        with self._database.reading() as connection:
            found = official_standings.read(connection, _row(connection, name)["id"], number)
        if found is None and number is not None:
            raise NoOfficialStandings(f"number {number} of {name!r}")
        return found


def _row(connection: Connection, name: str) -> RowMapping:
    row = find_row(connection, schema.competitions, name=name)
    if row is None:
        raise NoCompetition(name)
    return row


def _columns(texts: CompetitionTexts) -> dict[str, str]:
    return asdict(texts) | {"config_sha256": texts.sha256}


def _config(row: RowMapping) -> str:
    """The plan that the reader may read: for public readers the organiser's text is null."""
    config: str = row["config"] or row["public_config"]
    return config


def _competition(connection: Connection, row: RowMapping) -> Competition:
    games = schema.competition_games
    terms = select(games.c.terms).where(games.c.competition == row["id"]).order_by(games.c.number)
    return Competition(
        row["name"],
        _config(row),
        State(row["state"]),
        row["organiser"],
        row["created"],
        tuple(connection.execute(terms).scalars()),
        read_entrants(connection, row["id"]),
        official_standings.count(connection, row["id"]),
        row["announcement"],
        row["announced"],
    )


def _void_waiting(connection: Connection, game: int, bot: str) -> None:
    """Make the deal-sets of a bot that have not begun void."""
    sets = schema.deal_sets
    waiting = connection.execute(
        select(sets.c.id, sets.c.bots).where(
            sets.c.competition_game == game,
            sets.c.state.in_((schema.WAITING, schema.GIVEN_UP)),
        )
    ).mappings()
    void = [each["id"] for each in waiting if bot in each["bots"]]
    connection.execute(
        update(sets)
        .where(sets.c.competition_game == game, sets.c.id.in_(void))
        .values(state=schema.VOID)
    )


def _games(connection: Connection, competition: int) -> tuple[int, ...]:
    """The ids of a competition's games, in the order of its plan."""
    own = schema.competition_games
    query = select(own.c.id).where(own.c.competition == competition).order_by(own.c.number)
    return tuple(connection.execute(query).scalars())


def _game(connection: Connection, name: str, number: int) -> int:
    return _games(connection, _row(connection, name)["id"])[number]


def _rounds_of(connection: Connection, game: int) -> int:
    query = select(func.count()).select_from(schema.rounds).filter_by(competition_game=game)
    return connection.execute(query).scalar_one()


def _states(connection: Connection, game: int) -> dict[str, int]:
    """The number of deal-sets in each state."""
    sets = schema.deal_sets
    counted = connection.execute(
        select(sets.c.state, func.count())
        .where(sets.c.competition_game == game)
        .group_by(sets.c.state)
    )
    return {row[0]: row[1] for row in counted}


def _add_standings(
    connection: Connection, row: RowMapping, made: OfficialStandings, who: str, now: datetime
) -> None:
    if made.number != 1 + official_standings.count(connection, row["id"]):
        raise NotExpected(f"{row['name']} has official standings {made.number}")
    official_standings.add(connection, row["id"], made)
    after_ = {"number": made.number, "inputs_sha256": made.inputs_sha256}
    audit.append(connection, now, who, f"standings of competition {row['name']}", None, after_)


def _game_record(connection: Connection, game: int) -> GameRecord:
    query = select(schema.deal_sets).filter_by(competition_game=game)
    rows = {row["id"]: row for row in find_rows(connection, query)}
    return GameRecord(
        rounds.read(connection, game),
        tuple(
            DrawnDealSet(
                plan,
                row["round"],
                DealSetShape(row["shape"]),
                row["state"] == schema.VOID,
                row["inputs_sha256"] or "",
                row["state"] == schema.COMPLETE,
                row["state"] == schema.GIVEN_UP,
            )
            for plan in read_deal_sets(connection, game)
            for row in (rows[plan.id],)
        ),
        outcomes_of_game(connection, game),
    )

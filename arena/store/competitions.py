"""Changes competitions of the store: makes them, enters bots, and stores draws and results.

A plan does not change once its competition has begun, except that a round robin may get more deal-sets. Each
action of a person is in the audit. A round, or a ladder's deal-set, is on disk before its first card is dealt.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, insert, select, update

from arena.errors import RefusalError
from arena.results.deal_sets import DealSet
from arena.results.record import Out, Round
from arena.results.states import Action, NotAllowed, State, after
from arena.store import audit, official_standings, rounds, schema
from arena.store.competition_reader import CompetitionReader
from arena.store.competition_rows import competition_row, count_rounds, game_id, game_ids
from arena.store.deal_sets import (
    StoredDealSets,
    add_deal_sets,
    read_deal_sets,
    restore_void,
    void_played_by,
    void_waiting,
)
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
from arena.store.moments import iso_utc
from arena.store.names import NameTaken
from arena.store.official_standings import OfficialStandings
from arena.store.rows import find_row


class NoEntrant(RefusalError, StoreError, reason="UNKNOWN_BOT"):
    """The bot is not in the competition."""


class NotExpected(RefusalError, StoreError, reason="OTHER_STATE"):
    """The competition is in another state than the caller expected."""


@dataclass(frozen=True, slots=True)
class CompetitionTexts:
    """The two texts of a plan that are stored."""

    config: str
    """The organiser's TOML, with the seed and the commands of bots."""
    public_config: str
    """The same plan without seed and commands, for public readers."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.config.encode()).hexdigest()


class Competitions(CompetitionReader):
    """The competitions of a store, to be read and changed. Calls block on the disk; any thread may call.

    Raises:
      NoCompetition: from any method with the name of a competition, if there is none of that name.
    """

    # Actions of organisers and owners.

    def create(
        self,
        name: str,
        texts: CompetitionTexts,
        terms: Sequence[Mapping[str, Any]],
        *,
        organiser: str,
        now: datetime,
        entries: Sequence[CompetitionEntry] = (),
    ) -> None:
        """Make a competition, as a draft, with its first bots; `terms` are those of each game.

        If a bot may not enter, nothing is stored.

        Raises `NameTaken` if there is a competition of that name, and `MayNotEnter` as `enter` does.
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
                    {"competition": competition, "number": number, "terms": dict(of_game)}
                    for number, of_game in enumerate(terms)
                ],
            )
            after_ = {"config_sha256": texts.sha256}
            audit.append(connection, now, organiser, f"create competition {name}", None, after_)
            for entry in entries:
                _enter(connection, competition, name, entry, organiser, now)

    def delete_draft(self, name: str, *, who: str, now: datetime) -> None:
        """Delete a draft. Raises `NotAllowed` if the competition has begun."""
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            if row["state"] != State.DRAFT:
                raise NotAllowed(f"{name!r} is {row['state']}, and only a draft can be deleted")
            _remove(connection, row, who, now)

    def remove_unplayed(self, name: str, *, who: str, now: datetime) -> bool:
        """Remove a competition of which no match has ended; if one has, change nothing and return False."""
        matches = schema.matches
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            if official_standings.count(connection, row["id"]):
                return False
            of_games = matches.c.competition_game.in_(game_ids(connection, row["id"]))
            ended = and_(of_games, matches.c.status != schema.PLANNED)
            if connection.execute(select(matches.c.id).where(ended).limit(1)).first():
                return False
            _remove(connection, row, who, now)
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
        reason: str = "",
    ) -> State:
        """Take an action; return the new state. Official standings are stored in the same transaction.

        `reason` says why the arena pauses a competition; everybody may read it.

        Raises:
          NotExpected: if it is not in the expected state, because of an earlier action.
          NotAllowed: if the action is not allowed in this state.
        """
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            state = State(row["state"])
            if expected is not None and state is not expected:
                raise NotExpected(f"{name} is {state}, not {expected}")
            new = after(state, action)
            values = {"state": str(new)}
            if new is not state:
                values["waits"] = reason
            changed = update(schema.competitions).filter_by(id=row["id"]).values(**values)
            connection.execute(changed)
            what, after_ = f"{action} competition {name}", {"state": str(new)}
            if reason:
                after_["reason"] = reason
            audit.append(connection, now, who, what, {"state": state}, after_)
            if standings is not None:
                _add_standings(connection, row, standings, who, now)
        return new

    def extend(
        self,
        name: str,
        texts: CompetitionTexts,
        drawn: Round,
        deal_sets: Sequence[DealSet],
        *,
        who: str,
        now: datetime,
    ) -> None:
        """Give a round robin of one game more deal-sets. It is running afterwards, even if it was finished.

        `drawn` is its only round, and `deal_sets` are all its deal-sets as the new plan draws them. The stored
        deal-sets must be the first of these.

        Raises `DrawDiffers` if the stored deal-sets differ.
        """
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            (game,) = game_ids(connection, row["id"])
            stored = read_deal_sets(connection, game)
            if [plan.id for plan in stored] != [plan.id for plan in deal_sets[: len(stored)]]:
                raise rounds.DrawDiffers(
                    f"the first deal-sets of {name!r} were drawn differently: continue with the "
                    "version of the arena that drew them, or choose another name"
                )
            add_deal_sets(connection, game, deal_sets[len(stored) :])
            rounds.replace(connection, game, drawn)
            changed = update(schema.competitions).filter_by(id=row["id"])
            values = {**_columns(texts), "state": str(State.RUNNING), "waits": ""}
            connection.execute(changed.values(**values))
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
        """Enter a bot, with the next seed.

        Raises `MayNotEnter` if the bot was disqualified or has entered already, if its owner has too many bots
        in the competition, or if the competition has begun or is finished.
        """
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            if row["state"] == State.FINISHED:
                raise MayNotEnter(f"the competition {name!r} is finished")
            if any(count_rounds(connection, game) for game in game_ids(connection, row["id"])):
                raise MayNotEnter(f"the competition {name!r} has begun: its first round is drawn")
            _enter(connection, row["id"], name, entry, who, now, max_of_owner)

    def set_seeds(self, name: str, order: Sequence[str]) -> None:
        """Set the seeds to this order, when the competition starts and before its first round."""
        with self._database.writing() as connection:
            competition = competition_row(connection, name)["id"]
            for seed, bot in enumerate(order, 1):
                change_entrant(connection, competition, bot, seed=seed)

    def set_versions(
        self, name: str, versions: Mapping[str, str], *, who: str, now: datetime
    ) -> None:
        """Accept that the files of launched bots changed after they entered; `versions` are by bot."""
        with self._database.writing() as connection:
            competition = competition_row(connection, name)["id"]
            for bot, version in versions.items():
                change_entrant(connection, competition, bot, version=version)
            what = f"accept changed bots of competition {name}"
            audit.append(connection, now, who, what, None, {"versions": dict(versions)})

    def announce(self, name: str, text: str, *, who: str, now: datetime) -> None:
        """Set the announcement of a competition; an empty text removes it."""
        with self._database.writing() as connection:
            row = competition_row(connection, name)
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
        """Set the version that plays for a submitted bot, as `ann@7`, and its games, like `set_games`."""
        self._before_play(name, bot, version=version, games=list(games))

    def _before_play(self, name: str, bot: str, **values: object) -> None:
        with self._database.writing() as connection:
            competition = competition_row(connection, name)["id"]
            if not any(
                count_rounds(connection, game) for game in game_ids(connection, competition)
            ):
                change_entrant(connection, competition, bot, **values)

    def go_out(
        self, name: str, bot: str, out: Out, *, reason: str, who: str, now: datetime
    ) -> None:
        """Withdraw or disqualify a bot. Its deal-sets that have not begun become void.

        Raises `NoEntrant` if the bot is not in the competition.
        """
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            before = _entrant(connection, row["id"], name, bot)
            if before.out is Out.DISQUALIFIED or before.out is out:
                return
            games = game_ids(connection, row["id"])
            out_after = [
                [number, before.out_after.get(number, count_rounds(connection, game))]
                for number, game in enumerate(games)
            ]
            change_entrant(
                connection, row["id"], bot, out=str(out), out_after=out_after, reason=reason
            )
            for game in games:
                void_waiting(connection, game, bot)
            after_ = {"bot": bot, "out": str(out), "reason": reason}
            audit.append(connection, now, who, f"out of competition {name}", None, after_)

    def reinstate(self, name: str, bot: str, *, reason: str, who: str, now: datetime) -> None:
        """Revoke a disqualification. Deal-sets that it made void wait again, unless another of their bots is out.

        Raises:
          NoEntrant: if the bot is not in the competition.
          NotAllowed: if it is not disqualified, or a round was drawn without it.
        """
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            before = _entrant(connection, row["id"], name, bot)
            if before.out is not Out.DISQUALIFIED:
                raise NotAllowed(f"{bot!r} is not disqualified from {name!r}")
            games = game_ids(connection, row["id"])
            for number, game in enumerate(games):
                if count_rounds(connection, game) > before.out_after.get(number, 0):
                    raise NotAllowed(
                        f"a round of {name!r} was drawn without {bot!r}, so it cannot come back"
                    )
            change_entrant(connection, row["id"], bot, out=None, out_after=None, reason="")
            entrants = read_entrants(connection, row["id"])
            out = [e.name for e in entrants if e.out is not None and e.name != bot]
            for game in games:
                restore_void(connection, game, bot, out)
            was = {"bot": bot, "out": str(before.out), "reason": before.reason}
            after_ = {"bot": bot, "reason": reason}
            audit.append(connection, now, who, f"reinstate in competition {name}", was, after_)

    def drop_worker(self, name: str, worker: str, *, reason: str, who: str, now: datetime) -> int:
        """Make the complete deal-sets that a worker played void; return how many there were."""
        with self._database.writing() as connection:
            games = game_ids(connection, competition_row(connection, name)["id"])
            dropped = void_played_by(connection, games, worker)
            if dropped:
                after_ = {"worker": worker, "deal_sets": dropped, "reason": reason}
                audit.append(
                    connection, now, who, f"drop worker of competition {name}", None, after_
                )
        return dropped

    # Draws and play.

    def keep_round(self, name: str, game: int, drawn: Round, deal_sets: Sequence[DealSet]) -> None:
        """Store a round and its deal-sets; storing the same round again changes nothing.

        Raises:
          DrawDiffers: if the stored round of that number differs.
          StoreError: if the previous round is not stored.
        """
        with self._database.writing() as connection:
            of = game_id(connection, name, game)
            if rounds.keep(connection, of, drawn):
                add_deal_sets(connection, of, deal_sets)

    def keep_draw(self, name: str, game: int, deal_set: DealSet) -> None:
        with self._database.writing() as connection:
            add_deal_sets(connection, game_id(connection, name, game), [deal_set])

    def deal_sets(self, name: str, game: int) -> StoredDealSets:
        """Return the deal-sets of a game, for the process that plays them."""
        with self._database.reading() as connection:
            return StoredDealSets(self._database, game_id(connection, name, game))

    def note_waits(self, name: str, why: str) -> None:
        """Store why no deal-set of a competition begins although it runs; empty if there is no such reason."""
        with self._database.writing() as connection:
            row = competition_row(connection, name)
            if row["state"] == State.RUNNING and row["waits"] != why:
                changed = update(schema.competitions).filter_by(id=row["id"])
                connection.execute(changed.values(waits=why))

    def note_presence(self, name: str, present_ms: Mapping[str, Mapping[str, int]]) -> None:
        """Store how long bots were connected while a ladder ran, in milliseconds by bot and player."""
        with self._database.writing() as connection:
            competition = competition_row(connection, name)["id"]
            for bot, lasted_ms in present_ms.items():
                change_entrant(connection, competition, bot, present=dict(lasted_ms))

    def note_limits(self, name: str, limits: Mapping[str, str]) -> None:
        """Store what limits how often bots of a ladder are drawn, by bot; empty if nothing does."""
        with self._database.writing() as connection:
            competition = competition_row(connection, name)["id"]
            for bot, limited in limits.items():
                change_entrant(connection, competition, bot, limited=limited or None)

    def set_away(self, name: str, bot: str, why: str) -> None:
        """Store why a ladder must not draw a bot; with an empty `why`, the bot is drawn again."""
        with self._database.writing() as connection:
            change_entrant(
                connection, competition_row(connection, name)["id"], bot, away=why or None
            )

    def add_standings(
        self, name: str, standings: OfficialStandings, *, who: str, now: datetime
    ) -> None:
        """Store official standings; they never change.

        Raises `NotExpected` if their number is not the next one, because of an earlier action.
        """
        with self._database.writing() as connection:
            _add_standings(connection, competition_row(connection, name), standings, who, now)


def _enter(
    connection: Connection,
    competition: int,
    name: str,
    entry: CompetitionEntry,
    who: str,
    now: datetime,
    max_of_owner: int | None = None,
) -> None:
    entered = read_entrants(connection, competition)
    require_may_enter(name, entered, entry, max_of_owner)
    write_entry(connection, competition, entered, entry, now)
    after_ = {"bot": entry.name, "owner": entry.owner, "version": entry.version}
    audit.append(connection, now, who, f"enter competition {name}", None, after_)


def _entrant(connection: Connection, competition: int, name: str, bot: str) -> EnteredBot:
    """Return the entry of a bot. Raises `NoEntrant` if it has not entered."""
    for entrant in read_entrants(connection, competition):
        if entrant.name == bot:
            return entrant
    raise NoEntrant(f"{bot!r} is not in the competition {name!r}")


def _remove(connection: Connection, row: RowMapping, who: str, now: datetime) -> None:
    competition, games = row["id"], game_ids(connection, row["id"])
    planned = select(schema.matches.c.id).where(schema.matches.c.competition_game.in_(games))
    seats = schema.match_seats
    connection.execute(delete(seats).where(seats.c.match.in_(planned)))
    of_games = (
        schema.failed_begins,
        schema.matches,
        schema.deal_sets,
        schema.pairings,
        schema.rounds,
    )
    for table in of_games:
        connection.execute(delete(table).where(table.c.competition_game.in_(games)))
    for table in (schema.competition_games, schema.entrants):
        connection.execute(delete(table).where(table.c.competition == competition))
    connection.execute(delete(schema.competitions).filter_by(id=competition))
    audit.append(connection, now, who, f"remove competition {row['name']}", None, None)


def _columns(texts: CompetitionTexts) -> dict[str, str]:
    return asdict(texts) | {"config_sha256": texts.sha256}


def _add_standings(
    connection: Connection, row: RowMapping, made: OfficialStandings, who: str, now: datetime
) -> None:
    if made.number != 1 + official_standings.count(connection, row["id"]):
        raise NotExpected(f"{row['name']} has official standings {made.number}")
    official_standings.add(connection, row["id"], made)
    after_ = {"number": made.number, "inputs_sha256": made.inputs_sha256}
    audit.append(connection, now, who, f"standings of competition {row['name']}", None, after_)

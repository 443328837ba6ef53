"""What organisers, owners and everybody may do with competitions, whoever asks: a command or a call.

It keeps everything in the store, and plays nothing: `arena.server.competitions` follows the store. So a
command beside a running arena, a call over the network and a process that plays alone all say the same.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from arena.competition.draws import next_round
from arena.competition.plan_file import CompetitionPlan, Entry, Kind, PlanError, read_plan
from arena.competition.record import (
    CompetitionRecord,
    Out,
    Unreadable,
    counting,
    deal_set_json,
    header_json,
    record_of_json,
)
from arena.competition.rounds import DrawError, seeded
from arena.competition.states import MAKES_TABLE, Action, State, after
from arena.competition.tables import Json, frozen, frozen_bytes, live
from arena.replay.signing import Signer, is_signed, shown_key, table_statement
from arena.store import (
    BotKind,
    Competition,
    Competitions,
    MayNotEnter,
    NewGame,
    OfficialTable,
    Store,
)
from arena.store import Entry as StoredEntry
from arena.store.schema import COMPLETE, GIVEN_UP, LEASED, VOID, WAITING
from arena.wire.terms import terms_json

FORMAT: Final = "deals 1"
"""Names what an export of deal-sets is."""


class NotVerified(ValueError):
    """An exported table is not what it says; the text says in what."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found of an exported table."""

    competition: str
    number: int
    deal_sets: int
    public_key: str
    """Hexadecimal, of the arena that signed it."""
    table: Json


@dataclass(frozen=True, slots=True)
class Unsigned:
    """What the next official table of a competition is, before anybody signs it."""

    number: int
    body: str
    record: str
    """JSON Lines of all that it was made from: one text, which is handed on at once."""
    inputs_sha256: str


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Office:
    """The competitions of one arena. Calls block for as long as the disk takes."""

    def __init__(
        self,
        competitions: Competitions,
        signer: Signer,
        *,
        now: Callable[[], datetime] = _utc_now,
        make: Callable[[str], Unsigned] | None = None,
    ) -> None:
        """`signer` signs official tables; `make` makes them elsewhere, by a competition's name."""
        self._held = competitions
        self._make = make or (lambda name: unsigned(competitions, name))
        self._signer = signer
        self._now = now

    # Organisers.

    def create(self, config: str, *, who: str, bots: Sequence[StoredEntry] = ()) -> CompetitionPlan:
        """Make a competition of a TOML, with bots that the arena launches.

        Raises:
          PlanError: with all that is wrong with it.
          StoreError: if there is one of that name.
          MayNotEnter: if an owner has more bots than may be.
        """
        plan = read_plan(config)
        games = [
            NewGame(
                plan.name if len(plan.games) == 1 else f"{plan.name}/{each.name}",
                terms_json(each.terms),
            )
            for each in plan.games
        ]
        _require_few_of_an_owner(plan, bots)
        now = self._now()
        self._held.create(plan.name, config, games, seed=plan.seed, organiser=who, now=now)
        for entry in bots:
            self._held.enter(plan.name, entry, who=who, now=now)
        return plan

    def control(
        self, name: str, action: Action, *, who: str, expected: State | None = None
    ) -> State:
        """Take an action; the state that it leads to.

        Raises:
          NoCompetition, NotExpected, NotAllowed: as the store says.
          DrawError, ScheduleError: if a tournament is to start and has too few bots.
        """
        if action is Action.START:
            self._make_ready(name)
        table = None
        if action in MAKES_TABLE:
            state = self._held.get(name).state
            if expected in (
                None,
                state,
            ):  # else the store says so, and no table is made for nothing
                after(state, action)
                table = self._frozen(name)
        return self._held.control(
            name, action, who=who, expected=expected, now=self._now(), table=table
        )

    def disqualify(self, name: str, bot: str, *, reason: str, who: str) -> None:
        """Drop a bot and its deal-sets; where a table was official, there is a new one.

        Raises:
          NoCompetition: if there is no such competition or bot.
        """
        self._held.go_out(name, bot, Out.DISQUALIFIED, reason=reason, who=who, now=self._now())
        if self._held.get(name).tables:
            self._held.add_table(name, self._frozen(name), who=who, now=self._now())

    # Owners.

    def enter(self, name: str, entry: StoredEntry, *, who: str, organises: bool = False) -> None:
        """Have a bot take part.

        Raises:
          NoCompetition, MayNotEnter: as the store says; also if only an organiser may enter bots.
        """
        plan = read_plan(self._held.get(name).config)
        if plan.entry is Entry.INVITED and not organises:
            raise MayNotEnter(f"{name!r} is by invitation: an organiser enters its bots")
        now = self._now()
        if plan.closes is not None and now >= plan.closes:
            raise MayNotEnter(f"{name!r} closed at {plan.closes.isoformat()}")
        self._held.enter(name, entry, who=who, now=now, max_of_owner=plan.max_bots_per_owner)

    def entry_of(self, bot: str, store: Store) -> StoredEntry:
        """A bot of this arena as it may enter: one of the registry, or one that has a key.

        Raises:
          MayNotEnter: if nobody knows it.
        """
        found = store.registry().find_bot(bot)
        if found is not None:
            return StoredEntry(bot, found.owner, found.kind)
        keys = [each for each in store.keys().all() if each.bot == bot and each.revoked is None]
        if not keys:
            raise MayNotEnter(f"there is no bot {bot!r} here, submitted or with a key")
        return StoredEntry(bot, keys[0].owner or bot, BotKind.REMOTE)

    def withdraw(self, name: str, bot: str, *, who: str) -> None:
        """Take a bot out; what it has played counts.

        Raises:
          NoCompetition: if there is no such competition or bot.
        """
        self._held.go_out(name, bot, Out.WITHDRAWN, reason="", who=who, now=self._now())

    # Everybody.

    def every(self) -> list[Json]:
        """All competitions, the oldest first."""
        return [_about(each, read_plan(each.config)) for each in self._held.all()]

    def show(self, name: str) -> Json:
        """Where a competition stands.

        Raises:
          NoCompetition: if there is none of that name.
        """
        held = self._held.get(name)
        plan = read_plan(held.config)
        progress = self._held.progress(name)
        return _about(held, plan) | {
            "games": [
                {
                    "game": game.terms.game.id,
                    "seats": game.terms.seats,
                    "rounds": each.rounds,
                    "deal_sets": {
                        "complete": each.deal_sets.get(COMPLETE, 0),
                        "in_play": each.deal_sets.get(LEASED, 0),
                        "waiting": each.deal_sets.get(WAITING, 0),
                        "given_up": each.deal_sets.get(GIVEN_UP, 0),
                        "void": each.deal_sets.get(VOID, 0),
                    },
                }
                for game, each in zip(plan.games, progress, strict=True)
            ],
            "bots": [
                {
                    "bot": each.entry.name,
                    "owner": each.entry.owner,
                    "kind": str(each.entry.kind),
                    "seed": each.candidate.seed,
                    "out": each.candidate.out and str(each.candidate.out),
                    "reason": each.candidate.reason,
                    "away": each.away,
                }
                for each in held.entries
            ],
        }

    def rounds(self, name: str) -> list[Json]:
        """The rounds of every game as they were drawn.

        Raises:
          NoCompetition: if there is none of that name.
        """
        plan = read_plan(self._held.get(name).config)
        return [
            {
                "game": game.terms.game.id,
                "seats": game.terms.seats,
                "round": each.number,
                "groups": [list(group) for group in each.groups],
                "byes": list(each.byes),
                "inputs_sha256": each.inputs_sha256,
            }
            for number, game in enumerate(plan.games)
            for each in self._held.rounds(name, number).all()
        ]

    def deal_sets(self, name: str) -> list[Json]:
        """The deal-sets that are complete, game by game, in the order in which they were drawn.

        Raises:
          NoCompetition: if there is none of that name.
        """
        return [deal_set_json(*each) for each in counting(self._held.record(name))]

    def table(self, name: str, number: int | None = None) -> Json:
        """A frozen table, by its number; without one the live table.

        Raises:
          NoCompetition: if there is no such competition or table.
        """
        return table_of(self._held, name, number)

    def latest_table(self, name: str) -> Json:
        """The official table if the competition is finished, else the live one.

        Raises:
          NoCompetition: if there is none of that name.
        """
        return latest_table(self._held, name)

    def deals(self, name: str, number: int | None = None) -> Iterator[str]:
        """JSON Lines of all that a table is made from, and the table with its signature.

        Without a number it is the latest official table; where there is none, what is complete by
        now, without a table.

        Raises:
          NoCompetition: if there is no such competition or table.
        """
        found = self._held.table(name, number)
        if found is None:
            yield from record_lines(self._held.record(name))
            return
        yield from found.record
        yield json.dumps(
            {
                "table": found.body,
                "number": found.number,
                "public_key": found.public_key,
                "signature": found.signature,
            }
        )

    def _frozen(self, name: str) -> OfficialTable:
        """The next official table, of what is complete now."""
        made = self._make(name)
        return OfficialTable(
            number=made.number,
            body=made.body,
            record=tuple(made.record.split("\n")),
            inputs_sha256=made.inputs_sha256,
            public_key=self._signer.public_key.hex(),
            signature=self._signer.sign(table_statement(made.body.encode())).hex(),
            at_unix_ms=int(self._now().timestamp() * 1000),
        )

    def _make_ready(self, name: str) -> None:
        """Draw the seeds, and see that a first round can be drawn."""
        held = self._held.get(name)
        plan = read_plan(held.config)
        if plan.kind is Kind.LADDER or held.state is not State.DRAFT:
            return
        ranking = self._ranking_of(plan.seeds_from) if plan.seeds_from else ()
        names = [each.entry.name for each in held.entries]
        self._held.set_seeds(name, seeded(names, ranking, plan.seed))
        record = self._held.record(name)
        for number in range(len(plan.games)):
            next_round(plan, number, record.candidates, ())

    def _ranking_of(self, competition: str) -> tuple[str, ...]:
        """The bots of an official table from the best; versions of a bot stand for it.

        Raises:
          NoCompetition: if there is no such competition.
          DrawError: if nothing of it is official yet.
        """
        found = self._held.table(competition)
        if found is None:
            raise DrawError(
                f"seeds_from names {competition!r}, which has no official table yet: freeze it, or "
                "leave seeds_from out"
            )
        table = json.loads(found.body)
        rows = table["overall"] or table["games"][0]["rows"]
        # A ladder's rows are versions, as ann@7, and its bots are what enters elsewhere.
        return tuple(dict.fromkeys(row["bot"].partition("@")[0] for row in rows))


def unsigned(held: Competitions, name: str) -> Unsigned:
    """The next official table of a competition, of what is complete now.

    Raises:
      NoCompetition: if there is none of that name.
    """
    record = held.record(name)
    number = held.get(name).tables + 1
    return Unsigned(
        number,
        frozen_bytes(frozen(record, number)).decode(),
        "\n".join(record_lines(record)),
        record.inputs_sha256,
    )


def table_of(held: Competitions, name: str, number: int | None = None) -> Json:
    """A frozen table, by its number; without one the live table, as `Office.table`."""
    if number is None:
        return live(held.record(name))
    found = held.table(name, number)
    assert found is not None
    return _signed(found)


def latest_table(held: Competitions, name: str) -> Json:
    """The official table if the competition is finished, else the live one, as `Office.latest_table`."""
    if held.get(name).state is State.FINISHED:
        found = held.table(name)
        if found is not None:
            return _signed(found)
    return table_of(held, name)


def record_lines(record: CompetitionRecord) -> Iterator[str]:
    """A record as JSON Lines: the head, then a line for each deal-set that counts."""
    yield json.dumps({"cardarena": FORMAT, **header_json(record)})
    for each in counting(record):
        yield json.dumps(deal_set_json(*each))


def verify(lines: Iterable[str], *, public_key: bytes | None = None) -> Checked:
    """Make an exported table again from its deal-sets, and check who signed it.

    `public_key` is the arena's whose table it must be; without one it is the one that the file names.

    Raises:
      NotVerified: if anything does not fit.
    """
    head, *deal_sets, last = _json_lines(lines)
    if not isinstance(head, dict) or head.get("cardarena") != FORMAT:
        raise NotVerified(f"this is no export of deal-sets: its first line does not say {FORMAT!r}")
    if not isinstance(last, dict) or "table" not in last:
        raise NotVerified("there is no table in it: nothing was official when it was exported")
    body, number = str(last["table"]), last.get("number")
    try:
        signer = bytes.fromhex(last["public_key"])
        signature = bytes.fromhex(last["signature"])
    except (KeyError, TypeError, ValueError):
        raise NotVerified("the table is not signed") from None
    if not is_signed(signer, signature, table_statement(body.encode())):
        raise NotVerified("the signature is not of this table, or not by the key that it names")
    if public_key is not None and signer != public_key:
        raise NotVerified(f"another arena signed the table, with the key {shown_key(signer)}")
    try:
        record = record_of_json(head, deal_sets)
        table = json.loads(body)
        if table["inputs_sha256"] != record.inputs_sha256:
            raise NotVerified("the table was made from other deal-sets than those in the file")
        if table["number"] != number:
            raise NotVerified(f"it says that it is table {number}, and the one signed another")
        again = frozen(record, int(table["number"]))
    except (Unreadable, PlanError, KeyError, TypeError) as error:
        raise NotVerified(f"no table can be made of it: {error}") from error
    if frozen_bytes(again) != body.encode():
        raise NotVerified(
            f"another table comes of these deal-sets: {_first_difference(table, again)}"
        )
    return Checked(table["competition"], table["number"], len(deal_sets), signer.hex(), table)


_COLUMNS: Final = (
    "bot",
    "version",
    "place",
    "points",
    "note",
    "tier",
    "score",
    "half_width_95",
    "half_width_95_together",
    "skill",
    "left",
    "deal_sets",
    "matches",
)


def table_csv(table: Mapping[str, Any]) -> str:
    """The rows of a table, a line for each bot and game."""
    rows = [
        {"game": game["game"], "seats": game["seats"]}
        | {name: row[name] for name in _COLUMNS}
        | {"faults": sum(row["faults"].values())}
        for game in table["games"]
        for row in game["rows"]
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["game"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json_lines(lines: Iterable[str]) -> list[Any]:
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError:
                raise NotVerified(f"line {number} is not JSON") from None
    if len(found) < 2:
        raise NotVerified("there is too little in it for an export of deal-sets")
    return found


def _first_difference(one: Any, other: Any, where: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                return _first_difference(one.get(name), other.get(name), f"{where}.{name}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                return _first_difference(left, right, f"{where}[{at}]")
    return f"{where.lstrip('.') or 'all of it'} is {_short(one)}, not {_short(other)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _about(held: Competition, plan: CompetitionPlan) -> Json:
    return {
        "competition": held.name,
        "kind": str(plan.kind),
        "format": plan.format and str(plan.format),
        "season": plan.season,
        "state": str(held.state),
        "organiser": held.organiser,
        "created": held.created,
        "opens": plan.opens and plan.opens.isoformat(),
        "closes": plan.closes and plan.closes.isoformat(),
        "entry": str(plan.entry),
        "entered": sum(each.candidate.out is None for each in held.entries),
        "tables": held.tables,
    }


def _signed(found: OfficialTable) -> Json:
    table: Json = json.loads(found.body)
    return table | {"public_key": found.public_key, "signature": found.signature}


def _require_few_of_an_owner(plan: CompetitionPlan, bots: Sequence[StoredEntry]) -> None:
    for owner in {each.owner for each in bots}:
        own = [each.name for each in bots if each.owner == owner]
        if len(own) > plan.max_bots_per_owner:
            raise MayNotEnter(
                f"{owner!r} has {len(own)} bots, {', '.join(own)}; max_bots_per_owner is "
                f"{plan.max_bots_per_owner}"
            )


def command_entry(name: str, owner: str, command: str, content: str) -> StoredEntry:
    """A bot that the arena launches by a command."""
    return StoredEntry(name, owner, BotKind.COMMAND, command, content)

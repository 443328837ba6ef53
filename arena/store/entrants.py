"""The entrants of competitions in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, RowMapping, insert, select, update

from arena.errors import RefusalError
from arena.results.record import Candidate, Out
from arena.store import schema
from arena.store.errors import StoreError
from arena.store.moments import unix_ms
from arena.store.names import skeleton
from arena.store.rows import dataclass_of, find_rows
from arena.store.versions import BotKind


class MayNotEnter(RefusalError, StoreError, reason="MAY_NOT_ENTER"):
    """The bot may not enter the competition; the text says why."""


class NoActiveVersion(MayNotEnter, reason="NO_ACTIVE_VERSION"):
    """A submitted bot has no active version; the text names the bot and the competition."""


@dataclass(frozen=True, slots=True)
class CompetitionEntry:
    """A bot to be entered, and how it is connected to its matches."""

    name: str
    owner: str
    kind: BotKind
    command: str = ""
    """Empty for remote and uploaded bots."""
    version: str = ""
    """For a command: the hashes of its files, as `BotCommand.content` writes them.

    For a submitted bot in a tournament: the version that plays, as `ann@7`.
    """
    games: tuple[int, ...] | None = None
    """The numbers of the plan's games that it enters; None for all."""


@dataclass(frozen=True, slots=True)
class EnteredBot(Candidate):
    """A stored entrant of a competition."""

    kind: BotKind = BotKind.REMOTE
    command: str = ""
    """As that of the `CompetitionEntry`."""
    present: Mapping[str, int] = field(default_factory=dict)
    """Ladders: how long each version of it was connected, by the player's name, in milliseconds."""
    away: str = ""
    """Why the bot is not drawn; empty if it is."""
    limited: str = ""
    """Ladders: what limits how often it is drawn; empty if nothing does."""


def read_entrants(
    connection: Connection, competition: int, game: int | None = None
) -> tuple[EnteredBot, ...]:
    """Return the entrants of a competition, or those that enter one of its games, in order of seed."""
    query = select(schema.entrants).filter_by(competition=competition).order_by("seed")
    return tuple(
        _entered(row)
        for row in find_rows(connection, query)
        if game is None or row["games"] is None or game in row["games"]
    )


def _entered(row: RowMapping) -> EnteredBot:
    present = row["present"] or {}
    return dataclass_of(
        EnteredBot,
        row,
        kind=BotKind(row["kind"]),
        command=row["command"] or "",  # null for public readers
        out=Out(row["out"]) if row["out"] else None,
        out_after=dict(map(tuple, row["out_after"] or ())),
        games=None if row["games"] is None else tuple(row["games"]),
        present=present,
        present_ms=sum(present.values()),
        away=row["away"] or "",
        limited=row["limited"] or "",
    )


def write_entry(
    connection: Connection,
    competition: int,
    entered: Sequence[EnteredBot],
    entry: CompetitionEntry,
    now: datetime,
) -> None:
    """Add a bot with the last seed, or enter a withdrawn bot again with its old seed."""
    table = schema.entrants
    values = {
        "owner": entry.owner,
        "kind": str(entry.kind),
        "command": entry.command,
        "version": entry.version,
        "games": None if entry.games is None else list(entry.games),
        "entered_unix_ms": unix_ms(now),
        "out": None,
        "out_after": None,
        "reason": "",
    }
    if any(bot.name == entry.name for bot in entered):
        change_entrant(connection, competition, entry.name, **values)
    else:
        seed = 1 + max((bot.seed for bot in entered), default=0)
        connection.execute(
            insert(table).values(competition=competition, name=entry.name, seed=seed, **values)
        )


def change_entrant(connection: Connection, competition: int, bot: str, **values: object) -> None:
    """Set columns of one entrant; nothing changes if the bot is not in the competition."""
    entrant = update(schema.entrants).filter_by(competition=competition, name=bot)
    connection.execute(entrant.values(**values))


def require_may_enter(
    name: str, entered: Sequence[EnteredBot], entry: CompetitionEntry, max_of_owner: int | None
) -> None:
    """Require that a bot may enter the competition `name`, by the entries so far.

    Raises `MayNotEnter` if the bot was disqualified or has entered already, or its owner has too many bots in it.
    """
    for known in entered:
        same_version = bool(entry.version) and known.version == entry.version
        if known.out is Out.DISQUALIFIED and (
            skeleton(known.name) == skeleton(entry.name)
            or (same_version and known.kind is not BotKind.REMOTE)
        ):
            was = "" if known.name == entry.name else f" as {known.name!r}"
            raise MayNotEnter(f"{entry.name!r} was disqualified from {name!r}{was}: {known.reason}")
        if known.name == entry.name and known.out is None:
            raise MayNotEnter(f"{entry.name!r} is in the competition {name!r} already")
        if skeleton(known.name) == skeleton(entry.name) and known.owner != entry.owner:
            raise MayNotEnter(f"the name {entry.name!r} is taken in {name!r} by {known.owner!r}")
    bots = sum(bot.owner == entry.owner and bot.out is None for bot in entered)
    if max_of_owner is not None and bots >= max_of_owner:
        raise MayNotEnter(f"{entry.owner!r} has {bots} bots in {name!r}, which is the most")

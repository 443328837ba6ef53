"""The entrants of competitions in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, insert, select, update

from arena.competition.record import Candidate, Out
from arena.errors import RefusalError, refusal
from arena.store import schema
from arena.store.errors import StoreError
from arena.store.moments import unix_ms
from arena.store.names import skeleton
from arena.store.registry import BotKind
from arena.store.rows import find_rows


class MayNotEnter(RefusalError, StoreError):
    """The bot may not enter the competition; the text says why."""

    entry = refusal("MAY_NOT_ENTER")


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
class EnteredBot:
    """A stored entrant of a competition."""

    entry: CompetitionEntry
    candidate: Candidate
    present_ms: Mapping[str, int]
    """Ladders: how long each version of it was connected, by the player's name, in milliseconds."""
    away: str
    """Why the bot is not drawn; empty if it is."""


def read_entrants(connection: Connection, competition: int) -> tuple[EnteredBot, ...]:
    """All entrants of a competition, in order of seed."""
    query = select(schema.entrants).filter_by(competition=competition).order_by("seed")
    return tuple(map(_entered, find_rows(connection, query)))


def _entered(row: RowMapping) -> EnteredBot:
    games = None if row["games"] is None else tuple(row["games"])
    return EnteredBot(
        CompetitionEntry(
            row["name"],
            row["owner"],
            BotKind(row["kind"]),
            row["command"] or "",  # null for public readers
            row["version"],
            games,
        ),
        Candidate(
            row["name"],
            row["owner"],
            row["seed"],
            row["version"],
            Out(row["out"]) if row["out"] else None,
            dict(map(tuple, row["out_after"] or ())),
            row["reason"],
            games,
            sum((row["present"] or {}).values()),
        ),
        row["present"] or {},
        row["away"] or "",
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
    if any(each.entry.name == entry.name for each in entered):
        change_entrant(connection, competition, entry.name, **values)
    else:
        seed = 1 + max((each.candidate.seed for each in entered), default=0)
        connection.execute(
            insert(table).values(competition=competition, name=entry.name, seed=seed, **values)
        )


def change_entrant(connection: Connection, competition: int, bot: str, **values: object) -> None:
    """Set columns of one entrant; nothing changes if the bot is not in the competition."""
    entrant = update(schema.entrants).filter_by(competition=competition, name=bot)
    connection.execute(entrant.values(**values))


def require_may_enter(
    name: str,
    entered: Sequence[EnteredBot],
    entry: CompetitionEntry,
    max_of_owner: int | None,
) -> None:
    """Require that a bot may enter the competition `name`, by the entries so far.

    Raises:
      MayNotEnter: if the bot was disqualified or has entered already, or its owner has too many bots in it.
    """
    for each in entered:
        known, out = each.entry, each.candidate.out
        same_version = bool(entry.version) and known.version == entry.version
        if out is Out.DISQUALIFIED and (
            skeleton(known.name) == skeleton(entry.name)
            or (same_version and known.kind is not BotKind.REMOTE)
        ):
            was = "" if known.name == entry.name else f" as {known.name!r}"
            raise MayNotEnter(
                f"{entry.name!r} was disqualified from {name!r}{was}: {each.candidate.reason}"
            )
        if known.name == entry.name and out is None:
            raise MayNotEnter(f"{entry.name!r} is in the competition {name!r} already")
        if skeleton(known.name) == skeleton(entry.name) and known.owner != entry.owner:
            raise MayNotEnter(f"the name {entry.name!r} is taken in {name!r} by {known.owner!r}")
    own = sum(each.entry.owner == entry.owner and each.candidate.out is None for each in entered)
    if max_of_owner is not None and own >= max_of_owner:
        raise MayNotEnter(f"{entry.owner!r} has {own} bots in {name!r}, which is the most")

"""What a tournament is started with, and must be given again to go on."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select

from arena.store import schema


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot of a tournament and how it is started."""

    name: str
    command: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that must stay the same while a tournament is played, in several goes or in one."""

    name: str
    """Tells the tournaments of one store apart."""
    game: str
    rules_version: int
    seats: int
    seed: str
    entrants: tuple[Entrant, ...]
    """In any order."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The game's settings; values that JSON can hold."""
    time_control: Mapping[str, Any] = field(default_factory=dict)
    """The clock's settings; values that JSON can hold."""
    fair: bool = False
    """Dealt fairly; otherwise the deals follow from the seed, which fixes the seating anyway."""


def insert_settings(connection: Connection, settings: Settings, now: datetime) -> int:
    """Write a new tournament and its bots; returns its number in the store."""
    if now.tzinfo is None:
        raise ValueError("the time of a tournament's creation needs a time zone")
    number: int = connection.execute(
        insert(schema.tournaments)
        .values(
            name=settings.name,
            game=settings.game,
            rules_version=settings.rules_version,
            options=dict(settings.options),
            time_control=dict(settings.time_control),
            seats=settings.seats,
            seed=settings.seed,
            fair=settings.fair,
            created=now.astimezone(UTC).isoformat(timespec="seconds"),
        )
        .returning(schema.tournaments.c.id)
    ).scalar_one()
    connection.execute(
        insert(schema.entrants),
        [
            {"tournament": number, "name": e.name, "command": e.command, "version": e.version}
            for e in settings.entrants
        ],
    )
    return number


def settings_of(connection: Connection, row: RowMapping) -> Settings:
    """The settings in a row of `tournaments`."""
    table = schema.entrants
    entrants = connection.execute(
        select(table).where(table.c.tournament == row["id"]).order_by(table.c.name)
    ).mappings()
    return Settings(
        name=row["name"],
        game=row["game"],
        rules_version=row["rules_version"],
        seats=row["seats"],
        seed=row["seed"],
        entrants=tuple(Entrant(e["name"], e["command"], e["version"]) for e in entrants),
        options=row["options"],
        time_control=row["time_control"],
        fair=row["fair"],
    )


def differences(held: Settings, given: Settings) -> Iterator[str]:
    """What is different, each as "what the store holds, not what was given"."""
    for label, name in (
        ("the game", "game"),
        ("rules version", "rules_version"),
        ("seats", "seats"),
        ("seed", "seed"),
    ):
        if getattr(held, name) != getattr(given, name):
            yield f"{label} {getattr(held, name)}, not {getattr(given, name)}"
    if held.fair != given.fair:
        yield "fair deals, not seeded ones" if held.fair else "seeded deals, not fair ones"
    yield from _mapping_differences("option", held.options, given.options)
    yield from _mapping_differences("time control", held.time_control, given.time_control)
    before = {each.name: each for each in held.entrants}
    after = {each.name: each for each in given.entrants}
    if before.keys() != after.keys():
        yield f"the bots {', '.join(sorted(before))}, not {', '.join(sorted(after))}"
        return
    for name, entrant in sorted(before.items()):
        if entrant.command != after[name].command:
            yield f"{name} started by `{entrant.command}`, not `{after[name].command}`"
        if entrant.version != after[name].version:
            yield f"{name} at version {entrant.version!r}, not {after[name].version!r}"


def _mapping_differences(
    label: str, held: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[str]:
    as_held = json.loads(json.dumps(dict(given)))  # tuples become lists, as they did in the store
    for name in sorted(held.keys() | as_held.keys()):
        before, after = held.get(name, "unset"), as_held.get(name, "unset")
        if before != after:
            yield f"{label} {name} {before}, not {after}"

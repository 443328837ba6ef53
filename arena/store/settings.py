"""What a tournament is started with, and must be given again to go on."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, insert, select, update

from arena.store import schema

SHOWN_FILES: Final = 3
"""Files of a bot that are named when it has changed."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot of a tournament and how it is started."""

    name: str
    command: str
    version: str = ""
    """Tells what was played with from what came later; empty if that is not known. Where each of its
    lines is a hash and the name of a file, what has changed is told by these names."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that must stay the same while a tournament is played, in several goes or in one."""

    name: str
    """Tells the tournaments of one store apart."""
    terms: Mapping[str, Any]
    """What all matches are played by, as `arena.wire.terms.terms_json` writes it."""
    seed: str
    """Fixes the seating, and the deals if the terms say that they are seeded."""
    entrants: tuple[Entrant, ...]
    """In any order."""


def insert_settings(connection: Connection, settings: Settings, now: datetime) -> int:
    """Write a new tournament and its bots; returns its number in the store."""
    if now.tzinfo is None:
        raise ValueError("the time of a tournament's creation needs a time zone")
    number: int = connection.execute(
        insert(schema.tournaments)
        .values(
            name=settings.name,
            terms=dict(settings.terms),
            seed=settings.seed,
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
        terms=row["terms"],
        seed=row["seed"],
        entrants=tuple(Entrant(e["name"], e["command"], e["version"]) for e in entrants),
    )


def differences(held: Settings, given: Settings) -> Iterator[str]:
    """Each difference as a sentence part: "NAME as held, not as given"."""
    terms, others = dict(held.terms), json.loads(json.dumps(dict(given.terms)))  # tuples as lists
    for label, name in _SIMPLE:
        if terms.get(name) != others.get(name):
            yield f"{label} {terms.get(name)}, not {others.get(name)}"
    if held.seed != given.seed:
        yield f"seed {held.seed}, not {given.seed}"
    if terms.get("seeded") != others.get("seeded"):
        held_deals, given_deals = (
            "seeded deals" if each.get("seeded") else "fair deals" for each in (terms, others)
        )
        yield f"{held_deals}, not {given_deals}"
    for label, name in (("option", "options"), ("time control", "time_control")):
        yield from _mapping_differences(label, terms.get(name, {}), others.get(name, {}))
    before = {each.name: each for each in held.entrants}
    after = {each.name: each for each in given.entrants}
    if before.keys() != after.keys():
        yield f"the bots {', '.join(sorted(before))}, not {', '.join(sorted(after))}"
        return
    for name, entrant in sorted(before.items()):
        if entrant.command != after[name].command:
            yield f"{name} started by `{entrant.command}`, not `{after[name].command}`"


def changed_entrants(held: Settings, given: Settings) -> tuple[str, ...]:
    """The bots that are of another version than they were, as far as that is known, and in which files."""
    before = {each.name: each.version for each in held.entrants}
    return tuple(
        each.name + _where(before[each.name], each.version)
        for each in given.entrants
        if each.version and before.get(each.name) and before[each.name] != each.version
    )


def _where(before: str, now: str) -> str:
    """In which files two versions differ, as part of a sentence; empty if they do not tell."""
    held, given = _files(before), _files(now)
    changed = [
        name if name in held and name in given else f"{name} ({'new' if name in given else 'gone'})"
        for name in sorted(held.keys() | given.keys())
        if held.get(name) != given.get(name)
    ]
    if not held or not given:
        return ""
    more = len(changed) - SHOWN_FILES
    names = ", ".join(changed[:SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
    return f" (in {names})"


def _files(version: str) -> Mapping[str, str]:
    """The hashes of a version by file; nothing if it is of another form."""
    lines = [line.partition(" ") for line in version.split("\n")]
    return {name: digest for digest, _, name in lines if name}


def update_versions(connection: Connection, tournament: int, settings: Settings) -> None:
    """Keep the versions that the bots have now."""
    table = schema.entrants
    for each in settings.entrants:
        row = (table.c.tournament == tournament) & (table.c.name == each.name)
        connection.execute(update(table).where(row).values(version=each.version))


_SIMPLE: Final = (
    ("the game", "game"),
    ("rules version", "rules_version"),
    ("seats", "seats"),
    ("fault limit", "fault_limit"),
    ("away limit in ms", "away_limit_ms"),
)


def _mapping_differences(
    label: str, held: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[str]:
    for name in sorted(held.keys() | given.keys()):
        before, after = held.get(name, "unset"), given.get(name, "unset")
        if before != after:
            yield f"{label} {name} {before}, not {after}"

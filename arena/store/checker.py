"""Checks the rules that hold across the rows of a store: for tests, and to inspect a doubtful file."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, and_, select

from arena.results.deal_sets import DealSetState
from arena.results.record import record_of_json
from arena.results.versions import NotNow, VersionEvent, require_follows
from arena.store import audit, schema
from arena.store.rows import find_rows


def violations(connection: Connection) -> Iterator[str]:
    """Yield the broken rules, in sentences."""
    yield from _seats(connection)
    yield from _deal_sets(connection)
    yield from _scores(connection)
    yield from _versions(connection)
    yield from audit.broken(connection)


def _seats(connection: Connection) -> Iterator[str]:
    """Yield sentences about rows of the table of seats that disagree with the matches."""
    matches, seats = schema.matches, schema.match_seats
    indexed: dict[str, dict[int, str]] = defaultdict(dict)
    for row in connection.execute(select(seats)).mappings():
        indexed[row["match"]][row["seat"]] = row["bot"]
    for row in connection.execute(select(matches.c.id, matches.c.bots)).mappings():
        if indexed.pop(row["id"], {}) != dict(enumerate(row["bots"])):
            yield f"the seats of match {row['id']} are not those of its bots"


def _deal_sets(connection: Connection) -> Iterator[str]:
    """Yield sentences about complete deal-sets without a result for each match."""
    sets, matches = schema.deal_sets, schema.matches
    of_set = and_(
        matches.c.competition_game == sets.c.competition_game, matches.c.deal_set == sets.c.id
    )
    missing = (
        select(sets.c.id)
        .distinct()
        .join(matches, of_set)
        .where(sets.c.state == DealSetState.COMPLETE, matches.c.status != schema.FINISHED)
    )
    for deal_set in connection.execute(missing).scalars():
        yield f"deal-set {deal_set} is complete, but results are missing"


def _scores(connection: Connection) -> Iterator[str]:
    """Yield sentences about official standings that disagree with the hash of their record, or with the scores of matches."""
    matches, official = schema.matches, schema.official_standings
    ended = connection.execute(select(matches.c.id, matches.c.scores))
    scores = {row.id: row.scores for row in ended}
    latest = {
        row["competition"]: row
        for row in find_rows(connection, select(official).order_by(official.c.number))
    }
    for row in latest.values():
        head, *deal_sets = map(json.loads, row["record"].split("\n"))
        if record_of_json(head, deal_sets).inputs_sha256 != row["inputs_sha256"]:
            yield f"the record of official standings {row['number']} was changed"
        for table in (table for deal_set in deal_sets for table in deal_set["tables"]):
            if scores.get(table["match"]) != table["scores"]:
                yield f"match {table['match']} has other scores than in official standings"


def _versions(connection: Connection) -> Iterator[str]:
    """Yield sentences about versions with wrong numbers, impossible events, or several active ones of a bot."""
    versions, events = schema.versions, schema.version_events
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in connection.execute(select(versions).order_by(versions.c.number)).mappings():
        numbers[row["bot"]].append(row["number"])
        if row["parent"] is not None and row["parent"] >= row["number"]:
            yield f"the parent of {row['bot']}@{row['number']} is not an earlier version"
    states: dict[tuple[str, int], VersionEvent] = {}
    for row in connection.execute(select(events).order_by(events.c.id)).mappings():
        version, event = (row["bot"], row["number"]), VersionEvent(row["event"])
        try:
            require_follows(states.get(version), event)
        except NotNow as problem:
            yield f"{version[0]}@{version[1]}: {problem}"
        states[version] = event
    active = Counter(bot for (bot, _), state in states.items() if state is VersionEvent.ACTIVE)
    yield from (f"{bot} has {count} active versions" for bot, count in active.items() if count > 1)
    for bot, of_bot in numbers.items():
        if of_bot != list(range(1, len(of_bot) + 1)):
            yield f"the versions of {bot} are not numbered from 1"
        for number in of_bot:
            if (bot, number) not in states:
                yield f"{bot}@{number} was never submitted"

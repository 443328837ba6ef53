"""What must hold in a whole store, and does not: for tests, and for who doubts a file."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, select

from arena.competition.versions import Event, NotNow, require_follows
from arena.ladder.work import report_sha256
from arena.store import audit, schema
from arena.store.matches import outcomes_of_deal_set


def violations(connection: Connection) -> Iterator[str]:
    """Every rule that is broken, a sentence each."""
    yield from _seats(connection)
    yield from _deal_sets(connection)
    yield from _versions(connection)
    yield from audit.broken(connection)


def _seats(connection: Connection) -> Iterator[str]:
    """The index of seats says what the matches say."""
    matches, seats = schema.matches, schema.match_seats
    indexed: dict[str, dict[int, str]] = defaultdict(dict)
    for row in connection.execute(select(seats)).mappings():
        indexed[row["match"]][row["seat"]] = row["bot"]
    for row in connection.execute(select(matches.c.id, matches.c.bots)).mappings():
        if indexed.pop(row["id"], {}) != dict(enumerate(row["bots"])):
            yield f"the seats of match {row['id']} are not those of its bots"


def _deal_sets(connection: Connection) -> Iterator[str]:
    """A deal-set is complete with all its results, as they were reported, and held when leased."""
    table = schema.deal_sets
    for row in connection.execute(select(table)).mappings():
        name = f"deal-set {row['id']}"
        is_leased = row["state"] == schema.LEASED
        if is_leased != (row["holder"] is not None) or is_leased != (
            row["until_unix_ms"] is not None
        ):
            yield f"{name} is {row['state']}, and its holder does not go with that"
        if (row["state"] == schema.COMPLETE) != (row["report_sha256"] is not None):
            yield f"{name} is {row['state']}, and its report does not go with that"
        if row["state"] == schema.COMPLETE:
            recorded = outcomes_of_deal_set(connection, row["tournament"], row["id"])
            if not all(each.has_result for each in recorded.values()):
                yield f"{name} is complete, and lacks results"
            elif report_sha256(recorded) != row["report_sha256"]:
                yield f"{name} has other results than were reported"


def _versions(connection: Connection) -> Iterator[str]:
    """Versions count up from 1, lived as they may, and one of a bot is active at most."""
    versions, events = schema.versions, schema.version_events
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in connection.execute(select(versions).order_by(versions.c.number)).mappings():
        numbers[row["bot"]].append(row["number"])
        if row["parent"] is not None and row["parent"] >= row["number"]:
            yield f"the parent of {row['bot']}@{row['number']} is no earlier version"
    states: dict[tuple[str, int], Event] = {}
    for row in connection.execute(select(events).order_by(events.c.id)).mappings():
        version, event = (row["bot"], row["number"]), Event(row["event"])
        try:
            require_follows(states.get(version), event)
        except NotNow as problem:
            yield f"{version[0]}@{version[1]}: {problem}"
        states[version] = event
    active = Counter(bot for (bot, _), state in states.items() if state is Event.ACTIVE)
    yield from (f"{bot} has {count} active versions" for bot, count in active.items() if count > 1)
    for bot, held in numbers.items():
        if held != list(range(1, len(held) + 1)):
            yield f"the versions of {bot} do not count up from 1"
        for number in held:
            if (bot, number) not in states:
                yield f"{bot}@{number} was never submitted"

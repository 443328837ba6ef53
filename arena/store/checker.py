"""Checks the rules that hold across the rows of a store: for tests, and to inspect a doubtful file."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, select

from arena.schedule.work import report_sha256
from arena.store import audit, schema
from arena.store.matches import outcomes_of_deal_set
from arena.submission.versions import NotNow, VersionEvent, require_follows


def violations(connection: Connection) -> Iterator[str]:
    """The broken rules, in sentences."""
    yield from _seats(connection)
    yield from _deal_sets(connection)
    yield from _versions(connection)
    yield from audit.broken(connection)


def _seats(connection: Connection) -> Iterator[str]:
    """The table of seats agrees with the matches."""
    matches, seats = schema.matches, schema.match_seats
    indexed: dict[str, dict[int, str]] = defaultdict(dict)
    for row in connection.execute(select(seats)).mappings():
        indexed[row["match"]][row["seat"]] = row["bot"]
    for row in connection.execute(select(matches.c.id, matches.c.bots)).mappings():
        if indexed.pop(row["id"], {}) != dict(enumerate(row["bots"])):
            yield f"the seats of match {row['id']} are not those of its bots"


def _deal_sets(connection: Connection) -> Iterator[str]:
    """A complete deal-set has all results, as they were reported; a leased one has a holder."""
    table = schema.deal_sets
    for row in connection.execute(select(table)).mappings():
        name = f"deal-set {row['id']}"
        is_leased = row["state"] == schema.LEASED
        if is_leased != (row["holder"] is not None) or is_leased != (
            row["until_unix_ms"] is not None
        ):
            yield f"{name} is {row['state']}, which does not agree with its holder"
        is_reported = row["report_sha256"] is not None
        # A void one may have been played: by a worker that was dropped.
        if row["state"] != schema.VOID and (row["state"] == schema.COMPLETE) != is_reported:
            yield f"{name} is {row['state']}, which does not agree with its report"
        if is_reported:
            recorded = outcomes_of_deal_set(connection, row["competition_game"], row["id"])
            if not all(each.has_result for each in recorded.values()):
                yield f"{name} is {row['state']}, but results are missing"
            elif report_sha256(recorded) != row["report_sha256"]:
                yield f"{name} has other results than were reported"


def _versions(connection: Connection) -> Iterator[str]:
    """Versions are numbered from 1, their events follow each other, and at most one of a bot is active."""
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
    for bot, own in numbers.items():
        if own != list(range(1, len(own) + 1)):
            yield f"the versions of {bot} are not numbered from 1"
        for number in own:
            if (bot, number) not in states:
                yield f"{bot}@{number} was never submitted"

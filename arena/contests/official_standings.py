"""Official standings of a store, and their exports with all deal-sets."""

import json
from collections.abc import Iterator
from typing import Final

from arena.contests.standings import Json, live_standings, official_bytes, official_standings
from arena.results.record import CompetitionRecord, counting, deal_set_json, header_json
from arena.results.states import State
from arena.store import Competitions, OfficialStandings

FORMAT: Final = "deals 1"


def unsigned(record: CompetitionRecord, number: int) -> OfficialStandings:
    """Return the official standings of a number, computed from the complete deal-sets of a record."""
    made = official_standings(record, number)
    return OfficialStandings(
        number,
        official_bytes(made).decode(),
        "\n".join(record_lines(record)),
        made["inputs_sha256"],
    )


def record_lines(record: CompetitionRecord) -> Iterator[str]:
    """Yield a record as JSON Lines: the head, then a line for each complete deal-set."""
    yield json.dumps({"cardarena": FORMAT, **header_json(record)})
    for row in counting(record):
        yield json.dumps(deal_set_json(*row))


def next_official(competitions: Competitions, name: str) -> OfficialStandings:
    """Return the next official standings of a competition, from the complete deal-sets, unsigned.

    Raises `NoCompetition` if there is none of that name.
    """
    return unsigned(competitions.record(name), competitions.get(name).official + 1)


def official_of(competitions: Competitions, name: str, number: int) -> Json:
    """Return the official standings of a number, with their signature.

    Raises `NoCompetition` or `NoOfficialStandings` if there is no such competition, or none of that number.
    """
    official = competitions.official(name, number)
    assert official is not None
    return signed_standings(official)


def latest_standings(competitions: Competitions, name: str) -> Json:
    """Return the official standings if the competition is finished, else the live ones.

    Raises `NoCompetition` if there is none of that name.
    """
    if competitions.get(name).state is State.FINISHED:
        official = competitions.official(name)
        if official is not None:
            return signed_standings(official)
    return live_standings(competitions.record(name))


def signed_standings(official: OfficialStandings) -> Json:
    """Official standings with the key and the signature of the arena."""
    standings: Json = json.loads(official.body)
    return standings | {"public_key": official.public_key, "signature": official.signature}


def official_lines(official: OfficialStandings) -> Iterator[str]:
    """Official standings as JSON Lines: the record they were computed from, then the signed standings."""
    yield from official.record.split("\n")
    yield json.dumps(
        {
            "standings": official.body,
            "number": official.number,
            "public_key": official.public_key,
            "signature": official.signature,
        }
    )

"""Exports of official standings with their deal-sets, and their verification by recomputation."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from arena.competition.plan import PlanError
from arena.competition.record import (
    CompetitionRecord,
    Unreadable,
    bot_of,
    counting,
    deal_set_json,
    header_json,
    record_of_json,
)
from arena.competition.standings import Json, official_bytes, official_standings
from arena.replay.signing import is_signed, shown_key, standings_statement

FORMAT: Final = "deals 1"
"""The format of an export."""


class NotVerified(ValueError):
    """Exported standings do not follow from their deal-sets, or are not signed; the text says why."""


@dataclass(frozen=True, slots=True)
class VerifiedStandings:
    """Verified standings of an export."""

    competition: str
    number: int
    deal_sets: int
    public_key: str
    """The public key of the arena that signed them, in hexadecimal."""
    standings: Json


@dataclass(frozen=True, slots=True)
class UnsignedStandings:
    """The next official standings of a competition, before they are signed."""

    number: int
    body: str
    record: str
    """JSON Lines of the record they were computed from; one text, as it is passed between processes."""
    inputs_sha256: str


def unsigned(record: CompetitionRecord, number: int) -> UnsignedStandings:
    """The official standings of a number, computed from the complete deal-sets of a record."""
    return UnsignedStandings(
        number,
        official_bytes(official_standings(record, number)).decode(),
        "\n".join(record_lines(record)),
        record.inputs_sha256,
    )


def record_lines(record: CompetitionRecord) -> Iterator[str]:
    """A record as JSON Lines: the head, then a line for each complete deal-set."""
    yield json.dumps({"cardarena": FORMAT, **header_json(record)})
    for each in counting(record):
        yield json.dumps(deal_set_json(*each))


def verify(lines: Iterable[str], *, public_key: bytes | None = None) -> VerifiedStandings:
    """Compute exported standings again from their deal-sets, and check the signature.

    `public_key` is the key that must have signed them; by default the one in the file.

    Raises:
      NotVerified: if the standings or the signature differ.
    """
    head, *deal_sets, last = _json_lines(lines)
    if not isinstance(head, dict) or head.get("cardarena") != FORMAT:
        raise NotVerified(
            f"this is no export of deal-sets: its first line does not name {FORMAT!r}"
        )
    if not isinstance(last, dict) or "standings" not in last:
        raise NotVerified("it has no standings: nothing was official when it was exported")
    body, number = str(last["standings"]), last.get("number")
    try:
        signer = bytes.fromhex(last["public_key"])
        signature = bytes.fromhex(last["signature"])
    except (KeyError, TypeError, ValueError):
        raise NotVerified("the standings are not signed") from None
    if not is_signed(signer, signature, standings_statement(body.encode())):
        raise NotVerified(
            "the signature is not of these standings, or not by the key that it names"
        )
    if public_key is not None and signer != public_key:
        raise NotVerified(f"another arena signed the standings, with the key {shown_key(signer)}")
    try:
        record = record_of_json(head, deal_sets)
        said = json.loads(body)
        if said["inputs_sha256"] != record.inputs_sha256:
            raise NotVerified(
                "the standings were computed from other deal-sets than those in the file"
            )
        if said["number"] != number:
            raise NotVerified(f"it names the number {number}, and what was signed names another")
        again = official_standings(record, int(said["number"]))
    except (Unreadable, PlanError, KeyError, TypeError) as error:
        raise NotVerified(f"no standings can be computed from it: {error}") from error
    if official_bytes(again) != body.encode():
        raise NotVerified(f"these deal-sets give other standings: {_first_difference(said, again)}")
    return VerifiedStandings(
        said["competition"], said["number"], len(deal_sets), signer.hex(), said
    )


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
    "forfeited",
    "deal_sets",
    "opponents_met",
    "opponents",
    "present_h",
    "matches",
    "wins",
    "draws",
    "losses",
)


def standings_csv(standings: Mapping[str, Any]) -> str:
    """Standings as comma-separated values, a line for each game and bot."""
    rows = [
        {"game": game["game"], "seats": game["seats"]}
        | {name: row[name] for name in _COLUMNS}
        | {"faults": sum(row["faults"].values())}
        for game in standings["games"]
        for row in game["rows"]
    ]
    return _csv(rows)


def prizes(standings: Mapping[str, Any], owners: Mapping[str, str]) -> list[Json]:
    """The order of prizes in each game: the places, where bots that share one are ordered by tie-breaks.

    Bots that stay tied share a prize, and the prizes below it are fewer. Unranked and disqualified bots have
    none. `owners` are by bot; a version counts as its bot.
    """
    found = []
    for game in standings["games"]:
        prize = 1
        for tied in _in_order_of_prizes(game):
            found += [
                {
                    "game": game["game"],
                    "seats": game["seats"],
                    "prize": prize,
                    "bot": row["bot"],
                    "owner": owners.get(bot_of(row["bot"]), ""),
                    "place": row["place"],
                    "points": row["points"],
                    "score": row["score"],
                    "tied_with": sorted(each["bot"] for each in tied if each is not row),
                }
                for row in tied
            ]
            prize += len(tied)
    return found


def _in_order_of_prizes(game: Mapping[str, Any]) -> Iterator[list[Json]]:
    """The rows of a game with a place, in groups that share a prize."""
    rank = {
        bot: number
        for shared in game["prizes"]
        for number, group in enumerate(shared)
        for bot in group
    }

    def order(row: Json) -> tuple[int, int]:
        return row["place"], rank.get(row["bot"], 0)

    ranked = sorted((row for row in game["rows"] if row["place"]), key=order)
    for _, tied in groupby(ranked, order):
        yield list(tied)


def prizes_csv(found: Sequence[Json]) -> str:
    """Prizes as comma-separated values."""
    return _csv([each | {"tied_with": " ".join(each["tied_with"])} for each in found])


def pairs_csv(standings: Mapping[str, Any]) -> str:
    """The results between each two bots as comma-separated values, a line for each game and pair."""
    return _csv(
        [
            {"game": game["game"], "seats": game["seats"], **pair}
            for game in standings["games"]
            for pair in game["pairs"]
        ]
    )


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
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
        raise NotVerified("it has too few lines for an export of deal-sets")
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

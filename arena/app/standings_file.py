"""Verifies exported official standings by computing them again from their deal-sets."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from arena.contests.official_standings import FORMAT
from arena.contests.plan import PlanError
from arena.contests.standings import Json, official_bytes, official_standings
from arena.records.signing import is_signed, shown_key, standings_statement
from arena.results.record import Unreadable, record_of_json


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


def verify(lines: Iterable[str], *, public_key: bytes | None = None) -> VerifiedStandings:
    """Compute exported standings again from their deal-sets, and check the signature.

    `public_key` is the key that must have signed them; by default the one in the file.

    Raises `NotVerified` if the standings or the signature differ.
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
        stated = json.loads(body)
        if stated["inputs_sha256"] != record.inputs_sha256:
            raise NotVerified(
                "the standings were computed from other deal-sets than those in the file"
            )
        if stated["number"] != number:
            raise NotVerified(f"it names the number {number}, and what was signed names another")
        again = official_standings(record, int(stated["number"]))
    except (Unreadable, PlanError, KeyError, TypeError) as error:
        raise NotVerified(f"no standings can be computed from it: {error}") from error
    if official_bytes(again) != body.encode():
        raise NotVerified(
            f"these deal-sets give other standings: {_first_difference(stated, again)}"
        )
    return VerifiedStandings(
        stated["competition"], stated["number"], len(deal_sets), signer.hex(), stated
    )


def _json_lines(lines: Iterable[str]) -> list[Any]:
    values = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except ValueError:
                raise NotVerified(f"line {number} is not JSON") from None
    if len(values) < 2:
        raise NotVerified("it has too few lines for an export of deal-sets")
    return values


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

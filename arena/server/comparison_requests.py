"""Comparison requests of owners: what they may request, and the verdict so far. Nothing is played here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from arena.anytime.multiple_tests import holds_among
from arena.anytime.verdict import Decision, Verdict, verdict
from arena.competition.pair_margins import measure
from arena.store import (
    BotKind,
    ComparisonRequest,
    ComparisonRequests,
    ComparisonState,
    Store,
    Version,
)
from arena.submission.versions import VersionEvent
from arena.terms import MatchTerms
from arena.wire.terms import terms_json, terms_of_json

CORE_MS_A_DAY: Final = 60 * 60_000
"""Processor time for one owner's comparisons on a day, in milliseconds."""


class BadComparison(ValueError):
    """The comparison is not possible; the text says why."""


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """A comparison that an owner requests."""

    first: str
    """A version, as `ann@7`."""
    second: str
    terms: MatchTerms
    each_other: bool
    most: int
    """Deal-sets after which it ends undecided."""
    same_within: float | None

    def as_json(self, field: tuple[str, ...]) -> dict[str, Any]:
        """The request as JSON, with the opponents that were active when it was made."""
        return {
            "first": self.first,
            "second": self.second,
            "terms": terms_json(self.terms),
            "each_other": self.each_other,
            "most": self.most,
            "same_within": self.same_within,
            "field": list(field),
        }


def request_comparison(
    store: Store, owner: str, wanted: ComparisonQuery, *, now: datetime
) -> ComparisonRequest:
    """Request a comparison of two versions of an owner's bots.

    If the owner has compared them by these terms before, that comparison continues with its margins and its
    opponents, by the limits that are given now. A decided one is returned as it is.

    Raises:
      BadComparison: if a version does not exist, is another owner's, or they cannot be compared so.
      QuotaSpent: if the owner's comparisons of today took as much time as is allowed.
    """
    registry = store.registry()
    for each in (wanted.first, wanted.second):
        bot, at, number = each.partition("@")
        known = registry.find_bot(bot)
        if not at or not number.isdecimal() or known is None or known.owner != owner:
            raise BadComparison(f"there is no version {each!r} of yours: name it as in my-bot@7")
        version = next((v for v in registry.versions(bot) if v.number == int(number)), None)
        if version is None or version.state not in _PLAYABLE:
            state = "not there" if version is None else version.state
            raise BadComparison(f"{each} is {state}: only what has qualified is compared")
    field = tuple(str(each) for each in active_versions(store) if each.bot not in _bots(wanted))
    if wanted.first == wanted.second:
        raise BadComparison(f"{wanted.first} is not compared with itself")
    if wanted.each_other and wanted.terms.seats != 2:
        raise BadComparison(
            "two are against each other at two seats: compare them against the field"
        )
    requests, asked = store.comparison_requests(), wanted.as_json(field)
    for earlier in requests.of_owner(owner):
        if _compared(earlier.query) == _compared(asked):
            return _continued(requests, earlier, asked, now)
    return requests.create(owner, asked, now=now, core_ms_a_day=CORE_MS_A_DAY)


def _continued(
    requests: ComparisonRequests,
    earlier: ComparisonRequest,
    asked: Mapping[str, Any],
    now: datetime,
) -> ComparisonRequest:
    """An earlier comparison by the limits that are given now; opened again if they let it go on."""
    query = {**earlier.query, **{name: asked[name] for name in _LIMITS}}
    said = _verdict(replace(earlier, query=query))
    if earlier.state is ComparisonState.OPEN:
        is_same = query == earlier.query
    else:
        is_over = said.decision is not Decision.OPEN or len(earlier.margins) >= query["most"]
        is_same = is_over and said.decision is _verdict(earlier).decision
    if is_same:
        return earlier
    return requests.reopen(earlier, query, now=now, core_ms_a_day=CORE_MS_A_DAY)


_LIMITS: Final = ("most", "same_within")
"""What may change when the same comparison is requested again."""


def _compared(query: Mapping[str, Any]) -> dict[str, Any]:
    """What a query compares, and how."""
    asked = {name: query[name] for name in ("first", "second", "terms", "each_other")}
    as_stored: dict[str, Any] = json.loads(json.dumps(asked))  # lists instead of tuples
    return as_stored


def _bots(wanted: ComparisonQuery) -> frozenset[str]:
    return frozenset(each.partition("@")[0] for each in (wanted.first, wanted.second))


_PLAYABLE: Final = frozenset({VersionEvent.QUALIFIED, VersionEvent.ACTIVE, VersionEvent.INACTIVE})


def active_versions(store: Store) -> tuple[Version, ...]:
    """The active versions of all uploaded bots, by name."""
    registry = store.registry()
    return tuple(
        each
        for bot in registry.names(BotKind.UPLOADED)
        for each in registry.versions(bot)
        if each.state is VersionEvent.ACTIVE
    )


def comparison_json(
    request: ComparisonRequest, all_of_owner: Sequence[ComparisonRequest]
) -> dict[str, Any]:
    """A comparison with its verdict so far; `all_of_owner` are all comparisons of its owner, in order."""
    (found,) = comparisons_json([request], all_of_owner)
    return found


def comparisons_json(
    wanted: Sequence[ComparisonRequest], all_of_owner: Sequence[ComparisonRequest]
) -> list[dict[str, Any]]:
    """Comparisons of one owner with their verdicts so far; `all_of_owner` are all of the owner's, in order."""
    verdicts = {each.id: _verdict(each) for each in all_of_owner}
    held = holds_among([verdict.e_value for verdict in verdicts.values()])
    holds = dict(zip(verdicts, held, strict=True))
    numbers = {id_: number for number, id_ in enumerate(verdicts, 1)}
    return [
        {
            "comparison": each.id,
            "first": each.query["first"],
            "second": each.query["second"],
            "game": each.query["terms"]["game"],
            "seats": each.query["terms"]["seats"],
            "against": "each other" if each.query["each_other"] else "field",
            "state": str(each.state),
            "reason": each.reason,
            **verdict_json(verdicts[each.id]),
            "limit": each.query["most"],
            "comparisons": numbers[each.id],
            "holds_among_all": holds[each.id],
            "core_minutes": round(sum(each.core_ms_by_day.values()) / 60_000, 2),
        }
        for each in wanted
    ]


def verdict_json(said: Verdict) -> dict[str, Any]:
    """A verdict as JSON, without infinite numbers."""
    needed = said.needed
    return {
        "decision": str(said.decision),
        "mean": said.mean,
        "low": _finite(said.low),
        "high": _finite(said.high),
        "e_value": _finite(said.e_value),
        "deal_sets": said.deal_sets,
        "decided_after": said.decided_after,
        "needed": None
        if needed is None
        else {"likely": needed.likely, "fewest": needed.fewest, "most": needed.most},
        "approximate": said.approximate,
        "bound_in_deviations": said.bound_in_deviations,
        "at_least": said.at_least,
        "more_often": str(said.more_often),
        "more_often_e_value": _finite(said.more_often_e_value),
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _verdict(request: ComparisonRequest) -> Verdict:
    terms = terms_of_json(request.query["terms"])
    return verdict(request.margins, measure(terms).bound, same_within=request.query["same_within"])

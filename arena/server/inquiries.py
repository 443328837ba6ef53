"""Questions of owners: who may ask what, and what can be said of it by now. Nothing is played here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from arena.anytime.questions import holds_among
from arena.anytime.verdict import Verdict, verdict
from arena.competition.margins import measure
from arena.competition.versions import Event
from arena.store import BotKind, Question, Store, Version
from arena.terms import MatchTerms
from arena.wire.terms import terms_json, terms_of_json

CORE_MS_A_DAY: Final = 60 * 60_000
"""Processor time that one owner's questions have within a day."""


class BadQuestion(ValueError):
    """It cannot be asked so; the text says why."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What an owner asks."""

    first: str
    """A version, as `ann@7`."""
    second: str
    terms: MatchTerms
    each_other: bool
    most: int
    """Deal-sets after which it is given up."""
    same_within: float | None

    def as_json(self, field: tuple[str, ...]) -> dict[str, Any]:
        """As it is kept, with the opponents that were there when it was asked."""
        return {
            "first": self.first,
            "second": self.second,
            "terms": terms_json(self.terms),
            "each_other": self.each_other,
            "most": self.most,
            "same_within": self.same_within,
            "field": list(field),
        }


def ask(store: Store, owner: str, wanted: Ask, *, now: datetime) -> Question:
    """Ask a question about two versions of an owner's.

    Raises:
      BadQuestion: if one is not there, not the owner's, or they cannot be compared so.
      QuotaSpent: if the owner has had its play for a day.
    """
    registry = store.registry()
    for each in (wanted.first, wanted.second):
        bot, at, number = each.partition("@")
        known = registry.find_bot(bot)
        if not at or not number.isdecimal() or known is None or known.owner != owner:
            raise BadQuestion(f"there is no version {each!r} of yours: name it as in my-bot@7")
        version = next((v for v in registry.versions(bot) if v.number == int(number)), None)
        if version is None or version.state not in _PLAYABLE:
            state = "not there" if version is None else version.state
            raise BadQuestion(f"{each} is {state}: only what has qualified is compared")
    field = tuple(str(each) for each in active_versions(store) if each.bot not in _bots(wanted))
    if wanted.first == wanted.second:
        raise BadQuestion(f"{wanted.first} is not compared with itself")
    if wanted.each_other and wanted.terms.seats != 2:
        raise BadQuestion("two are against each other at two seats: compare them against the field")
    return store.questions().ask(owner, wanted.as_json(field), now=now, core_ms_a_day=CORE_MS_A_DAY)


def _bots(wanted: Ask) -> frozenset[str]:
    return frozenset(each.partition("@")[0] for each in (wanted.first, wanted.second))


_PLAYABLE: Final = frozenset({Event.QUALIFIED, Event.ACTIVE, Event.INACTIVE})


def active_versions(store: Store) -> tuple[Version, ...]:
    """Every uploaded version that plays for its bot, by name."""
    registry = store.registry()
    return tuple(
        each
        for bot in registry.names(BotKind.UPLOADED)
        for each in registry.versions(bot)
        if each.state is Event.ACTIVE
    )


def answer(question: Question, asked: tuple[Question, ...] = ()) -> dict[str, Any]:
    """What can be said by now; `asked` are all questions of its owner."""
    said = _verdict(question)
    e_values = [_verdict(each).e_value for each in asked]
    holds = dict(zip((each.id for each in asked), holds_among(e_values), strict=True))
    return {
        "question": question.id,
        "first": question.ask["first"],
        "second": question.ask["second"],
        "game": question.ask["terms"]["game"],
        "seats": question.ask["terms"]["seats"],
        "against": "each other" if question.ask["each_other"] else "field",
        "state": str(question.state),
        "why": question.why,
        **verdict_json(said),
        "limit": question.ask["most"],
        "questions": 1 + sum(each.id < question.id for each in asked),
        "holds_among_all": holds.get(question.id, False),
        "core_minutes": round(question.core_ms / 60_000, 2),
    }


def verdict_json(said: Verdict) -> dict[str, Any]:
    """A verdict as values that JSON can hold."""
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
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _verdict(question: Question) -> Verdict:
    terms = terms_of_json(question.ask["terms"])
    return verdict(question.margins, measure(terms).bound, same_within=question.ask["same_within"])

"""The result of an ended match: seats, faults, times, and why bots lost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from arena.errors.faults import DEAL
from arena.games.contract import Seat
from arena.house.par import CannotCompare, par
from arena.records.advice import advice
from arena.records.diagnosis import MatchDiagnosis
from arena.records.phrases import deed
from arena.records.read import Replay, Unplayable
from arena.referee.spec import FaultKind
from arena.results.deal_sets import winners
from arena.web.addresses import match_path, match_query, slug
from arena.web.page import Json
from arena.web.rendering import points

MOST_PAR_DECISIONS: Final = 1000
"""The number of decisions of house bots above which a match has no par on pages, because a reader waits for the page."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a bot lost."""

    text: str
    link: str = ""
    """The text of a link before `text`, to the step or hand; empty for none."""
    path: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result below the pictures of a match."""

    match: Json
    """The values of `match_view`."""
    aborted: str
    """Why the arena aborted it; empty if it did not."""
    losses: Sequence[tuple[str, Sequence[Reason]]]
    """The bots at the viewer's seats that were not first, each with the reasons."""
    competition: str
    """Empty for a match of no competition."""


def match_view(replay: Replay) -> Json:
    """Return the result of a match, with par, which is None if house bots cannot play it or take too long."""
    try:
        par_scores = par(replay, MOST_PAR_DECISIONS)
    except (CannotCompare, Unplayable):
        par_scores = None
    opened, closed = replay.opened, replay.closed
    return {
        "match": opened.match_id,
        "game": opened.terms.game,
        "rules_version": opened.terms.rules_version,
        "started_unix_ms": opened.start_unix_ms,
        "ending": replay.ending.name.lower(),
        "decisions": len(replay.decided),
        "winners": winners(replay.names, closed.places),
        "seats": [_seat(replay, seat, par_scores) for seat in range(len(replay.names))],
        "replay": f"/replays/{slug(opened.match_id)}.replay",
    }


def _seat(replay: Replay, seat: int, par_scores: Sequence[int] | None) -> Json:
    """Return a seat: faults by kind, and the times charged for decisions; an aborted match has no scores and places."""
    decided = [decision for decision in replay.decided if decision.seat == seat]
    times = [decision.charged_us / 1000 for decision in decided if not decision.unasked]
    scores, places = replay.closed.scores, replay.closed.places
    return {
        "seat": seat,
        "bot": replay.names[seat],
        "score": scores[seat] if scores else None,
        "place": places[seat] if places else None,
        "par": par_scores[seat] if par_scores else None,
        "decisions": len(decided),
        "faults": Counter(
            FaultKind(decision.fault).name.lower() for decision in decided if decision.fault
        ),
        "mean_ms": fmean(times) if times else 0.0,
        "longest_ms": max(times, default=0.0),
    }


def reasons(replay: Replay, seat: Seat, diagnosis: MatchDiagnosis) -> Iterator[Reason]:
    """Return why the bot at a seat lost: its faults, advice about them, and its costliest hands."""
    path = match_path(replay.opened.match_id)
    for fault in diagnosis.faults[:10]:
        query = match_query(seat, fault.hand, str(fault.step))
        yield Reason(f": it {deed(fault.kind)}.", f"Step {fault.step}", path, query)
    if diagnosis.forfeited_before:
        yield Reason(f"It {DEAL.predicate} ({DEAL.code}).")
    for code, text in advice(diagnosis):
        yield Reason(f"{code}: {text}")
    others = [name for at, name in enumerate(replay.names) if at != seat]
    than = others[0] if len(others) == 1 else "the mean of the others"
    for hand in diagnosis.costliest:
        text = f": {points(hand.score)} points, {round(hand.behind, 1):g} fewer than {than}."
        yield Reason(text, f"Hand {hand.hand + 1}", path, match_query(seat, hand.hand))

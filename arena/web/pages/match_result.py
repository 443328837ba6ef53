"""The result of an ended match: seats, faults, times, and why bots lost."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from arena.errors.faults import DEAL
from arena.games.contract import Seat
from arena.referee.spec import FaultKind
from arena.replay.advice import advice
from arena.replay.diagnosis import MatchDiagnosis
from arena.replay.par import CannotCompare, par
from arena.replay.phrases import deed
from arena.replay.read import Replay, Unplayable
from arena.web.addresses import match_path, match_query, slug
from arena.web.winners import winning_seats

MOST_PAR_DECISIONS: Final = 1000
"""A match in which house bots make more decisions has no par on pages, which are made while a reader waits."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """A seat of an ended match."""

    seat: int
    bot: str
    score: float | None
    """None for a match that the arena aborted, as is the place."""
    place: int | None
    par: int | None
    """The score at the seat if house bots play the match; None where they cannot, or take too long."""
    decisions: int
    faults: Mapping[str, int]
    """The number of faults of each kind."""
    mean_ms: float
    """The mean time charged for a decision."""
    longest_ms: float


@dataclass(frozen=True, slots=True)
class MatchView:
    """An ended match."""

    match: str
    game: str
    rules_version: int
    started_unix_ms: int
    ending: str
    decisions: int
    winners: tuple[str, ...]
    seats: tuple[SeatRow, ...]
    replay: str
    """The path of its replay file."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a bot lost."""

    text: str
    link: str = ""
    """The text of a link before `text`, to the step or hand; empty for none."""
    path: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a bot lost, from the published replay."""

    bot: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result below the pictures of a match."""

    match: MatchView
    aborted: str
    """Why the arena aborted it; empty if it did not."""
    losses: tuple[Loss, ...]
    """The viewer's seats that were not first."""
    competition: str
    """Empty for a match of no competition."""


def match_view(replay: Replay) -> MatchView:
    """The result of a match, with par."""
    try:
        scores = par(replay, MOST_PAR_DECISIONS)
    except (CannotCompare, Unplayable):
        scores = None
    return MatchView(
        match=replay.opened.match_id,
        game=replay.opened.terms.game,
        rules_version=replay.opened.terms.rules_version,
        started_unix_ms=replay.opened.start_unix_ms,
        ending=replay.ending.name.lower(),
        decisions=len(replay.decided),
        winners=tuple(replay.names[seat] for seat in winning_seats(replay.closed.places)),
        seats=tuple(_seat(replay, seat, scores) for seat in range(len(replay.names))),
        replay=f"/replays/{slug(replay.opened.match_id)}.replay",
    )


def _seat(replay: Replay, seat: int, par_scores: tuple[int, ...] | None) -> SeatRow:
    own = [each for each in replay.decided if each.seat == seat]
    times = [each.charged_us / 1000 for each in own if not each.unasked]
    return SeatRow(
        seat=seat,
        bot=replay.names[seat],
        score=replay.closed.scores[seat] if replay.closed.scores else None,
        place=replay.closed.places[seat] if replay.closed.places else None,
        par=par_scores[seat] if par_scores else None,
        decisions=len(own),
        faults=Counter(FaultKind(each.fault).name.lower() for each in own if each.fault),
        mean_ms=fmean(times) if times else 0.0,
        longest_ms=max(times, default=0.0),
    )


def reasons(replay: Replay, seat: Seat, diagnosis: MatchDiagnosis) -> Iterator[Reason]:
    """Why the bot at a seat lost: its faults, advice about them, and its costliest hands."""
    path = match_path(replay.opened.match_id)
    for fault in diagnosis.faults[:10]:
        query = match_query(seat, fault.hand, str(fault.step))
        yield Reason(f": it {deed(fault.kind)}.", f"Step {fault.step}", path, query)
    if diagnosis.forfeited_before:
        yield Reason(f"It {DEAL.predicate} ({DEAL.code}).")
    for code, text in advice(diagnosis):
        yield Reason(f"{code}: {text}")
    for hand in diagnosis.costliest:
        text = f": {hand.score:+d}, {hand.behind:g} behind the others."
        yield Reason(text, f"Hand {hand.hand + 1}", path, match_query(seat, hand.hand))

"""The pages of an ended match, made from its replay.

A replay is played by the rules once and then cached. That takes seconds for a long match, so the
server does it in a worker process.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from arena.games.contract import Seat
from arena.replay.diagnosis import MatchDiagnosis, costliest_hands, diagnosis_of
from arena.replay.frames import viewer_frames
from arena.replay.phrases import aborted, result_line
from arena.replay.playback import (
    Discrepancy,
    PlaybackStep,
    ReplayedDecision,
    play_back,
    slice_of_hand,
)
from arena.replay.read import Replay, Unplayable
from arena.replay.records import Damaged
from arena.replay.verify import Verified, verify
from arena.scenes import AnyViewer, Viewer
from arena.web.addresses import (
    Links,
    NoSuchPage,
    all_viewers,
    hand_path,
    rules_link,
    viewer_named,
)
from arena.web.page import Page
from arena.web.pages.hand import HandLinks, HandPage, MatchHeading
from arena.web.pages.match_result import Loss, MatchResult, MatchView, match_view, reasons
from arena.web.steps import Step, steps_of

_KEPT: Final = 4
"""The number of played replays in memory."""
_NO_PICTURES: Final = ("", 0, "")
"""What the page of a match without pictures shows: no viewer, hand or step."""


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """A replay that was played by the rules, as far as possible."""

    replay: Replay
    frames: tuple[PlaybackStep, ...]
    problem: str
    """Why it cannot be played further, or is not valid; empty if it is valid."""
    verified: Verified | None = None
    _diagnoses: dict[Seat, MatchDiagnosis] = field(default_factory=dict)

    def diagnosis(self, seat: Seat) -> MatchDiagnosis | None:
        """The faults and costly hands of the bot at a seat; None if the replay is not valid."""
        if self.verified is None:
            return None
        if seat not in self._diagnoses:
            self._diagnoses[seat] = diagnosis_of(self.replay, self.verified, self.frames, seat)
        return self._diagnoses[seat]

    @property
    def hands(self) -> int:
        """The number of hands that have pages."""
        return _shown_hand(self.frames[-1]) + 1 if self.frames else 0


def _shown_hand(frame: PlaybackStep) -> int:
    return frame.next_hand if frame.game.rules.to_act(frame.state) else frame.hand


def played_through(replay: Replay) -> FinishedMatch:
    """Play a replay by the rules, as far as possible.

    Raises:
      Damaged: if the replay has no end of the match.
      Unplayable: if this arena does not have the game, rules version or options.
    """
    found: list[PlaybackStep] = []
    try:
        verified = verify(replay, seen=found.append)
    except Discrepancy as error:
        # The deals or the result may be wrong, while all moves can be played.
        pictures: list[PlaybackStep] = []
        with contextlib.suppress(Discrepancy):
            pictures.extend(play_back(replay))
        return FinishedMatch(replay, tuple(pictures), str(error))
    return FinishedMatch(replay, tuple(found), "", verified)


@lru_cache(_KEPT)
def _opened(path: Path, stamp: int) -> FinishedMatch:  # noqa: ARG001
    """Play a replay file; `stamp` changes with its content."""
    return played_through(Replay.open(path))


def match_page(
    path: Path, stamp: int, viewer: str, hand: int, step: str, competition: str
) -> tuple[str, tuple[str, int, str]]:
    """The page of a hand as HTML, and its viewer, hand and step; `hand` counts from 1.

    If the match has no pictures, all addresses have one page.

    Raises:
      NoSuchPage: if the match has no such viewer, hand or step.
    """
    try:
        found = _opened(path, stamp)
    except (Damaged, Unplayable) as error:
        return without_pictures(path.stem, str(error), competition), _NO_PICTURES
    if not found.frames:
        problem = found.problem or "The match has no steps."
        return without_pictures(path.stem, problem, competition), _NO_PICTURES
    return hand_page(found, viewer, hand, step, competition), (viewer, hand, step)


def hand_page(
    found: FinishedMatch, viewer_given: str, hand: int, step: str = "", competition: str = ""
) -> str:
    """The same as `match_page`, for a played replay."""
    replay = found.replay
    seats = len(replay.names)
    viewer = viewer_named(viewer_given, seats)
    if viewer is None:
        raise NoSuchPage(
            f"the match has no viewer {viewer_given!r}: all, spectator, seat-0 to seat-{seats - 1}"
        )
    if not 1 <= hand <= found.hands:
        raise NoSuchPage(f"the match has no hand {hand}: it has 1 to {found.hands}")
    steps = _steps(found, viewer, hand - 1)
    at = next((at for at, each in enumerate(steps) if each.label == step), 0 if not step else -1)
    if at < 0:
        raise NoSuchPage(
            f"hand {hand} has no step {step}: it has {steps[0].label} to {steps[-1].label}"
        )
    match_id = replay.opened.match_id
    links = Links(hand_path(match_id, viewer, hand - 1))
    page = HandPage(
        heading_of(replay, found.problem),
        viewer,
        all_viewers(seats),
        hand - 1,
        found.hands,
        steps,
        costliest_hand(found, viewer),
        result_of(found, viewer, competition),
    )
    return page.html(
        HandLinks(
            lambda viewer, hand: links.page(hand_path(match_id, viewer, hand)),
            rules_link(links, page.heading.game),
            links,
        ),
        at,
    )


def hand_of_step(path: Path, stamp: int, step: str) -> int:
    """The number of the hand, from 1, that has a step.

    Raises:
      NoSuchPage: if the match has no such step.
    """
    found = _opened(path, stamp)
    index = step.partition(".")[0]
    frame = next((each for each in found.frames if str(each.index) == index), None)
    if frame is None:
        raise NoSuchPage(f"the match has no step {step}: it has 0 to {len(found.frames) - 1}")
    hand = frame.next_hand if "." in step or not frame.decisions else frame.hand
    return min(hand, found.hands - 1) + 1


def _steps(found: FinishedMatch, viewer: AnyViewer, hand: int) -> Sequence[Step]:
    terms = found.replay.spec().terms
    where = slice_of_hand(found.frames, hand)
    bank_s = terms.time_control.bank_ms / 1000
    seen = viewer_frames(found.frames[where], viewer, terms.options, terms.seats)
    before = _latest(found.frames[: where.start], terms.seats)
    return list(steps_of(seen, viewer, found.replay.names, bank_s, hand, before))


def _latest(frames_before: Sequence[PlaybackStep], seats: int) -> Sequence[ReplayedDecision]:
    """The last decision of each seat."""
    found: dict[Seat, ReplayedDecision] = {}
    for frame in reversed(frames_before):
        for each in reversed(frame.decisions):
            found.setdefault(each.seat, each)
        if len(found) == seats:
            break
    return list(found.values())


def costliest_hand(found: FinishedMatch, viewer: AnyViewer) -> int | None:
    """The hand, from 0, in which a seat of the viewer lost most against the others."""
    if found.verified is None:
        return None
    scores, seats = found.verified.outcome.hand_scores, range(len(found.replay.names))
    seen = seats if isinstance(viewer, Viewer) else [viewer]
    costly = [each for seat in seen for each in costliest_hands(scores, Seat(seat))[:1]]
    return max(costly, key=lambda each: each.behind).hand if costly else None


def result_view(path: Path) -> MatchView:
    """The result of a match from its replay file."""
    return match_view(Replay.open(path))


def heading_of(replay: Replay, problem: str) -> MatchHeading:
    """The heading of a match's pages.

    Raises:
      Damaged: if the replay has no end of the match.
    """
    begun = datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC)
    return MatchHeading(
        replay.opened.terms.game,
        replay.spec().terms.game.title,
        replay.opened.match_id,
        replay.names,
        f"{begun:%d %B %Y, %H:%M} UTC",
        replay.opened.start_unix_ms + replay.closed.end_us // 1000,
        result_line(replay),
        problem,
    )


def result_of(found: FinishedMatch, viewer: AnyViewer, competition: str) -> MatchResult:
    """The result below the pictures of a match."""
    replay = found.replay
    why = aborted(replay.cause, "") if replay.cause is not None else ""
    seats = [viewer] if not isinstance(viewer, Viewer) else map(Seat, range(len(replay.names)))
    losses = () if why else tuple(_losses(found, seats))
    return MatchResult(match_view(replay), why, losses, competition)


def _losses(found: FinishedMatch, seats: Iterable[Seat]) -> Iterator[Loss]:
    places = found.replay.closed.places
    for seat in seats:
        diagnosis = found.diagnosis(seat) if places and places[seat] != 1 else None
        own = () if diagnosis is None else tuple(reasons(found.replay, seat, diagnosis))
        if own:
            yield Loss(found.replay.names[seat], own)


def without_pictures(match_id: str, problem: str, competition: str, path: str = "") -> str:
    """The page of a match that cannot be drawn, with the reason and the replay file.

    `path` is that of the page; without it that of the first hand.
    """
    pictures = {"problem": problem, "match": match_id, "competition": competition}
    page = Page("match_without_pictures.html", f"Match {match_id}", {}, pictures)
    return page.html(Links(path or hand_path(match_id)))

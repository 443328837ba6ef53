"""The pages of an ended match, made from its replay.

A replay is played by the rules once and then cached. That takes seconds for a long match, so the
server does it in a worker process.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from arena.games.contract import Seat
from arena.pictures import AnyViewer, Viewer
from arena.pictures.vocabulary import Card
from arena.records.diagnosis import MatchDiagnosis, costliest_hands, diagnosis_of
from arena.records.frames import Frame, hand_frames
from arena.records.notes_file import published_notes
from arena.records.phrases import aborted, result_line
from arena.records.playback import Discrepancy, PlaybackStep, play_back
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged
from arena.records.verify import Verified, verify
from arena.web.addresses import (
    EMBEDDED,
    Links,
    NoSuchPage,
    all_viewers,
    hand_path,
    match_path,
    rules_link,
    viewer_named,
)
from arena.web.avatars import chip_of
from arena.web.names import seat_names
from arena.web.page import Json, Page
from arena.web.pages.hand import HandLinks, HandPage, MatchHeading
from arena.web.pages.match_result import MatchResult, Reason, match_view, reasons
from arena.web.rich_text import spoken
from arena.web.steps import NO_NOTES, Notes, Step, hand_steps
from arena.web.table import mini
from arena.web.trees import html

MOST_GLIMPSED: Final = 8
"""The maximal number of cards of a picture in a list."""
_KEPT: Final = 4
"""The number of played replays in memory."""
_NO_PICTURES: Final = ("", 0, "")
"""The viewer, hand and step of the page of a match without pictures, which has none of them."""


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """A replay that was played by the rules, as far as possible."""

    replay: Replay
    frames: tuple[PlaybackStep, ...]
    problem: str
    """Why it cannot be played further, or is not valid; empty if it is valid."""
    verified: Verified | None = None
    notes: Notes = field(default_factory=dict)
    """The notes that bots publish."""
    _diagnoses: dict[Seat, MatchDiagnosis] = field(default_factory=dict)

    def diagnosis(self, seat: Seat) -> MatchDiagnosis | None:
        """Return the faults and costly hands of the bot at a seat; None if the replay is not valid."""
        if self.verified is None:
            return None
        if seat not in self._diagnoses:
            self._diagnoses[seat] = diagnosis_of(self.replay, self.verified, self.frames, seat)
        return self._diagnoses[seat]

    @property
    def hands(self) -> int:
        """The number of hands that have pages."""
        last = self.frames[-1]
        return (last.next_hand if last.game.rules.to_act(last.state) else last.hand) + 1

    def steps(self, viewer: AnyViewer, hand: int) -> list[Step]:
        """Return the steps of a hand, from 0, with notes."""
        terms = self.replay.spec().terms
        return hand_steps(self.frames, hand, viewer, self.replay.names, terms, self.notes)

    def hand_frames(self, viewer: AnyViewer, hand: int) -> list[Frame]:
        """Return the frames of a hand, from 0."""
        terms = self.replay.spec().terms
        return hand_frames(self.frames, hand, viewer, terms.options, terms.seats)


def played_through(path: Path) -> FinishedMatch:
    """Play a replay file by the rules, as far as possible.

    Raises:
      Damaged: if the replay is damaged, or has no end of the match.
      OSError: if it cannot be read.
      Unplayable: if this arena does not have the game, rules version or options, or there is no step.
    """
    replay = Replay.open(path)
    notes = published_notes(path, replay)
    frames: list[PlaybackStep] = []
    problem, verified = "", None
    try:
        verified = verify(replay, seen=frames.append)
    except Discrepancy as error:
        problem = str(error)
        # The deals or the result may be wrong, while all moves can be played.
        frames.clear()
        with contextlib.suppress(Discrepancy):
            frames.extend(play_back(replay))
    if not frames:
        raise Unplayable(problem or "The match has no steps.")
    return FinishedMatch(replay, tuple(frames), problem, verified, notes)


@lru_cache(_KEPT)
def _opened(path: Path, stamp: int) -> FinishedMatch:  # noqa: ARG001
    """Play a replay file; `stamp` changes with its content."""
    return played_through(path)


def _drawable(path: Path, stamp: int) -> FinishedMatch | None:
    """Return the same replay; None if it has no pictures."""
    try:
        return _opened(path, stamp)
    except (Damaged, Unplayable, OSError):
        return None


def match_page(
    path: Path,
    stamp: int,
    viewer: str,
    hand: int,
    step: str,
    competition: str,
    address: str = "",
    *,
    embedded: bool = False,
) -> tuple[str, tuple[str, int, str]]:
    """Return the page of a hand as HTML, and its viewer, hand and step; `hand` counts from 1.

    `address` is that of the site, if it is known; an `embedded` page is embedded in a page of another site. If the
    match has no pictures, all addresses have one page.

    Raises `NoSuchPage` if the match has no such viewer, hand or step.
    """
    links = Links(hand_path(path.stem), address=address)
    try:
        finished = _opened(path, stamp)
    except (Damaged, Unplayable) as error:
        return without_pictures(path.stem, str(error), competition, links), _NO_PICTURES
    page = hand_page(finished, viewer, hand, step, competition, address, embedded=embedded)
    return page, (viewer, hand, step)


def hand_page(
    finished: FinishedMatch,
    viewer_given: str,
    hand: int,
    step: str = "",
    competition: str = "",
    address: str = "",
    *,
    embedded: bool = False,
) -> str:
    """Do as `match_page` does, for a played replay."""
    replay = finished.replay
    seats = len(replay.names)
    viewer = viewer_named(viewer_given, seats)
    if viewer is None:
        raise NoSuchPage(
            f"the match has no viewer {viewer_given!r}: all, spectator, seat-0 to seat-{seats - 1}"
        )
    if not 1 <= hand <= finished.hands:
        raise NoSuchPage(f"the match has no hand {hand}: it has 1 to {finished.hands}")
    steps = finished.steps(viewer, hand - 1)
    at = next((at for at, shown in enumerate(steps) if shown.label == step), 0 if not step else -1)
    if at < 0:
        raise NoSuchPage(
            f"hand {hand} has no step {step}: it has {steps[0].label} to {steps[-1].label}",
            match_path(replay.opened.match_id),
        )
    match_id = replay.opened.match_id
    within = EMBEDDED if embedded else ""
    links = Links(within + hand_path(match_id, viewer, hand - 1), address=address)
    page = HandPage(
        heading_of(finished),
        viewer,
        all_viewers(seats),
        hand - 1,
        steps,
        costliest_hand(finished, viewer),
        result_of(finished, viewer, competition),
    )
    return page.html(
        HandLinks(
            lambda viewer, hand: links.page(within + hand_path(match_id, viewer, hand)),
            rules_link(links, page.heading.game),
            links,
        ),
        at,
    )


def moment(path: Path, stamp: int, hand: int) -> tuple[str, str, str] | None:
    """Return a picture late in a hand, from 1, for the home page: table, sentence and step, as HTML; None without pictures."""
    finished = _drawable(path, stamp)
    if finished is None:
        return None
    silent = replace(finished, notes=NO_NOTES)
    steps = silent.steps(Viewer.ALL, max(0, min(hand, finished.hands) - 1))
    step = steps[len(steps) * 2 // 3]
    return html(step.table), html(step.text), step.label


def glimpse(path: Path, stamp: int, hand: int) -> tuple[str, str] | None:
    """Return a few open cards late in a hand, from 1, as HTML, and their step, for lists; None if there are none."""
    finished = _drawable(path, stamp)
    if finished is None:
        return None
    frames = finished.hand_frames(Viewer.ALL, max(0, min(hand, finished.hands) - 1))
    frame = frames[len(frames) * 2 // 3]
    scene = frame.scene()
    zones = [*scene.centre, *(zone for seat in scene.seats for zone in seat.zones)]
    shown = [
        [replace(card, tag=()) for card in zone.items if isinstance(card, Card) and card.code]
        for zone in zones
    ]
    cards = max(shown, key=len, default=[])[:MOST_GLIMPSED]
    return (html(mini([cards])), frame.label) if cards else None


def preview(
    path: Path, stamp: int, viewer: str, hand: int, step: str, *, moves: bool = False
) -> bytes:
    """Return the preview of a hand, from 1, at a step, or at its first, as a PNG; if it `moves`, all its steps as a GIF.

    Raises `NoSuchPage` if the match has no such viewer, hand, step or pictures.
    """
    # Imported here, because it needs Pillow, which pages do not need.
    from arena.web.preview import hand_preview, moving_hand

    try:
        finished = _opened(path, stamp)
    except (Damaged, Unplayable) as error:
        raise NoSuchPage(str(error)) from None
    replay, terms = finished.replay, finished.replay.spec().terms
    seen_by = viewer_named(viewer, terms.seats)
    if seen_by is None or not 1 <= hand <= finished.hands:
        raise NoSuchPage("the match has no such hand")
    shown = finished.hand_frames(seen_by, hand - 1)
    names = seat_names(replay.names)
    if moves:
        sentences = [" ".join(spoken(line, names) for line in frame.sentences()) for frame in shown]
        pictures = [(words, frame.scene()) for words, frame in zip(sentences, shown, strict=True)]
        return moving_hand(f"{terms.game.title}, hand {hand}", names, pictures)
    frame = next((frame for frame in shown if step in ("", frame.label)), None)
    if frame is None:
        raise NoSuchPage(f"hand {hand} has no step {step}")
    words = f"Hand {hand} of {finished.hands} · {' – '.join(names)}"
    return hand_preview(terms.game.title, words, names, frame.scene())


def bot_picture(name: str, lines: Sequence[str]) -> bytes:
    """Return the preview of a bot as a PNG, with lines of text."""
    from arena.web.preview import bot_preview

    return bot_preview(f"Bot {name}", lines, chip_of(name))


def hand_of_step(path: Path, stamp: int, step: str) -> int:
    """Return the number of the hand, from 1, that has a step. Raises `NoSuchPage` if the match has no such step."""
    finished = _opened(path, stamp)
    index = step.partition(".")[0]
    frame = next((shown for shown in finished.frames if str(shown.index) == index), None)
    if frame is None:
        raise NoSuchPage(
            f"the match has no step {step}: it has 0 to {len(finished.frames) - 1}",
            match_path(finished.replay.opened.match_id),
        )
    hand = frame.next_hand if "." in step or not frame.decisions else frame.hand
    return min(hand, finished.hands - 1) + 1


def costliest_hand(finished: FinishedMatch, viewer: AnyViewer) -> int | None:
    """Return the hand, from 0, in which a seat of the viewer lost most against the others."""
    if finished.verified is None:
        return None
    scores, seats = finished.verified.outcome.hand_scores, range(len(finished.replay.names))
    seen = seats if isinstance(viewer, Viewer) else [viewer]
    costly = [cost for seat in seen for cost in costliest_hands(scores, Seat(seat))[:1]]
    return max(costly, key=lambda hand: hand.behind).hand if costly else None


def result_view(path: Path) -> Json:
    """Return the result of a match from its replay file."""
    return match_view(Replay.open(path))


def heading_of(finished: FinishedMatch) -> MatchHeading:
    """Return the heading of a match's pages. Raises `Damaged` if the replay has no end of the match."""
    replay = finished.replay
    begun = datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC)
    return MatchHeading(
        replay.opened.terms.game,
        replay.opened.match_id,
        seat_names(replay.names),
        f"{begun:%d %B %Y, %H:%M} UTC",
        replay.opened.start_unix_ms + replay.closed.end_us // 1000,
        finished.hands,
        result_line(replay),
        finished.problem,
    )


def result_of(finished: FinishedMatch, viewer: AnyViewer, competition: str) -> MatchResult:
    """Return the result below the pictures of a match."""
    replay = finished.replay
    why = aborted(replay.cause, "") if replay.cause is not None else ""
    seats = [viewer] if not isinstance(viewer, Viewer) else map(Seat, range(len(replay.names)))
    losses = () if why else list(_losses(finished, seats))
    return MatchResult(match_view(replay), why, losses, competition)


def _losses(
    finished: FinishedMatch, seats: Iterable[Seat]
) -> Iterator[tuple[str, Sequence[Reason]]]:
    places = finished.replay.closed.places
    for seat in seats:
        diagnosis = finished.diagnosis(seat) if places and places[seat] != 1 else None
        why = () if diagnosis is None else tuple(reasons(finished.replay, seat, diagnosis))
        if why:
            yield finished.replay.names[seat], why


def without_pictures(match_id: str, problem: str, competition: str, links: Links) -> str:
    """Return the page of a match that cannot be drawn, with the reason and the replay file."""
    pictures = {"problem": problem, "match": match_id, "competition": competition}
    page = Page("match_without_pictures.html", f"Match {match_id}", {}, pictures)
    return page.html(links)

"""Draws a match in play step by step, from the messages of `WatchService`.

The arena decides what a spectator may know. The viewer is the spectator, or any viewer if hands are open. A picture is
equal to the later picture of the replay.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from arena.games.contract import Event, Seat, View
from arena.pictures import AnyViewer, Viewer, hand_ends, scenes_of, sentence
from arena.pictures.vocabulary import Card, Line, Name, Tone
from arena.records.frames import perspective_of, views_used
from arena.records.phrases import PLAYED_FOR, deed
from arena.referee.spec import FaultKind
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_of_message
from arena.web.names import seat_names
from arena.web.rendering import visible
from arena.web.steps import Step, step_of
from arena.web.table import Clock, TableLayout, mini
from arena.web.trees import Element, Tree, listed
from cardarena.v1 import game_pb2, watch_pb2

MOST_GLIMPSED: Final = 6
"""The maximal number of cards that lists show of a table in play."""
HIDDEN_MOVES: Final[Line] = ("The bots make moves that are not public.",)


class RunningClock(NamedTuple):
    """The running clock: one for all seats that were asked together.

    Separate clocks would reveal which of them have answered.
    """

    since_unix_ms: int
    move_ms: int
    """The time for the move, before the banks are used."""
    banks: tuple[tuple[str, int], ...]
    """The names of the asked bots, each with the time in its bank at the start, in milliseconds."""


class LiveDrawer:
    """Draws one match for one viewer, from each message once, in order."""

    def __init__(self, opened: watch_pb2.WatchOpened, viewer: AnyViewer = Viewer.SPECTATOR) -> None:
        """Read the terms of the match. Viewers other than the spectator need open hands.

        Raises `UnknownGame`, `OtherRules`, `BadOptions` or `ValueError` if this arena cannot read the terms.
        """
        self.terms: Final = terms_of_message(opened.terms)
        self.names: Final = seat_names(opened.bots)
        self.viewer: Final = viewer
        self.hands_open: Final = opened.hands_open
        self.number = 0
        self.clock = RunningClock(0, 0, ())
        self.scores: Sequence[str] = ()
        """The score of each seat so far, as the picture has it."""
        self.cards: Tree | None = None
        """A few cards that lie in the middle, for lists; None while there are none."""
        self._codec = codec_of(self.terms.game)
        self._scenes = scenes_of(self.terms.game)
        self._views_used = views_used(viewer, self.terms.seats)
        self._views: Mapping[Seat | None, View] = {}
        """The views after the step before; empty before the first step."""
        self._events: tuple[Event, ...] = ()
        """The events of the hand so far."""
        self._full_s = self.terms.time_control.bank_ms / 1000

    def steps(self, frame: watch_pb2.WatchFrame) -> Iterator[Step]:
        """Yield the pictures of a frame: one, or two if a hand ends."""
        events, fresh = self._events_for(frame, self.viewer)
        view = {seat: self._view_of(frame, seat) for seat in self._views_used}
        before, self._views = self._views, view
        self.number = frame.number
        label, hand = str(frame.number - 1), frame.hand
        ends = hand_ends(events, self._scenes)
        if frame.key or not before or not ends:
            # The first picture shows the present state, without earlier hands.
            if ends:
                self._events = events[ends[-1] :]
            else:
                self._events = events if frame.key else self._events + events
            fresh = min(fresh, len(self._events))
            yield self._step(label, hand, view, fresh, frame, ends_hand=False)
            return
        first, last = ends[0], ends[-1]
        self._events += events[:first]
        closed = {seat: self._closed(before[seat], frame, seat) for seat in self._views_used}
        ended_hand = hand if len(events) == first else max(0, hand - 1)
        yield self._step(label, ended_hand, closed, first, frame, ends_hand=True)
        self._events = events[last:]
        if self._events:
            dealt = watch_pb2.WatchFrame(banks_ms=frame.banks_ms, asked_unix_ms=frame.asked_unix_ms)
            yield self._step(f"{label}.1", hand, view, len(self._events), dealt, ends_hand=False)

    def _events_for(
        self, frame: watch_pb2.WatchFrame, viewer: AnyViewer
    ) -> tuple[tuple[Event, ...], int]:
        """Return the events sent to a viewer, and the number of them, from the end, that belong to the last step."""
        if viewer is Viewer.SPECTATOR:
            return tuple(map(self._event, frame.events)), frame.fresh
        sent, fresh = frame.open_hands.events, frame.open_hands.fresh
        seen = [viewer is Viewer.ALL or viewer in event.seats for event in sent]
        events = [
            self._event(event.event) for event, is_seen in zip(sent, seen, strict=True) if is_seen
        ]
        return tuple(events), sum(seen[len(seen) - fresh :])

    def _event(self, message: game_pb2.GameEvent) -> Event:
        return self._codec.read_event(getattr(message, self._codec.family))

    def _view_of(self, frame: watch_pb2.WatchFrame, seat: Seat | None) -> View:
        message = frame.view if seat is None else frame.open_hands.views[seat]
        return self._codec.read_view(getattr(message, self._codec.family))

    def _closed(self, before: View, frame: watch_pb2.WatchFrame, seat: Seat | None) -> View:
        """Return a view at the end of the hand that a frame ends, from the events sent to its seat."""
        events, _ = self._events_for(frame, Viewer.SPECTATOR if seat is None else seat)
        return self._scenes.close(before, events[: hand_ends(events, self._scenes)[0]], seat)

    def _step(
        self,
        label: str,
        hand: int,
        views: Mapping[Seat | None, View],
        fresh: int,
        frame: watch_pb2.WatchFrame,
        *,
        ends_hand: bool,
    ) -> Step:
        terms, faults = self.terms, frame.faults
        perspective = perspective_of(
            views, self.viewer, self._events, fresh, terms.seats, terms.options
        )
        sentences = tuple(
            sentence(event, self._scenes.SENTENCES) for event in perspective.latest_events
        )
        marks = {fault.seat: FaultKind(fault.kind).entry.label for fault in faults}
        fault_lines: tuple[Line, ...] = tuple(
            (Name(Seat(fault.seat)), f" {deed(FaultKind(fault.kind))}: {PLAYED_FOR}.")
            for fault in faults
        )
        clocks = {
            seat: Clock(bank_ms / 1000, self._full_s) for seat, bank_ms in enumerate(frame.banks_ms)
        }
        scene = self._scenes.scene(perspective)
        acting = (
            picture.seat for picture in scene.seats if picture.active and picture.seat in clocks
        )
        self.clock = RunningClock(
            frame.asked_unix_ms,
            terms.time_control.move_ms,
            tuple((self.names[seat], frame.banks_ms[seat]) for seat in acting),
        )
        self.scores = [picture.score for picture in scene.seats]
        cards = [
            replace(card, tag=())
            for zone in scene.centre
            for card in zone.items
            if isinstance(card, Card) and card.code and card.tone is not Tone.DIM
        ]
        self.cards = mini([cards[-MOST_GLIMPSED:]]) if cards else None
        near = None if isinstance(self.viewer, Viewer) else self.viewer
        layout = TableLayout(self.names, near, clocks, marks)
        sentences = sentences or (HIDDEN_MOVES,)
        return step_of(label, hand, scene, layout, sentences, fault_lines, ends_hand=ends_hand)


class Deltas:
    """Encodes pictures as JSON; a subtree that is equal to that of the last picture is replaced by its key."""

    def __init__(self) -> None:
        self._before: Mapping[str, Tree] = {}

    def row(self, step: Step, *, key: bool = False) -> list[Any]:
        """Return the JSON row of a step for the script; with `key` it is complete."""
        known = {} if key else self._before
        self._before = {}
        self._note(step.table)
        return [
            step.label,
            _packed(step.table, known),
            listed(step.text),
            step.spoken,
            int(step.fault),
            int(step.ends_hand),
            step.hand,
        ]

    def _note(self, tree: Tree) -> None:
        if isinstance(tree, Element):
            if "data-key" in tree.attributes:
                self._before = {**self._before, tree.attributes["data-key"]: tree}
            for child in tree.children:
                self._note(child)


def _packed(tree: Tree, known: Mapping[str, Tree]) -> Any:
    if isinstance(tree, str):
        return tree
    key = tree.attributes.get("data-key", "")
    if key and known.get(key) == tree:
        return {"same": key}
    return [tree.tag, dict(tree.attributes), *(_packed(child, known) for child in tree.children)]


def encoded(value: Any) -> bytes:
    """Return a value as JSON in one line."""
    return visible(json.dumps(value, separators=(",", ":"), ensure_ascii=False)).encode()

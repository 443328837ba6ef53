"""A match in play as pictures: what the arena tells spectators, drawn step by step.

The arena decides what may be told; here nothing is known of a match but the messages of
`WatchService`. A picture is of the spectator's eyes, or where hands are open of any, as in the
replay later on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from arena.games.contract import Event, Seat, View
from arena.referee.spec import FaultKind
from arena.replay.beats import eye_of, viewers
from arena.replay.words import FAULT_WORDS
from arena.scenes import Eyes, Viewer, scenes_of, sentence
from arena.scenes.vocabulary import Line, Name
from arena.web.steps import Step, fault_mark, step_of
from arena.web.table import Clock, Sitting
from arena.web.trees import Element, Tree, listed
from arena.wire.games import codec_of
from arena.wire.terms import terms_of_message
from cardarena.v1 import game_pb2, watch_pb2

UNTOLD: Final[Line] = ("Moves are made of which nothing is told.",)


class Running(NamedTuple):
    """The clock that runs: one for all who were asked together.

    Of clocks of their own one could read who of them has answered.
    """

    since_unix_ms: int
    move_ms: int
    """Time for the move, before the banks are touched."""
    banks: tuple[tuple[str, int], ...]
    """Who is asked, by name, and what each had in its bank then, in milliseconds."""


class Follower:
    """Draws one match through somebody's eyes. Each beat is given once, in order."""

    def __init__(self, opened: watch_pb2.WatchOpened, eyes: Eyes = Viewer.SPECTATOR) -> None:
        """Begin with what the match is played by; other eyes than the spectator's need open hands.

        Raises:
          UnknownGame, OtherRules, BadOptions, ValueError: if it is none of this version's.
        """
        self.terms: Final = terms_of_message(opened.terms)
        self.names: Final = tuple(opened.bots)
        self.eyes: Final = eyes
        self.hands_open: Final = opened.hands_open
        self.number = 0
        self._codec = codec_of(self.terms.game)
        self._scenes = scenes_of(self.terms.game)
        self._whose = viewers(eyes, self.terms.seats)
        self._views: Mapping[Seat | None, View] = {}
        """After the step before; empty before the first."""
        self._told: tuple[Event, ...] = ()
        self._full_s = self.terms.time_control.bank_ms / 1000
        self.running = Running(0, 0, ())

    def steps(self, beat: watch_pb2.WatchBeat) -> Iterator[Step]:
        """The pictures of a beat: one, or two where a hand ends."""
        events, fresh = self._told_to(beat, self.eyes)
        view = {whose: self._view_of(beat, whose) for whose in self._whose}
        before, self._views = self._views, view
        self.number = beat.number
        label, hand = str(beat.number - 1), beat.hand
        ends = self._ends(events)
        if beat.key or not before or not ends:
            # A picture to begin with shows what is, not what was.
            self._told = events[ends[-1] :] if ends else events if beat.key else self._told + events
            fresh = min(fresh, len(self._told))
            yield self._step(label, hand, view, fresh, beat, ends_hand=False)
            return
        first, last = ends[0], ends[-1]
        self._told += events[:first]
        closed = {whose: self._closed(before[whose], beat, whose) for whose in self._whose}
        was = hand if len(events) == first else max(0, hand - 1)
        yield self._step(label, was, closed, first, beat, ends_hand=True)
        self._told = events[last:]
        if self._told:
            dealt = watch_pb2.WatchBeat(banks_ms=beat.banks_ms, asked_unix_ms=beat.asked_unix_ms)
            yield self._step(f"{label}.1", hand, view, len(self._told), dealt, ends_hand=False)

    def _told_to(self, beat: watch_pb2.WatchBeat, eyes: Eyes) -> tuple[tuple[Event, ...], int]:
        """What these eyes were told, and how much of it, from the end, with the last step."""
        if eyes is Viewer.SPECTATOR:
            return tuple(map(self._event, beat.events)), beat.fresh
        told, fresh = beat.open_hands.told, beat.open_hands.fresh
        seen = [eyes is Viewer.ALL or eyes in each.seats for each in told]
        events = [
            self._event(each.event) for each, is_seen in zip(told, seen, strict=True) if is_seen
        ]
        return tuple(events), sum(seen[len(seen) - fresh :])

    def _event(self, message: game_pb2.GameEvent) -> Event:
        return self._codec.read_event(getattr(message, self._codec.family))

    def _view_of(self, beat: watch_pb2.WatchBeat, whose: Seat | None) -> View:
        message = beat.view if whose is None else beat.open_hands.views[whose]
        return self._codec.read_view(getattr(message, self._codec.family))

    def _ends(self, events: Sequence[Event]) -> Sequence[int]:
        """After how many of the events hands end."""
        return [at for at, each in enumerate(events, 1) if isinstance(each, self._scenes.ENDS)]

    def _closed(self, before: View, beat: watch_pb2.WatchBeat, whose: Seat | None) -> View:
        """A view at the end of the hand that ends in a beat, by what whoever has it was told."""
        told, _ = self._told_to(beat, Viewer.SPECTATOR if whose is None else whose)
        return self._scenes.close(before, told[: self._ends(told)[0]], whose)

    def _step(
        self,
        label: str,
        hand: int,
        views: Mapping[Seat | None, View],
        fresh: int,
        beat: watch_pb2.WatchBeat,
        *,
        ends_hand: bool,
    ) -> Step:
        terms, faults = self.terms, beat.faults
        eye = eye_of(views, self.eyes, self._told, fresh, terms.seats, terms.options)
        said = tuple(sentence(each, self._scenes.WORDS) for each in eye.news) or (UNTOLD,)
        marks = {each.seat: fault_mark(FaultKind(each.kind)) for each in faults}
        wrong: tuple[Line, ...] = tuple(
            (
                Name(Seat(each.seat)),
                f" {FAULT_WORDS[FaultKind(each.kind)]}: the fallback is played for it.",
            )
            for each in faults
        )
        clocks = {
            seat: Clock(bank_ms / 1000, self._full_s) for seat, bank_ms in enumerate(beat.banks_ms)
        }
        scene = self._scenes.scene(eye)
        acting = (each.seat for each in scene.seats if each.active and each.seat in clocks)
        self.running = Running(
            beat.asked_unix_ms,
            terms.time_control.move_ms,
            tuple((self.names[seat], beat.banks_ms[seat]) for seat in acting),
        )
        own = None if isinstance(self.eyes, Viewer) else self.eyes
        sitting = Sitting(self.names, own, clocks, marks)
        return step_of(label, hand, scene, sitting, said, wrong, ends_hand=ends_hand)


class Deltas:
    """Pictures as JSON, each by what is new in it: what stayed is named by its key."""

    def __init__(self) -> None:
        """There is none before the first."""
        self._before: Mapping[str, Tree] = {}

    def row(self, step: Step, *, key: bool = False) -> list[Any]:
        """A step for the script; `key` sends all of it."""
        known = {} if key else self._before
        self._before = {}
        self._note(step.table)
        return [
            step.label,
            _packed(step.table, known),
            listed(step.words),
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
    own = tree.attributes.get("data-key", "")
    if own and known.get(own) == tree:
        return {"same": own}
    return [tree.tag, dict(tree.attributes), *(_packed(child, known) for child in tree.children)]


def encoded(value: Any) -> bytes:
    """JSON in one line."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()

"""A match as the frames of one viewer: one for each step, two where a hand ends.

A step that ends a hand deals the next as well. It becomes frame `N`, the end of
the hand as the viewer saw it, and frame `N.1`, the deal. Perspectives are made
in this module alone: `views_used` and `PlaybackStep.events_for` decide what a
viewer may use.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from arena.games.contract import Event, Options, Seat, View
from arena.games.game import Game
from arena.pictures import AnyViewer, Perspective, Scene, Viewer, hand_ends, scenes_of, sentence
from arena.pictures.vocabulary import Line, Name
from arena.records.phrases import ENDED_BY_LIMIT, PLAYED_FOR, deed
from arena.records.playback import PlaybackStep, ReplayedDecision, slice_of_hand


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a match."""

    step: PlaybackStep
    part: int
    """0, or 1 for the deal that follows the end of a hand in the same step."""
    hand: int
    """The hand that it shows, from 0."""
    perspective: Perspective
    events: tuple[Event, ...]
    """The events that the viewer received with it."""
    ends_hand: bool
    """Whether it is the last picture of its hand."""

    @property
    def label(self) -> str:
        """The step's number, as in addresses: `46`, and `46.1` for the deal after it."""
        return f"{self.step.index}.{self.part}" if self.part else str(self.step.index)

    @property
    def decisions(self) -> tuple[ReplayedDecision, ...]:
        """The decisions that led to it; none for a deal."""
        return () if self.part else self.step.decisions

    def scene(self) -> Scene:
        seen = scenes_of(self.step.game).scene(self.perspective)
        return replace(seen, banner=seen.banner + self._limit_line())

    def sentences(self) -> tuple[Line, ...]:
        """Return what happened: a sentence for each event that the viewer received.

        Without events, a sentence for each decision: the move itself for its own seat,
        and for others only that a decision was made.
        """
        scenes = scenes_of(self.step.game)
        if self.events or self.part:
            said = tuple(sentence(event, scenes.SENTENCES) for event in self.events)
            return said + self._limit_line()
        return tuple(
            (Name(decision.seat), " ", *self._unseen(decision), ".") for decision in self.decisions
        )

    def fault_sentences(self) -> tuple[Line, ...]:
        return tuple(
            (Name(decision.seat), f" {deed(decision.fault)}: {PLAYED_FOR}.")
            for decision in self.decisions
            if decision.fault is not None
        )

    def _limit_line(self) -> tuple[Line, ...]:
        result = self.step.game.rules.result(self.step.state) if self.ends_hand else None
        return () if result is None or not result.ended_by_limit else ((ENDED_BY_LIMIT,),)

    def _unseen(self, decision: ReplayedDecision) -> Line:
        sentences = scenes_of(self.step.game).SENTENCES
        if decision.seat in self.perspective.seat_views and type(decision.move) in sentences:
            return sentence(decision.move, sentences)
        return ("makes a decision, which is not shown",)


def viewer_frames(
    steps: Iterable[PlaybackStep], viewer: AnyViewer, options: Options, seats: int
) -> Iterator[Frame]:
    """Yield the frames of a match for one viewer, in order.

    The steps may begin where a hand ends, because later frames do not need earlier steps.
    """
    viewed = views_used(viewer, seats)
    so_far: tuple[Event, ...] = ()
    for step in steps:
        scenes = scenes_of(step.game)
        events = _events(step, viewer)
        ends = hand_ends(events, scenes)
        if not ends:
            so_far += events
            now = perspective_of(_views(step, viewed), viewer, so_far, len(events), seats, options)
            yield Frame(step, 0, step.next_hand, now, events, ends_hand=False)
            continue
        first, last = ends[0], ends[-1]
        so_far += events[:first]
        closed = {
            seat: scenes.close(
                step.game.rules.view(step.before, seat),
                _up_to_end(step, seat, scenes.HAND_ENDS),
                seat,
            )
            for seat in viewed
        }
        now = perspective_of(closed, viewer, so_far, first, seats, options)
        yield Frame(step, 0, step.hand, now, events[:first], ends_hand=True)
        # Hands that begin and end within the step have sentences and no picture.
        so_far = events[last:]
        if step.game.rules.to_act(step.state):
            views = _views(step, viewed)
            now = perspective_of(views, viewer, so_far, len(so_far), seats, options)
            yield Frame(step, 1, step.next_hand, now, events[first:], ends_hand=False)


def hand_frames(
    steps: Sequence[PlaybackStep], hand: int, viewer: AnyViewer, options: Options, seats: int
) -> list[Frame]:
    """Return the frames of one hand, from 0, of a match for one viewer; empty if the match has no such hand."""
    of_hand = steps[slice_of_hand(steps, hand)]
    return [frame for frame in viewer_frames(of_hand, viewer, options, seats) if frame.hand == hand]


def views_used(viewer: AnyViewer, seats: int) -> tuple[Seat | None, ...]:
    """Return the seats whose views a viewer may use, None for the spectator; the first shows what is public."""
    if not isinstance(viewer, Viewer):
        return (viewer,)
    every_seat = tuple(Seat(seat) for seat in range(seats)) if viewer is Viewer.ALL else ()
    return (None, *every_seat)


def events_of_hand(game: Game, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events after the last one that ended a hand: those of the hand in play."""
    return events[max(hand_ends(events, scenes_of(game)), default=0) :]


def perspective_of(
    views: Mapping[Seat | None, View],
    viewer: AnyViewer,
    events: tuple[Event, ...],
    fresh: int,
    seats: int,
    options: Options,
) -> Perspective:
    """Return what a viewer knows, from the views of `views_used` and the events of the hand.

    The last `fresh` of the events are new in this frame.
    """
    own = {seat: view for seat, view in views.items() if seat is not None}
    public = None if isinstance(viewer, Viewer) else viewer
    return Perspective(views[public], own, events, fresh, seats, options)


def _views(step: PlaybackStep, viewed: Sequence[Seat | None]) -> Mapping[Seat | None, View]:
    return {seat: step.view(seat) for seat in viewed}


def _events(step: PlaybackStep, viewer: AnyViewer) -> tuple[Event, ...]:
    if viewer is Viewer.ALL:
        return tuple(event.event for event in step.events)
    seat = None if isinstance(viewer, Viewer) else viewer
    return tuple(event.event for event in step.events_for(seat))


def _up_to_end(step: PlaybackStep, seat: Seat | None, ends: tuple[type, ...]) -> tuple[Event, ...]:
    """Return the events of the hand that ends in this step, for a seat or the spectator."""
    events = tuple(event.event for event in step.events_for(seat))
    at = next(at for at, event in enumerate(events, 1) if isinstance(event, ends))
    return events[:at]

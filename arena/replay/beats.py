"""A match as the pictures of one viewer: a beat for each step, two where a hand ends.

A step that ends a hand deals the next as well. It becomes beat `N`, the end of
the hand as the viewer was told of it, and beat `N.1`, the deal. Eyes are built
here and nowhere else: what a viewer may use is decided in `viewers` and
`Frame.told_to`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.games.contract import Event, Options, Seat, View
from arena.replay.frames import Decision, Frame
from arena.replay.words import FAULT_WORDS
from arena.scenes import Eye, Eyes, Scene, Viewer, scenes_of, sentence
from arena.scenes.vocabulary import Line, Name


@dataclass(frozen=True, slots=True)
class Beat:
    """One picture."""

    frame: Frame
    part: int
    """0, or 1 for the deal that follows the end of a hand in the same step."""
    hand: int
    """The hand that it shows, from 0."""
    eye: Eye
    told: tuple[Event, ...]
    """What the viewer was told with it."""
    ends_hand: bool
    """Whether it is the last picture of its hand."""

    @property
    def label(self) -> str:
        """The step's number, as in addresses: `46`, and `46.1` for the deal after it."""
        return f"{self.frame.index}.{self.part}" if self.part else str(self.frame.index)

    def scene(self) -> Scene:
        """What the viewer sees."""
        return scenes_of(self.frame.game).scene(self.eye)

    def words(self) -> tuple[Line, ...]:
        """What happened, a sentence for each event that the viewer was told of.

        Where nothing was told, the decisions themselves: what they were for those
        who made them, and for others that they were made.
        """
        scenes = scenes_of(self.frame.game)
        if self.told or self.part:
            return tuple(sentence(each, scenes.WORDS) for each in self.told)
        return tuple(
            (Name(each.seat), " ", *self._quietly(each), ".") for each in self.frame.decisions
        )

    def faults(self) -> tuple[Line, ...]:
        """What was done wrong, a sentence for each fault."""
        decisions = () if self.part else self.frame.decisions
        return tuple(
            (Name(each.seat), f" {FAULT_WORDS[each.fault]}: the fallback is played for it.")
            for each in decisions
            if each.fault is not None
        )

    def _quietly(self, decision: Decision) -> Line:
        quiet = scenes_of(self.frame.game).QUIET
        if decision.seat in self.eye.own and type(decision.move) in quiet:
            return sentence(decision.move, quiet)
        return ("decides, and nothing is told of it",)


def beats(
    frames: Iterable[Frame],
    eyes: Eyes,
    options: Options,
    seats: int,
) -> Iterator[Beat]:
    """The pictures of a match through somebody's eyes, in order.

    The frames may begin where a hand ends: what follows then needs none of those before.
    """
    whose = viewers(eyes, seats)
    so_far: tuple[Event, ...] = ()
    for frame in frames:
        scenes = scenes_of(frame.game)
        told = _events(frame, eyes)
        ends = [at for at, each in enumerate(told, 1) if isinstance(each, scenes.ENDS)]
        if not ends:
            so_far += told
            eye = eye_of(_views(frame, whose), eyes, so_far, len(told), seats, options)
            yield Beat(frame, 0, frame.next_hand, eye, told, ends_hand=False)
            continue
        first, last = ends[0], ends[-1]
        so_far += told[:first]
        closed = {
            seat: scenes.close(
                frame.game.rules.view(frame.before, seat),
                _up_to_end(frame, seat, scenes.ENDS),
                seat,
            )
            for seat in whose
        }
        eye = eye_of(closed, eyes, so_far, first, seats, options)
        yield Beat(frame, 0, frame.hand, eye, told[:first], ends_hand=True)
        # Hands may begin and end within the step: of those there are words, and no picture.
        so_far = told[last:]
        if frame.game.rules.to_act(frame.state):
            eye = eye_of(_views(frame, whose), eyes, so_far, len(so_far), seats, options)
            yield Beat(frame, 1, frame.next_hand, eye, told[first:], ends_hand=False)


def viewers(eyes: Eyes, seats: int) -> tuple[Seat | None, ...]:
    """Whose views these eyes may use; the first one's shows what is public."""
    if not isinstance(eyes, Viewer):
        return (eyes,)
    everybody = tuple(Seat(seat) for seat in range(seats)) if eyes is Viewer.ALL else ()
    return (None, *everybody)


def _views(frame: Frame, whose: Sequence[Seat | None]) -> Mapping[Seat | None, View]:
    return {seat: frame.view(seat) for seat in whose}


def _events(frame: Frame, eyes: Eyes) -> tuple[Event, ...]:
    if eyes is Viewer.ALL:
        return tuple(told.event for told in frame.told)
    seat = None if isinstance(eyes, Viewer) else eyes
    return tuple(told.event for told in frame.told_to(seat))


def _up_to_end(frame: Frame, seat: Seat | None, ends: tuple[type, ...]) -> tuple[Event, ...]:
    """What a seat, or the spectator, was told of the hand that ends in this step."""
    told = tuple(each.event for each in frame.told_to(seat))
    at = next(at for at, each in enumerate(told, 1) if isinstance(each, ends))
    return told[:at]


def eye_of(
    views: Mapping[Seat | None, View],
    eyes: Eyes,
    told: tuple[Event, ...],
    fresh: int,
    seats: int,
    options: Options,
) -> Eye:
    """What these eyes may use of the views of their `viewers`, and of what they were told."""
    own = {seat: view for seat, view in views.items() if seat is not None}
    public = None if isinstance(eyes, Viewer) else eyes
    return Eye(views[public], own, told, fresh, seats, options)

"""Draws the view of one seat while it plays, from the moments of its match only.

A moment has the view of the seat and the events that the rules sent to it, never the state or the view of spectators.
So a page cannot show more than the seat may know. Each move of an opponent is a separate picture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.games.contract import Event, Seat, View
from arena.local.human_match import Moment
from arena.pictures import Perspective, hand_ends, scenes_of, sentence
from arena.pictures.vocabulary import Line, Name, Scene
from arena.records.frames import perspective_of
from arena.records.phrases import PLAYED_FOR, deed
from arena.referee.terms import MatchTerms
from arena.web.table import Clock, TableLayout, table
from arena.web.trees import Element


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a match for a seat."""

    hand: int
    """From 0."""
    perspective: Perspective
    sentences: tuple[Line, ...]
    """Sentences about events, and about moves that the fallback made."""
    banks_ms: tuple[int | None, ...]
    ends_hand: bool


class SeatDrawer:
    """The pictures of one seat at one match."""

    def __init__(self, terms: MatchTerms, names: Sequence[str], seat: Seat) -> None:
        self.names: Final = tuple(names)
        self.seat: Final = seat
        self.pictures: Final[list[Picture]] = []
        """In order; only ever appended to."""
        self._terms = terms
        self._scenes = scenes_of(terms.game)
        self._view: View | None = None
        """The view of the moment before."""
        self._events: tuple[Event, ...] = ()
        """The events of the hand so far."""
        self._moments = 0

    def take(self, moments: Sequence[Moment]) -> None:
        """Draw the undrawn ones of all moments of the match."""
        for moment in moments[self._moments :]:
            self._moments += 1
            self.pictures.extend(self._pictures(moment))
            self._view = moment.view

    def scene(self, picture: Picture) -> Scene:
        return self._scenes.scene(picture.perspective)

    def tree(self, picture: Picture, *, is_over: bool = False, has_clock: bool = False) -> Element:
        """Draw a picture.

        Args:
          is_over: Whether the match has ended, so that no seat is to act.
          has_clock: Whether controls show the seat's own time.
        """
        full_s = self._terms.time_control.bank_ms / 1000
        clocks = {
            seat: Clock(bank_ms / 1000, full_s)
            for seat, bank_ms in enumerate(picture.banks_ms)
            if bank_ms is not None and not (has_clock and seat == self.seat)
        }
        scene = self.scene(picture)
        if is_over:
            seats = tuple(replace(seat, active=False) for seat in scene.seats)
            scene = replace(scene, seats=seats)
        return table(scene, TableLayout(self.names, self.seat, clocks))

    def _pictures(self, moment: Moment) -> Iterator[Picture]:
        """Yield the picture of a moment; two if it ends a hand."""
        ends = hand_ends(moment.events, self._scenes)
        events = moment.events
        if ends and self._view is not None:
            closing = events[: ends[0]]
            closed = self._scenes.close(self._view, closing, self.seat)
            hand = self.pictures[-1].hand
            yield self._picture(moment, hand, closed, closing, ends_hand=True)
            events = events[ends[-1] :]
            self._events = ()
            if not events:
                return
        yield self._picture(moment, moment.hand, moment.view, events, ends_hand=False)

    def _picture(
        self, moment: Moment, hand: int, view: View, events: tuple[Event, ...], *, ends_hand: bool
    ) -> Picture:
        self._events += events
        terms = self._terms
        seen = perspective_of(
            {self.seat: view}, self.seat, self._events, len(events), terms.seats, terms.options
        )
        faults = moment.faults if events == moment.events[: len(events)] else ()
        lines = (
            *((Name(Seat(fault.seat)), f" {deed(fault.kind)}: {PLAYED_FOR}.") for fault in faults),
            *(sentence(event, self._scenes.SENTENCES) for event in events),
        )
        return Picture(hand, seen, lines, moment.banks_ms, ends_hand)

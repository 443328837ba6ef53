"""Event buffers: the recent events of matches in play, for spectators.

A buffer is the spectator port of one public match. It keeps the steps of the hand, so that watchers who come later see
them. Views are made and frames encoded only while there are watchers, once for all of them. A watcher that falls behind
continues with the present hand; the referee waits for no watcher.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from arena.games.contract import Event, Seat, SentEvent, View
from arena.referee.events import OpenHands, SpectatorPort
from arena.referee.spec import Ending, Fault, MatchSpec, Outcome, SeatedBot
from arena.referee.terms import MatchTerms
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_message
from cardarena.v1 import game_pb2, watch_pb2

BUFFERED_BEATS: Final = 256
"""The number of frames that are kept for watchers that reconnect."""
HAND_STEPS: Final = 64
"""The number of steps of a hand that are kept for new watchers; in a longer hand the first steps are dropped, and their events are kept."""
HAND_EVENTS: Final = 400
"""The number of events of dropped steps that are kept; in a longer hand the first events are dropped.

If hands are open, half as many are kept, because most events are sent twice: as public events and as those of seats.
"""
KEPT_ENDED: Final = 64
"""The number of buffers of ended matches that are kept for watchers that reconnect."""


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


class _Shown(NamedTuple):
    """A step of the present hand, as spectators may see it."""

    number: int
    events: Sequence[Event]
    view: Callable[[], View]
    hands: OpenHands | None
    """The hands after the step; None if hands are closed."""
    faults: tuple[Fault, ...]
    banks_ms: Sequence[int]
    asked_unix_ms: int


class EventBuffer:
    """The recent events of one match: a `SpectatorPort`. Used on the thread of the host loop."""

    def __init__(
        self, match_id: str, unix_ms: Callable[[], int] = _unix_ms, *, hands_open: bool = False
    ) -> None:
        """Create an empty buffer before the match begins.

        `unix_ms` reads the time of steps, in milliseconds since 1970. With `hands_open` watchers see the hands of
        all seats.
        """
        self.match_id: Final = match_id
        self.hands_open: Final = hands_open
        self._unix_ms = unix_ms
        self.opening = watch_pb2.WatchResponse()
        self.hand = 0
        self.watchers = 0
        self.number = 0
        """Steps so far."""
        self.ended: watch_pb2.WatchResponse | None = None
        self._terms: MatchTerms | None = None
        self._most = HAND_EVENTS // 2 if hands_open else HAND_EVENTS
        self._steps: deque[_Shown] = deque()
        """The last steps of the hand."""
        self._frames: dict[int, watch_pb2.WatchResponse] = {}
        """Frames of steps of the hand that somebody has watched, by their numbers."""
        self._events: deque[Event] = deque(maxlen=self._most)
        """The events of the hand before these steps."""
        self._seat_events: deque[SentEvent] = deque(maxlen=self._most)
        """The events that seats received before them; empty where hands are closed."""
        self._faults: tuple[Fault, ...] = ()
        self._buffer: deque[tuple[int, watch_pb2.WatchResponse]] = deque(maxlen=BUFFERED_BEATS)
        self._changed = asyncio.Event()

    # arena.referee.SpectatorPort

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[SeatedBot]) -> None:
        assert match_id == self.match_id
        self._terms = terms
        self.opening = watch_pb2.WatchResponse(
            opened=watch_pb2.WatchOpened(
                terms=terms_message(terms),
                bots=[bot.name for bot in entrants],
                hands_open=self.hands_open,
            )
        )

    def stepped(
        self,
        hand: int,
        events: Sequence[Event],
        view: Callable[[], View],
        banks_ms: Sequence[int] = (),
        hands: OpenHands | None = None,
    ) -> None:
        # A step that ends a hand also begins the next: new watchers get the events of the next.
        if hand != self.hand:
            self._steps.clear()
            self._frames.clear()
            self._events.clear()
            self._seat_events.clear()
        elif len(self._steps) == HAND_STEPS:
            dropped = self._steps.popleft()
            self._frames.pop(dropped.number, None)
            self._events.extend(dropped.events)
            self._seat_events.extend(dropped.hands.events if dropped.hands is not None else ())
        self.hand = hand
        self.number += 1
        shown = _Shown(self.number, events, view, hands, self._faults, banks_ms, self._unix_ms())
        self._steps.append(shown)
        if self.watchers:
            self._buffer.append((self.number, self._frame(shown)))
        else:
            self._buffer.clear()
        self._faults = ()
        self._wake()

    def blamed(self, faults: Sequence[Fault]) -> None:
        self._faults += tuple(faults)

    def closed(self, outcome: Outcome) -> None:
        scores = () if outcome.ending is Ending.ABORTED else outcome.scores
        self.ended = watch_pb2.WatchResponse(
            ended=watch_pb2.WatchEnded(
                ending=game_pb2.Ending.ValueType(outcome.ending), scores=scores
            )
        )
        self._wake()

    # Watchers.

    async def follow(self, after: int) -> AsyncIterator[watch_pb2.WatchResponse]:
        """Yield the messages of the match from the frame after `after` on; if it was dropped, those of the present hand."""
        self.watchers += 1
        try:
            yield self.opening
            at = after
            while True:
                changed = self._changed
                for frame in self._frames_after(at):
                    at = frame.frame.number
                    yield frame
                    # Other tasks run between frames, as many may be made one after the other.
                    if at < self.number:
                        await asyncio.sleep(0)
                if self.number > at:
                    continue
                if self.ended is not None:
                    yield self.ended
                    return
                await changed.wait()
        finally:
            self.watchers -= 1
            if not self.watchers:
                self._buffer.clear()

    def _frames_after(self, after: int) -> Iterator[watch_pb2.WatchResponse]:
        """Yield the frames after a frame; if some of them were dropped, those of the present hand from a key frame on."""
        if self.number == after or not self.number:
            return
        oldest = self._buffer[0][0] if self._buffer else self.number + 1
        if 0 < after < self.number and oldest <= after + 1:
            yield from [frame for number, frame in self._buffer if number > after]
            return
        first, *others = self._steps
        yield self._frame(first, key=True)
        for shown in others:
            yield self._frame(shown)

    def _frame(self, shown: _Shown, *, key: bool = False) -> watch_pb2.WatchResponse:
        """Return the frame of a step of the hand; a key frame also has the events before it."""
        if not key and (made := self._frames.get(shown.number)) is not None:
            return made
        assert self._terms is not None
        codec = codec_of(self._terms.game)
        events = (*self._events, *shown.events) if key else shown.events
        frame = watch_pb2.WatchFrame(
            number=shown.number,
            hand=self.hand,
            key=key,
            events=[game_pb2.GameEvent.FromString(codec.game_event(event)) for event in events],
            fresh=len(shown.events),
            view=game_pb2.GameView.FromString(codec.game_view(shown.view())),
            faults=[
                watch_pb2.WatchFault(seat=fault.seat, kind=game_pb2.FaultKind.ValueType(fault.kind))
                for fault in shown.faults
            ],
            banks_ms=shown.banks_ms,
            asked_unix_ms=shown.asked_unix_ms,
        )
        if self.hands_open:
            assert shown.hands is not None
            sent = (*self._seat_events, *shown.hands.events) if key else shown.hands.events
            frame.open_hands.CopyFrom(self._open_hands(shown.hands, sent))
        response = watch_pb2.WatchResponse(frame=frame)
        if not key:
            self._frames[shown.number] = response
        return response

    def _open_hands(self, hands: OpenHands, sent: Sequence[SentEvent]) -> watch_pb2.WatchHands:
        assert self._terms is not None
        codec, seats = codec_of(self._terms.game), range(self._terms.seats)
        return watch_pb2.WatchHands(
            events=[
                watch_pb2.SentEvent(
                    event=game_pb2.GameEvent.FromString(codec.game_event(sent_event.event)),
                    seats=seats if sent_event.sent_to is None else sent_event.sent_to,
                )
                for sent_event in sent
            ],
            fresh=len(hands.events),
            views=[
                game_pb2.GameView.FromString(codec.game_view(hands.view(Seat(seat))))
                for seat in seats
            ],
        )

    def _wake(self) -> None:
        if self.watchers:  # this runs at each step, so it does nothing without watchers
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()


Later: TypeAlias = Callable[[float, Callable[[], None]], object]
"""Calls a function after a number of seconds, in order of the requests."""


class DelayedEvents:
    """A `SpectatorPort` that passes on every call after a delay."""

    def __init__(self, inner: SpectatorPort, delay_s: float, later: Later) -> None:
        self._inner = inner
        self._delay_s = delay_s
        self._later = later
        self._waiting: deque[Callable[[], None]] = deque()
        self.hands_open: Final = inner.hands_open

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[SeatedBot]) -> None:
        self._put(lambda: self._inner.opened(match_id, terms, entrants))

    def stepped(
        self,
        hand: int,
        events: Sequence[Event],
        view: Callable[[], View],
        banks_ms: Sequence[int] = (),
        hands: OpenHands | None = None,
    ) -> None:
        self._put(lambda: self._inner.stepped(hand, events, view, banks_ms, hands))

    def blamed(self, faults: Sequence[Fault]) -> None:
        self._put(lambda: self._inner.blamed(faults))

    def closed(self, outcome: Outcome) -> None:
        self._put(lambda: self._inner.closed(outcome))

    def _put(self, call: Callable[[], None]) -> None:
        self._waiting.append(call)
        # Each timer passes on the oldest call, so the order cannot change.
        self._later(self._delay_s, self._pass_on)

    def _pass_on(self) -> None:
        self._waiting.popleft()()


def _later(delay_s: float, call: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(delay_s, call)


class EventBuffers:
    """The spectators of each match: a buffer, which watchers follow, or those that `give` has set.

    Matches of deal-sets have no buffer.
    """

    def __init__(
        self, delay_s: float = 0.0, later: Later = _later, *, open_hands: bool = False
    ) -> None:
        """Begin without buffers.

        Args:
          delay_s: Delay of the buffers' events, in seconds.
          open_hands: Whether spectators of practice matches see the hands of all seats.
        """
        self._buffers: dict[str, EventBuffer] = {}
        self._delay_s = delay_s
        self._later = later
        self._open_hands = open_hands
        self._given: dict[str, SpectatorPort] = {}

    def give(self, match_id: str, spectators: SpectatorPort) -> None:
        """Give a match these spectators in place of any others, before it is played."""
        self._given[match_id] = spectators

    def forget(self, match_id: str) -> None:
        """Remove the spectators that `give` has set, because a match is over."""
        self._given.pop(match_id, None)

    def of(self, spec: MatchSpec) -> SpectatorPort | None:
        """Return the spectators of a match that begins.

        In practice matches they may see the hands of all seats, if the arena is configured so. The maker of a practice
        match can compute its cards from the seed. A fair deal is secret until the match is over.
        """
        given = self._given.get(spec.match_id)
        if given is not None or spec.deal_set:
            return given
        return self.open(spec.match_id, hands_open=self._open_hands and spec.terms.seeded)

    def open(self, match_id: str, *, hands_open: bool = False) -> SpectatorPort:
        """Return a new buffer for a match that begins or is resumed; return the port that fills it."""
        self._drop_old()
        self._buffers.pop(match_id, None)
        buffer = self._buffers[match_id] = EventBuffer(match_id, hands_open=hands_open)
        return DelayedEvents(buffer, self._delay_s, self._later) if self._delay_s else buffer

    def get(self, match_id: str) -> EventBuffer | None:
        """Return the buffer of a match; None if it has none, or has not begun."""
        buffer = self._buffers.get(match_id)
        return buffer if buffer is not None and buffer.number else None

    def live(self, most: int) -> Sequence[EventBuffer]:
        """Return the buffers of matches in play, newest first."""
        live = []
        for buffer in reversed(self._buffers.values()):
            if buffer.ended is None and buffer.number:
                live.append(buffer)
            if len(live) == most:
                break
        return live

    def _drop_old(self) -> None:
        """Drop the buffers of old matches. Buffers are few: only public matches have one."""
        ended = [buffer.match_id for buffer in self._buffers.values() if buffer.ended is not None]
        for match_id in ended[: max(0, len(ended) - KEPT_ENDED)]:
            del self._buffers[match_id]

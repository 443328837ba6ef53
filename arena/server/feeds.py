"""What spectators are told of matches in play, kept for as long as one is played and a little longer.

A feed is the gallery of one match that may be watched. It notes what everybody was told of the
hand; views are made and beats encoded only while somebody watches, once for all who do. A
watcher is a place in one list: whoever falls behind goes on from the present picture, and the
referee waits for nobody.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, TypeAlias

from arena.games.contract import Event, Seat, Told, View
from arena.referee.gallery import Gallery, OpenHands
from arena.referee.spec import Ending, Entrant, Fault, Outcome
from arena.terms import MatchTerms
from arena.wire.games import codec_of
from arena.wire.terms import terms_message
from cardarena.v1 import game_pb2, watch_pb2

TAPE_BEATS: Final = 256
"""Beats that are kept for who was away."""
HAND_EVENTS: Final = 400
"""Events of a hand that are kept for who comes later; of a longer one the first are left out.

Where hands are open half as many, as most are told twice then: to all, and to the seats.
"""
KEPT_ENDED: Final = 64
"""Feeds of matches that ended which are kept, the latest, for who was away meanwhile."""


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


class Feed:
    """One match, for its spectators: a `Gallery`. Lives on the thread of the host's loop."""

    def __init__(
        self, match_id: str, unix_ms: Callable[[], int] = _unix_ms, *, hands_open: bool = False
    ) -> None:
        """Begin before the match does; `unix_ms` says when a step is played.

        With `hands_open` who watches is told what seats know as well.
        """
        self.match_id: Final = match_id
        self.hands_open: Final = hands_open
        self._unix_ms = unix_ms
        self._asked_unix_ms = 0
        self._banks_ms: Sequence[int] = ()
        self.opening = watch_pb2.WatchResponse()
        self.hand = 0
        self.watchers = 0
        self.number = 0
        """Steps so far."""
        self.ended: watch_pb2.WatchResponse | None = None
        self._terms: MatchTerms | None = None
        self._most = HAND_EVENTS // 2 if hands_open else HAND_EVENTS
        self._told: deque[Event] = deque(maxlen=self._most)
        self._fresh = 0
        self._view: Callable[[], View] | None = None
        self._hands: OpenHands | None = None
        """Of the last step; None where hands are closed."""
        self._told_at_table: deque[Told] = deque(maxlen=self._most)
        """What seats were told of the hand; empty where hands are closed."""
        self._fresh_at_table = 0
        self._faults: tuple[Fault, ...] = ()
        self._tape: deque[tuple[int, watch_pb2.WatchResponse]] = deque(maxlen=TAPE_BEATS)
        self._changed = asyncio.Event()

    # arena.referee.Gallery

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[Entrant]) -> None:
        assert match_id == self.match_id
        self._terms = terms
        self.opening = watch_pb2.WatchResponse(
            opened=watch_pb2.WatchOpened(
                terms=terms_message(terms),
                bots=[each.name for each in entrants],
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
        # A step that ends a hand tells of both: who comes then begins with what was dealt.
        if hand != self.hand:
            self._told.clear()
            self._told_at_table.clear()
        self.hand = hand
        if self.hands_open:
            assert hands is not None
            self._hands = hands
            self._told_at_table.extend(hands.told)
            self._fresh_at_table = min(len(hands.told), self._most)
        self._told.extend(events)
        self._fresh = min(len(events), self._most)
        self._view = view
        self._banks_ms, self._asked_unix_ms = banks_ms, self._unix_ms()
        self.number += 1
        if self.watchers:
            self._tape.append((self.number, self._beat(events, hands, key=False)))
        else:
            self._tape.clear()
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
        """The match from the beat after `after` on if that is still here, else from its present picture."""
        self.watchers += 1
        try:
            yield self.opening
            at = after
            while True:
                changed = self._changed
                for beat in self._beats_after(at):
                    at = beat.beat.number
                    yield beat
                if self.number > at:
                    continue
                if self.ended is not None:
                    yield self.ended
                    return
                await changed.wait()
        finally:
            self.watchers -= 1
            if not self.watchers:
                self._tape.clear()

    def _beats_after(self, after: int) -> Sequence[watch_pb2.WatchResponse]:
        """What comes after a beat; a key beat where some of it is not here any more."""
        if self.number == after or not self.number:
            return ()
        oldest = self._tape[0][0] if self._tape else self.number + 1
        if 0 < after < self.number and oldest <= after + 1:
            return [beat for number, beat in self._tape if number > after]
        return (self._beat(tuple(self._told), self._hands, key=True),)

    def _beat(
        self, events: Sequence[Event], hands: OpenHands | None, *, key: bool
    ) -> watch_pb2.WatchResponse:
        assert self._view is not None
        assert self._terms is not None
        codec = codec_of(self._terms.game)
        beat = watch_pb2.WatchBeat(
            number=self.number,
            hand=self.hand,
            key=key,
            events=[game_pb2.GameEvent.FromString(codec.game_event(each)) for each in events],
            fresh=self._fresh,
            view=game_pb2.GameView.FromString(codec.game_view(self._view())),
            faults=[
                watch_pb2.WatchFault(seat=each.seat, kind=game_pb2.FaultKind.ValueType(each.kind))
                for each in self._faults
            ],
            banks_ms=self._banks_ms,
            asked_unix_ms=self._asked_unix_ms,
        )
        if self.hands_open:
            assert hands is not None
            told = tuple(self._told_at_table) if key else hands.told
            beat.open_hands.CopyFrom(self._open_hands(hands, told))
        return watch_pb2.WatchResponse(beat=beat)

    def _open_hands(self, hands: OpenHands, told: Sequence[Told]) -> watch_pb2.WatchHands:
        assert self._terms is not None
        codec, seats = codec_of(self._terms.game), range(self._terms.seats)
        return watch_pb2.WatchHands(
            told=[
                watch_pb2.WatchTold(
                    event=game_pb2.GameEvent.FromString(codec.game_event(each.event)),
                    seats=seats if each.seats is None else each.seats,
                )
                for each in told
            ],
            fresh=self._fresh_at_table,
            views=[
                game_pb2.GameView.FromString(codec.game_view(hands.view(Seat(seat))))
                for seat in seats
            ],
        )

    def _wake(self) -> None:
        if self.watchers:  # nobody else waits for it, and each step comes here
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()


Later: TypeAlias = Callable[[float, Callable[[], None]], object]
"""Has something called after so many seconds, what was asked for first before the rest."""


class Delayed:
    """A `Gallery` that hears of everything some seconds after it happened."""

    def __init__(self, inner: Gallery, delay_s: float, later: Later) -> None:
        self._inner = inner
        self._delay_s = delay_s
        self._later = later
        self._waiting: deque[Callable[[], None]] = deque()
        self.hands_open: Final = inner.hands_open

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[Entrant]) -> None:
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

    def _put(self, tell: Callable[[], None]) -> None:
        self._waiting.append(tell)
        # One is told each time, and not the one that was put: so the order cannot change.
        self._later(self._delay_s, self._tell_next)

    def _tell_next(self) -> None:
        self._waiting.popleft()()


def _later(delay_s: float, call: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(delay_s, call)


class Feeds:
    """The feeds of an arena, by match."""

    def __init__(self, delay_s: float = 0.0, later: Later = _later) -> None:
        """There are none. What happens in a match is told `delay_s` later."""
        self._feeds: dict[str, Feed] = {}
        self._delay_s = delay_s
        self._later = later

    def open(self, match_id: str, *, hands_open: bool = False) -> Gallery:
        """The gallery of a match that begins, or goes on, which fills its feed."""
        self._drop_old()
        self._feeds.pop(match_id, None)
        feed = self._feeds[match_id] = Feed(match_id, hands_open=hands_open)
        return Delayed(feed, self._delay_s, self._later) if self._delay_s else feed

    def get(self, match_id: str) -> Feed | None:
        """The feed of a match; None if it has none that may be watched."""
        found = self._feeds.get(match_id)
        return found if found is not None and found.number else None

    def live(self, most: int) -> Sequence[Feed]:
        """Feeds of matches in play, newest first."""
        found = []
        for feed in reversed(self._feeds.values()):
            if feed.ended is None and feed.number:
                found.append(feed)
            if len(found) == most:
                break
        return found

    def _drop_old(self) -> None:
        """Let go of those that ended long ago. Feeds are few: one for each match that is open to all."""
        ended = [each.match_id for each in self._feeds.values() if each.ended is not None]
        for match_id in ended[: max(0, len(ended) - KEPT_ENDED)]:
            del self._feeds[match_id]

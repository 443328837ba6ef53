"""The feeds of matches in play, and their subscribers.

A feed is a list of messages about one match for one viewer, encoded once for all subscribers. A subscriber has a
position in the list: if it is far behind, it continues with the present picture; if it reads nothing for long, it is
disconnected. Steps are gathered into four messages a second, because bots play faster than people can watch.
"""

import asyncio
import functools
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from arena.pictures import Viewer
from arena.web.addresses import viewer_name, viewer_named
from arena.web.arena_source import ArenaSource, NotLive
from arena.web.live_match import Deltas, LiveDrawer, RunningClock, encoded
from arena.web.steps import Step
from arena.web.subscribers import Feed
from cardarena.v1 import game_pb2, watch_pb2

MOST_STEPS: Final = 240
"""The number of steps of a match that its page has for spectators who come late."""
MOST_GATHERED: Final = 10
"""The number of attempts to read more of the hand so far, before the hub shows a match."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """The numbers of subscribers, and the rates and sizes of their messages."""

    of_match: int = 1_000
    in_all: int = 2_000
    of_address: int = 8
    quiet_s: float = 0.05
    """The seconds without a message after which the hand so far, which is sent at once, is complete."""
    every_s: float = 0.25
    """The time in seconds between two messages of a match."""
    most_steps: int = 5
    """The maximal number of steps of a message; if there are more, only the last is sent, with the number of the others."""
    buffer_bytes: int = 2 << 20
    behind_bytes: int = 256 << 10
    """The number of bytes behind from which a subscriber continues with the present picture."""
    slow_s: float = 10.0
    """The seconds without reading after which a client is disconnected."""
    comment_s: float = 15.0
    linger_s: float = 30.0
    """The seconds for which a buffer is kept without subscribers."""


class HubFull(Exception):
    """There are too many subscribers."""


class LiveMessage(NamedTuple):
    """A message of a feed."""

    number: int
    """The number of its last step."""
    body: bytes
    """The server-sent event."""


SPECTATOR: Final = viewer_name(Viewer.SPECTATOR)


class LiveBuffer(Feed):
    """The messages of one match for one viewer: filled by one task, followed by many subscribers."""

    def __init__(self, match_id: str, limits: FeedLimits, viewer: str = SPECTATOR) -> None:
        """Begin empty; `viewer` is named as in paths."""
        super().__init__(slow_s=limits.slow_s, comment_s=limits.comment_s)
        self.match_id: Final = match_id
        self.viewer: Final = viewer
        self.drawer: LiveDrawer | None = None
        self.last: Step | None = None
        """The present picture; None before the first."""
        self.steps: deque[Step] = deque(maxlen=MOST_STEPS)
        """The steps since the beginning of the hand in which the feed began."""
        self.clock: RunningClock | None = None
        """The running clock of the present picture."""
        self.number = 0
        self.refused: NotLive | None = None
        """Why the feed ended before the match did."""
        self.begun = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self._limits = limits
        self._messages: deque[LiveMessage] = deque()
        self._bytes = 0
        self._next = 0
        """The position of the next message."""
        self._deltas = Deltas()
        self._key: LiveMessage | None = None

    def add(self, steps: list[Step], number: int, clock: RunningClock | None = None) -> None:
        """Add pictures of steps; the last one is the present picture, with its clock."""
        skipped = 0
        self.steps.extend(steps)
        if len(steps) > self._limits.most_steps:
            skipped, steps = len(steps) - 1, steps[-1:]
        first_key = self.last is None or skipped > 0
        rows = [self._deltas.row(step, key=first_key and not at) for at, step in enumerate(steps)]
        self.last, self.number, self.clock = steps[-1], number, clock
        message = {"steps": rows, "skipped": skipped, "clock": clock}
        self._put(LiveMessage(number, event("frame", number, message)))
        self.begun.set()

    def end(self, ended: watch_pb2.WatchEnded) -> None:
        self.over = True
        message = {
            "ending": game_pb2.Ending.Name(ended.ending).removeprefix("ENDING_").lower(),
            "scores": list(ended.scores),
        }
        self._put(LiveMessage(self.number, event("end", self.number, message)))
        self.begun.set()

    def join(self, number: int) -> tuple[bytes, int]:
        """Return the messages for a client that has the step `number`, and the position after them.

        If the buffer does not have all of them any more, only the present picture is returned.
        """
        numbers = [message.number for message in self._messages]
        if not number or number not in numbers:
            ending = self._messages[-1].body if self.over and self._messages else b""
            return self._key_message().body + ending, self._next
        # From the first of two messages with this number: the second is the end of the match.
        missed = list(self._messages)[numbers.index(number) + 1 :]
        return self._joined(missed), self._next

    def since(self, position: int) -> tuple[bytes, int]:
        """Return the messages since a position, or the present picture if that is far behind."""
        count = self._next - position
        if not count:
            return b"", position
        if count > len(self._messages):
            return self._key_message().body, self._next
        return self._joined(list(self._messages)[-count:]), self._next

    def _joined(self, messages: list[LiveMessage]) -> bytes:
        body = b"".join(message.body for message in messages)
        if len(body) <= self._limits.behind_bytes:
            return body
        return self._key_message().body + (messages[-1].body if self.over else b"")

    def close(self) -> None:
        """End the feed, even if the match continues."""
        self.over = True
        self.begun.set()
        self.wake()

    def _key_message(self) -> LiveMessage:
        if self._key is None:
            assert self.last is not None
            rows = [Deltas().row(self.last, key=True)]
            message = {"steps": rows, "skipped": 0, "clock": self.clock, "key": 1}
            self._key = LiveMessage(self.number, event("frame", self.number, message))
        return self._key

    def _put(self, message: LiveMessage) -> None:
        self._key = None
        self._messages.append(message)
        self._next += 1
        self._bytes += len(message.body)
        while self._bytes > self._limits.buffer_bytes and len(self._messages) > 1:
            self._bytes -= len(self._messages.popleft().body)
        self.wake()


class EventHub:
    """All feeds of matches and their numbers of subscribers, on one loop."""

    def __init__(self, source: ArenaSource, limits: FeedLimits | None = None) -> None:
        self.source: Final = source
        self.limits: Final = limits or FeedLimits()
        self._buffers: dict[tuple[str, str], LiveBuffer] = {}
        """The feeds by match and viewer."""
        self._of_address: Counter[str] = Counter()
        self._all = 0

    async def buffer(self, match_id: str, viewer: str = SPECTATOR) -> LiveBuffer:
        """Return the feed of a match for a viewer; wait for its first picture.

        Raises `NotLive` if the match cannot be watched, or not by this viewer, and `NoArena` if no arena answers.
        """
        buffer = self._begun(match_id, viewer)
        await buffer.begun.wait()
        if buffer.last is None:
            raise buffer.refused or NotLive(f"no match {match_id!r} can be watched now")
        return buffer

    def _begun(self, match_id: str, viewer: str) -> LiveBuffer:
        buffer = self._buffers.get((match_id, viewer))
        if buffer is None:
            buffer = self._buffers[match_id, viewer] = LiveBuffer(match_id, self.limits, viewer)
            buffer.task = asyncio.create_task(self._fill(buffer))
        return buffer

    def followed(self, match_ids: Iterable[str]) -> Mapping[str, LiveDrawer]:
        """Return the drawers of those of these matches that have a picture, and follow all of them from now on."""
        drawers = {}
        for match_id in match_ids:
            buffer = self._begun(match_id, SPECTATOR)
            if buffer.drawer is not None and buffer.last is not None:
                drawers[match_id] = buffer.drawer
        return drawers

    def subscribe(self, feed: Feed, address: str) -> Callable[[], None]:
        """Count a client of a feed by its address. Call the returned function once when it leaves.

        Raises `HubFull` if there are too many subscribers.
        """
        limits = self.limits
        if (
            feed.subscriptions >= limits.of_match
            or self._all >= limits.in_all
            or self._of_address[address] >= limits.of_address
        ):
            raise HubFull
        self._count(feed, address, 1)
        return functools.partial(self._count, feed, address, -1)

    def _count(self, feed: Feed, address: str, change: int) -> None:
        feed.count(change)
        self._all += change
        self._of_address[address] += change
        if not self._of_address[address]:
            del self._of_address[address]

    def close(self) -> None:
        for buffer in self._buffers.values():
            if buffer.task is not None:
                buffer.task.cancel()
            buffer.close()
        self._buffers.clear()

    async def _fill(self, buffer: LiveBuffer) -> None:
        """Follow a match until it is over, or has no subscribers for `linger_s`."""
        received: asyncio.Queue[watch_pb2.WatchResponse | None] = asyncio.Queue(4_096)
        reader = asyncio.create_task(self._read(buffer, received))
        try:
            await self._draw(buffer, received)
            if buffer.over:
                await asyncio.sleep(self.limits.linger_s)
            # Otherwise the arena stopped: subscribers reconnect, which starts a new feed.
        finally:
            reader.cancel()
            if self._buffers.get((buffer.match_id, buffer.viewer)) is buffer:
                del self._buffers[buffer.match_id, buffer.viewer]
            buffer.close()

    async def _read(
        self, buffer: LiveBuffer, received: "asyncio.Queue[watch_pb2.WatchResponse | None]"
    ) -> None:
        try:
            async for message in self.source.watch(buffer.match_id, 0):
                await received.put(message)
        except NotLive as error:
            buffer.refused = error
        except Exception:
            _log.exception("a match cannot be followed", extra={"match": buffer.match_id})
        await received.put(None)

    async def _draw(
        self, buffer: LiveBuffer, received: "asyncio.Queue[watch_pb2.WatchResponse | None]"
    ) -> None:
        idle_s = 0.0
        while True:
            gathered = await self._gathered(received, so_far=buffer.last is None)
            steps: list[Step] = []
            number = buffer.number
            for message in gathered:
                if message is None:
                    self._put(buffer, steps, number)
                    return
                match message.WhichOneof("body"):
                    case "opened":
                        buffer.drawer = _drawer(buffer, message.opened)
                        if buffer.drawer is None:
                            return
                    case "frame" if buffer.drawer is not None:
                        steps += buffer.drawer.steps(message.frame)
                        number = message.frame.number
                    case "ended":
                        self._put(buffer, steps, number)
                        buffer.end(message.ended)
                        return
            self._put(buffer, steps, number)
            idle_s = 0.0 if buffer.subscriptions else idle_s + self.limits.every_s
            if idle_s > self.limits.linger_s:
                return
            await asyncio.sleep(self.limits.every_s)

    async def _gathered(
        self, received: "asyncio.Queue[watch_pb2.WatchResponse | None]", *, so_far: bool
    ) -> list[watch_pb2.WatchResponse | None]:
        """Return the messages that have arrived; for a newly followed match, the hand so far."""
        gathered = [await received.get()]
        for _ in range(MOST_GATHERED):
            if so_far:
                await asyncio.sleep(self.limits.quiet_s)
            if received.empty():
                break
            while not received.empty():
                gathered.append(received.get_nowait())
        return gathered

    @staticmethod
    def _put(buffer: LiveBuffer, steps: list[Step], number: int) -> None:
        if steps:
            assert buffer.drawer is not None
            buffer.add(steps, number, buffer.drawer.clock)


def _drawer(buffer: LiveBuffer, opened: watch_pb2.WatchOpened) -> LiveDrawer | None:
    """Return the drawer of a match for the viewer of its buffer; None, with a reason in `refused`, if the viewer may not watch it."""
    viewer = viewer_named(buffer.viewer, len(opened.bots))
    if viewer is None:
        buffer.refused = NotLive(f"match {buffer.match_id!r} has no viewer {buffer.viewer!r}")
    elif viewer is not Viewer.SPECTATOR and not opened.hands_open:
        buffer.refused = NotLive(
            f"the hands of match {buffer.match_id!r} are closed while it is played"
        )
    else:
        return LiveDrawer(opened, viewer)
    return None


def event(kind: str, number: int, value: Any) -> bytes:
    """Return a server-sent event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), encoded(value))

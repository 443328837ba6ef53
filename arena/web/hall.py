"""The hall: everybody who watches something live, and the tapes they follow.

A tape is the list of messages of one match through somebody's eyes, encoded once for all. A watcher is a place in the
list, not a queue: who is far behind goes on with the present picture, and who takes nothing for
long is let go. Bots are faster than eyes, so beats are gathered to four messages a second.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from arena.scenes import Viewer
from arena.web.audience import Audience, Followed
from arena.web.follow import Deltas, Follower, Running, encoded
from arena.web.match_paths import eyes_name, eyes_named
from arena.web.steps import Step
from cardarena.v1 import game_pb2, watch_pb2

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """How many may watch, and how fast they are told."""

    of_match: int = 1_000
    in_all: int = 2_000
    of_address: int = 8
    every_s: float = 0.25
    """Between two messages of a match."""
    most_beats: int = 5
    """Beats of a message; of more only the last is drawn, and the others are counted."""
    tape_bytes: int = 2 << 20
    behind_bytes: int = 256 << 10
    """Who is further behind goes on with the present picture."""
    slow_s: float = 10.0
    """Who takes nothing for so long is let go."""
    comment_s: float = 15.0
    linger_s: float = 30.0
    """How long a tape is kept when nobody watches."""


class Source(Protocol):
    """Where matches in play are told of."""

    def watch(self, match_id: str, after: int) -> AsyncIterator[watch_pb2.WatchResponse]:
        """Follow a match.

        Raises:
          NotLive: if it may not be watched.
          NoArena: if there is no arena, or it has gone meanwhile.
        """
        ...

    async def live(self) -> watch_pb2.ListLiveResponse:
        """What is in play.

        Raises:
          NoArena: if there is no arena.
        """
        ...


class NotLive(Exception):
    """It may not be watched now. The text says why."""


class NoArena(NotLive):
    """There is no arena that answers: what is played is not known until one does."""


class HallFull(Exception):
    """Too many watch already."""


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of a feed, as bytes of server-sent events."""

    number: int
    """Of the last step in it."""
    body: bytes


SPECTATOR: Final = eyes_name(Viewer.SPECTATOR)


class Tape:
    """The messages of one match. Filled by one task, followed by many."""

    def __init__(self, match_id: str, limits: FeedLimits, eyes: str = SPECTATOR) -> None:
        """Begin with nothing; `eyes` are those of an address."""
        self.match_id: Final = match_id
        self.eyes: Final = eyes
        self.follower: Follower | None = None
        self.last: Step | None = None
        """The present picture; None before the first."""
        self.running: Running | None = None
        """The clock that runs in it."""
        self.number = 0
        self.over = False
        self.refused: NotLive | None = None
        """Why nothing more is told of the match, where that is not its end."""
        self.watchers = 0
        self.begun = asyncio.Event()
        self.audience: Final = Audience(self, slow_s=limits.slow_s, comment_s=limits.comment_s)
        self.task: asyncio.Task[None] | None = None
        self._limits = limits
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._next = 0
        """The place of the next message."""
        self._deltas = Deltas()
        self._key: Message | None = None
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def changed(self) -> "asyncio.Future[None]":
        """Done once there is more."""
        return self._changed

    def add(self, steps: list[Step], number: int, running: Running | None = None) -> None:
        """Put pictures of steps on it, the last of which is the present one, and its clock."""
        skipped = 0
        if len(steps) > self._limits.most_beats:
            skipped, steps = len(steps) - 1, steps[-1:]
        first_key = self.last is None or skipped > 0
        rows = [self._deltas.row(step, key=first_key and not at) for at, step in enumerate(steps)]
        self.last, self.number, self.running = steps[-1], number, running
        told = {"steps": rows, "skipped": skipped, "clock": running}
        self._put(Message(number, event("beat", number, told)))
        self.begun.set()

    def end(self, ended: watch_pb2.WatchEnded) -> None:
        """The match is over."""
        self.over = True
        told = {
            "ending": game_pb2.Ending.Name(ended.ending).removeprefix("ENDING_").lower(),
            "scores": list(ended.scores),
        }
        self._put(Message(self.number, event("end", self.number, told)))
        self.begun.set()

    def join(self, number: int) -> tuple[bytes, int]:
        """What somebody who has the step `number` needs now, and the place to go on from.

        It is what followed, if all of that is still here; else the present picture.
        """
        at = next(
            (at for at, each in enumerate(self._messages) if each.number == number and number), None
        )
        if at is None:
            ending = self._messages[-1].body if self.over and self._messages else b""
            return self._key_message().body + ending, self._next
        # Of two messages of one step the second is the end, which must not be lost.
        missed = list(self._messages)[at + 1 :]
        return self._joined(missed), self._next

    def since(self, place: int) -> tuple[bytes, int]:
        """What came since a place, and the new place; the present picture for who is far behind."""
        count = self._next - place
        if not count:
            return b"", place
        if count > len(self._messages):
            return self._key_message().body, self._next
        return self._joined(list(self._messages)[-count:]), self._next

    def _joined(self, messages: list[Message]) -> bytes:
        body = b"".join(each.body for each in messages)
        if len(body) <= self._limits.behind_bytes:
            return body
        return self._key_message().body + (messages[-1].body if self.over else b"")

    def close(self) -> None:
        """Wake all who wait: nothing more comes."""
        self.over = True
        self.begun.set()
        self._wake()

    def _key_message(self) -> Message:
        if self._key is None:
            assert self.last is not None
            rows = [Deltas().row(self.last, key=True)]
            told = {"steps": rows, "skipped": 0, "clock": self.running, "key": 1}
            body = event("beat", self.number, told)
            self._key = Message(self.number, body)
        return self._key

    def _put(self, message: Message) -> None:
        self._key = None
        self._messages.append(message)
        self._next += 1
        self._bytes += len(message.body)
        while self._bytes > self._limits.tape_bytes and len(self._messages) > 1:
            self._bytes -= len(self._messages.popleft().body)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.get_running_loop().create_future()
        if not changed.done():
            changed.set_result(None)


class Hall:
    """All tapes, and who watches. Lives on one loop."""

    def __init__(self, source: Source, limits: FeedLimits | None = None) -> None:
        self.source: Final = source
        self.limits: Final = limits or FeedLimits()
        self._tapes: dict[tuple[str, str], Tape] = {}
        """By match and eyes."""
        self._of_address: Counter[str] = Counter()
        self._all = 0

    async def tape(self, match_id: str, eyes: str = SPECTATOR) -> Tape:
        """The tape of a match through somebody's eyes, once it has a picture.

        Raises:
          NotLive: if it may not be watched, or not with these eyes.
          NoArena: if there is no arena that could say so.
        """
        tape = self._tapes.get((match_id, eyes))
        if tape is None:
            tape = self._tapes[match_id, eyes] = Tape(match_id, self.limits, eyes)
            tape.task = asyncio.create_task(self._fill(tape))
        await tape.begun.wait()
        if tape.last is None:
            raise tape.refused or NotLive(f"no match {match_id!r} may be watched now")
        return tape

    def seat(self, followed: Followed, address: str) -> "Seat":
        """A place to watch from.

        Raises:
          HallFull: if there is none.
        """
        limits = self.limits
        if (
            followed.watchers >= limits.of_match
            or self._all >= limits.in_all
            or self._of_address[address] >= limits.of_address
        ):
            raise HallFull
        followed.watchers += 1
        self._all += 1
        self._of_address[address] += 1
        return Seat(self, followed, address)

    def left(self, followed: Followed, address: str) -> None:
        """A place is free again."""
        followed.watchers -= 1
        self._all -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]

    def close(self) -> None:
        """End all feeds."""
        for tape in self._tapes.values():
            if tape.task is not None:
                tape.task.cancel()
            tape.close()
        self._tapes.clear()

    async def _fill(self, tape: Tape) -> None:
        """Follow a match until it is over, or nobody has watched for a while."""
        told: asyncio.Queue[watch_pb2.WatchResponse | None] = asyncio.Queue(4_096)
        reader = asyncio.create_task(self._read(tape, told))
        try:
            await self._draw(tape, told)
            if tape.over:
                await asyncio.sleep(self.limits.linger_s)
            # Else the arena has gone: whoever watches comes again, and finds it or not.
        finally:
            reader.cancel()
            if self._tapes.get((tape.match_id, tape.eyes)) is tape:
                del self._tapes[tape.match_id, tape.eyes]
            tape.close()

    async def _read(
        self, tape: Tape, told: "asyncio.Queue[watch_pb2.WatchResponse | None]"
    ) -> None:
        try:
            async for message in self.source.watch(tape.match_id, 0):
                await told.put(message)
        except NotLive as error:
            tape.refused = error
        except Exception:
            _log.exception("a match cannot be followed", extra={"match": tape.match_id})
        await told.put(None)

    async def _draw(
        self, tape: Tape, told: "asyncio.Queue[watch_pb2.WatchResponse | None]"
    ) -> None:
        idle_s = 0.0
        while True:
            gathered = [await told.get()]
            while not told.empty():
                gathered.append(told.get_nowait())
            steps: list[Step] = []
            number = tape.number
            for message in gathered:
                if message is None:
                    self._put(tape, steps, number)
                    return
                match message.WhichOneof("body"):
                    case "opened":
                        tape.follower = _follower(tape, message.opened)
                        if tape.follower is None:
                            return
                    case "beat" if tape.follower is not None:
                        steps += tape.follower.steps(message.beat)
                        number = message.beat.number
                    case "ended":
                        self._put(tape, steps, number)
                        tape.end(message.ended)
                        return
            self._put(tape, steps, number)
            idle_s = 0.0 if tape.watchers else idle_s + self.limits.every_s
            if idle_s > self.limits.linger_s:
                return
            await asyncio.sleep(self.limits.every_s)

    @staticmethod
    def _put(tape: Tape, steps: list[Step], number: int) -> None:
        if steps:
            assert tape.follower is not None
            tape.add(steps, number, tape.follower.running)


def _follower(tape: Tape, opened: watch_pb2.WatchOpened) -> Follower | None:
    """Who draws a match with the eyes of its tape; None, and why, if there are none such."""
    eyes = eyes_named(tape.eyes, len(opened.bots))
    if eyes is None:
        tape.refused = NotLive(f"match {tape.match_id!r} has no eyes {tape.eyes!r}")
    elif eyes is not Viewer.SPECTATOR and not opened.hands_open:
        tape.refused = NotLive(
            f"the hands of match {tape.match_id!r} are closed while it is played"
        )
    else:
        return Follower(opened, eyes)
    return None


class Seat:
    """A place to watch from, until it is left."""

    __slots__ = ("_address", "_followed", "_hall")

    def __init__(self, hall: Hall, followed: Followed, address: str) -> None:
        self._hall, self._followed, self._address = hall, followed, address

    def leave(self) -> None:
        """Free it. To be called once."""
        self._hall.left(self._followed, self._address)


def event(kind: str, number: int, value: Any) -> bytes:
    """A server-sent event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), encoded(value))

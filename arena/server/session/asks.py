"""A bot's asks over all its streams, each in one state that moves down only.

| state   | listed by `welcome`   | what an answer does                                    |
|---------|-----------------------|--------------------------------------------------------|
| WAITING | in `later_asks` alone | nothing: it is passed over                             |
| OPEN    | yes                   | it goes to the match                                   |
| SETTLED | no                    | nothing if it means the same move, else it is refused  |

A bot has as many OPEN asks as it takes at a time; others wait in the order in
which they came. Only the latest settled asks are remembered.
"""

from collections import deque
from collections.abc import Iterator, KeysView, ValuesView
from enum import Enum, auto
from typing import Final

from arena.referee import OpenAsk, Said
from arena.server.session.seating import Seating
from arena.wire.codec import Codec, Malformed
from cardarena.v1 import play_pb2

REMEMBERED_ASKS: Final = 1024
"""Settled asks that are remembered, to tell a repeated answer from another one."""


class AskState(Enum):
    """How far an ask has come."""

    WAITING = auto()
    OPEN = auto()
    SETTLED = auto()


class AskEntry:
    """One ask and its state."""

    __slots__ = ("ask", "codec", "number", "said", "seating", "state")

    def __init__(self, number: int, seating: Seating | None, ask: OpenAsk | None) -> None:
        self.number = number
        """The ask's id on the bot's streams."""
        self.seating = seating
        self.ask = ask
        """None once it is settled: a match must not be held by what is remembered of it."""
        self.state = AskState.WAITING
        self.said: Said | None = None
        """The move that settled it; None if no answer did, or a fault."""
        self.codec: Codec | None = None
        """What reads a further answer."""

    @property
    def asked(self) -> tuple[Seating, OpenAsk]:
        """The seat and the ask, which is not settled."""
        assert self.seating is not None
        assert self.ask is not None
        return self.seating, self.ask


class AskTable:
    """All asks of one bot that are not forgotten."""

    def __init__(self) -> None:
        self._entries: dict[int, AskEntry] = {}
        self._waiting: deque[AskEntry] = deque()
        self._open: dict[int, AskEntry] = {}
        self._settled: deque[int] = deque()
        """Settled asks by id, in the order in which they were settled."""

    @property
    def open(self) -> ValuesView[AskEntry]:
        """The open asks, in the order in which they were sent."""
        return self._open.values()

    @property
    def open_ids(self) -> KeysView[int]:
        """The open asks by id."""
        return self._open.keys()

    @property
    def any_waiting(self) -> bool:
        """Whether any may still wait."""
        return bool(self._waiting)

    @property
    def waiting(self) -> Iterator[AskEntry]:
        """The asks that wait, in their order."""
        return (entry for entry in self._waiting if _waits(entry))

    def add(self, seating: Seating, ask: OpenAsk) -> AskEntry:
        """A new ask, which waits to be sent."""
        entry = self._entries[ask.number] = AskEntry(ask.number, seating, ask)
        return entry

    def wait(self, entry: AskEntry) -> None:
        """Put an ask behind those that wait."""
        self._waiting.append(entry)

    def sent(self, entry: AskEntry) -> None:
        """An ask was sent, or will be listed by a welcome: it is open."""
        entry.state = AskState.OPEN
        self._open[entry.number] = entry

    def next_waiting(self) -> AskEntry | None:
        """Take the ask that has waited longest, and is still to be made; None if there is none."""
        while self._waiting:
            entry = self._waiting.popleft()
            if _waits(entry):
                return entry
        return None

    def take_open(self, number: int) -> AskEntry | None:
        """Take an open ask to settle it; None if there is none of this id."""
        return self._open.pop(number, None)

    def only_open(self) -> AskEntry | None:
        """The one ask that is open; None if there is none, or more than one."""
        return next(iter(self._open.values())) if len(self._open) == 1 else None

    def settle(self, entry: AskEntry) -> None:
        """An ask is settled, by an answer or without one."""
        self._open.pop(entry.number, None)
        entry.state = AskState.SETTLED
        entry.ask = entry.seating = None
        self._settled.append(entry.number)
        if len(self._settled) > REMEMBERED_ASKS:
            del self._entries[self._settled.popleft()]

    def withdraw(self, ask: OpenAsk) -> None:
        """An ask is settled without the bot: it was open, waited, or was answered just now."""
        entry = self._entries.get(ask.number)
        if entry is not None and entry.state is not AskState.SETTLED:
            self.settle(entry)

    def remember(self, number: int, said: Said | None, codec: Codec) -> None:
        """An ask was settled before the arena was restarted."""
        entry = self._entries[number] = AskEntry(number, None, None)
        entry.said, entry.codec = said, codec
        self.settle(entry)

    def knows(self, number: int) -> bool:
        """Whether there is an ask of this id that is not forgotten."""
        return number in self._entries

    def contradicts(self, answer: play_pb2.Answer) -> bool:
        """Whether an answer means something else than the one that settled its ask."""
        entry = self._entries.get(answer.ask_id)
        if entry is None or entry.said is None or entry.codec is None:
            return False
        kind = answer.WhichOneof("choice")
        if kind == "index":
            return answer.index != entry.said.place
        if kind != "move":
            return True
        try:
            return bool(entry.codec.read_move(answer.move) != entry.said.move)
        except Malformed:
            return True


def _waits(entry: AskEntry) -> bool:
    # A match that was suspended has settled it, without a word to anybody.
    return entry.state is AskState.WAITING and not entry.asked[1].settled

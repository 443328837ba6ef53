"""The asks of one bot over all its streams, and how they are sent. An ask moves through its states downwards only.

| state   | listed by `welcome`   | what an answer does                                      |
|---------|-----------------------|----------------------------------------------------------|
| WAITING | in `later_asks` alone | it is ignored                                            |
| OPEN    | yes                   | it is passed to the match                                |
| SETTLED | no                    | it is ignored if it means the same move, else refused    |

A bot has as many OPEN asks as it takes at a time; others wait in the order in which they were
made. Only the latest settled asks are remembered.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, KeysView, Sequence, ValuesView
from enum import Enum, auto
from typing import Final

from arena.referee import FaultKind, OpenAsk, Said
from arena.server.session.outbox import CurrentStream
from arena.server.session.seating import Seating
from arena.wire.codec import Codec, Malformed
from arena.wire.fields import as_open_ask, ask_element, asks_frame
from cardarena.v1 import play_pb2

REMEMBERED_ASKS: Final = 1024
"""Settled asks that are remembered, to tell a repeated answer from a different one."""


class AskState(Enum):
    """The state of an ask."""

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
        """None once it is settled, so that the entry does not keep a whole match in memory."""
        self.state = AskState.WAITING
        self.said: Said | None = None
        """The move that settled it; None if no answer settled it, or a fault."""
        self.codec: Codec | None = None
        """Reads a further answer."""

    @property
    def asked(self) -> tuple[Seating, OpenAsk]:
        """The seat and the ask of an entry that is not settled."""
        assert self.seating is not None
        assert self.ask is not None
        return self.seating, self.ask

    def answered(self, said: Said | None, codec: Codec) -> None:
        """Remember the move that settled the ask."""
        self.said = said
        self.codec = codec


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
        """The asks that wait, oldest first."""
        return (entry for entry in self._waiting if _waits(entry))

    def add(self, seating: Seating, ask: OpenAsk, number: int) -> AskEntry:
        """Add an ask with this id, which waits to be sent."""
        entry = self._entries[number] = AskEntry(number, seating, ask)
        return entry

    def wait(self, entry: AskEntry) -> None:
        """Put an ask behind those that wait."""
        self._waiting.append(entry)

    def sent(self, entry: AskEntry) -> None:
        """An ask was sent, or will be listed by a welcome: it is open."""
        entry.state = AskState.OPEN
        self._open[entry.number] = entry

    def next_waiting(self) -> AskEntry | None:
        """Take the ask that has waited longest and is not settled; None if there is none."""
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

    def withdraw(self, number: int) -> None:
        """An ask is settled without an answer: it was open, waited, or was answered just now."""
        entry = self._entries.get(number)
        if entry is not None and entry.state is not AskState.SETTLED:
            self.settle(entry)

    def remember(self, number: int, said: Said | None, codec: Codec) -> None:
        """An ask was settled before the arena was restarted."""
        entry = self._entries[number] = AskEntry(number, None, None)
        entry.answered(said, codec)
        self.settle(entry)

    def knows(self, number: int) -> bool:
        """Whether there is an ask of this id that is not forgotten."""
        return number in self._entries

    def contradicts(self, answer: play_pb2.Answer) -> bool:
        """Whether an answer means another move than the one that settled its ask."""
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
    # A match that was suspended settles its asks without calling the session.
    return entry.state is AskState.WAITING and not entry.asked[1].settled


class AskSender:
    """Sends a bot its asks, as many at a time as it takes; the others wait for a free slot."""

    def __init__(self, stream: CurrentStream, now_s: Callable[[], float]) -> None:
        self.table = AskTable()
        self._stream = stream
        self._now_s = now_s
        self._slots = 1
        """Asks that may be open at a time."""
        self._wants_text = False
        self._last_round_trip_ms = 0

    def take(self, slots: int, *, wants_text: bool) -> None:
        """Have so many asks open at a time from now on, with texts if the bot wants them."""
        self._slots = slots
        self._wants_text = wants_text

    def hold(self) -> None:
        """Open no further asks until `take` is called."""
        self._slots = 0

    def ask(self, seating: Seating, ask: OpenAsk, number: int) -> None:
        """Send an ask with this id as soon as the bot has a free slot."""
        entry = self.table.add(seating, ask, number)
        # Waiting asks come first: otherwise a match that asks again at once would keep the slot.
        if not self.table.any_waiting and len(self.table.open_ids) < self._slots:
            self._send(entry)
        else:
            self.table.wait(entry)

    def fill_slots(self, *, listed_s: float | None = None) -> None:
        """Open waiting asks, as many as there are free slots.

        With `listed_s` they are not sent: `welcome` will list them at that time.
        """
        open_ids = self.table.open_ids
        while len(open_ids) < self._slots and (entry := self.table.next_waiting()) is not None:
            if listed_s is None:
                self._send(entry)
            else:
                self.table.sent(entry)
                entry.asked[1].sent(listed_s)

    def withdraw(self, ask: OpenAsk, number: int, fault: FaultKind | None, reason: str) -> None:
        """An ask is settled without the bot's answer, or by a wrong one."""
        self.table.withdraw(number)
        if ask.sent_s >= 0:
            closed = play_pb2.AskClosed(
                ask_id=number,
                fault=fault or 0,  # type: ignore[arg-type]
                reason=reason,
            )
            self._stream.send(play_pb2.ArenaMessage(ask_closed=closed))
            self.fill_slots()

    def answered(self, entry: AskEntry, ask: OpenAsk, received_s: float) -> None:
        """The bot answered an open ask."""
        self.table.settle(entry)
        self._last_round_trip_ms = max(0, math.ceil((received_s - ask.sent_s) * 1000))

    def answered_before(self, number: int, said: Said | None, codec: Codec) -> None:
        """An ask was answered before the arena was restarted; the bot may send the answer again."""
        self.table.remember(number, said, codec)

    def listed(
        self, room: int, now_s: float
    ) -> tuple[Sequence[bytes], Sequence[tuple[int, bytes]]]:
        """The open asks: those that fit into `room` bytes of the welcome, and the rest with their ids."""
        listed: list[bytes] = []
        later: list[tuple[int, bytes]] = []
        for entry in self.table.open:
            element = self._element(entry, now_s - entry.asked[1].sent_s)
            if len(element) <= room and not later:
                # Asks are encoded already; as `Welcome.open_asks` they have another tag.
                listed.append(as_open_ask(element))
                room -= len(element)
            else:
                later.append((entry.number, asks_frame([element])))
        return listed, later

    def _send(self, entry: AskEntry) -> None:
        ask = entry.asked[1]
        self.table.sent(entry)
        if self._stream.outbox is not None:
            self._stream.outbox.post_ask(self._element(entry), ask)
        ask.sent(self._now_s())

    def _element(self, entry: AskEntry, used_s: float = 0.0) -> bytes:
        seating, ask = entry.asked
        move_ms, bank_ms, increment_ms = ask.clock_ms(used_s)
        return ask_element(
            entry.number,
            ask.decision,
            seating.match_field,
            move_ms,
            bank_ms,
            increment_ms,
            self._last_round_trip_ms,
            ask.body + ask.texts() if self._wants_text else ask.body,
        )

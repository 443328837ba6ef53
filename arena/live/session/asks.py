"""The asks of one bot at its seats, over all its streams: when an ask is sent, and how an answer is treated.

A match runner asks through a `Seating`, its port to the bot; the `AskSender` sends the ask. An ask goes through its
states in the order of the table.

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
from typing import Final, Protocol

from arena.live.session.limits import MAX_MATCH_NOTE_BYTES
from arena.live.session.stream import CurrentStream
from arena.records.journal.match_log import note_bytes
from arena.referee.absence import Absence
from arena.referee.seat import OpenAsk, Said
from arena.referee.spec import FaultKind, MatchSpec, Outcome
from arena.referee.wire.codec import Codec, Malformed
from arena.referee.wire.fields import as_open_ask, ask_element, asks_frame, match_field
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_message
from cardarena.v1 import game_pb2, play_pb2

DECISION_BITS: Final = 20
"""An ask's id is the match's number, and in its last bits the number of the seat's decision.

So a decision has the same id on every stream, and after a restart of the arena. The contract promises no more about
ids.
"""
MAX_TRAILING_BYTES: Final = 1 << 20
"""The maximal number of bytes of unsent events in the end of a match; the newest are sent. Only a seat that the fallback plays for most
of a long match misses any, and the replay has all of them."""
REMEMBERED_ASKS: Final = 1024
"""Settled asks that are remembered, to tell a repeated answer from a different one."""


def ask_id(match: int, decision: int) -> int:
    """Return the id of a decision on the bot's streams; `match` is the match's number there.

    Raises:
      ValueError: after a million decisions of one seat.
    """
    if decision >> DECISION_BITS:
        raise ValueError(f"match {match} has too many decisions")
    return match << DECISION_BITS | decision


def decision_of(ask_id: int) -> tuple[int, int]:
    """Return the match's number and the number of the decision in an ask's id."""
    return ask_id >> DECISION_BITS, ask_id & (1 << DECISION_BITS) - 1


def newest_events(events: Sequence[bytes]) -> Sequence[bytes]:
    """Return the last events that fit, oldest first."""
    size = 0
    for at in range(len(events), 0, -1):
        size += len(events[at - 1])
        if size > MAX_TRAILING_BYTES:
            return events[at:]
    return events


def shown_name(spec: MatchSpec, seat: int, name: str) -> str:
    """Return the name of a bot that the other bots of its match see.

    The matches of a deal-set have the same bots, so their names would reveal which matches these are.
    """
    return f"seat {seat}" if spec.deal_set else name


def match_end(
    number: int, seat: int, outcome: Outcome, last_events: Sequence[bytes]
) -> play_pb2.MatchEnd:
    """Return the end of a match for the bot at a seat; `number` is the match's number on the bot's streams."""
    return play_pb2.MatchEnd(
        match=number,
        trailing_events=map(game_pb2.GameEvent.FromString, newest_events(last_events)),
        scores=outcome.scores,
        places=outcome.places,
        ending=outcome.ending.value,  # type: ignore[arg-type]
        faults=[
            game_pb2.Fault(
                seat=fault.seat,
                kind=fault.kind.value,  # type: ignore[arg-type]
                decision=fault.decision,
                reason=fault.reason if fault.seat == seat else "",
            )
            for fault in outcome.faults
        ],
        replay_id=outcome.match_id,
        cause=(outcome.cause or 0),  # type: ignore[arg-type]
    )


class BotSession(Protocol):
    """The interface of a bot's session that a seat needs."""

    @property
    def asks(self) -> "AskSender": ...

    @property
    def gone(self) -> bool:
        """Whether the bot will not reconnect."""
        ...

    @property
    def connected(self) -> bool: ...

    @property
    def expected(self) -> bool:
        """Whether the bot is expected back after a restart of the arena."""
        ...

    def unseat(self, number: int, end: play_pb2.MatchEnd) -> None:
        """Send the bot the end of the match of this number, which is over."""
        ...


class Seating:
    """A bot's seat at one match: `arena.referee.seat.SeatPort`."""

    def __init__(
        self,
        session: BotSession,
        number: int,
        spec: MatchSpec,
        seat: int,
        names: tuple[str, ...],
        *,
        is_replayed: bool = False,
    ) -> None:
        """Seat the bot at a match that has this number on its streams; `names` are by seat."""
        self.number = number
        self.asked = 0
        """The last decision that the bot was asked for."""
        self.is_replayed = is_replayed
        """Whether the match is resumed, and its decisions are still being played again."""
        self._note_bytes = 0
        """Bytes of the bot's notes so far, as `arena.records.journal.match_log` counts them."""
        self._notes_refused = False
        self.match_field = match_field(number)
        self.match_start = play_pb2.MatchStart(
            match=number,
            terms=terms_message(spec.terms),
            seat=seat,
            players=[
                play_pb2.Player(seat=at, name=name if at == seat else shown_name(spec, at, name))
                for at, name in enumerate(names)
            ],
            deal_context=spec.deal_contexts[seat] if spec.deal_contexts else b"",
            match_id=spec.match_id,
            dice=spec.dice.seats[seat] if spec.dice is not None else b"",
        )
        self.codec = codec_of(spec.terms.game)
        self._session = session
        self._asks = session.asks
        self._seat = seat
        self._ask: OpenAsk | None = None
        self._presence: Absence | None = None

    @property
    def gone(self) -> bool:
        return self._session.gone

    @property
    def connected(self) -> bool:
        return self._session.connected

    def sit(self, presence: Absence) -> None:
        self._presence = presence
        self.attend(here=self._session.connected or self._session.expected)

    def attend(self, *, here: bool) -> None:
        """Note whether the bot can be reached from now on."""
        if self._presence is not None:
            if here:
                self._presence.came_back()
            else:
                self._presence.left()

    def had_notes(self, note_bytes: int) -> None:
        """Set the number of bytes of the bot's notes from before a restart of the arena."""
        self._note_bytes = note_bytes

    def takes_note(self, note: str) -> bool:
        """Count a note if it fits into the limit; return whether it does."""
        taken = self._note_bytes + note_bytes(note)
        if taken > MAX_MATCH_NOTE_BYTES:
            return False
        self._note_bytes = taken
        return True

    def refuses_notes(self) -> bool:
        """Note that a note does not fit; return true the first time, when the bot is sent a refusal."""
        first, self._notes_refused = not self._notes_refused, True
        return first

    def asked_before(self, decision: int, said: Said | None) -> None:
        self.asked = decision
        self._asks.table.remember(ask_id(self.number, decision), said, self.codec)

    def ask(self, ask: OpenAsk) -> None:
        self._ask = ask
        self.is_replayed = False
        self.asked = ask.decision
        self._asks.ask(self, ask, ask_id(self.number, ask.decision))

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        self._asks.withdraw(ask, ask_id(self.number, ask.decision), fault, reason)

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        end = match_end(self.number, self._seat, outcome, trailing_events)
        self._session.unseat(self.number, end)

    def left(self) -> None:
        """Settle the open ask, because the bot will not answer it."""
        if self._ask is not None and not self._ask.settled:
            self._ask.abandoned()


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
        assert self.seating is not None
        assert self.ask is not None
        return self.seating, self.ask

    def answered(self, said: Said | None, codec: Codec) -> None:
        self.said = said
        self.codec = codec


class AskTable:
    """All remembered asks of one bot."""

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
        return self._open.keys()

    @property
    def any_waiting(self) -> bool:
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
        self._waiting.append(entry)

    def sent(self, entry: AskEntry) -> None:
        """Mark an ask as open: it was sent, or a welcome will list it."""
        entry.state = AskState.OPEN
        self._open[entry.number] = entry

    def next_waiting(self) -> AskEntry | None:
        """Remove and return the ask that has waited longest and is not settled; None if there is none."""
        while self._waiting:
            entry = self._waiting.popleft()
            if _waits(entry):
                return entry
        return None

    def take_open(self, number: int) -> AskEntry | None:
        """Remove and return an open ask to settle it; None if there is none of this id."""
        return self._open.pop(number, None)

    def only_open(self) -> AskEntry | None:
        """Return the one ask that is open; None if there is none, or more than one."""
        return next(iter(self._open.values())) if len(self._open) == 1 else None

    def settle(self, entry: AskEntry) -> None:
        """Settle an ask, by an answer or without one."""
        self._open.pop(entry.number, None)
        entry.state = AskState.SETTLED
        entry.ask = entry.seating = None
        self._settled.append(entry.number)
        if len(self._settled) > REMEMBERED_ASKS:
            del self._entries[self._settled.popleft()]

    def withdraw(self, number: int) -> None:
        """Settle an ask without an answer; it was open, was waiting, or has just been answered."""
        entry = self._entries.get(number)
        if entry is not None and entry.state is not AskState.SETTLED:
            self.settle(entry)

    def remember(self, number: int, said: Said | None, codec: Codec) -> None:
        """Add an ask that was settled before the arena was restarted; the bot may send its answer again."""
        entry = self._entries[number] = AskEntry(number, None, None)
        entry.answered(said, codec)
        self.settle(entry)

    def knows(self, number: int) -> bool:
        """Return whether an ask of this id is remembered."""
        return number in self._entries

    def contradicts(self, answer: play_pb2.Answer) -> bool:
        """Return whether an answer means another move than the one that settled its ask."""
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
    """Sends a bot its asks; at most as many are open as the bot accepts, and the others wait for a free slot."""

    def __init__(self, stream: CurrentStream, now_s: Callable[[], float]) -> None:
        self.table = AskTable()
        self._stream = stream
        self._now_s = now_s
        self._slots = 1
        """Asks that may be open at a time."""
        self._wants_text = False
        self._last_round_trip_ms = 0

    def take(self, slots: int, *, wants_text: bool) -> None:
        """Set the number of simultaneously open asks, and whether asks have texts."""
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
        """Open waiting asks for all free slots.

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
        """Settle an ask without the bot's answer, or after a wrong one."""
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
        self.table.settle(entry)
        self._last_round_trip_ms = max(0, math.ceil((received_s - ask.sent_s) * 1000))

    def listed(
        self, room: int, now_s: float
    ) -> tuple[Sequence[bytes], Sequence[tuple[int, bytes]]]:
        """Return the open asks that fit into `room` bytes of the welcome, and the rest with their ids."""
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
            if self._stream.reach is not None:
                self._stream.reach()  # before the clock starts
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

"""Encode single protobuf fields, and asks from them, where making a message object would cost too much.

See the encoding guide of protobuf: a field is a tag (number and wire type) and either a varint, or a
length and bytes.

Parts of an ask are known at different places. The match runner knows the seat, the faults and the
game's part; the session knows the ask's id, the match's number on its stream, and the clock. Fields of
a protobuf message may be in any order, so the encoded parts are simply joined.
"""

import functools
from collections.abc import Sequence
from typing import Final, Protocol

from cardarena.v1 import play_pb2


def varint(number: int) -> bytes:
    """Encode a non-negative integer, seven bits a byte, lowest first."""
    if number < _SMALL:
        return _VARINTS[number]
    return _CONTINUED[number % _SMALL] + varint(number // _SMALL)


def _varint_slowly(number: int) -> bytes:
    return bytes((number,)) if number < 0x80 else bytes((number & 0x7F | 0x80, number >> 7))


# Two bytes at a time are looked up in tables, as every message contains times and sizes.
_SMALL: Final = 1 << 14
_VARINTS: Final = tuple(_varint_slowly(number) for number in range(_SMALL))
_CONTINUED: Final = tuple(
    bytes((number & 0x7F | 0x80, number >> 7 | 0x80)) for number in range(_SMALL)
)


def tag_varint(field: int) -> bytes:
    """Encode the tag of a field that holds a varint."""
    return varint(field << 3)


def tag_bytes(field: int) -> bytes:
    """Encode the tag of a field that holds bytes, text or a message."""
    return varint(field << 3 | 2)


def delimited(tag: bytes, body: bytes) -> bytes:
    """Encode a field of bytes: tag, length, body."""
    return tag + varint(len(body)) + body


# Fields of Ask.
_ASK_ID: Final = tag_varint(1)
_MATCH: Final = tag_varint(2)
_SEAT: Final = tag_varint(3)
_CLOCK: Final = tag_bytes(4)
_PLAYED_FOR: Final = tag_bytes(5)
_MOVE_TEXT: Final = tag_bytes(6)
_EVENT_TEXT: Final = tag_bytes(7)
_DECISION: Final = tag_varint(8)
# Fields of Clock.
_MOVE_MS: Final = tag_varint(1)
_BANK_MS: Final = tag_varint(2)
_INCREMENT_MS: Final = tag_varint(3)
_ROUND_TRIP_MS: Final = tag_varint(4)
# Fields of ArenaMessage and Asks.
_ASKS: Final = tag_bytes(3)
_ASKS_ASK: Final = tag_bytes(1)
# Fields of ArenaMessage and Welcome.
_WELCOME: Final = tag_bytes(1)
_WELCOME_ASK: Final = tag_bytes(4)

_SEATS: Final = tuple(_SEAT + varint(seat) for seat in range(16))


class _Fault(Protocol):
    @property
    def seat(self) -> int: ...
    @property
    def kind(self) -> int: ...
    @property
    def reason(self) -> str: ...


def seat_field(seat: int) -> bytes:
    """Encode the seat that is asked."""
    return _SEATS[seat]


def played_for(fault: _Fault, events_before: int, *, own: bool) -> bytes:
    """Encode a fallback move that was played for a seat; only that seat (`own`) gets the reason."""
    body = play_pb2.PlayedFor(
        seat=fault.seat,
        kind=fault.kind,  # type: ignore[arg-type]
        reason=fault.reason if own else "",
        events_before=events_before,
    )
    return delimited(_PLAYED_FOR, body.SerializeToString())


def ask_texts(moves: Sequence[str], events: Sequence[str]) -> bytes:
    """Encode moves and events in notation."""
    fields = [delimited(_MOVE_TEXT, text.encode()) for text in moves]
    fields += [delimited(_EVENT_TEXT, text.encode()) for text in events]
    return b"".join(fields)


def match_field(match: int) -> bytes:
    """Encode the match's number on its stream."""
    return _MATCH + varint(match)


def ask_element(
    ask_id: int,
    decision: int,
    match: bytes,
    move_ms: int,
    bank_ms: int,
    increment_ms: int,
    last_round_trip_ms: int,
    body: bytes,
) -> bytes:
    """Encode an ask as an element of `Asks.asks`; `match` and `body` are encoded fields."""
    clock = _clock_field(move_ms, bank_ms, increment_ms, last_round_trip_ms)
    number = varint(ask_id)
    nth = _DECISION + varint(decision)
    size = len(_ASK_ID) + len(number) + len(match) + len(clock) + len(nth) + len(body)
    return b"".join((_ASKS_ASK, varint(size), _ASK_ID, number, match, clock, nth, body))


@functools.lru_cache(maxsize=4096)  # most moves do not change the bank
def _clock_field(move_ms: int, bank_ms: int, increment_ms: int, last_round_trip_ms: int) -> bytes:
    clock = _MOVE_MS + varint(move_ms)
    if bank_ms:
        clock += _BANK_MS + varint(bank_ms)
    if increment_ms:
        clock += _INCREMENT_MS + varint(increment_ms)
    if last_round_trip_ms:
        clock += _ROUND_TRIP_MS + varint(last_round_trip_ms)
    return delimited(_CLOCK, clock)


def asks_frame(elements: Sequence[bytes]) -> bytes:
    """Encode an ArenaMessage with `Asks` of these elements."""
    body = b"".join(elements)
    return _ASKS + varint(len(body)) + body


def as_open_ask(element: bytes) -> bytes:
    """Turn an element of `Asks.asks` into one of `Welcome.open_asks`: only the tag differs."""
    return _WELCOME_ASK + element[len(_ASKS_ASK) :]


def welcome_frame(body: bytes) -> bytes:
    """Encode an ArenaMessage with an encoded `Welcome`."""
    return _WELCOME + varint(len(body)) + body

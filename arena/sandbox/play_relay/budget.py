"""The budget of a launched bot on its socket, and the count of its HTTP/2 frames.

Only the heads of frames are read. A frame counts completely when its head has arrived.
"""

from typing import Final, NamedTuple

BURST_BYTES: Final = 256 << 10
"""The number of bytes of frames besides messages (DATA) that a bot may send in a burst; as over TCP, see `arena.api.admission.connections`."""
BYTES_PER_S: Final = 64 << 10
"""The number of such bytes a second."""
BURST_FRAMES: Final = 40_000
"""The number of frames of any kind in a burst. An arena plays about 10,000 decisions a second with all bots together."""
FRAMES_PER_S: Final = 20_000
BURST_DATA_BYTES: Final = 8 << 20
"""The number of bytes of messages in a burst. The arena limits messages itself; this limit is for messages that no call reads."""
DATA_BYTES_PER_S: Final = 4 << 20
CONNECTION_BYTES: Final = 4_096
"""The number of bytes that a new connection counts for, besides the bytes that are sent on it."""
CALL_BYTES: Final = 1_024
"""The number of bytes that a new call counts for besides its headers: gRPC keeps some bytes of calls that are cancelled at once."""

_PREFACE_BYTES: Final = 24
_HEAD_BYTES: Final = 9
_DATA: Final = 0
_HEADERS: Final = 1


class Sent(NamedTuple):
    """The numbers of sent bytes and frames."""

    beside_bytes: int = 0
    """The bytes of frames that carry no message."""
    frames: int = 0
    data_bytes: int = 0
    """The bytes of frames that carry messages."""


class FrameCounter:
    """Counts the frames that a client sends on one connection."""

    __slots__ = ("_head", "_skip_bytes")

    def __init__(self) -> None:
        """Begin before the preface of HTTP/2."""
        self._skip_bytes = _PREFACE_BYTES
        """Bytes that belong to a frame that is counted already."""
        self._head = b""
        """The first bytes of a head that has not arrived whole."""

    def count(self, data: bytes | memoryview) -> Sent:
        """Count the frames whose heads end in `data`, the next bytes of the connection."""
        if self._head:
            data = self._head + bytes(data)
            self._head = b""
        at, size = self._skip_bytes, len(data)
        beside_bytes = frames = data_bytes = 0
        while at + _HEAD_BYTES <= size:
            whole_bytes = _HEAD_BYTES + (data[at] << 16 | data[at + 1] << 8 | data[at + 2])
            kind = data[at + 3]
            frames += 1
            if kind == _DATA:
                data_bytes += whole_bytes
            else:
                beside_bytes += whole_bytes
                if kind == _HEADERS:
                    beside_bytes += CALL_BYTES
            at += whole_bytes
        if at < size:
            self._head = bytes(data[at:])
            at = size
        self._skip_bytes = at - size
        return Sent(beside_bytes, frames, data_bytes)


class _Limit(NamedTuple):
    """The size of a leaky bucket, and its rate."""

    most: int
    per_s: int
    what: str


_LIMITS: Final = (
    _Limit(BURST_BYTES, BYTES_PER_S, "bytes besides messages"),
    _Limit(BURST_FRAMES, FRAMES_PER_S, "frames"),
    _Limit(BURST_DATA_BYTES, DATA_BYTES_PER_S, "bytes of messages"),
)
"""The limits in the order of the fields of `Sent`."""


class Budget:
    """The budget of one bot for all its connections together."""

    __slots__ = ("_at_s", "_levels", "since_s")

    def __init__(self, now_s: float) -> None:
        """Begin with a whole budget. Times are in seconds of any clock."""
        self._at_s = now_s
        self._levels = [0.0] * len(_LIMITS)
        """Of the buckets of `_LIMITS`, when the budget was used last."""
        self.since_s = now_s
        """When the bot began to send what has not leaked since."""

    def spend(self, now_s: float, sent: Sent) -> str:
        """Count what a bot has sent; return why its connections must be closed, as a sentence, or an empty text."""
        passed_s, self._at_s = now_s - self._at_s, now_s
        levels, why, was_empty = self._levels, "", True
        for number, (most, per_s, what) in enumerate(_LIMITS):
            level = levels[number] - per_s * passed_s
            if level > 0.0:
                was_empty = False
            else:
                level = 0.0
            levels[number] = level = level + sent[number]
            if level > most and not why:
                why = f"it sent more than {most:,} {what} at once and {per_s:,} a second"
        if was_empty:
            self.since_s = now_s
        return why

    @property
    def rest_s(self) -> float:
        """The time in seconds from the last use until the bot may connect again: half of each limit is then available."""
        return max(
            0.0,
            *(
                (level - limit.most / 2) / limit.per_s
                for level, limit in zip(self._levels, _LIMITS, strict=True)
            ),
        )

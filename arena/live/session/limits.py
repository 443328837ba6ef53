"""The limits of every bot on its stream, which `welcome` contains."""

from typing import Final

from arena.referee.clock import GRACE_S
from arena.referee.seat import MAX_MOVE_BYTES
from cardarena.v1 import play_pb2

MAX_MESSAGE_BYTES: Final = 65_536
MAX_NOTE_CHARS: Final = 200
MAX_MATCH_NOTE_BYTES: Final = 1 << 18
MAX_MATCHES: Final = 512
MAX_OPEN_ASKS: Final = 512
MAX_STRIKES: Final = 10
"""The number of refused messages after which a stream is closed."""
FREE_MESSAGES: Final = 40
"""The number of messages that a bot may send in a burst besides the answers to its open asks."""
FREE_MESSAGES_PER_S: Final = 20.0
"""Rate of further ones, in messages a second."""
MIN_PING_INTERVAL_MS: Final = 10_000
"""The shortest interval of HTTP/2 pings: they count as bytes besides messages, so the connection of a client that sends more may be closed."""
MAX_SENT_BYTES: Final = 2 << 20
"""The longest message of the arena, in bytes: a welcome may list 512 matches, and the end of a match all events that were
not sent to a seat before."""

LIMITS: Final = play_pb2.Limits(
    max_message_bytes=MAX_MESSAGE_BYTES,
    max_note_chars=MAX_NOTE_CHARS,
    max_answers=MAX_OPEN_ASKS,
    free_messages=FREE_MESSAGES,
    free_messages_per_s=round(FREE_MESSAGES_PER_S),
    max_refusals=MAX_STRIKES,
    min_ping_interval_ms=MIN_PING_INTERVAL_MS,
    max_sent_bytes=MAX_SENT_BYTES,
    grace_ms=round(GRACE_S * 1000),
    max_match_note_bytes=MAX_MATCH_NOTE_BYTES,
    max_match_move_bytes=MAX_MOVE_BYTES,
)
"""The limits that are the same for all bots, as a message."""

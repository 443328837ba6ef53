"""What a bot was told and what it said, in order and with times: the checker's evidence.

A history is a list of entries. A bot in a process of its own also keeps it in
a file, an entry with one `write`, so that it outlives the bot's SIGKILL.
"""

import os
import struct
from dataclasses import dataclass
from enum import IntEnum

from cardarena.v1 import play_pb2

_HEAD = struct.Struct("<dIIBIQI")


class Kind(IntEnum):
    """What an entry is about; the bodies are those of the messages named."""

    DIALLED = 1  # a stream was opened
    WELCOMED = 2  # Welcome without its asks
    SEATED = 3  # MatchStart
    ASKED = 4  # Ask without its clock, in `asks` or in `welcome`
    ANSWERED = 5  # Answer; written down before it is sent
    WITHDRAWN = 6  # AskClosed
    REFUSED = 7  # Refusal
    ENDED = 8  # MatchEnd
    LOST = 9  # the stream ended; the text says how
    TOLD = 10  # any other ArenaMessage


@dataclass(slots=True)
class Entry:
    """One thing that was told, said or noticed."""

    at_s: float
    """On the monotonic clock, which all processes of a machine share."""
    generation: int
    """The life of the server that the stream was opened to."""
    stream: int
    """The bot's streams, counted from 1."""
    kind: Kind
    match: int = 0
    """As the bot's streams number it; 0 where none is concerned."""
    ask_id: int = 0
    body: bytes = b""

    def packed(self):
        """The entry as bytes of a file."""
        head = (self.at_s, self.generation, self.stream, self.kind, self.match, self.ask_id)
        return _HEAD.pack(*head, len(self.body)) + self.body


class History:
    """A bot's entries so far, kept in a file too if there is one."""

    def __init__(self, bot, path=None):
        self.bot = bot
        self.entries = []
        self._fd = None
        if path is not None:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, entry):
        self.entries.append(entry)
        if self._fd is not None:
            os.write(self._fd, entry.packed())

    def of_kind(self, kind):
        return [entry for entry in self.entries if entry.kind is kind]

    def close(self):
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def read_history(bot, path):
    """The history that a bot's processes left in a file; a torn end is passed over."""
    found = History(bot)
    data = path.read_bytes() if path.exists() else b""
    at = 0
    while len(data) - at >= _HEAD.size:
        at_s, generation, stream, kind, match, ask_id, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if len(data) - at < size:
            break
        body = data[at : at + size]
        found.entries.append(Entry(at_s, generation, stream, Kind(kind), match, ask_id, body))
        at += size
    return found


def without_clock(ask):
    """An ask's bytes but for its clock: what must not change however often it is told."""
    same = play_pb2.Ask()
    same.CopyFrom(ask)
    same.ClearField("clock")
    return same.SerializeToString(deterministic=True)

"""The framing of records in journal segments, replays and notes files.

A file is a line of magic, then records: a little-endian u32 length, the
CRC-32 of the body as u32, and the body, one `cardarena.v1.Record`. The bodies
of a match form a hash chain, see `chained`.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeVar

from google.protobuf.message import DecodeError, Message

M = TypeVar("M", bound=Message)

JOURNAL_MAGIC: Final = b"cardarena journal 1\n"
REPLAY_MAGIC: Final = b"cardarena replay 1\n"
NOTES_MAGIC: Final = b"cardarena notes-file 1\n"
CHAIN_START: Final = bytes(32)
MAX_RECORD_BYTES: Final = 1 << 20
"""The longest record; a longer or an empty one is damage."""
MAX_REPLAY_BYTES: Final = 1 << 26
"""The largest replay; a thousand hands take a tenth of it."""
MAX_REPLAY_RECORDS: Final = 1 << 19
"""The largest number of records of a replay, as each takes some hundred bytes of memory."""

_HEADER: Final = struct.Struct("<II")
_MATCH_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


class Damaged(Exception):
    """A file is damaged. The text says where and how."""


class CutOff(Damaged):
    """A file ends within a record, as when its writer was killed."""


def framed(body: bytes) -> bytes:
    """A record with its frame, as in a file."""
    return _HEADER.pack(len(body), zlib.crc32(body)) + body


def chained(chain: bytes, body: bytes) -> bytes:
    """The hash chain of a match after a record with this body."""
    return hashlib.sha256(chain + body).digest()


def read_strictly(kind: type[M], body: bytes) -> M:
    """Parse a message that has exactly the bytes that the arena would write.

    Protocol Buffers allow several encodings of a message: fields out of order or twice, numbers
    with padding, unknown fields. Hashed and signed messages must have one encoding.

    Raises:
      Damaged: if the bytes differ. The text continues a sentence about the record.
    """
    try:
        message = kind.FromString(body)
    except DecodeError:
        raise Damaged("cannot be read") from None
    message.DiscardUnknownFields()  # type: ignore[attr-defined]  # missing in its stubs
    if message.SerializeToString(deterministic=True) != body:
        raise Damaged(
            "is not encoded as the arena does it: it has padding, or a field that is unknown, "
            "repeated or out of order"
        )
    return message


@dataclass(frozen=True, slots=True)
class Framed:
    """The body of a record and its place in the file."""

    offset: int
    body: bytes


def read_records(file: BinaryIO, magic: bytes) -> Iterator[Framed]:
    """The records of a file in order, from its first line on.

    Raises:
      Damaged: at the first damage: another kind of file,
        a newer format, a cut tail, an impossible length, or a body that does not
        match its checksum.
    """
    found = file.read(len(magic))
    if found != magic:
        raise Damaged(_why_not(magic, found))
    yield from records_from(file, len(magic))


def records_from(file: BinaryIO, offset: int) -> Iterator[Framed]:
    """The records of a file from its position, `offset`; raises as `read_records`."""
    while header := file.read(_HEADER.size):
        if len(header) < _HEADER.size:
            raise CutOff(f"cut off within the record header at byte {offset}")
        size, crc = _HEADER.unpack(header)
        # Some file systems leave zeros at the end after a power cut, which look like empty
        # records with the right checksum, 0.
        if not 0 < size <= MAX_RECORD_BYTES:
            raise Damaged(f"the record at byte {offset} has an impossible length of {size}")
        body = file.read(size)
        if len(body) < size:
            if zlib.crc32(body) == crc:  # the body is complete: the length was changed
                raise Damaged(f"the record at byte {offset} has another length than it says")
            raise CutOff(f"cut off within the record at byte {offset}")
        if zlib.crc32(body) != crc:
            raise Damaged(f"the record at byte {offset} does not match its checksum")
        yield Framed(offset, body)
        offset += _HEADER.size + size


def next_record(file: BinaryIO, after: int) -> int | None:
    """The start of the first sound record after a damaged byte; None if there is none.

    Other bytes may look like a record by chance, once in four billion places. The search ends
    early in a file where it would take too long.
    """
    file.seek(after)
    data = memoryview(file.read(_SEARCHED_BYTES))
    work = 0
    for at in range(1, len(data) - _HEADER.size):
        size, crc = _HEADER.unpack_from(data, at)
        begin = at + _HEADER.size
        if not 0 < size <= MAX_RECORD_BYTES or begin + size > len(data):
            continue
        work += size
        if work > _SEARCHED_WORK:
            return None
        if zlib.crc32(data[begin : begin + size]) == crc:
            return after + at
    return None


_SEARCHED_BYTES: Final = 4 * MAX_RECORD_BYTES
"""The length of the search after damage: any record ends before."""
_SEARCHED_WORK: Final = 1 << 29
"""Bytes that the search computes checksums of, at most."""


def _why_not(magic: bytes, found: bytes) -> str:
    """Why `found`, a file's first bytes, is not `magic`."""
    _, kind, version = magic.decode().split()
    stem = magic[: magic.rindex(b" ") + 1]
    if found.startswith(stem) and found[len(stem) :].strip().isdigit():
        theirs = found[len(stem) :].strip().decode()
        return f"this {kind} has format {theirs}; this arena reads format {version}"
    if found and magic.startswith(found):
        return f"this {kind} is cut off within its first line"
    return f"this is not a {kind} of the arena"


def check_match_id(match_id: str) -> None:
    """Require an id that can name a file.

    Raises:
      ValueError: if it is empty, over 128 characters, or has others than
        letters, digits, `.`, `_` and `-`.
    """
    if not _MATCH_ID.fullmatch(match_id):
        raise ValueError(f"{match_id!r} cannot be the id of a match")

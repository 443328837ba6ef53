"""Encode single protobuf fields, where making a message object would cost too much.

See the encoding guide of protobuf: a field is a tag (number and wire type) and either a varint, or a
length and bytes.
"""

from typing import Final


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

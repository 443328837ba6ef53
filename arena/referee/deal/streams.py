"""Steps 5 and 6 of protocol fd1: derive the shuffles of a deal-set from its key.

Only SHA-256 and HMAC-SHA-256 are used, so that a deal can be checked in any language. Byte strings are
joined with their lengths, so that different lists of parts give different bytes.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from arena.games.cards import Card

DICE_BYTES: Final = 16
COMMON: Final = 0
"""The table that stands for all tables of a deal-set."""

_PROTOCOL: Final = b"fd1"
_BYTE: Final = 1 << 8

_HMAC_BLOCK_BYTES: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(_BYTE))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(_BYTE))

T = TypeVar("T")


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA-256 (RFC 2104).

    `hmac.digest` releases the interpreter lock with each call and waits to get it back. On an arena with
    busy disks that took 64 µs; this function takes 1 µs. It is called several times for each hand.
    """
    if len(key) > _HMAC_BLOCK_BYTES:
        key = hashlib.sha256(key).digest()
    key = key.ljust(_HMAC_BLOCK_BYTES, b"\0")
    inner = hashlib.sha256(key.translate(_INNER) + message).digest()
    return hashlib.sha256(key.translate(_OUTER) + inner).digest()


def encode_parts(*parts: bytes) -> bytes:
    """Join byte strings, each after its length as a big-endian 32-bit number."""
    return b"".join([len(part).to_bytes(4, "big") + part for part in parts])


def labelled_hash(label: bytes, *parts: bytes) -> bytes:
    """Return SHA-256 over the name of the protocol, a label and parts."""
    return hashlib.sha256(encode_parts(_PROTOCOL, label, *parts)).digest()


def deal_set_key(transcript: bytes, secret: bytes, entropies: Mapping[str, bytes]) -> bytes:
    """Return the key of a deal-set from the arena's secret and the bots' entropies (step 5)."""
    sorted_entropies = (encode_parts(bot.encode(), entropies[bot]) for bot in sorted(entropies))
    material = encode_parts(secret, *sorted_entropies)
    return hmac_sha256(transcript, material)


def seeded_key(seed: str) -> bytes:
    """Return the key of a deal-set that is repeatable instead of fair."""
    parts = seed.encode()
    return deal_set_key(labelled_hash(b"seeded", parts), labelled_hash(b"seed", parts), {})


def new_key() -> bytes:
    """Return a random key of 256 bits."""
    secret = os.urandom(32)
    return deal_set_key(labelled_hash(b"unseeded"), secret, {})


def board_key(key: bytes, board: int) -> bytes:
    """Return the key of one board, which fixes the shuffles of one hand (step 5)."""
    info = encode_parts(_PROTOCOL, b"board", board.to_bytes(4, "big"))
    return hmac_sha256(key, info + b"\x01")


def derived(key: bytes, label: bytes, *numbers: int) -> bytes:
    """Return 32 bytes that follow from a key, a label that no other use has, and numbers."""
    return hmac_sha256(
        key, encode_parts(_PROTOCOL, label, *(number.to_bytes(4, "big") for number in numbers))
    )


class KeyStream:
    """A stream of bytes, fixed by the key of a board and a label, and numbers drawn from it."""

    def __init__(self, key_of_board: bytes, label: str) -> None:
        info = encode_parts(_PROTOCOL, b"stream", label.encode())
        self._key = hmac_sha256(key_of_board, info)
        self._blocks = 0
        self._buffer = b""
        self._at = 0
        self.rejected = 0
        """The number of draws rejected so far to avoid a bias."""

    def below(self, n: int) -> int:
        """Draw an integer uniformly from [0, n) (step 6).

        Takes as few whole bytes as can hold n - 1, and draws again if the number is in the incomplete
        last span.

        Raises `ValueError` if `n` is not positive.
        """
        if n < 1:
            raise ValueError("n must be positive")
        if n == 1:
            return 0
        size = ((n - 1).bit_length() + 7) // 8
        span = 1 << (8 * size)
        limit = span - span % n
        while True:
            drawn = int.from_bytes(self._take(size), "big")
            if drawn < limit:
                return drawn % n
            self.rejected += 1

    def descend(self, n: int) -> list[int]:
        """Return the draws of `below` for n, n - 1 and so on down to 2, in that order.

        This is much quicker than `below` for numbers that take one byte, as for a pack.
        """
        drawn = [self.below(span) for span in range(n, _BYTE, -1)]
        buffer, at, size = self._buffer, self._at, len(self._buffer)
        for span in range(min(n, _BYTE), 1, -1):
            limit = _BYTE - _BYTE % span
            while True:
                if at == size:
                    self._at = at
                    self._fill()
                    buffer, at, size = self._buffer, 0, len(self._buffer)
                byte = buffer[at]
                at += 1
                if byte < limit:
                    break
                self.rejected += 1
            drawn.append(byte % span)
        self._at = at
        return drawn

    def _fill(self) -> None:
        block = hmac_sha256(self._key, self._blocks.to_bytes(8, "big"))
        self._buffer = self._buffer[self._at :] + block
        self._at = 0
        self._blocks += 1

    def _take(self, size: int) -> bytes:
        while len(self._buffer) - self._at < size:
            self._fill()
        taken = self._buffer[self._at : self._at + size]
        self._at += size
        return taken


def shuffled(items: Sequence[T], stream: KeyStream) -> tuple[T, ...]:
    """Return the items in random order, by a Fisher-Yates shuffle from the last place down."""
    order = list(items)
    for at, other in zip(range(len(order) - 1, 0, -1), stream.descend(len(order)), strict=True):
        order[at], order[other] = order[other], order[at]
    return tuple(order)


class KeyedDeals:
    """The deals of a match, from the key of its deal-set; see `arena.games.contract.Deals`."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def __reduce__(self) -> tuple[type["KeyedDeals"], tuple[bytes]]:
        """Pickle the deals by their key: a compiled class cannot be restored without its arguments."""
        return KeyedDeals, (self.key,)

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        return shuffled(cards, KeyStream(board_key(self.key, hand), label))


@dataclass(frozen=True, slots=True)
class Dice:
    """The dice of a match: the secret bytes from which its bots take their random numbers.

    Like the cards, they follow from the key of the deal-set, under a separate label. If bots have the same dice at
    every table of a deal-set, results differ only by their decisions, so a comparison needs fewer deal-sets.
    """

    table: int
    """The number of the table in the plan, from 1; `COMMON` if all tables of the deal-set have the same."""
    seats: tuple[bytes, ...]
    """By seat. Each is secret to the other seats until the deal-set is over."""


def dice_of(key: bytes, table: int, seats: int) -> Dice:
    """Return the dice of a table from the key of its deal-set."""
    at_table = (derived(key, b"dice", table, seat) for seat in range(seats))
    return Dice(table, tuple(dice[:DICE_BYTES] for dice in at_table))

"""From a deal-set's key to its shuffles: steps 5 and 6 of protocol fd1.

Only SHA-256 and HMAC-SHA-256 are used, so that any language can check a deal.
Byte strings are joined by their length and content, so that no two different
lists of parts give the same bytes.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from arena.cards import Card

_PROTOCOL: Final = b"fd1"
_BLOCK_BYTES: Final = 32
_BYTE: Final = 1 << 8
"""Numbers that one byte can tell apart."""

_HMAC_BLOCK_BYTES: Final = 64
_INNER: Final = bytes(each ^ 0x36 for each in range(_BYTE))
_OUTER: Final = bytes(each ^ 0x5C for each in range(_BYTE))

T = TypeVar("T")


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 (RFC 2104).

    `hmac.digest` lets other threads run each time it is called, and then waits for its turn: on an arena
    whose disks are busy that took 64 µs where this takes 1, some times for each hand.
    """
    if len(key) > _HMAC_BLOCK_BYTES:
        key = hashlib.sha256(key).digest()
    key = key.ljust(_HMAC_BLOCK_BYTES, b"\0")
    inner = hashlib.sha256(key.translate(_INNER) + message).digest()
    return hashlib.sha256(key.translate(_OUTER) + inner).digest()


def encode_parts(*parts: bytes) -> bytes:
    """Join byte strings unambiguously: each as a big-endian u32 length and itself."""
    return b"".join([len(part).to_bytes(4, "big") + part for part in parts])


def labelled_hash(label: bytes, *parts: bytes) -> bytes:
    """SHA-256 over the protocol's name, a label and parts."""
    return hashlib.sha256(encode_parts(_PROTOCOL, label, *parts)).digest()


def deal_set_key(transcript: bytes, secret: bytes, entropies: Mapping[str, bytes]) -> bytes:
    """The key of a deal-set from the server's secret and the bots' entropy (step 5)."""
    sorted_entropies = (encode_parts(bot.encode(), entropies[bot]) for bot in sorted(entropies))
    material = encode_parts(secret, *sorted_entropies)
    return hmac_sha256(transcript, material)


def seeded_key(seed: str) -> bytes:
    """The key of a deal-set that is to be repeatable rather than fair."""
    parts = seed.encode()
    return deal_set_key(labelled_hash(b"seeded", parts), labelled_hash(b"seed", parts), {})


def new_key() -> bytes:
    """A key of 256 bits that nobody can know before it is published."""
    secret = os.urandom(32)
    return deal_set_key(labelled_hash(b"unseeded"), secret, {})


def board_key(key: bytes, board: int) -> bytes:
    """The key of one board, that is of one hand's shuffles (step 5)."""
    info = encode_parts(_PROTOCOL, b"board", board.to_bytes(4, "big"))
    return hmac_sha256(key, info + b"\x01")


class Stream:
    """The bytes fixed by a board's key and a label, and numbers drawn from them."""

    def __init__(self, key_of_board: bytes, label: str) -> None:
        info = encode_parts(_PROTOCOL, b"stream", label.encode())
        self._key = hmac_sha256(key_of_board, info)
        self._blocks = 0
        self._buffer = b""
        self._at = 0
        self.rejected = 0
        """Draws thrown away so far because they would have been biased."""

    def below(self, n: int) -> int:
        """Draw an integer uniformly from [0, n) (step 6).

        Takes as few whole bytes as can hold n - 1 and draws again while the
        number falls into the incomplete last span.

        Raises:
          ValueError: if `n` is not positive.
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
        """What `below` draws for n, n - 1 and so on down to 2, in that order.

        Much quicker for the numbers of a pack, each of which takes one byte.
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


def shuffled(items: Sequence[T], stream: Stream) -> tuple[T, ...]:
    """The items in the order drawn by Fisher and Yates, from the last place down."""
    order = list(items)
    for at, other in zip(range(len(order) - 1, 0, -1), stream.descend(len(order)), strict=True):
        order[at], order[other] = order[other], order[at]
    return tuple(order)


class KeyedDeals:
    """The deals of a match, from the key of its deal-set: `arena.games.contract.Deals`."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        """The order of `cards` for this hand (its board) and label."""
        return shuffled(cards, Stream(board_key(self.key, hand), label))

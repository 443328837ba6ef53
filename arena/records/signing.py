"""Signs replays, official standings and the transcripts of fair deals with the arena's key.

A hash chain shows that a file is unchanged; a signature shows who wrote it. A replay
ends with a signature over everything before it. Each bot receives the signature of its
transcript, as a receipt. All are Ed25519 (RFC 8032), over a hash with a label for each
kind, so that none can be used as another.
"""

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from arena import durable_files
from arena.records.playback import Discrepancy
from arena.records.read import Replay
from arena.referee.deal.streams import labelled_hash

KEY_NAME: Final = "arena-key"
"""The file of the private key, in the arena's data folder."""
PUBLIC_KEY_BYTES: Final = 32
SHOWN_DIGITS: Final = 16
"""The number of hexadecimal digits of a key that a line shows: so many that another key with the same digits cannot be found."""


class ArenaKey:
    """The arena's private key, with which it signs."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @classmethod
    def new(cls) -> "ArenaKey":
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes) -> "ArenaKey":
        """Read a key from the content of its file. Raises `ValueError` if that is not the key of an arena."""
        with contextlib.suppress(ValueError, TypeError, UnsupportedAlgorithm):
            private = load_pem_private_key(pem, password=None)
            if isinstance(private, Ed25519PrivateKey):
                return cls(private)
        # The library's own message may contain the secret.
        raise ValueError("it is not a private key of Ed25519 in PEM, without a password")

    def __reduce__(self) -> tuple[Callable[[bytes], "ArenaKey"], tuple[bytes]]:
        """Pickle the key as its PEM, for processes that write replays."""
        return _unpickled, (self.pem,)

    @functools.cached_property
    def pem(self) -> bytes:
        """The content of the key's file. Secret."""
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public_key(self) -> bytes:
        """The key for checking its signatures, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    def sign(self, statement: bytes) -> bytes:
        """Return the signature of a statement, 64 bytes."""
        return self._private.sign(statement)


@functools.cache
def _unpickled(pem: bytes) -> ArenaKey:
    return ArenaKey.from_pem(pem)


def arena_key(data: Path) -> ArenaKey:
    """Return the key in an arena's data folder; it is made on first use.

    Raises `OSError` if it cannot be read or written, and `ValueError` if the file has another content.
    """
    with contextlib.suppress(FileNotFoundError):
        durable_files.keep_private(data / KEY_NAME)
        return kept_key(data)
    key = ArenaKey.new()
    durable_files.write_whole(data / KEY_NAME, (key.pem,), data / f".{KEY_NAME}.partial", 0o600)
    return key


def kept_key(data: Path) -> ArenaKey:
    """Return the existing key in an arena's data folder.

    Raises:
      OSError: if it cannot be read; FileNotFoundError if there is none yet.
      ValueError: if the file has another content.
    """
    path = data / KEY_NAME
    try:
        return ArenaKey.from_pem(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not the key of an arena: {error}") from None


def replay_statement(chain: bytes) -> bytes:
    """Return the statement that is signed for a replay; `chain` is that after its record `revealed`."""
    return labelled_hash(b"replay-signature", chain)


def transcript_statement(transcript: bytes) -> bytes:
    """Return the statement that is signed for a fair deal before any bot opens its commitment."""
    return labelled_hash(b"transcript-signature", transcript)


def standings_statement(body: bytes) -> bytes:
    """Return the statement that is signed for official standings; `body` is their stored text."""
    return labelled_hash(b"table-signature", body)


def is_signed(public_key: bytes, signature: bytes, statement: bytes) -> bool:
    """Return whether a signature is valid for a statement and a key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, statement)
    except (ValueError, InvalidSignature):
        return False
    return True


def signed_by(replay: Replay) -> bytes:
    """Return the public key of the arena that signed a replay; empty if none did.

    Raises `Discrepancy` if the signature is not by the key that the replay names, over this replay.
    """
    if replay.signed is None:
        return b""
    public_key = replay.revealed.public_key
    if not is_signed(public_key, replay.signed.signature, replay_statement(replay.chain)):
        raise Discrepancy("its signature is not of this replay, or not by the key that it names")
    return public_key


def require_signed_by(replay: Replay, public_key: bytes) -> None:
    """Require that the arena with this key has signed a replay.

    Raises `Discrepancy` if there is no valid signature by this key.
    """
    signer = signed_by(replay)
    if not signer:
        raise Discrepancy("it is not signed, so the arena may never have written it")
    if signer != public_key:
        raise Discrepancy(f"it is signed by another arena, with the key {shown_key(signer)}")


def shown_key(public_key: bytes) -> str:
    """Return the first digits of a public key, for people."""
    return public_key.hex()[:SHOWN_DIGITS]

"""What the arena signs with its own key: replays, official tables, and the transcripts of fair deals.

A hash chain shows that a file is as its writer left it; a signature shows who the
writer was. A replay ends with a signature over everything before it. The signature
of a transcript is sent to each bot, as a receipt that others will believe. All are
Ed25519 (RFC 8032), each over a hash with a label of its own, so that none can be
passed off as another.
"""

import contextlib
from pathlib import Path
from typing import Final, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from arena.deal.streams import labelled_hash
from arena.replay import disk
from arena.replay.frames import Discrepancy
from arena.replay.read import Replay

KEY_NAME: Final = "arena-key"
"""The file of the private key, in the arena's folder of data."""
PUBLIC_KEY_BYTES: Final = 32
SHOWN_DIGITS: Final = 16
"""Hexadecimal digits by which a line names a key; that many are not made to fit by chance."""


class Signer(Protocol):
    """Signs in the arena's name."""

    @property
    def public_key(self) -> bytes:
        """What its signatures are checked by, 32 bytes."""
        ...

    def sign(self, statement: bytes) -> bytes:
        """The signature of a statement, 64 bytes."""
        ...


class ArenaKey:
    """The arena's private key: a `Signer`."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @classmethod
    def new(cls) -> "ArenaKey":
        """A key that nobody can know."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes) -> "ArenaKey":
        """A key from its file.

        Raises:
          ValueError: if that is not the key of an arena.
        """
        with contextlib.suppress(ValueError, TypeError, UnsupportedAlgorithm):
            private = load_pem_private_key(pem, password=None)
            if isinstance(private, Ed25519PrivateKey):
                return cls(private)
        # Not the library's words, which may hold what it was given.
        raise ValueError("it is not a private key of Ed25519 in PEM, without a password")

    @property
    def pem(self) -> bytes:
        """The key as its file has it. Secret."""
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public_key(self) -> bytes:
        """What its signatures are checked by, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    def sign(self, statement: bytes) -> bytes:
        """The signature of a statement, 64 bytes."""
        return self._private.sign(statement)


def arena_key(data: Path) -> ArenaKey:
    """The key of the arena with this folder of data: made at first, then always the same.

    Raises:
      OSError: if it cannot be read or written.
      ValueError: if the file holds something else.
    """
    with contextlib.suppress(FileNotFoundError):
        disk.keep_private(data / KEY_NAME)
        return kept_key(data)
    key = ArenaKey.new()
    disk.write_whole(data / KEY_NAME, (key.pem,), data / f".{KEY_NAME}.partial", 0o600)
    return key


def kept_key(data: Path) -> ArenaKey:
    """The key that an arena has made.

    Raises:
      OSError: if it cannot be read; FileNotFoundError if there is none yet.
      ValueError: if the file holds something else.
    """
    path = data / KEY_NAME
    try:
        return ArenaKey.from_pem(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not the key of an arena: {error}") from None


def replay_statement(chain: bytes) -> bytes:
    """What is signed of a replay; `chain` is that after its record `revealed`."""
    return labelled_hash(b"replay-signature", chain)


def transcript_statement(transcript: bytes) -> bytes:
    """What is signed of a fair deal before any bot opens its commitment."""
    return labelled_hash(b"transcript-signature", transcript)


def table_statement(body: bytes) -> bytes:
    """What is signed of an official table; `body` is all of it, as it is kept."""
    return labelled_hash(b"table-signature", body)


def is_signed(public_key: bytes, signature: bytes, statement: bytes) -> bool:
    """Whether a signature is of this statement and by this key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, statement)
    except (ValueError, InvalidSignature):
        return False
    return True


def signed_by(replay: Replay) -> bytes:
    """The public key of the arena that signed a replay; empty if none did.

    Raises:
      Discrepancy: if the signature is not by the key that the replay names, over this replay.
    """
    if replay.signed is None:
        return b""
    public_key = replay.revealed.public_key
    if not is_signed(public_key, replay.signed.signature, replay_statement(replay.chain)):
        raise Discrepancy("its signature is not of this replay, or not by the key that it names")
    return public_key


def require_signed_by(replay: Replay, public_key: bytes) -> None:
    """Require that one arena has signed a replay.

    Raises:
      Discrepancy: if it is not signed, not rightly, or by another arena.
    """
    signer = signed_by(replay)
    if not signer:
        raise Discrepancy("it is not signed, so the arena may never have written it")
    if signer != public_key:
        raise Discrepancy(f"it is signed by another arena, with the key {shown_key(signer)}")


def shown_key(public_key: bytes) -> str:
    """A public key in a line for people."""
    return public_key.hex()[:SHOWN_DIGITS]

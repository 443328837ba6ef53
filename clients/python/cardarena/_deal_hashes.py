"""The hashes of a fair deal by protocol fd2, steps 1 to 5, and of what a receipt proves.

The code is independent of the arena that it checks.
"""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

from cardarena.v1.play_pb2 import MatchEnd

HASH_BYTES: Final = 32
ENTROPY_BYTES: Final = 32
SALT_BYTES: Final = 32
NO_COMMITMENT: Final = bytes(HASH_BYTES)


def joined(*parts: bytes) -> bytes:
    """Return byte strings with their lengths, so that different lists give different bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def digest(label: bytes, *parts: bytes) -> bytes:
    """Return the protocol's hash for a purpose."""
    return hashlib.sha256(joined(b"fd1", label, *parts)).digest()


def commitment_of(context: bytes, participant: str, entropy: bytes) -> bytes:
    """Return the commitment of a participant to its entropy."""
    return digest(b"bot-commit", context, participant.encode(), entropy)


def view_of(deal: bytes, participant: str, salt: bytes) -> bytes:
    """Return the context of a deal-set for one participant."""
    return digest(b"view", deal, participant.encode(), salt)


def seal_of(context: bytes, transcript: bytes, salt: bytes) -> bytes:
    """Return the seal, which binds the arena to a transcript before it is published."""
    return digest(b"seal", context, transcript, salt)


def shown_of(
    context: bytes, server_commitment: bytes, participant: str, commitment: bytes, seal: bytes
) -> bytes:
    """Return the hash of all that a participant receives before it opens its commitment."""
    committed = joined(participant.encode(), commitment)
    return digest(b"view-transcript", context, server_commitment, committed, seal)


def transcript_of(
    context: bytes, server_commitment: bytes, commitments: Mapping[str, bytes]
) -> bytes:
    """Return the hash of all commitments."""
    pairs = [joined(name.encode(), commitments[name]) for name in sorted(commitments)]
    return digest(b"transcript", context, server_commitment, *pairs)


def key_of(transcript: bytes, secret: bytes, entropies: Mapping[str, bytes]) -> bytes:
    """Return the key from which all packs of the deal-set follow."""
    pairs = [joined(name.encode(), entropies[name]) for name in sorted(entropies)]
    return hmac.digest(transcript, joined(secret, *pairs), "sha256")


def next_link(chain: bytes, decision: int, payload: bytes) -> bytes:
    """Return the chain after another ask."""
    return hashlib.sha256(chain + decision.to_bytes(4, "big") + payload).digest()


def end_sha256(end: MatchEnd) -> bytes:
    """Return the SHA-256 over the joined events of the end of a match."""
    events: list[bytes] = []
    for event in end.trailing_events:
        if family := event.WhichOneof("game"):
            game: Any = getattr(event, family)
            events.append(game.SerializeToString(deterministic=True))
    return hashlib.sha256(joined(*events)).digest()

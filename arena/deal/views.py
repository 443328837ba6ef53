"""Protocol fd2: a view of its own for each participant of a deal-set.

By fd1 all participants of a deal-set see the same context, commitment and transcript. Two bots that compare
them know that they play the same boards. By fd2 each participant has a view of its own: every value is
hashed with a salt of 256 bits, which is opened after the deal-set. Before that, no two views have a value
in common; after it, every view can be verified against the deal-set.
"""

from typing import Final

from arena.deal.streams import encode_parts, labelled_hash

SALT_BYTES: Final = 32


def view_context(context: bytes, participant: str, salt: bytes) -> bytes:
    """Return the context of a deal-set that one participant sees; without a salt the deal-set's own.

    It binds the arena to the deal-set and hides which deal-set it is.
    """
    if not salt:
        return context  # protocol fd1
    return labelled_hash(b"view", context, participant.encode(), salt)


def seal(view: bytes, transcript: bytes, salt: bytes) -> bytes:
    """Return a hiding commitment to the deal-set's transcript, under a participant's view."""
    return labelled_hash(b"seal", view, transcript, salt)


def view_transcript(
    view: bytes, server_commitment: bytes, participant: str, commitment: bytes, seal: bytes
) -> bytes:
    """Return the hash over everything that one participant saw before it revealed its entropy.

    Args:
      view: The context of its view.
      server_commitment: The arena's commitment under that context.
      participant: The name of the participant.
      commitment: The participant's commitment that the arena has received.
      seal: The result of `seal`.
    """
    own = encode_parts(participant.encode(), commitment)
    return labelled_hash(b"view-transcript", view, server_commitment, own, seal)

"""What each participant sees of a deal-set before it is over: protocol fd2.

By fd1 all who play a deal-set are shown the same context, commitment and transcript, so
two bots that compare notes know that they play the same boards. By fd2 each has a
view of its own: every value in it is hashed with a salt of 256 bits that is opened
when the deal-set is over, so no two views have anything in common before, and all lead
to the one deal-set after.
"""

from typing import Final

from arena.deal.streams import encode_parts, labelled_hash

SALT_BYTES: Final = 32


def view_context(context: bytes, participant: str, salt: bytes) -> bytes:
    """The context of a deal-set as one participant is told it; without a salt the deal-set's own.

    It binds the arena to the deal-set and hides which one it is.
    """
    if not salt:
        return context  # protocol fd1
    return labelled_hash(b"view", context, participant.encode(), salt)


def seal(view: bytes, transcript: bytes, salt: bytes) -> bytes:
    """Commits to the deal-set's transcript under a participant's view, and hides it."""
    return labelled_hash(b"seal", view, transcript, salt)


def view_transcript(
    view: bytes, server_commitment: bytes, participant: str, commitment: bytes, seal: bytes
) -> bytes:
    """The hash over all that one participant was shown before it revealed.

    Args:
      view: Its context.
      server_commitment: The arena's commitment under that context.
      participant: Its name.
      commitment: What the arena has as its commitment.
      seal: As by `seal`.
    """
    own = encode_parts(participant.encode(), commitment)
    return labelled_hash(b"view-transcript", view, server_commitment, own, seal)

"""Who fixed a deal-set's shuffles, and that nobody chose them: steps 1 to 5 of protocol fd1.

The arena commits to a secret, then each bot to entropy of its own, then all of
it is bound, opened and mixed into one key. A bot takes part under a pseudonym
that is drawn for each deal-set, and sees a view of its own (`arena.deal.views`). Whoever holds what was published afterwards
can recompute every step with `opened_key`.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote

from arena.deal.streams import deal_set_key, encode_parts, labelled_hash

ENTROPY_BYTES: Final = 32
"""Length of the arena's secret and of each bot's entropy."""

NO_COMMITMENT: Final = bytes(32)
"""Stands for the commitment of a participant that adds no entropy; it opens to b""."""

SettingValue: TypeAlias = int | str | bool


class Lie(Exception):
    """What was published does not follow from what was committed to. The text says who and what."""


@dataclass(frozen=True, slots=True)
class DealTerms:
    """All that is fixed of a deal-set before anybody can know its packs."""

    server_id: str
    deal_set: str
    game: str
    """The game's id."""
    rules_hash: bytes
    """As by `rules_hash`."""
    deck: tuple[str, ...]
    """The cards of the first shuffle, in the order in which they are handed to it."""
    boards: int
    """Boards that may be dealt; 0 is as many as the matches take."""
    plan_hash: bytes
    """As by `plan_hash`."""
    participants: tuple[str, ...]
    """The pseudonyms, sorted."""
    log_head: bytes
    """The head of the public log of commitments before this one."""


def context(terms: DealTerms) -> bytes:
    """The 32 bytes that name a deal-set and bind all its terms (step 1).

    Raises:
      ValueError: if the participants are not sorted, or two are the same.
    """
    if list(terms.participants) != sorted(set(terms.participants)):
        raise ValueError("the participants must be sorted and all different")
    return labelled_hash(
        b"context",
        terms.server_id.encode(),
        terms.deal_set.encode(),
        terms.game.encode(),
        terms.rules_hash,
        encode_parts(*(card.encode() for card in terms.deck)),
        terms.boards.to_bytes(4, "big"),
        terms.plan_hash,
        encode_parts(*(participant.encode() for participant in terms.participants)),
        terms.log_head,
    )


def rules_hash(game_id: str, rules_version: int, settings: Mapping[str, str]) -> bytes:
    """SHA-256 over a game, the version of its rules and all its options.

    Args:
      game_id: As `abstrac`.
      rules_version: As in the catalogue.
      settings: The options' values by name, written as `setting_texts` does.
    """
    lines = sorted(f"{name}={value}" for name, value in settings.items())
    return labelled_hash(
        b"rules",
        game_id.encode(),
        rules_version.to_bytes(4, "big"),
        encode_parts(*(line.encode() for line in lines)),
    )


def setting_texts(settings: Mapping[str, SettingValue]) -> dict[str, str]:
    """The values of options as `rules_hash` takes them: decimal, true or false, or the text."""
    return {name: _setting_text(value) for name, value in settings.items()}


def plan_hash(plan: str, salt: bytes) -> bytes:
    """Commits to a plan. Plans are few, so that 32 random bytes keep it from being guessed."""
    return labelled_hash(b"plan", plan.encode(), salt)


def plan_line(match_id: str, rotation: int, bots: Iterable[tuple[str, int]]) -> str:
    """One match of a plan. A plan is the lines of its matches in order, joined by line feeds.

    Args:
      match_id: The match's id, without spaces.
      rotation: By how many seats the bots are turned at this table; 0 for a match alone.
      bots: Name and instance of the bot at each seat.
    """
    seats = (f"{quote(name, safe='')}/{instance}" for name, instance in bots)
    return " ".join((match_id, str(rotation), *seats))


def server_commitment(context: bytes, secret: bytes) -> bytes:
    """The arena's commitment to its secret (step 1)."""
    return labelled_hash(b"server-commit", context, secret)


def bot_commitment(context: bytes, participant: str, entropy: bytes) -> bytes:
    """A participant's commitment to its entropy (step 2)."""
    return labelled_hash(b"bot-commit", context, participant.encode(), entropy)


def transcript(context: bytes, server_commitment: bytes, commitments: Mapping[str, bytes]) -> bytes:
    """The hash that ties all commitments together (step 3); `commitments` by participant."""
    sorted_commitments = (
        encode_parts(participant.encode(), commitments[participant])
        for participant in sorted(commitments)
    )
    return labelled_hash(b"transcript", context, server_commitment, *sorted_commitments)


def opened_key(
    context: bytes,
    server_commitment: bytes,
    commitments: Mapping[str, bytes],
    transcript: bytes,
    secret: bytes,
    entropies: Mapping[str, bytes],
    views: Mapping[str, bytes] | None = None,
) -> bytes:
    """The key of a deal-set, once everything that was published of it was found to hold.

    Args:
      context: As by `context`.
      server_commitment: What the arena published before any bot committed.
      commitments: By participant.
      transcript: What was shown before any commitment was opened.
      secret: The arena's, as it was opened.
      entropies: By participant, as they were opened; b"" for one that took no part.
      views: By participant, the context under which it committed; the deal-set's own
        for all by protocol fd1.

    Raises:
      Lie: naming the first thing that does not hold.
    """
    if commitments.keys() != entropies.keys():
        raise Lie("the participants that committed are not those that opened")
    if not _same(labelled_hash(b"server-commit", context, secret), server_commitment):
        raise Lie("the arena's secret does not open its commitment")
    if len(secret) != ENTROPY_BYTES:
        raise Lie(f"the arena's secret has {len(secret)} bytes, not {ENTROPY_BYTES}")
    for participant, commitment in commitments.items():
        view = context if views is None else views[participant]
        _require_opens(view, participant, commitment, entropies[participant])
    if not _same(_transcript(context, server_commitment, commitments), transcript):
        raise Lie("the transcript is not that of these commitments")
    return deal_set_key(transcript, secret, entropies)


_transcript = transcript  # an argument of `opened_key` has its name


def _require_opens(context: bytes, participant: str, commitment: bytes, entropy: bytes) -> None:
    if commitment == NO_COMMITMENT:
        if entropy:
            raise Lie(f"participant {participant} opens entropy that it had not committed to")
        return
    opens = _same(bot_commitment(context, participant, entropy), commitment)
    if not opens or len(entropy) != ENTROPY_BYTES:
        raise Lie(f"the entropy of participant {participant} does not open its commitment")


def _same(one: bytes, other: bytes) -> bool:
    return hmac.compare_digest(one, other)


def _setting_text(value: SettingValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

"""Steps 1 to 5 of protocol fd1: commitments that fix the shuffles of a deal-set fairly.

The arena commits to a secret, then each bot commits to entropy of its own. A transcript binds all
commitments; then they are opened and combined into one key. A bot takes part under a pseudonym of
each deal-set. Anyone can recompute every step from the published values with `opened_key`.

By fd1 all participants of a deal-set see the same context, commitment and transcript. Two bots that compare
them know that they play the same boards. By protocol fd2 each participant has a view of its own: every value is
hashed with a salt of 256 bits, which is opened after the deal-set. Before that, no two views have a value
in common; after it, every view can be verified against the deal-set.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias
from urllib.parse import quote

from arena.games.cards import Card
from arena.games.contract import Options, Rules
from arena.referee.deal.streams import deal_set_key, encode_parts, labelled_hash

SALT_BYTES: Final = 32

PSEUDONYM_BYTES: Final = 8

ENTROPY_BYTES: Final = 32
"""The length of the arena's secret and of each bot's entropy."""

NO_COMMITMENT: Final = bytes(32)
"""The commitment of a participant without entropy; it opens to b""."""

SettingValue: TypeAlias = int | str | bool


class Lie(Exception):
    """A published value contradicts a commitment. The text names the participant and the value."""


@dataclass(frozen=True, slots=True)
class DealTerms:
    """The terms of a deal-set, which are fixed before its cards can be known."""

    server_id: str
    deal_set: str
    game: str
    """The game's id."""
    rules_hash: bytes
    """The result of `rules_hash`."""
    deck: tuple[str, ...]
    """The cards of the first shuffle, before they are shuffled."""
    boards: int
    """The maximal number of boards; 0 is as many as the matches need."""
    plan_hash: bytes
    """The result of `plan_hash`."""
    participants: tuple[str, ...]
    """The pseudonyms of the participants, sorted."""
    log_head: bytes
    """The head of the public log of commitments before this one."""


def context(terms: DealTerms) -> bytes:
    """Return the 32 bytes that identify a deal-set and bind all its terms (step 1).

    Raises `ValueError` if the participants are not sorted, or two are the same.
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
    """Return SHA-256 over a game, the version of its rules and its options that have an effect.

    Args:
      game_id: The id of a game, such as `abstrac`.
      rules_version: The version in the catalogue.
      settings: Texts of the options by name, from `setting_texts`.
    """
    lines = sorted(f"{name}={value}" for name, value in settings.items())
    return labelled_hash(
        b"rules",
        game_id.encode(),
        rules_version.to_bytes(4, "big"),
        encode_parts(*(line.encode() for line in lines)),
    )


def setting_texts(settings: Mapping[str, SettingValue]) -> dict[str, str]:
    """Return the values of options as texts: decimal numbers, true or false, or the text itself."""
    return {name: _setting_text(value) for name, value in settings.items()}


def plan_hash(plan: str, salt: bytes) -> bytes:
    """Return a commitment to a plan. A salt of 32 random bytes prevents guessing, as plans are few."""
    return labelled_hash(b"plan", plan.encode(), salt)


def planned_bot(name: str, instance: int) -> str:
    """Return a process of a bot as plans write it: its quoted name, a slash, and its instance."""
    return f"{quote(name, safe='')}/{instance}"


def pseudonym(plan_salt: bytes, bot: str) -> str:
    """Return the name under which a bot, as `planned_bot` writes it, takes part in a deal-set.

    It shows nothing of the bot while the salt is secret. Afterwards it shows which participant was which bot: the
    context binds the salt, by the hash of the plan, and all pseudonyms.
    """
    return labelled_hash(b"participant", plan_salt, bot.encode())[:PSEUDONYM_BYTES].hex()


def plan_line(match_id: str, rotation: int, bots: Iterable[tuple[str, int]]) -> str:
    """Return one line of a plan. A plan is the lines of its matches in order, joined by line feeds.

    Args:
      match_id: The id of the match, without spaces.
      rotation: The number of seats by which the bots are rotated at this table; 0 for a single
        match.
      bots: Name and instance of the bot at each seat.
    """
    seats = (planned_bot(name, instance) for name, instance in bots)
    return " ".join((match_id, str(rotation), *seats))


def server_commitment(context: bytes, secret: bytes) -> bytes:
    """Return the arena's commitment to its secret (step 1)."""
    return labelled_hash(b"server-commit", context, secret)


def bot_commitment(context: bytes, participant: str, entropy: bytes) -> bytes:
    """Return a participant's commitment to its entropy (step 2)."""
    return labelled_hash(b"bot-commit", context, participant.encode(), entropy)


def transcript(context: bytes, server_commitment: bytes, commitments: Mapping[str, bytes]) -> bytes:
    """Return the hash that binds all commitments (step 3); `commitments` are by participant."""
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
    """Verify everything that was published about a deal-set, and return its key.

    Args:
      context: The result of `context`.
      server_commitment: The arena's commitment, published before any bot committed.
      commitments: Commitments by participant.
      transcript: The transcript, published before any commitment was opened.
      secret: The opened secret of the arena.
      entropies: Opened entropies by participant; b"" for one without entropy.
      views: By participant, the context under which it committed; by protocol fd1 that of the
        deal-set, for all.

    Raises `Lie` naming the first value that is wrong.
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


_transcript = transcript  # an argument of `opened_key` has the same name


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


# Views.


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
    part = encode_parts(participant.encode(), commitment)
    return labelled_hash(b"view-transcript", view, server_commitment, part, seal)


class _FirstShuffle(BaseException):
    """Raised at the first shuffle, to stop the rules. No rules module may catch it."""

    def __init__(self, cards: tuple[Card, ...]) -> None:
        self.cards = cards


class _Probe:
    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> NoReturn:  # noqa: ARG002
        raise _FirstShuffle(tuple(cards))


def first_pack(rules: Rules, options: Options, seats: int) -> tuple[Card, ...]:
    """Return the cards of the first shuffle of a match, before it; () if it begins without one.

    Raises `BadOptions` if the options do not fit the number of seats.
    """
    try:
        rules.start(options, seats, _Probe())
    except _FirstShuffle as first:
        return first.cards
    return ()

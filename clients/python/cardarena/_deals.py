"""The bot's part in fair deals, and its checks of them: protocol fd2, without the stream.

The bot commits to 32 random bytes, opens them when the arena is bound to the commitments of all participants, and
checks what the arena opens after the deal-set. Before that no other bot receives the same messages. The code is
independent of the arena that it checks.

| the arena sends    | the bot answers                                             |
|--------------------|-------------------------------------------------------------|
| deal_open          | deal_commit, and the same for a repetition; nothing if the  |
|                    | arena has a commitment already                              |
| deal_transcript    | deal_reveal, if it has the bot's own commitment and is the  |
|                    | only transcript; the same for a repetition                  |
| deal_close         | nothing                                                     |

A bot that was restarted without receipts does not know the entropy of its commitment, and a late bot takes no part in
the deal. Both send nothing, and make the checks that are possible.

A failed check is a lie of the arena: it is logged and added to `Deals.lies`. The bot then opens nothing more, and
continues to play.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from cardarena._deal_hashes import (
    ENTROPY_BYTES,
    HASH_BYTES,
    NO_COMMITMENT,
    SALT_BYTES,
    commitment_of,
    digest,
    end_sha256,
    key_of,
    next_link,
    seal_of,
    shown_of,
    transcript_of,
    view_of,
)
from cardarena.v1.play_pb2 import (
    Ask,
    BotMessage,
    DealClose,
    DealCommit,
    DealOpen,
    DealReveal,
    DealTranscript,
    MatchEnd,
    MatchStart,
)

SIGNATURE_BYTES: Final = 64

JITTER_S: Final = 1.0
"""Seconds before the deadline at which an arena may continue without a commitment, because the delay of messages varies."""

REMEMBERED: Final = 4096
"""Limit on remembered deal-sets in play, and on finished ones."""


@dataclass(slots=True)
class Shown:
    """A chain of hashes over the asks of one match."""

    match: int
    game: str
    seat: int
    replay_id: str = ""
    """The id of the match."""
    chain: bytes = bytes(HASH_BYTES)
    """SHA-256 over the previous link, the decision as big-endian u32, and the ask's game message; 32 zero bytes before the first ask."""
    asks: list[tuple[int, str]] = field(default_factory=list)
    """Each decision with the first 8 hexadecimal digits of the chain after it."""
    end: bytes = b""
    """SHA-256 over the joined events of the end of the match; empty before the end, and if it was missed."""
    last_sha256: bytes = b""
    """The hash of the last ask's game message."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The secrets of a deal-set that the arena publishes after it."""

    deal: bytes
    """The context of the deal-set, from which those of the participants follow."""
    secret: bytes
    """The arena's entropy."""
    commitments: dict[str, bytes]
    """The commitments by participant."""
    entropies: dict[str, bytes]
    """The entropies by participant."""
    salts: dict[str, bytes]
    """The salts of the participants' contexts."""

    @property
    def transcript(self) -> bytes:
        """The hash of all commitments."""
        server_commitment = digest(b"server-commit", self.deal, self.secret)
        return transcript_of(self.deal, server_commitment, self.commitments)


@dataclass(slots=True)
class Deal:
    """The bot's data about one deal-set."""

    context: bytes
    """The bot's own context."""
    server_commitment: bytes
    """The arena's commitment under that context."""
    participant: str
    """The bot's name in the deal-set."""
    entropy: bytes
    """The bot's entropy; empty if this process does not know it."""
    stood: bytes = b""
    """The commitment of the bot that the arena has, if the entropy is unknown."""
    due_s: float = field(default=0.0, compare=False)
    """The end of the time to commit; before it the arena continues only with all commitments."""
    shown: bytes | None = None
    """The bot's commitment in the transcript; None before it arrives."""
    seal: bytes = b""
    """The seal in the transcript, which binds the arena to all commitments."""
    public_key: bytes = b""
    """The key that verifies the arena's signatures; empty if it signs nothing."""
    signature: bytes = b""
    """The arena's signature of the transcript, which receipts have for others to check: the SDK has no Ed25519."""
    refused: bool = False
    """Whether the bot does not open its commitment, because a check failed."""
    opened: Opened | None = None
    """The published secrets; None before the end."""
    void_reason: str = ""
    lies: list[str] = field(default_factory=list)
    matches: dict[int, Shown] = field(default_factory=dict)
    """The bot's matches by number."""

    @property
    def commitment(self) -> bytes:
        """The bot's commitment."""
        if not self.entropy:
            return self.stood
        return commitment_of(self.context, self.participant, self.entropy)

    @property
    def takes_part(self) -> bool:
        """Whether the transcript has the bot's commitment."""
        return bool(self.entropy) and self.shown == self.commitment

    @property
    def transcript(self) -> bytes | None:
        """The hash of all that the bot received before it opened its commitment; None if some of it is unknown."""
        if self.shown is None:
            return None
        return shown_of(
            self.context, self.server_commitment, self.participant, self.shown, self.seal
        )

    @property
    def key(self) -> bytes | None:
        """The key from which the packs follow; None while it is unknown."""
        opened = self.opened
        if self.shown is None or opened is None or self.void_reason:
            return None
        return key_of(opened.transcript, opened.secret, opened.entropies)

    @property
    def name(self) -> str:
        """The name of the deal-set in messages."""
        return self.context.hex()[:12]


class Shelf(Protocol):
    """Stores receipts of deals, for later proof and for a restarted bot."""

    def keep(self, deal: Deal) -> str:
        """Store a deal in its present state; return an error message, or an empty text."""
        ...

    def recall(self, context: bytes, participant: str | None = None) -> Deal | None:
        """Return a stored deal, by the bot's name in it if that is known; None if there is none."""
        ...


@dataclass(slots=True)
class Reaction:
    """The reaction to a message of the arena."""

    send: list[BotMessage] = field(default_factory=list)
    say: list[str] = field(default_factory=list)
    """Lines for the log."""


class Deals:
    """All fair deals that a bot takes part in."""

    lies: list[str]
    """The failed checks, in sentences."""

    def __init__(
        self,
        *,
        shelf: Shelf | None = None,
        draw: Callable[[int], bytes] = secrets.token_bytes,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without deals.

        Args:
          shelf: Stores receipts, if given.
          draw: Returns a number of random bytes.
          now_s: A monotonic clock.
        """
        self.lies = []
        self._shelf = shelf
        self._draw = draw
        self._now_s = now_s
        self._deals: dict[bytes, Deal] = {}
        self._over: dict[bytes, None] = {}
        """Contexts of closed deals, oldest first."""
        self._contexts: dict[int, bytes] = {}
        """Deals of matches in play, by number of the match."""
        self._told: set[int] = set()
        """Matches that this stream has announced: others may have ended meanwhile."""

    def on_stream(self) -> None:
        """Begin another stream, which announces all matches in play."""
        self._told.clear()

    # The arena's messages.

    def on_open(self, message: DealOpen) -> Reaction:
        """Return the bot's commitment, or the reason why it sends none."""
        reaction = Reaction()
        context, commitment = message.context, message.server_commitment
        if len(context) != HASH_BYTES or len(commitment) != HASH_BYTES:
            reaction.say.append("took no part in a fair deal that was not named as one")
            return reaction
        deal = self._known(context, message.participant)
        if context in self._over:
            reaction.say += self._lie(context, "it opens a deal-set again whose packs are known")
            return reaction
        stands = message.commitment
        if deal is None:
            entropy = b"" if stands else self._draw(ENTROPY_BYTES)
            deal = Deal(context, commitment, message.participant, entropy, stands)
            deal.public_key = message.public_key
            self._deals[context] = deal
            _forget_oldest(self._deals)
            reaction.say += self._keep(deal)
        elif _promised(deal) != (commitment, message.participant, message.public_key):
            deal.refused = True
            reaction.say += self._lie(context, "it committed itself twice, and differently")
            return reaction
        if stands not in (b"", NO_COMMITMENT, deal.commitment):
            deal.refused = True
            reaction.say += self._lie(context, "it replaced this bot's commitment")
            return reaction
        if stands:
            return reaction  # the arena has the commitment, or it is too late
        deal.due_s = self._now_s() + message.deadline_ms / 1000
        commit = DealCommit(context=context, commitment=deal.commitment)
        reaction.send.append(BotMessage(deal_commit=commit))
        return reaction

    def on_transcript(self, message: DealTranscript) -> Reaction:
        """Return the opening of the commitment, or the reason why the bot sends none."""
        reaction = Reaction()
        context = message.context
        deal = self._known(context)
        if deal is None:
            if context not in self._over:
                name = context.hex()[:12]
                line = f"deal-set {name}: not revealed, as this process had not committed to it"
                reaction.say.append(line)
            return reaction
        received = message.commitment, message.seal
        what = ""
        if deal.shown is None:
            early = self._now_s() < deal.due_s - JITTER_S
            what = _wrong_transcript(deal, *received, early=early)
            if not what:
                (deal.shown, deal.seal), deal.signature = received, message.signature
        elif received != (deal.shown, deal.seal):
            what = "it shows a second transcript, which differs from the first"
        if what:
            deal.refused = True
            reaction.say += self._lie(context, f"{what}; nothing is revealed")
        elif deal.public_key and len(deal.signature) != SIGNATURE_BYTES:
            # The bot opens its commitment nevertheless: otherwise it would lose the deal-set.
            reaction.say += self._lie(context, "it has a key, and does not sign what it shows")
        reaction.say += self._keep(deal)
        if not deal.entropy and deal.commitment != NO_COMMITMENT:
            line = f"deal-set {deal.name}: not revealed, as this process had not committed to it"
            reaction.say.append(line)
        if deal.takes_part and not deal.refused:
            reveal = DealReveal(context=context, entropy=deal.entropy)
            reaction.send.append(BotMessage(deal_reveal=reveal))
        return reaction

    def on_close(self, message: DealClose) -> Reaction:
        """Check the published secrets."""
        reaction = Reaction()
        context = message.context
        deal = self._known(context)
        if deal is None:
            return reaction
        published = message.entropies
        names = [bot.participant for bot in published]
        deal.opened = opened = Opened(
            deal=message.deal,
            secret=message.secret,
            commitments={bot.participant: bot.commitment for bot in published},
            entropies={bot.participant: bot.entropy for bot in published},
            salts={bot.participant: bot.salt for bot in published},
        )
        deal.void_reason = message.void_reason
        if names != sorted(opened.entropies):
            reaction.say += self._lie(context, "it opens participants out of order, or one twice")
        elif what := _wrong_opening(deal, opened):
            reaction.say += self._lie(context, what)
        if deal.void_reason:
            reaction.say.append(f"deal-set {deal.name} is void: {deal.void_reason}")
        elif not deal.takes_part:
            reaction.say.append(f"deal-set {deal.name} was fixed without this bot's entropy")
        playing = [match for match in self._told if self._contexts[match] == context]
        if playing and not deal.void_reason:
            what = f"it opens the packs while match {min(playing)} is played with them"
            reaction.say += self._lie(context, what)
        reaction.say += self._keep(deal)
        self._deals.pop(context, None)
        self._over[context] = None
        _forget_oldest(self._over)
        return reaction

    # The bot's matches.

    def on_match_start(self, start: MatchStart) -> Reaction:
        """Begin a match, or accept its repetition."""
        reaction = Reaction()
        context = start.deal_context
        if not context:
            return reaction
        self._contexts[start.match] = context
        self._told.add(start.match)
        if context in self._over:
            reaction.say += self._lie(
                context, f"it begins match {start.match} with packs that are known"
            )
        deal = self._known(context)
        if deal is not None and start.match not in deal.matches:
            match_id = start.match_id
            deal.matches[start.match] = Shown(start.match, start.terms.game, start.seat, match_id)
        return reaction

    def on_ask(self, ask: Ask) -> Reaction:
        """Add an ask to the chain of its match, unless it is a repetition."""
        reaction = Reaction()
        shown = self._shown(ask.match)
        family = ask.WhichOneof("game")
        decision = ask.decision
        if shown is None or family is None or decision == 0:
            return reaction
        game: Any = getattr(ask, family)
        payload: bytes = game.SerializeToString(deterministic=True)
        payload_sha256 = hashlib.sha256(payload).digest()
        last = shown.asks[-1][0] if shown.asks else 0
        if decision > last:
            shown.chain = next_link(shown.chain, decision, payload)
            shown.asks.append((decision, shown.chain.hex()[:8]))
            shown.last_sha256 = payload_sha256
        elif decision == last and payload_sha256 != shown.last_sha256:
            what = f"it asks decision {decision} of match {ask.match} twice, and differently"
            reaction.say += self._lie(self._contexts[ask.match], what)
        return reaction

    def on_match_end(self, end: MatchEnd) -> Reaction:
        """End a match, whose last message may have been missed."""
        reaction = Reaction()
        shown = self._shown(end.match)
        context = self._contexts.pop(end.match, b"")
        self._told.discard(end.match)
        if shown is not None:
            if end.ending:
                shown.replay_id = end.replay_id
                shown.end = end_sha256(end)
            reaction.say += self._keep(self._deals[context])
        return reaction

    def _shown(self, match: int) -> Shown | None:
        """Return the record of a match; None without receipts."""
        deal = self._deals.get(self._contexts.get(match, b"")) if self._shelf else None
        return deal.matches.get(match) if deal is not None else None

    def _known(self, context: bytes, participant: str | None = None) -> Deal | None:
        """Return an open deal, including one of an earlier process."""
        deal = self._deals.get(context)
        if deal is None and self._shelf is not None and context not in self._over:
            deal = self._shelf.recall(context, participant)
            if deal is not None and deal.opened is not None:
                self._over[context] = None
                deal = None
            if deal is not None:
                self._deals[context] = deal
        return deal

    def _keep(self, deal: Deal) -> list[str]:
        """Store the receipt; return lines for the log."""
        problem = self._shelf.keep(deal) if self._shelf is not None else ""
        return [problem] if problem else []

    def _lie(self, context: bytes, what: str) -> list[str]:
        """Record a lie of the arena; return lines for the log if it is new."""
        line = f"the arena LIED about deal-set {context.hex()[:12]}: {what}"
        deal = self._deals.get(context)
        if deal is not None and what not in deal.lies:
            deal.lies.append(what)
        if line in self.lies:
            return []
        self.lies.append(line)
        return [line]


def _forget_oldest(known: dict[bytes, Any]) -> None:
    """Forget old deals, because an arena that was restarted does not close all of them."""
    if len(known) > REMEMBERED:
        del known[next(iter(known))]


def _promised(deal: Deal) -> tuple[bytes, str, bytes]:
    """Return the data that the arena sent before the bot committed, which must not change."""
    return deal.server_commitment, deal.participant, deal.public_key


def _wrong_transcript(deal: Deal, own: bytes, seal: bytes, *, early: bool) -> str:
    """Return the error in a bot's first transcript; empty if it is correct.

    Args:
      deal: The deal-set.
      own: The bot's commitment in it.
      seal: The seal in it.
      early: Whether it arrived before the time to commit was over.
    """
    if len(own) != HASH_BYTES:
        return "it left this bot's commitment out"
    if len(seal) != HASH_BYTES:
        return "it does not bind itself to what it received"
    if own == NO_COMMITMENT != deal.commitment and early:
        return "it did not wait for this bot's commitment, or dropped it"
    if own not in (deal.commitment, NO_COMMITMENT):
        return "it replaced this bot's commitment"
    return ""


def _wrong_opening(deal: Deal, opened: Opened) -> str:
    """Return the error in the published secrets; empty if they are correct."""
    name = deal.participant
    if len(opened.secret) != ENTROPY_BYTES or not hmac.compare_digest(
        digest(b"server-commit", deal.context, opened.secret), deal.server_commitment
    ):
        return "its secret does not open its commitment"
    salt = opened.salts.get(name, b"")
    if len(salt) != SALT_BYTES or view_of(opened.deal, name, salt) != deal.context:
        return "it opens another deal-set than it had named to this bot"
    entropy = opened.entropies[name]
    if deal.shown is None:
        return "it opens entropy that this bot never revealed" if entropy else ""
    if deal.takes_part and entropy != deal.entropy and (entropy or not deal.void_reason):
        return "it replaced this bot's entropy"
    if deal.void_reason:
        return ""  # an opening is missing or wrong, which made the draw void
    if opened.commitments[name] != deal.shown:
        return "it opens another commitment of this bot's than it had shown"
    if seal_of(deal.context, opened.transcript, salt) != deal.seal:
        return "it opens other commitments than it had bound itself to"
    for participant, commitment in opened.commitments.items():
        entropy = opened.entropies[participant]
        context = view_of(opened.deal, participant, opened.salts[participant])
        if commitment == NO_COMMITMENT:
            if entropy:
                return f"participant {participant} added entropy without having committed to it"
        elif (
            len(entropy) != ENTROPY_BYTES
            or commitment_of(context, participant, entropy) != commitment
        ):
            return f"the entropy of participant {participant} does not open its commitment"
    return ""

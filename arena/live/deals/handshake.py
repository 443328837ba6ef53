"""The handshake of one fair deal: steps 1 to 4 of protocol fd2, without transport or timers.

| phase  | bots were sent     | it waits for                      | then           |
|--------|--------------------|-----------------------------------|----------------|
| COMMIT | deal_open          | a commitment from each bot asked  | SEAL           |
| SEAL   |                    | the arena's signatures (`sealed`) | REVEAL         |
| REVEAL | deal_transcript    | the opening of each commitment    | SETTLED        |

Each bot that was asked for a commitment receives its own commitment and a seal over all commitments. No two bots
receive the same data. A bot that does not commit in time adds no entropy, which is no fault. The time that others wait
is charged to the bot (`arena.live.deals.deal_time`); a bot without time is not asked. A commitment that is opened
wrongly or not at all makes the deal-set void: otherwise a bot could read the entropy of the others first, and choose
whether to add its own.
"""

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from arena.bots.bot_ids import BotId
from arena.live.deals.deal_time import DealTimes
from arena.live.session.session import Session
from arena.records.deal_book import BookedDeal, opens, view_of
from arena.records.signing import ArenaKey, transcript_statement
from arena.referee.clock import PUNCTUAL_S, Lag
from arena.referee.deal import (
    ENTROPY_BYTES,
    NO_COMMITMENT,
    seal,
    server_commitment,
    transcript,
    view_transcript,
)
from cardarena.v1 import journal_pb2, play_pb2

_COMMITMENT_BYTES: Final = 32
_Reason = play_pb2.RefusalReason


class HandshakePhase(Enum):
    """The phases of a handshake, in order."""

    COMMIT = "commit"
    SEAL = "seal"
    REVEAL = "reveal"
    SETTLED = "settled"


@dataclass(slots=True)
class _Participant:
    bot: BotId
    name: str
    salt: bytes
    context: bytes
    """The context of the deal-set that this participant was sent."""
    server_commitment: bytes
    """The arena's commitment under that context."""
    asked: bool = False
    commitment: bytes | None = None
    """Its commitment; None until it sends one."""
    entropy: bytes | None = None
    """The entropy that it opened; None until it does."""
    expired: bool = False
    """Whether it failed to open its commitment in time."""
    too_late: bool = False
    """Whether it failed to commit in time."""
    step_s: float = 0.0
    """Seconds that it has for the present step, whether it is connected or not."""
    seal: bytes = b""
    """Its seal over all commitments, once they are sent."""
    signature: bytes = b""
    """The arena's signature of its transcript; empty without a signer."""

    @property
    def committed(self) -> bool:
        return self.commitment not in (None, NO_COMMITMENT)

    @property
    def owes_commitment(self) -> bool:
        return self.asked and self.commitment is None

    @property
    def owes_opening(self) -> bool:
        return self.committed and self.entropy is None and not self.expired


class Handshake:
    """The handshake of one deal-set with all its participants.

    Its methods may be called in callbacks of streams and in trio.
    """

    def __init__(
        self,
        deal: BookedDeal,
        find: Callable[[BotId], Session | None],
        *,
        now_s: Callable[[], float],
        lag: Lag,
        times: DealTimes,
        changed: Callable[[], None],
        public_key: bytes = b"",
    ) -> None:
        """Begin without sending anything.

        Args:
          find: Returns the session of a bot; None before its first hello.
          now_s: Reads the clock, in seconds.
          lag: Returns how late this process is.
          changed: Called when `phase` or `wake_s` may have changed.
          public_key: Verifies the signatures of transcripts; empty if they are not signed.
        """
        self._deal = deal
        self.context = deal.context
        self.phase = HandshakePhase.COMMIT
        self.wake_s = math.inf
        """When `check` must be called next."""
        self._find = find
        self._now_s = now_s
        self._lag = lag
        self._times = times
        self._changed = changed
        self._public_key = public_key
        self._participants = {
            BotId(participant.bot, participant.instance): _participant(deal, participant)
            for participant in deal.fair_deal.participants
        }
        self._began_s = now_s()

    @property
    def views(self) -> Mapping[BotId, bytes]:
        """The contexts of the participants, in the order of their names in this deal-set."""
        return {bot: participant.context for bot, participant in self._participants.items()}

    @property
    def commitments(self) -> tuple[bytes, ...]:
        """The commitments of the participants, in their order."""
        return tuple(
            participant.commitment or NO_COMMITMENT for participant in self._participants.values()
        )

    @property
    def entropies(self) -> tuple[bytes, ...]:
        """The opened entropy of each participant, right or wrong; empty if it opened none."""
        return tuple(participant.entropy or b"" for participant in self._participants.values())

    def begin(self, excluded: Container[BotId]) -> None:
        """Ask all bots but the `excluded` ones for commitments. The arena's own commitment must be on disk."""
        self._began_s = self._now_s()
        for participant in self._participants.values():
            bot = self._find(participant.bot)
            if (
                bot is None
                or participant.bot in excluded
                or not (bot.adds_entropy and bot.connected)
            ):
                continue
            if not self._times.takes_part(participant.bot.name):
                continue
            participant.asked, participant.step_s = True, self._times.step_s(participant.bot.name)
            self._send_open(participant)
        self._advance()

    def sealed(self, signatures: Sequence[bytes]) -> None:
        """Send the bots their transcripts with the arena's signatures, which are in the order of the participants."""
        self._began_s = self._now_s()
        seals = seals_of(self._deal, self.commitments)
        for participant, (bound, _), signature in zip(
            self._participants.values(), seals, signatures, strict=True
        ):
            participant.seal, participant.signature = bound, signature
        self.phase = HandshakePhase.REVEAL
        for participant in self._participants.values():
            if participant.committed:
                participant.step_s = self._times.step_s(participant.bot.name)
            if participant.asked:
                self._send_transcript(participant)
        self._advance()
        self._changed()

    def check(self) -> None:
        """End the step of bots whose time is over. Called at `wake_s`, or at any time."""
        now_s = self._now_s()
        if self._lag.late(now_s):
            # Messages of bots may still be in the queues of this process.
            self.wake_s = now_s + PUNCTUAL_S
            return
        for participant in self._owing():
            if now_s < self._due_s(participant):
                continue
            if self.phase is HandshakePhase.COMMIT:
                participant.commitment, participant.too_late = NO_COMMITMENT, True
            else:
                participant.expired = True
            self._times.not_answered(participant.bot.name, self._began_s)
        self._advance()

    def attached(self, bot: BotId) -> None:
        """Send a participant that has reconnected the messages that it may have missed."""
        participant = self._participants.get(bot)
        if participant is None or not participant.asked:
            return
        if self.phase is HandshakePhase.SETTLED:
            return
        self._send_open(participant)
        if self.phase is HandshakePhase.REVEAL:
            self._send_transcript(participant)

    def commit(self, bot: BotId, commitment: bytes) -> play_pb2.Refusal | None:
        """Accept a bot's commitment, or its repetition; return a refusal otherwise."""
        participant = self._participants[bot]
        if not participant.asked:
            return refusal(_Reason.REFUSAL_REASON_UNKNOWN_DEAL, "no commitment was asked for")
        if len(commitment) != _COMMITMENT_BYTES:
            text = f"a commitment has {_COMMITMENT_BYTES} bytes"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        if commitment == participant.commitment:
            return None
        taken = (
            participant.commitment is not None
            and self.phase is HandshakePhase.COMMIT
            and not participant.too_late
        )
        if participant.committed or taken:
            text = "the commitment"
            return refusal(_Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        if participant.too_late or self.phase is not HandshakePhase.COMMIT:
            text = "the commitment came too late; the deal-set continues without it"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        participant.commitment = commitment
        self._times.answered(bot.name, self._began_s)
        self._advance()
        return None

    def reveal(self, bot: BotId, entropy: bytes) -> play_pb2.Refusal | None:
        """Accept the opening of a bot's commitment, or its repetition; return a refusal otherwise."""
        participant = self._participants[bot]
        if not participant.committed:
            text = "there is no commitment that this could open"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        if self.phase in (HandshakePhase.COMMIT, HandshakePhase.SEAL):
            text = "nothing may be opened before all commitments were shown"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        if len(entropy) != ENTROPY_BYTES:
            text = f"entropy has {ENTROPY_BYTES} bytes"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        if entropy == participant.entropy:
            return None
        if participant.entropy is not None:
            text = "the opening of the commitment"
            return refusal(_Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        if participant.expired:
            text = "the opening came too late"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        participant.entropy = entropy
        self._times.answered(bot.name, self._began_s)
        wrong = self._wrong(participant)
        self._advance()
        if wrong:
            text = "the entropy does not open the commitment; the deal-set is void"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        return None

    def _advance(self) -> None:
        """Begin the next phase if the present one waits for no bot, and set `wake_s`."""
        before = self.phase, self.wake_s
        participants = self._participants.values()
        if self.phase is HandshakePhase.COMMIT and all(
            s.commitment for s in participants if s.asked
        ):
            self.phase = HandshakePhase.SEAL
        if self.phase is HandshakePhase.REVEAL and not any(
            participant.owes_opening for participant in participants
        ):
            self.phase = HandshakePhase.SETTLED
        self.wake_s = min(map(self._due_s, self._owing()), default=math.inf)
        if (self.phase, self.wake_s) != before:
            self._changed()

    def _owing(self) -> list[_Participant]:
        participants = self._participants.values()
        if self.phase is HandshakePhase.COMMIT:
            return [participant for participant in participants if participant.owes_commitment]
        return [
            participant
            for participant in participants
            if self.phase is HandshakePhase.REVEAL and participant.owes_opening
        ]

    def _due_s(self, participant: _Participant) -> float:
        """Return when a participant's time for the present step is over; the arena's own lateness is refunded."""
        refund_s = self._times.refund_s(participant.bot.name, self._began_s)
        return self._began_s + participant.step_s + refund_s

    def _wrong(self, participant: _Participant) -> bool:
        if participant.entropy is None:
            return False
        bound = journal_pb2.DealParticipant(
            participant=participant.name,
            commitment=participant.commitment or NO_COMMITMENT,
            salt=participant.salt,
        )
        return not opens(self.context, bound, participant.entropy)

    def _left_ms(self, due_s: float) -> int:
        return max(0, round((due_s - self._now_s()) * 1000))

    def _send_open(self, participant: _Participant) -> None:
        waits = self.phase is HandshakePhase.COMMIT and participant.commitment is None
        deal_open = play_pb2.DealOpen(
            context=participant.context,
            server_commitment=participant.server_commitment,
            deadline_ms=self._left_ms(self._due_s(participant)) if waits else 0,
            participant=participant.name,
            public_key=self._public_key,
            commitment=participant.commitment or b"",
        )
        self._send(participant, play_pb2.ArenaMessage(deal_open=deal_open))

    def _send_transcript(self, participant: _Participant) -> None:
        shown = play_pb2.DealTranscript(
            context=participant.context,
            commitment=participant.commitment or NO_COMMITMENT,
            deadline_ms=self._left_ms(self._due_s(participant)) if participant.owes_opening else 0,
            seal=participant.seal,
            signature=participant.signature,
        )
        self._send(participant, play_pb2.ArenaMessage(deal_transcript=shown))

    def _send(self, participant: _Participant, message: play_pb2.ArenaMessage) -> None:
        bot = self._find(participant.bot)
        if bot is not None and bot.connected:
            bot.send(message)


def _participant(deal: BookedDeal, drawn: journal_pb2.DealParticipant) -> _Participant:
    view = view_of(deal.context, drawn)
    return _Participant(
        bot=BotId(drawn.bot, drawn.instance),
        name=drawn.participant,
        salt=drawn.salt,
        context=view,
        server_commitment=server_commitment(view, deal.secret),
    )


def seals_of(deal: BookedDeal, commitments: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Return for each participant its seal over all commitments, and the hash of its transcript."""
    participants = deal.fair_deal.participants
    names = [participant.participant for participant in participants]
    bound = dict(zip(names, commitments, strict=True))
    fixed = transcript(deal.context, deal.fair_deal.server_commitment, bound)
    seals = []
    for participant in participants:
        view = view_of(deal.context, participant)
        sealed = seal(view, fixed, participant.salt)
        commitment = server_commitment(view, deal.secret)
        shown = view_transcript(
            view, commitment, participant.participant, bound[participant.participant], sealed
        )
        seals.append((sealed, shown))
    return seals


def signatures_of(
    deal: BookedDeal, commitments: Sequence[bytes], signer: ArenaKey | None
) -> list[bytes]:
    """Return the arena's signature of each participant's transcript; empty ones without a signer."""
    if signer is None:
        return [b""] * len(commitments)
    seals = seals_of(deal, commitments)
    return [signer.sign(transcript_statement(shown)) for _, shown in seals]


def complaint_of(deal: BookedDeal, commitments: Sequence[bytes], entropies: Sequence[bytes]) -> str:
    """Return the participants that did not open their commitments, with the reason; empty if all did."""
    lied: list[str] = []
    silent: list[str] = []
    for participant, commitment, entropy in zip(
        deal.fair_deal.participants, commitments, entropies, strict=True
    ):
        name = participant.participant
        bound = journal_pb2.DealParticipant(
            participant=name, commitment=commitment, salt=participant.salt
        )
        if not opens(deal.context, bound, entropy):
            (lied if entropy else silent).append(name)
    complaints = [f"{', '.join(lied)} opened it wrongly"] if lied else []
    complaints += [f"{', '.join(silent)} did not open it in time"] if silent else []
    return f"of those who made a commitment, {' and '.join(complaints)}" if complaints else ""


def refusal(reason: play_pb2.RefusalReason.ValueType, detail: str) -> play_pb2.Refusal:
    """Return a refusal of a message about a fair deal, with a text for people."""
    return play_pb2.Refusal(reason=reason, text=detail)

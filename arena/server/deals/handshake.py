"""The handshake of one fair deal: steps 1 to 4 of protocol fd2, without transport or timers.

| phase  | bots were sent     | it waits for                      | then           |
|--------|--------------------|-----------------------------------|----------------|
| COMMIT | deal_open          | a commitment from each bot asked  | SEAL           |
| SEAL   |                    | the arena's signatures (`sealed`) | REVEAL         |
| REVEAL | deal_transcript    | the opening of each commitment    | SETTLED        |

Each bot that was asked for a commitment receives its own and a seal over all of them, and nothing that another bot
receives. A bot that does not commit in time adds no entropy, which is no fault. The time that others wait is charged to
the bot (`arena.server.deals.deal_time`); a bot without time is not asked. A commitment that is opened wrongly or not
at all makes the deal-set void: otherwise a bot could read the entropy of the others first, and choose whether to add
its own.
"""

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from arena.deal import (
    ENTROPY_BYTES,
    NO_COMMITMENT,
    seal,
    server_commitment,
    transcript,
    view_transcript,
)
from arena.referee import Lag
from arena.replay.deal_book import BookedDeal, opens, view_of
from arena.replay.signing import Signer, transcript_statement
from arena.server.bots import BotId
from arena.server.deals.deal_time import DealTimes
from cardarena.v1 import journal_pb2, play_pb2

PUNCTUAL_S: Final = 0.1
"""Seconds for which the arena must have been punctual before a bot counts as late."""

_COMMITMENT_BYTES: Final = 32
_Reason = play_pb2.RefusalReason


class Participant(Protocol):
    """A bot as a fair deal sees it."""

    @property
    def adds_entropy(self) -> bool:
        """Whether it declared that it takes part in fair deals."""
        ...

    @property
    def connected(self) -> bool:
        """Whether it has a stream now."""
        ...

    def send(self, message: play_pb2.ArenaMessage, /) -> None:
        """Send it a message. Does not block and does not raise."""
        ...

    def send_until_received(self, context: bytes, message: play_pb2.ArenaMessage, /) -> None:
        """Send it the opening of a deal-set, repeated until it is acknowledged. Does not block or raise."""
        ...


class Phase(Enum):
    """The phases of a handshake, in order."""

    COMMIT = "commit"
    SEAL = "seal"
    REVEAL = "reveal"
    SETTLED = "settled"


@dataclass(slots=True)
class _Seat:
    """The handshake with one participant."""

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
    told: bytes | None = None
    """The entropy that it opened; None until it does."""
    expired: bool = False
    """Whether it failed to open its commitment in time."""
    too_late: bool = False
    """Whether it failed to commit in time."""
    step_s: float = 0.0
    """Seconds that it has for the present step, connected or not."""
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
        return self.committed and self.told is None and not self.expired


class Handshake:
    """The handshake of one deal-set with all its participants.

    Its methods may be called in callbacks of streams and in trio.
    """

    def __init__(
        self,
        deal: BookedDeal,
        find: Callable[[BotId], Participant | None],
        *,
        now_s: Callable[[], float],
        lag: Lag,
        times: DealTimes,
        changed: Callable[[], None],
        public_key: bytes = b"",
    ) -> None:
        """Begin without sending anything.

        Args:
          deal: The arena's draw.
          find: Returns a bot that this process has seen, or None.
          now_s: Reads the clock, in seconds.
          lag: How late this process itself is.
          times: The accounts of time of the bots.
          changed: Called when `phase` or `wake_s` may have changed.
          public_key: Verifies the signatures of transcripts; empty if they are not signed.
        """
        self._deal = deal
        self.context = deal.context
        self.phase = Phase.COMMIT
        self.wake_s = math.inf
        """When `check` must be called next."""
        self._find = find
        self._now_s = now_s
        self._lag = lag
        self._times = times
        self._changed = changed
        self._public_key = public_key
        self._seats = {
            BotId(each.bot, each.instance): _seat(deal, each)
            for each in deal.fair_deal.participants
        }
        self._began_s = now_s()
        """When the present phase began."""

    @property
    def views(self) -> Mapping[BotId, bytes]:
        """The contexts of the participants, in the order of their names in this deal-set."""
        return {bot: seat.context for bot, seat in self._seats.items()}

    @property
    def commitments(self) -> tuple[bytes, ...]:
        """The commitments of the participants, in their order."""
        return tuple(seat.commitment or NO_COMMITMENT for seat in self._seats.values())

    @property
    def told(self) -> tuple[bytes, ...]:
        """The opened entropy of each participant, right or wrong; empty if it opened none."""
        return tuple(seat.told or b"" for seat in self._seats.values())

    def begin(self, excluded: Container[BotId]) -> None:
        """Ask all bots but the `excluded` ones for commitments. The arena's own commitment must be on disk."""
        self._began_s = self._now_s()
        for seat in self._seats.values():
            bot = self._find(seat.bot)
            if bot is None or seat.bot in excluded or not (bot.adds_entropy and bot.connected):
                continue
            if not self._times.takes_part(seat.bot.name):
                continue
            seat.asked, seat.step_s = True, self._times.step_s(seat.bot.name)
            self._send_open(seat)
        self._advance()

    def sealed(self, signatures: Sequence[bytes]) -> None:
        """Send the bots their transcripts with the arena's signatures, which are in the order of the participants."""
        self._began_s = self._now_s()
        seals = seals_of(self._deal, self.commitments)
        for seat, (bound, _), signature in zip(
            self._seats.values(), seals, signatures, strict=True
        ):
            seat.seal, seat.signature = bound, signature
        self.phase = Phase.REVEAL
        for seat in self._seats.values():
            if seat.committed:
                seat.step_s = self._times.step_s(seat.bot.name)
            if seat.asked:
                self._send_transcript(seat)
        self._advance()
        self._changed()

    def check(self) -> None:
        """End the step of bots whose time is over. Called at `wake_s`, or at any time."""
        now_s = self._now_s()
        if self._lag.late(now_s):
            # Messages of bots may still be on their way through this process.
            self.wake_s = now_s + PUNCTUAL_S
            return
        for seat in self._owing():
            if now_s < self._due_s(seat):
                continue
            if self.phase is Phase.COMMIT:
                seat.commitment, seat.too_late = NO_COMMITMENT, True
            else:
                seat.expired = True
            self._times.not_answered(seat.bot.name, self._began_s)
        self._advance()

    def attached(self, bot: BotId) -> None:
        """Repeat to a participant that has connected again what it may have missed."""
        seat = self._seats.get(bot)
        if seat is None or not seat.asked:
            return
        if self.phase is Phase.SETTLED:
            return
        self._send_open(seat)
        if self.phase is Phase.REVEAL:
            self._send_transcript(seat)

    def commit(self, bot: BotId, commitment: bytes) -> play_pb2.Refusal | None:
        """Accept a bot's commitment, or its repetition; returns a refusal otherwise."""
        seat = self._seats[bot]
        if not seat.asked:
            return refusal(_Reason.REFUSAL_REASON_UNKNOWN_DEAL, "no commitment was asked for")
        if len(commitment) != _COMMITMENT_BYTES:
            text = f"a commitment has {_COMMITMENT_BYTES} bytes"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        if commitment == seat.commitment:
            return None
        taken = seat.commitment is not None and self.phase is Phase.COMMIT and not seat.too_late
        if seat.committed or taken:
            text = "the commitment"
            return refusal(_Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        if seat.too_late or self.phase is not Phase.COMMIT:
            text = "the commitment came too late; the deal-set goes on without it"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        seat.commitment = commitment
        self._times.answered(bot.name, self._began_s)
        self._advance()
        return None

    def reveal(self, bot: BotId, entropy: bytes) -> play_pb2.Refusal | None:
        """Accept the opening of a bot's commitment, or its repetition; returns a refusal otherwise."""
        seat = self._seats[bot]
        if not seat.committed:
            text = "there is no commitment that this could open"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        if self.phase in (Phase.COMMIT, Phase.SEAL):
            text = "nothing may be opened before all commitments were shown"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        if len(entropy) != ENTROPY_BYTES:
            text = f"entropy has {ENTROPY_BYTES} bytes"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        if entropy == seat.told:
            return None
        if seat.told is not None:
            text = "the opening of the commitment"
            return refusal(_Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        if seat.expired:
            text = "the opening came too late"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        seat.told = entropy
        self._times.answered(bot.name, self._began_s)
        wrong = self._wrong(seat)
        self._advance()
        if wrong:
            text = "the entropy does not open the commitment; the deal-set is void"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        return None

    def _advance(self) -> None:
        """Begin the next phase if the present one waits for no bot, and set `wake_s`."""
        before = self.phase, self.wake_s
        seats = self._seats.values()
        if self.phase is Phase.COMMIT and all(s.commitment for s in seats if s.asked):
            self.phase = Phase.SEAL
        if self.phase is Phase.REVEAL and not any(seat.owes_opening for seat in seats):
            self.phase = Phase.SETTLED
        self.wake_s = min(map(self._due_s, self._owing()), default=math.inf)
        if (self.phase, self.wake_s) != before:
            self._changed()

    def _owing(self) -> list[_Seat]:
        """Return the participants that the present phase waits for."""
        seats = self._seats.values()
        if self.phase is Phase.COMMIT:
            return [seat for seat in seats if seat.owes_commitment]
        return [seat for seat in seats if self.phase is Phase.REVEAL and seat.owes_opening]

    def _due_s(self, seat: _Seat) -> float:
        """Return when a participant's time for the present step is over; the arena's own lateness is refunded."""
        refund_s = self._times.refund_s(seat.bot.name, self._began_s)
        return self._began_s + seat.step_s + refund_s

    def _wrong(self, seat: _Seat) -> bool:
        """Whether the opening of a participant does not fit its commitment."""
        if seat.told is None:
            return False
        participant = journal_pb2.DealParticipant(
            participant=seat.name, commitment=seat.commitment or NO_COMMITMENT, salt=seat.salt
        )
        return not opens(self.context, participant, seat.told)

    def _left_ms(self, due_s: float) -> int:
        return max(0, round((due_s - self._now_s()) * 1000))

    def _send_open(self, seat: _Seat) -> None:
        waits = self.phase is Phase.COMMIT and seat.commitment is None
        deal_open = play_pb2.DealOpen(
            context=seat.context,
            server_commitment=seat.server_commitment,
            deadline_ms=self._left_ms(self._due_s(seat)) if waits else 0,
            participant=seat.name,
            public_key=self._public_key,
            commitment=seat.commitment or b"",
        )
        self._send(seat, play_pb2.ArenaMessage(deal_open=deal_open))

    def _send_transcript(self, seat: _Seat) -> None:
        shown = play_pb2.DealTranscript(
            context=seat.context,
            commitment=seat.commitment or NO_COMMITMENT,
            deadline_ms=self._left_ms(self._due_s(seat)) if seat.owes_opening else 0,
            seal=seat.seal,
            signature=seat.signature,
        )
        self._send(seat, play_pb2.ArenaMessage(deal_transcript=shown))

    def _send(self, seat: _Seat, message: play_pb2.ArenaMessage) -> None:
        bot = self._find(seat.bot)
        if bot is not None and bot.connected:
            bot.send(message)


def _seat(deal: BookedDeal, participant: journal_pb2.DealParticipant) -> _Seat:
    view = view_of(deal.context, participant)
    return _Seat(
        bot=BotId(participant.bot, participant.instance),
        name=participant.participant,
        salt=participant.salt,
        context=view,
        server_commitment=server_commitment(view, deal.secret),
    )


def seals_of(deal: BookedDeal, commitments: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Return for each participant its seal over all commitments, and the hash of its transcript."""
    participants = deal.fair_deal.participants
    names = [each.participant for each in participants]
    bound = dict(zip(names, commitments, strict=True))
    fixed = transcript(deal.context, deal.fair_deal.server_commitment, bound)
    found = []
    for each in participants:
        view = view_of(deal.context, each)
        sealed = seal(view, fixed, each.salt)
        own = server_commitment(view, deal.secret)
        shown = view_transcript(view, own, each.participant, bound[each.participant], sealed)
        found.append((sealed, shown))
    return found


def signatures_of(
    deal: BookedDeal, commitments: Sequence[bytes], signer: Signer | None
) -> list[bytes]:
    """Return the arena's signature of each participant's transcript; empty ones without a signer."""
    if signer is None:
        return [b""] * len(commitments)
    seals = seals_of(deal, commitments)
    return [signer.sign(transcript_statement(shown)) for _, shown in seals]


def complaint_of(deal: BookedDeal, commitments: Sequence[bytes], told: Sequence[bytes]) -> str:
    """Return the participants that did not open their commitments, with the reason; empty if all did."""
    lied: list[str] = []
    silent: list[str] = []
    for each, commitment, entropy in zip(
        deal.fair_deal.participants, commitments, told, strict=True
    ):
        name = each.participant
        bound = journal_pb2.DealParticipant(participant=name, commitment=commitment, salt=each.salt)
        if not opens(deal.context, bound, entropy):
            (lied if entropy else silent).append(name)
    said = [f"{', '.join(lied)} opened it wrongly"] if lied else []
    said += [f"{', '.join(silent)} did not open it in time"] if silent else []
    return f"of those who made a commitment, {' and '.join(said)}" if said else ""


def refusal(reason: play_pb2.RefusalReason.ValueType, detail: str) -> play_pb2.Refusal:
    """Return a refusal of a message about a fair deal, with a text for people."""
    return play_pb2.Refusal(reason=reason, text=detail)

"""The handshake of one fair deal: steps 1 to 4 of protocol fd2, without transport or timers.

| phase  | the arena has sent | it waits for                      | then           |
|--------|--------------------|-----------------------------------|----------------|
| COMMIT | deal_open          | a commitment from each bot asked  | REVEAL         |
| REVEAL | deal_transcript    | the opening of each commitment    | SETTLED        |

Every bot that was asked for a commitment is shown its own, and a seal over all of them.
Nothing that one participant is shown is shown to another. One that does not
commit in time adds no entropy, which is no fault. What others wait for a bot is its
own time (`arena.server.deals.deal_time`); one that has none left is not asked. A
commitment that is opened wrongly or not at all makes the deal-set void: otherwise
a bot could look at the others' entropy first, and choose whether to add its own.
"""

import math
from collections.abc import Callable, Container, Mapping
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
"""When the arena itself was late, nobody is until it was punctual for as long."""

_COMMITMENT_BYTES: Final = 32
_Reason = play_pb2.RefusalReason


class Participant(Protocol):
    """A bot, as far as a fair deal can tell."""

    @property
    def adds_entropy(self) -> bool:
        """Whether it said that it takes part in fair deals."""
        ...

    @property
    def connected(self) -> bool:
        """Whether it can be reached just now."""
        ...

    def send(self, message: play_pb2.ArenaMessage, /) -> None:
        """Tell it something. Does not block and does not raise."""
        ...

    def send_until_heard(self, context: bytes, message: play_pb2.ArenaMessage, /) -> None:
        """Tell it how a deal-set was opened, later again unless it has heard. Likewise."""
        ...


class Phase(Enum):
    """How far the handshake has come."""

    COMMIT = "commit"
    REVEAL = "reveal"
    SETTLED = "settled"


@dataclass(slots=True)
class _Seat:
    """One participant's part in the handshake."""

    bot: BotId
    name: str
    salt: bytes
    context: bytes
    """Of the deal-set, as this participant is told it."""
    server_commitment: bytes
    """The arena's, under that context."""
    asked: bool = False
    commitment: bytes | None = None
    """None as long as it said nothing."""
    told: bytes | None = None
    """What it told as its entropy; None as long as it told nothing."""
    expired: bool = False
    """It did not open its commitment in time."""
    too_late: bool = False
    """It did not commit in time."""
    step_s: float = 0.0
    """What it has for the present step; to open a commitment, while it is connected."""
    limit_s: float = 0.0
    """What it has to open its commitment, connected or not."""
    connected_since_s: float | None = None
    """Since when its time to reveal runs; None while it is away."""
    connected_s: float = 0.0
    """How much of that time had run before."""
    seal: bytes = b""
    """Over all commitments, once they are shown."""
    signature: bytes = b""
    """The arena's, of what is shown with it; none without a signer."""

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

    Its methods may be called from a stream's callback as well as from trio;
    `changed` is called when `wake_s` or `phase` may have changed.
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
        signer: Signer | None = None,
    ) -> None:
        self.context = deal.context
        self.phase = Phase.COMMIT
        self.wake_s = math.inf
        """When `check` is to be called next."""
        self._server_commitment = deal.fair_deal.server_commitment
        self._find = find
        self._now_s = now_s
        self._lag = lag
        self._times = times
        self._changed = changed
        self._signer = signer
        self._seats = {
            BotId(each.bot, each.instance): _seat(deal, each)
            for each in deal.fair_deal.participants
        }
        self._began_s = now_s()
        """When the present phase began."""

    @property
    def views(self) -> Mapping[BotId, bytes]:
        """The contexts that the participants are told; sorted by their names in this deal-set."""
        return {bot: seat.context for bot, seat in self._seats.items()}

    @property
    def commitments(self) -> tuple[bytes, ...]:
        """What each participant committed to, in their order."""
        return tuple(seat.commitment or NO_COMMITMENT for seat in self._seats.values())

    @property
    def told(self) -> tuple[bytes, ...]:
        """What each participant told as its entropy, right or wrong; empty if nothing."""
        return tuple(seat.told or b"" for seat in self._seats.values())

    @property
    def complaint(self) -> str:
        """Who did not open its commitment, and how; empty if all did."""
        lied = ", ".join(seat.name for seat in self._seats.values() if self._wrong(seat))
        silent = ", ".join(seat.name for seat in self._seats.values() if seat.expired)
        said = [f"{lied} opened it wrongly"] if lied else []
        said += [f"{silent} did not open it in time"] if silent else []
        return f"of those who made a commitment, {' and '.join(said)}" if said else ""

    # What the arena does.

    def begin(self, excluded: Container[BotId]) -> None:
        """Ask for commitments, except of those who are `excluded`. The arena's own is on disk."""
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

    def check(self) -> None:
        """See whose time is over. To be called at `wake_s`, and as often as one likes."""
        now_s = self._now_s()
        if self._lag.late(now_s):
            # What the bots said may still be on its way through this process.
            self.wake_s = now_s + PUNCTUAL_S
            return
        for seat in self._seats.values():
            if self.phase is Phase.COMMIT:
                if seat.owes_commitment and now_s >= self._commit_due_s(seat):
                    seat.commitment, seat.too_late = NO_COMMITMENT, True
                    self._times.not_answered(seat.bot.name, self._began_s)
            elif seat.owes_opening and now_s >= self._reveal_due_s(seat):
                seat.expired = True
                self._times.not_answered(seat.bot.name, self._began_s)
        self._advance()

    def attached(self, bot: BotId) -> None:
        """A participant is there again: it is told what it may have missed."""
        seat = self._seats.get(bot)
        if seat is None or not seat.asked:
            return
        if self.phase is Phase.SETTLED:
            return
        self._send_open(seat)
        if self.phase is Phase.REVEAL:
            if seat.owes_opening and seat.connected_since_s is None:
                seat.connected_since_s = self._now_s()
            self._send_transcript(seat)
            self._advance()

    def detached(self, bot: BotId) -> None:
        """A participant is away: its time to reveal does not run."""
        seat = self._seats.get(bot)
        if seat is not None and seat.connected_since_s is not None:
            since_s, now_s = seat.connected_since_s, self._now_s()
            seat.connected_s += now_s - since_s - self._times.refund_s(bot.name, since_s)
            seat.connected_since_s = None
            self._advance()

    # What the bots say.

    def commit(self, bot: BotId, commitment: bytes) -> play_pb2.Refusal | None:
        """Take a bot's commitment; None if it was taken, or had been."""
        seat = self._seats[bot]
        if not seat.asked:
            return refusal(_Reason.REFUSAL_REASON_UNKNOWN_DEAL, "nobody asked for a commitment")
        if len(commitment) != _COMMITMENT_BYTES:
            text = f"a commitment has {_COMMITMENT_BYTES} bytes"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        if commitment == seat.commitment:
            return None
        taken = seat.commitment is not None and self.phase is Phase.COMMIT and not seat.too_late
        if seat.committed or taken:
            text = "there is another commitment already, which stands"
            return refusal(_Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        if seat.too_late or self.phase is not Phase.COMMIT:
            text = "the commitment came too late; the deal-set goes on without it"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        seat.commitment = commitment
        self._times.answered(bot.name, self._began_s)
        self._advance()
        return None

    def reveal(self, bot: BotId, entropy: bytes) -> play_pb2.Refusal | None:
        """Take the opening of a bot's commitment; None if it was taken, or had been."""
        seat = self._seats[bot]
        if not seat.committed:
            text = "there is no commitment that this could open"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        if self.phase is Phase.COMMIT:
            text = "nothing may be opened before all commitments were shown"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        if len(entropy) != ENTROPY_BYTES:
            text = f"entropy has {ENTROPY_BYTES} bytes"
            return refusal(_Reason.REFUSAL_REASON_MALFORMED, text)
        if entropy == seat.told:
            return None
        if seat.told is not None:
            text = "the commitment was opened otherwise before, which stands"
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

    # Inside.

    def _advance(self) -> None:
        """Go on to the next phase if nobody is waited for, and set the next time to wake."""
        before = self.phase, self.wake_s
        seats = self._seats.values()
        if self.phase is Phase.COMMIT and all(s.commitment for s in seats if s.asked):
            self.phase = Phase.REVEAL
            self._seal()
            self._began_s = self._now_s()
            for seat in seats:
                if seat.committed:
                    bot, name = self._find(seat.bot), seat.bot.name
                    seat.step_s = self._times.step_s(name)
                    seat.limit_s = max(seat.step_s, self._times.left_s(name))
                    seat.connected_since_s = (
                        self._began_s if bot is not None and bot.connected else None
                    )
                if seat.asked:
                    self._send_transcript(seat)
        if self.phase is Phase.REVEAL and not any(seat.owes_opening for seat in seats):
            self.phase = Phase.SETTLED
        if self.phase is Phase.COMMIT:
            dues_s = [self._commit_due_s(seat) for seat in seats if seat.owes_commitment]
        else:
            dues_s = [self._reveal_due_s(seat) for seat in seats if seat.owes_opening]
        self.wake_s = min(dues_s, default=math.inf)
        if (self.phase, self.wake_s) != before:
            self._changed()

    def _seal(self) -> None:
        """Bind the arena to all commitments, towards each participant on its own."""
        commitments = {seat.name: seat.commitment or NO_COMMITMENT for seat in self._seats.values()}
        fixed = transcript(self.context, self._server_commitment, commitments)
        for seat in self._seats.values():
            seat.seal = seal(seat.context, fixed, seat.salt)
            shown = view_transcript(
                seat.context,
                seat.server_commitment,
                seat.name,
                commitments[seat.name],
                seat.seal,
            )
            if self._signer is not None:
                seat.signature = self._signer.sign(transcript_statement(shown))

    def _due_s(self, seat: _Seat, since_s: float, limit_s: float) -> float:
        """When a time is over that has run since `since_s`, without the arena's own lateness."""
        return since_s + limit_s + self._times.refund_s(seat.bot.name, since_s)

    def _commit_due_s(self, seat: _Seat) -> float:
        return self._due_s(seat, self._began_s, seat.step_s)

    def _reveal_due_s(self, seat: _Seat) -> float:
        limit_s, here_s = self._due_s(seat, self._began_s, seat.limit_s), seat.connected_since_s
        if here_s is None:
            return limit_s
        return min(limit_s, self._due_s(seat, here_s, seat.step_s - seat.connected_s))

    def _wrong(self, seat: _Seat) -> bool:
        """Whether a participant opened its commitment with something else."""
        if seat.told is None:
            return False
        participant = journal_pb2.DealParticipant(
            participant=seat.name,
            commitment=seat.commitment or NO_COMMITMENT,
            salt=seat.salt,
        )
        return not opens(self.context, participant, seat.told)

    def _left_ms(self, due_s: float) -> int:
        return max(0, round((due_s - self._now_s()) * 1000))

    def _send_open(self, seat: _Seat) -> None:
        waits = self.phase is Phase.COMMIT and seat.commitment is None
        deal_open = play_pb2.DealOpen(
            context=seat.context,
            server_commitment=seat.server_commitment,
            deadline_ms=self._left_ms(self._commit_due_s(seat)) if waits else 0,
            participant=seat.name,
            public_key=self._signer.public_key if self._signer is not None else b"",
            commitment=seat.commitment or b"",
        )
        self._send(seat, play_pb2.ArenaMessage(deal_open=deal_open))

    def _send_transcript(self, seat: _Seat) -> None:
        shown = play_pb2.DealTranscript(
            context=seat.context,
            commitment=seat.commitment or NO_COMMITMENT,
            deadline_ms=self._left_ms(self._reveal_due_s(seat)) if seat.owes_opening else 0,
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


def refusal(reason: play_pb2.RefusalReason.ValueType, text: str) -> play_pb2.Refusal:
    """Says why something about a fair deal was not taken."""
    return play_pb2.Refusal(reason=reason, text=text)

"""The handshake of one fair deal: steps 1 to 4 of protocol fd1, without transport or timers.

| phase  | the arena has sent | it waits for                      | then           |
|--------|--------------------|-----------------------------------|----------------|
| COMMIT | deal_open          | a commitment from each bot asked  | REVEAL         |
| REVEAL | deal_transcript    | the opening of each commitment    | SETTLED        |

Every bot that was asked for a commitment is shown all of them. One that does not
commit in time adds no entropy, which is no fault. A
commitment that is opened wrongly or not at all makes the deal-set void: otherwise
a bot could look at the others' entropy first, and choose whether to add its own.
"""

import math
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from arena.deal import ENTROPY_BYTES, NO_COMMITMENT, transcript
from arena.referee import Lag
from arena.replay.deal_book import opens
from arena.replay.signing import Signer, transcript_statement
from arena.server.bots import BotId
from cardarena.v1 import journal_pb2, play_pb2

COMMIT_S: Final = 5.0
"""Time to commit. It also runs while a bot is away: not to commit costs nothing."""
REVEAL_S: Final = 5.0
"""Time to open a commitment. It runs only while the bot is connected."""
REVEAL_LIMIT_S: Final = 30.0
"""Longest time to open a commitment, connected or not."""
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
    asked: bool = False
    commitment: bytes | None = None
    """None as long as it said nothing."""
    told: bytes | None = None
    """What it told as its entropy; None as long as it told nothing."""
    expired: bool = False
    """It did not open its commitment in time."""
    connected_since_s: float | None = None
    """Since when its time to reveal runs; None while it is away."""
    connected_s: float = 0.0
    """How much of that time had run before."""

    @property
    def committed(self) -> bool:
        return self.commitment not in (None, NO_COMMITMENT)

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
        context: bytes,
        fair_deal: journal_pb2.FairDeal,
        find: Callable[[BotId], Participant | None],
        *,
        now_s: Callable[[], float],
        lag: Lag,
        changed: Callable[[], None],
        signer: Signer | None = None,
    ) -> None:
        self.context = context
        self.phase = Phase.COMMIT
        self.wake_s = math.inf
        """When `check` is to be called next."""
        self._server_commitment = fair_deal.server_commitment
        self._find = find
        self._now_s = now_s
        self._lag = lag
        self._changed = changed
        self._signer = signer
        self._signature = b""
        """Of the transcript, once it is shown; none without a signer."""
        self._seats = {
            seat.bot: seat
            for each in fair_deal.participants
            for seat in (_Seat(BotId(each.bot, each.instance), each.participant),)
        }
        self._began_s = now_s()
        """When the present phase began."""

    @property
    def bots(self) -> Collection[BotId]:
        """The participants, sorted by their names in this deal-set."""
        return self._seats.keys()

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
            seat.asked = True
            self._send_open(seat)
        self._advance()

    def check(self) -> None:
        """See whose time is over. To be called at `wake_s`, and as often as one likes."""
        now_s = self._now_s()
        if self._lag.late(now_s):
            # What the bots said may still be on its way through this process.
            self.wake_s = now_s + PUNCTUAL_S
            return
        if self.phase is Phase.COMMIT and now_s >= self._due_s(self._began_s, COMMIT_S):
            for seat in self._seats.values():
                seat.commitment = seat.commitment or NO_COMMITMENT
        if self.phase is Phase.REVEAL:
            for seat in self._seats.values():
                if seat.owes_opening and now_s >= self._reveal_due_s(seat):
                    seat.expired = True
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
            seat.connected_s += now_s - since_s - self._lag.refund_s(since_s, now_s)
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
        if seat.committed or (seat.commitment and self.phase is Phase.COMMIT):
            text = "there is another commitment already, which stands"
            return refusal(_Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        if self.phase is not Phase.COMMIT:
            text = "the commitment came too late; the deal-set goes on without it"
            return refusal(_Reason.REFUSAL_REASON_OUT_OF_ORDER, text)
        seat.commitment = commitment
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
            self._signature = self._signed()
            self._began_s = self._now_s()
            for seat in seats:
                if seat.committed:
                    bot = self._find(seat.bot)
                    seat.connected_since_s = (
                        self._began_s if bot is not None and bot.connected else None
                    )
                if seat.asked:
                    self._send_transcript(seat)
        if self.phase is Phase.REVEAL and not any(seat.owes_opening for seat in seats):
            self.phase = Phase.SETTLED
        if self.phase is Phase.COMMIT:
            self.wake_s = self._due_s(self._began_s, COMMIT_S)
        else:
            dues_s = (self._reveal_due_s(seat) for seat in seats if seat.owes_opening)
            self.wake_s = min(dues_s, default=math.inf)
        if (self.phase, self.wake_s) != before:
            self._changed()

    def _signed(self) -> bytes:
        """The arena's signature of all commitments."""
        if self._signer is None:
            return b""
        commitments = {seat.name: seat.commitment or NO_COMMITMENT for seat in self._seats.values()}
        shown = transcript(self.context, self._server_commitment, commitments)
        return self._signer.sign(transcript_statement(shown))

    def _due_s(self, since_s: float, limit_s: float) -> float:
        """When a time is over that has run since `since_s`, without the arena's own lateness."""
        return since_s + limit_s + self._lag.refund_s(since_s, self._now_s())

    def _reveal_due_s(self, seat: _Seat) -> float:
        limit_s = self._due_s(self._began_s, REVEAL_LIMIT_S)
        if seat.connected_since_s is None:
            return limit_s
        return min(limit_s, self._due_s(seat.connected_since_s, REVEAL_S - seat.connected_s))

    def _wrong(self, seat: _Seat) -> bool:
        """Whether a participant opened its commitment with something else."""
        if seat.told is None:
            return False
        participant = journal_pb2.DealParticipant(
            participant=seat.name, commitment=seat.commitment or NO_COMMITMENT
        )
        return not opens(self.context, participant, seat.told)

    def _left_ms(self, due_s: float) -> int:
        return max(0, round((due_s - self._now_s()) * 1000))

    def _send_open(self, seat: _Seat) -> None:
        waits = self.phase is Phase.COMMIT and seat.commitment is None
        deal_open = play_pb2.DealOpen(
            context=self.context,
            server_commitment=self._server_commitment,
            deadline_ms=self._left_ms(self._due_s(self._began_s, COMMIT_S)) if waits else 0,
            participant=seat.name,
            public_key=self._signer.public_key if self._signer is not None else b"",
            commitment=seat.commitment or b"",
        )
        self._send(seat, play_pb2.ArenaMessage(deal_open=deal_open))

    def _send_transcript(self, seat: _Seat) -> None:
        transcript = play_pb2.DealTranscript(
            context=self.context,
            commitments=[
                play_pb2.Commitment(
                    participant=each.name, commitment=each.commitment or NO_COMMITMENT
                )
                for each in self._seats.values()
            ],
            deadline_ms=self._left_ms(self._reveal_due_s(seat)) if seat.owes_opening else 0,
            signature=self._signature,
        )
        self._send(seat, play_pb2.ArenaMessage(deal_transcript=transcript))

    def _send(self, seat: _Seat, message: play_pb2.ArenaMessage) -> None:
        bot = self._find(seat.bot)
        if bot is not None and bot.connected:
            bot.send(message)


def refusal(reason: play_pb2.RefusalReason.ValueType, text: str) -> play_pb2.Refusal:
    """Says why something about a fair deal was not taken."""
    return play_pb2.Refusal(reason=reason, text=text)

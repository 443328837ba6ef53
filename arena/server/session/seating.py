"""A bot's seat at one match: the port of the match runner to a bot."""

from collections.abc import Sequence
from typing import Final, Protocol

from arena.referee import FaultKind, MatchSpec, OpenAsk, Outcome, Said
from arena.referee.absence import Absence
from arena.replay.journal.match_log import note_bytes
from arena.server.session.limits import MAX_MATCH_NOTE_BYTES
from arena.wire.codec import Codec
from arena.wire.fields import match_field
from arena.wire.games import codec_of
from arena.wire.terms import terms_message
from cardarena.v1 import game_pb2, play_pb2

DECISION_BITS: Final = 20
"""An ask's id is the match's number, and in its last bits the number of the seat's decision.

So a decision has the same id on every stream, and after a restart of the arena. The contract promises no more about
ids.
"""


def ask_id(match: int, decision: int) -> int:
    """The id of a decision on the bot's streams; `match` is the match's number there.

    Raises:
      ValueError: after a million decisions of one seat.
    """
    if decision >> DECISION_BITS:
        raise ValueError(f"match {match} has too many decisions")
    return match << DECISION_BITS | decision


def decision_of(ask_id: int) -> tuple[int, int]:
    """The match's number and the number of the decision in an ask's id."""
    return ask_id >> DECISION_BITS, ask_id & (1 << DECISION_BITS) - 1


MAX_TRAILING_BYTES: Final = 1 << 20
"""Most bytes of unsent events in the end of a match; the newest are sent. Only a seat that the fallback plays for most
of a long match misses any, and the replay has all of them."""


def newest_events(events: Sequence[bytes]) -> Sequence[bytes]:
    """The last events that fit, oldest first."""
    size = 0
    for at in range(len(events), 0, -1):
        size += len(events[at - 1])
        if size > MAX_TRAILING_BYTES:
            return events[at:]
    return events


def shown_name(spec: MatchSpec, seat: int, name: str) -> str:
    """The name of a bot that the other bots of its match see.

    The matches of a deal-set have the same bots, so their names would reveal which matches these are.
    """
    return f"seat {seat}" if spec.deal_set else name


class BotAsks(Protocol):
    """The asks of one bot, as far as a seat needs them."""

    def ask(self, seating: "Seating", ask: OpenAsk, number: int) -> None:
        """Send an ask with this id as soon as the bot has a free slot."""
        ...

    def withdraw(self, ask: OpenAsk, number: int, fault: FaultKind | None, reason: str) -> None:
        """An ask is settled without the bot's answer, or by a wrong one."""
        ...

    def answered_before(self, number: int, said: Said | None, codec: Codec) -> None:
        """An ask was answered before the arena was restarted; the bot may send the answer again."""
        ...


class BotSession(Protocol):
    """The session of a bot, as far as a seat needs it."""

    @property
    def asks(self) -> BotAsks:
        """The bot's asks."""
        ...

    @property
    def gone(self) -> bool:
        """Whether the bot will not reconnect."""
        ...

    @property
    def connected(self) -> bool:
        """Whether a stream is open."""
        ...

    @property
    def expected(self) -> bool:
        """Whether the bot is expected back after a restart of the arena."""
        ...

    def unseat(self, number: int, end: play_pb2.MatchEnd) -> None:
        """The match of this number is over: send its end to the bot."""
        ...


class Seating:
    """A bot's seat at one match: `arena.referee.SeatPort`."""

    def __init__(
        self,
        session: BotSession,
        number: int,
        spec: MatchSpec,
        seat: int,
        names: tuple[str, ...],
        *,
        is_replayed: bool = False,
    ) -> None:
        """A seat at a match that has this number on the bot's streams; `names` are by seat."""
        self.number = number
        self.asked = 0
        """The last decision that the bot was asked for."""
        self.is_replayed = is_replayed
        """Whether the match is resumed, and its decisions are still being played again."""
        self._note_bytes = 0
        """Bytes of the bot's notes so far, as `arena.replay.journal.match_log` counts them."""
        self._notes_refused = False
        self.match_field = match_field(number)
        self.match_start = play_pb2.MatchStart(
            match=number,
            terms=terms_message(spec.terms),
            seat=seat,
            players=[
                play_pb2.Player(seat=at, name=name if at == seat else shown_name(spec, at, name))
                for at, name in enumerate(names)
            ],
            deal_context=spec.deal_contexts[seat] if spec.deal_contexts else b"",
            match_id=spec.match_id,
        )
        self.codec = codec_of(spec.terms.game)
        self._session = session
        self._asks = session.asks
        self._seat = seat
        self._ask: OpenAsk | None = None
        self._presence: Absence | None = None

    @property
    def gone(self) -> bool:
        return self._session.gone

    @property
    def connected(self) -> bool:
        return self._session.connected

    def sit(self, presence: Absence) -> None:
        self._presence = presence
        self.attend(here=self._session.connected or self._session.expected)

    def attend(self, *, here: bool) -> None:
        """The bot can be reached from now on, or cannot."""
        if self._presence is not None:
            if here:
                self._presence.came_back()
            else:
                self._presence.left()

    def had_notes(self, note_bytes: int) -> None:
        """The bot's notes from before the arena was restarted take so many bytes."""
        self._note_bytes = note_bytes

    def takes_note(self, note: str) -> bool:
        """Count a note if it fits into the limit; returns whether it does."""
        taken = self._note_bytes + note_bytes(note)
        if taken > MAX_MATCH_NOTE_BYTES:
            return False
        self._note_bytes = taken
        return True

    def refuses_notes(self) -> bool:
        """A note does not fit; returns true the first time, when the bot is sent a refusal."""
        first, self._notes_refused = not self._notes_refused, True
        return first

    def asked_before(self, decision: int, said: Said | None) -> None:
        self.asked = decision
        self._asks.answered_before(ask_id(self.number, decision), said, self.codec)

    def ask(self, ask: OpenAsk) -> None:
        self._ask = ask
        self.is_replayed = False
        self.asked = ask.decision
        self._asks.ask(self, ask, ask_id(self.number, ask.decision))

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        self._asks.withdraw(ask, ask_id(self.number, ask.decision), fault, reason)

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        end = play_pb2.MatchEnd(
            match=self.number,
            trailing_events=map(game_pb2.GameEvent.FromString, newest_events(trailing_events)),
            scores=outcome.scores,
            places=outcome.places,
            ending=outcome.ending.value,  # type: ignore[arg-type]
            faults=[
                game_pb2.Fault(
                    seat=fault.seat,
                    kind=fault.kind.value,  # type: ignore[arg-type]
                    decision=fault.decision,
                    reason=fault.reason if fault.seat == self._seat else "",
                )
                for fault in outcome.faults
            ],
            replay_id=outcome.match_id,
            cause=(outcome.cause or 0),  # type: ignore[arg-type]
        )
        self._session.unseat(self.number, end)

    def left(self) -> None:
        """Settle the open ask, as the bot will not answer it."""
        if self._ask is not None and not self._ask.settled:
            self._ask.abandoned()

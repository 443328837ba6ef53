"""A bot's seat at one match, as the match's table sees it."""

from collections.abc import Sequence
from typing import Final, Protocol

from arena.referee import FaultKind, MatchSpec, OpenAsk, Outcome, Said
from arena.referee.presence import Presence
from arena.wire import asks
from arena.wire.codec import Codec
from arena.wire.games import codec_of
from arena.wire.terms import terms_message
from cardarena.v1 import game_pb2, play_pb2

DECISION_BITS: Final = 20
"""An ask's id is the match's number, and in its last bits the seat's decision.

So a decision has the same id on every stream, and after a restart of the arena. Bots
are told only that, so an id may be made otherwise one day.
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
    """The match's number and the decision that an ask's id stands for."""
    return ask_id >> DECISION_BITS, ask_id & (1 << DECISION_BITS) - 1


MAX_TRAILING_BYTES: Final = 1 << 20
"""Most bytes of pending news at the end of a match: the newest events are told. Only a seat that is
played by fallback through most of a long match misses any, and the replay has them all."""


def newest_events(events: Sequence[bytes]) -> Sequence[bytes]:
    """The last events that fit, oldest first."""
    size = 0
    for at in range(len(events), 0, -1):
        size += len(events[at - 1])
        if size > MAX_TRAILING_BYTES:
            return events[at:]
    return events


def shown_name(spec: MatchSpec, seat: int, name: str) -> str:
    """What the others at a table are told of who sits there.

    The tables of a deal-set have the same bots, so their names would tell which these are.
    """
    return f"seat {seat}" if spec.deal_set else name


class BotSession(Protocol):
    """The session of the bot that sits there, as far as a seat needs it."""

    @property
    def gone(self) -> bool:
        """Whether the bot has left for good."""
        ...

    @property
    def connected(self) -> bool:
        """Whether a stream is attached."""
        ...

    @property
    def held(self) -> bool:
        """Whether the bot is expected back after a restart of the arena."""
        ...

    def ask(self, seating: "Seating", ask: OpenAsk) -> None:
        """Ask as soon as the bot has a free slot."""
        ...

    def withdraw(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        """An ask is settled without the bot's answer, or by a wrong one."""
        ...

    def answered_before(self, number: int, said: Said | None, codec: Codec) -> None:
        """An ask was answered before the arena was restarted; the answer may be said again."""
        ...

    def unseat(self, seating: "Seating", end: play_pb2.MatchEnd) -> None:
        """The match is over: tell the bot."""
        ...


class Seating:
    """A bot's seat at one match: `arena.referee.SeatPort`."""

    def __init__(
        self, session: BotSession, number: int, spec: MatchSpec, seat: int, names: tuple[str, ...]
    ) -> None:
        self.number = number
        self.asked = 0
        """The last decision that the bot was asked for."""
        self.note_bytes = 0
        """What the bot's notes have taken so far, as `arena.replay.journal.match_log` counts it."""
        self.notes_refused = False
        """Whether the bot was told that they may take no more."""
        self.is_replayed = False
        """Whether the match goes on, and its past is still being played again."""
        self.match_field = asks.match_field(number)
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
        self._seat = seat
        self._ask: OpenAsk | None = None
        self._presence: Presence | None = None

    @property
    def gone(self) -> bool:
        return self._session.gone

    @property
    def connected(self) -> bool:
        return self._session.connected

    def sit(self, presence: Presence) -> None:
        self._presence = presence
        self.attend(here=self._session.connected or self._session.held)

    def attend(self, *, here: bool) -> None:
        """The bot can be reached from now on, or cannot."""
        if self._presence is not None:
            if here:
                self._presence.came_back()
            else:
                self._presence.left()

    def asked_before(self, decision: int, said: Said | None) -> None:
        self.asked = decision
        self._session.answered_before(ask_id(self.number, decision), said, self.codec)

    def ask(self, ask: OpenAsk) -> None:
        self._ask = ask
        self.is_replayed = False
        self.asked = ask.decision
        ask.number = ask_id(self.number, ask.decision)
        self._session.ask(self, ask)

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        self._session.withdraw(ask, fault, reason)

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
        self._session.unseat(self, end)

    def left(self) -> None:
        """Settle what the bot still owes, now that it will not answer."""
        if self._ask is not None and not self._ask.settled:
            self._ask.abandoned()

"""What a table needs of the world: somebody at each seat, and a ledger."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from google.protobuf.message import Message

from arena.referee.spec import FaultKind, MatchSpec, Outcome

if TYPE_CHECKING:
    from arena.referee.table import OpenAsk


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bot said to an ask. Neither index nor move means that it made no sense."""

    index: int | None = None
    """Place in the offered moves."""
    move: Message | None = None
    """A `cardarena.v1.GameMove`, not yet read."""
    note: str = ""


class SeatPort(Protocol):
    """One seat's bot, as far as a table can tell.

    Calls do not block and do not raise. When the bot can be asked at once,
    `ask` ends in `OpenAsk.sent`; a port may hold an ask back until the bot has
    a free slot, which is nobody's time.
    """

    @property
    def gone(self) -> bool:
        """Whether the bot has left for good: it need not be asked any more."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the bot could be reached just now."""
        ...

    @property
    def wants_text(self) -> bool:
        """Whether moves and events should come in notation as well."""
        ...

    def ask(self, ask: "OpenAsk") -> None:
        """Ask the bot. The port calls `ask.answered` later, never from within."""
        ...

    def close(self, ask: "OpenAsk", fault: FaultKind | None, reason: str) -> None:
        """Withdraw an ask; an answer to it is no longer wanted."""
        ...

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        """Tell the bot how the match ended.

        `trailing_events` are `cardarena.v1.GameEvent`s since the seat's last ask.
        """
        ...


class Ledger(Protocol):
    """Where a match is written down before anybody is told."""

    def opened(self, spec: MatchSpec) -> None:
        """The match begins."""
        ...

    def decided(
        self,
        seat: int,
        decision: int,
        game_move: bytes,
        sent_s: float,
        charged_s: float,
        bank_ms: int,
        fault: FaultKind | None,
        reason: str,
        note: str,
        *,
        unasked: bool,
        forfeited: bool,
    ) -> None:
        """A seat's decision is settled.

        `game_move` is an encoded `cardarena.v1.GameMove`; `sent_s` counts from
        the start of the match. From a decision with `forfeited` on, the seat is
        played by fallback to the end.
        """
        ...

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """The match is over, `end_s` after it began."""
        ...


class Unwritten(Exception):
    """The ledger could not be written, as on a full disk. Play must stop."""

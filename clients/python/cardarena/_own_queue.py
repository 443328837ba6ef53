"""The time that asks wait in the bot's own queue before its code receives them, and on the network."""

from dataclasses import dataclass
from typing import Final, Self

from cardarena._ask import AnyAsk

NOTE: Final = "queue: "
"""The beginning of a note about a wait, which `arena match why` looks for."""
TOLD_SHARE: Final = 0.5
"""The share of the time for the move below which waits are not reported."""
TOLD_S: Final = 0.1
"""The number of seconds below which waits are never reported."""
AGAIN_S: Final = 60.0
"""Seconds between two warnings."""
TIMES_NOTE: Final = "times: "
"""The beginning of a note of `AskTimes`, which `arena match why` looks for."""
FEWEST_ASKS: Final = 4
"""The fewest asks of a note about times."""
NOTED_S: Final = 0.01
"""The mean seconds of an ask in the queue and on the network below which times are not reported."""


class OwnQueue:
    """Finds waits that should be reported."""

    def __init__(self, remedy: str) -> None:
        """`remedy` is the advice on what to change in the bot."""
        self._remedy = remedy
        self._quiet_until_s = 0.0

    def told(self, ask: AnyAsk, waited_s: float) -> str:
        """Return a sentence about the wait of an ask; empty if it was short."""
        clock = ask.clock
        allowed_s = (clock.move_ms + clock.bank_ms) / 1000
        own_s = clock.move_ms / 1000 or allowed_s
        if waited_s < max(TOLD_S, TOLD_SHARE * own_s):
            return ""
        waited_s = min(waited_s, allowed_s)
        return (
            f"your bot took {waited_s:.1f} s of {allowed_s:.1f} s in its own queue: {self._remedy}"
        )

    def warns(self, now_s: float) -> bool:
        """Return whether to print a warning now, because the last one was at least `AGAIN_S` ago."""
        if now_s < self._quiet_until_s:
            return False
        self._quiet_until_s = now_s + AGAIN_S
        return True


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of a match that no note has reported."""

    first: int
    """The first decision."""
    last: int
    told: str
    """The sentence about the last wait."""

    @classmethod
    def of(cls, ask: AnyAsk, told: str, before: Self | None) -> Self:
        """Return the wait of an ask together with earlier ones."""
        decision = ask.message.decision
        return cls(decision if before is None else before.first, decision, told)

    @property
    def note(self) -> str:
        """Return the note for the answer to this or a later ask, because a late ask has no answer."""
        one = self.first == self.last
        which = f"decision {self.first}" if one else f"decisions {self.first} to {self.last}"
        return f"{NOTE}{which}: {self.told}"


@dataclass(slots=True)
class AskTimes:
    """The time of a match's asks in the own queue and on the network, which only the bot's side can separate from thinking."""

    asks: int = 0
    """The number of asks that the bot's code received and answered."""
    queue_s: float = 0.0
    measured: int = 0
    """The number of these asks whose time on the network is known."""
    network_s: float = 0.0
    is_due: bool = False
    """Whether the next answer without a note should have one about times."""
    _arrived_s: float = 0.0
    _shown_s: float | None = None
    _answered_s: float | None = None

    def arrived(self, now_s: float, last_round_trip_ms: int) -> None:
        """Note that the next ask has arrived; `last_round_trip_ms` is that of the previous ask, or 0 if it is not known."""
        if self._shown_s is not None and self._answered_s is not None:
            network_s = last_round_trip_ms / 1000 - (self._answered_s - self._arrived_s)
            self._add(self._shown_s - self._arrived_s, network_s if last_round_trip_ms else None)
        self._arrived_s, self._shown_s, self._answered_s = now_s, None, None

    def shown(self, now_s: float) -> None:
        """Note that the bot's code receives the ask."""
        self._shown_s = now_s

    def answered(self, now_s: float) -> None:
        """Note that the ask is answered."""
        self._answered_s = now_s

    def _add(self, queue_s: float, network_s: float | None) -> None:
        self.asks += 1
        self.queue_s += queue_s
        if network_s is not None:
            self.measured += 1
            self.network_s += max(0.0, network_s)
        if self.asks >= FEWEST_ASKS and self.asks.bit_count() == 1:
            self.is_due = self.queue_s + self.network_s >= NOTED_S * self.asks

    def note(self) -> str:
        """Return the note; it is due again after twice as many asks, so that a match has few of them."""
        self.is_due = False
        return (
            f"{TIMES_NOTE}{self.asks} asks waited {self.queue_s:.3f} s in the own queue; "
            f"{self.measured} took {self.network_s:.3f} s on the network"
        )

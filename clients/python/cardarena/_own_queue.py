"""The time that asks wait in the bot's own queue before its code receives them."""

from dataclasses import dataclass
from typing import Final, Self

from cardarena._ask import AnyAsk

NOTE: Final = "queue: "
"""The beginning of a note about a wait, which `arena match why` looks for."""
TOLD_SHARE: Final = 0.5
"""Shorter waits are not reported: a share of the time for the move."""
TOLD_S: Final = 0.1
"""Waits of fewer seconds are never reported."""
AGAIN_S: Final = 60.0
"""Seconds between two warnings."""


class OwnQueue:
    """Finds waits that should be reported."""

    def __init__(self, remedy: str) -> None:
        """`remedy` says what to change in the bot."""
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
        """Whether to print a warning now, because the last one was at least `AGAIN_S` ago."""
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
        """The note, for the answer to this or a later ask, as a late ask has no answer."""
        one = self.first == self.last
        which = f"decision {self.first}" if one else f"decisions {self.first} to {self.last}"
        return f"{NOTE}{which}: {self.told}"

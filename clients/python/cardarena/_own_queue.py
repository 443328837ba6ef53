"""How long an ask waited in the bot's own queue, before the bot's code was given it."""

from dataclasses import dataclass
from typing import Final, Self

from cardarena._ask import AnyAsk

NOTE: Final = "queue: "
"""How a note begins that tells the owner of a wait; `arena match why` looks for it."""
TOLD_SHARE: Final = 0.5
"""Shorter waits are not told, as a part of the time for the move."""
TOLD_S: Final = 0.1
"""Shorter waits are never told."""
AGAIN_S: Final = 60.0
"""After a warning, time until the next one."""


class OwnQueue:
    """Finds the waits that an author should know of."""

    def __init__(self, remedy: str) -> None:
        """`remedy` is what to change in this bot."""
        self._remedy = remedy
        self._quiet_until_s = 0.0

    def told(self, ask: AnyAsk, waited_s: float) -> str:
        """A sentence on the wait of an ask; empty if it was short."""
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
        """Whether to print a warning now, as the last one was long ago."""
        if now_s < self._quiet_until_s:
            return False
        self._quiet_until_s = now_s + AGAIN_S
        return True


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of a match that its owner has not been told of."""

    first: int
    """The decision."""
    last: int
    told: str
    """The sentence on the last one."""

    @classmethod
    def of(cls, ask: AnyAsk, told: str, before: Self | None) -> Self:
        """The wait of an ask, and those before it."""
        decision = ask.message.decision
        return cls(decision if before is None else before.first, decision, told)

    @property
    def note(self) -> str:
        """As a note of an answer, which may be to a later ask: one that was late has no answer."""
        one = self.first == self.last
        which = f"decision {self.first}" if one else f"decisions {self.first} to {self.last}"
        return f"{NOTE}{which}: {self.told}"

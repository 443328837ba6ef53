"""How long others wait for a bot while deals are agreed: its own time, which silence uses up.

No clock of a match runs before its cards are dealt, so time taken then would be everybody's.
It is the bot's that takes it: each has some, for all deal-sets and processes together, and
whoever has none left is dealt to without its entropy, at once.

| a step of the handshake | what it costs the bot                  |
|-------------------------|----------------------------------------|
| is answered             | what it took beyond the free second    |
| is not answered         | all that the others waited             |
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arena.referee import Lag
from arena.referee.clock import MAX_REFUND_S

DEAL_TIME_S: Final = 10.0
"""What a bot has at first, and at most."""
REGAINED_PER_S: Final = DEAL_TIME_S / 3_600
"""How quickly it comes by it again: all of it in an hour."""
FREE_S: Final = 1.0
"""What an answer to a step may take for nothing. A bot that has less left is not asked."""
STEP_S: Final = 5.0
"""Longest time for one step of a bot that is there."""
REMEMBERED: Final = 1_000
"""Accounts from which on those that are full again are forgotten."""


@dataclass(slots=True)
class _Account:
    left_s: float
    at_s: float
    """When it was so."""
    charged_until_s: float
    """Time before that is charged already: what several deal-sets wait at once counts once."""


class DealTimes:
    """The time that each bot has left for handshakes, by name."""

    def __init__(
        self,
        now_s: Callable[[], float],
        lag: Lag,
        owner_of: Callable[[str], str] = lambda bot: bot,
    ) -> None:
        """All have all of it. What the arena is late itself, as `lag` has it, costs nobody.

        `owner_of` names whose a bot is, by its name.
        """
        self._now_s = now_s
        self._lag = lag
        self._owner_of = owner_of
        self._accounts: dict[str, _Account] = {}

    def left_s(self, bot: str) -> float:
        """What a bot has left."""
        account = self._accounts.get(bot)
        if account is None:
            return DEAL_TIME_S
        regained_s = (self._now_s() - account.at_s) * REGAINED_PER_S
        return min(DEAL_TIME_S, account.left_s + max(0.0, regained_s))

    def takes_part(self, bot: str) -> bool:
        """Whether a bot is asked at all."""
        return self.left_s(bot) >= FREE_S

    def step_s(self, bot: str) -> float:
        """How long a step may take now: half of what the bot has left, so less and less."""
        return max(FREE_S, min(STEP_S, self.left_s(bot) / 2))

    def answered(self, bot: str, since_s: float) -> None:
        """A step was answered just now that had begun at `since_s`."""
        self._charge(bot, since_s + FREE_S + self.refund_s(bot, since_s))

    def not_answered(self, bot: str, since_s: float) -> None:
        """Nobody waits any more for the answer to a step that began at `since_s`."""
        self._charge(bot, since_s + self.refund_s(bot, since_s))

    def refund_s(self, bot: str, since_s: float) -> float:
        """What the arena was late of a bot's step so far, within the bounds of a decision."""
        late_s = self._lag.refund_s(since_s, self._now_s(), self._owner_of(bot))
        return min(late_s, MAX_REFUND_S)

    def _charge(self, bot: str, since_s: float) -> None:
        now_s, left_s = self._now_s(), self.left_s(bot)
        before = self._accounts.get(bot)
        if before is not None:
            since_s = max(since_s, before.charged_until_s)
        if now_s <= since_s:
            return
        self._accounts[bot] = _Account(max(0.0, left_s - (now_s - since_s)), now_s, now_s)
        if len(self._accounts) > REMEMBERED:
            full = [name for name in self._accounts if self.left_s(name) >= DEAL_TIME_S]
            for name in full:
                del self._accounts[name]

"""The time that each bot has for the handshakes of fair deals.

No match clock runs before the cards are dealt, so a slow bot would delay all others. Each bot therefore has an account
of time for all its handshakes, in all deal-sets and processes together. A bot whose account is empty adds no entropy,
and is not waited for.

| a step of the handshake | is charged                      |
|-------------------------|---------------------------------|
| answered                | the time beyond `FREE_S`        |
| not answered            | the time that the others waited |
"""

from dataclasses import dataclass
from typing import Final

from arena.referee.clock import MAX_REFUND_S
from arena.referee.timers import ArenaTime

DEAL_TIME_S: Final = 10.0
"""Seconds in a full account, which is also the first one."""
REGAINED_PER_S: Final = DEAL_TIME_S / 3_600
"""Seconds that an account regains each second: an empty one is full after an hour."""
FREE_S: Final = 1.0
"""Seconds of a step that are not charged. A bot with less in its account is not asked."""
STEP_S: Final = 5.0
"""The longest time in seconds for one step."""
REMEMBERED: Final = 1_000
"""The number of accounts above which full ones are removed."""


@dataclass(slots=True)
class _Account:
    left_s: float
    at_s: float
    """When the account had `left_s`."""
    charged_until_s: float
    """The time until this moment is already charged: if several deal-sets wait at once, the time counts once."""


class DealTimes:
    """The accounts of all bots, by name."""

    def __init__(self, time: ArenaTime) -> None:
        self._now_s = time.now_s
        self._lag = time.lag
        self._owner_of = time.owner_of
        self._accounts: dict[str, _Account] = {}

    def left_s(self, bot: str) -> float:
        """Return the seconds in a bot's account."""
        account = self._accounts.get(bot)
        if account is None:
            return DEAL_TIME_S
        regained_s = (self._now_s() - account.at_s) * REGAINED_PER_S
        return min(DEAL_TIME_S, account.left_s + max(0.0, regained_s))

    def takes_part(self, bot: str) -> bool:
        return self.left_s(bot) >= FREE_S

    def step_s(self, bot: str) -> float:
        """Return the seconds that a step may take: half of the account, so that steps get shorter."""
        return max(FREE_S, min(STEP_S, self.left_s(bot) / 2))

    def answered(self, bot: str, since_s: float) -> None:
        """Charge a step that began at `since_s` and was answered now."""
        self._charge(bot, since_s + FREE_S + self.refund_s(bot, since_s))

    def not_answered(self, bot: str, since_s: float) -> None:
        """Charge a step that began at `since_s` and was not answered until now."""
        self._charge(bot, since_s + self.refund_s(bot, since_s))

    def refund_s(self, bot: str, since_s: float) -> float:
        """Return the seconds of a step that the arena itself was late, at most `MAX_REFUND_S`."""
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

"""Agrees the deals of deal-sets with their bots, the next one's while the one before it is played."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Protocol

import trio

from arena.server.bots import BotId
from arena.server.orders import DealSetOrder


class Bots(Protocol):
    """Who has the bots come to their matches."""

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """Have all these bots there, as far as they come."""
        ...

    def start_soon(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Run a task for as long as there are bots."""
        ...


class Dealer:
    """Has the deals of each deal-set agreed with its bots before its first match."""

    def __init__(
        self,
        orders: Sequence[DealSetOrder],
        *,
        fair: bool,
        fix_deals: Callable[[DealSetOrder], Awaitable[None]],
        bots: Bots,
    ) -> None:
        """`orders` are those with matches still to play, in the order of play."""
        self._fair = fair
        self._fix_deals = fix_deals
        self._bots = bots
        self._orders = {each.deal_set: each for each in orders}
        self._next = dict(pairwise(self._orders))
        self._fixed: dict[str, trio.Event] = {}

    def add(self, order: DealSetOrder) -> None:
        """Know one more deal-set, which follows nobody."""
        self._orders[order.deal_set] = order

    def forget(self, deal_set: str) -> None:
        """A deal-set is over."""
        self._orders.pop(deal_set, None)
        self._fixed.pop(deal_set, None)

    async def ready(self, deal_set: str) -> DealSetOrder:
        """Wait until the deals of a deal-set are agreed; the next one's are begun with."""
        if self._fair:
            self._begin(deal_set)
            if deal_set in self._next:
                self._begin(self._next[deal_set])
            await self._fixed[deal_set].wait()
        return self._orders[deal_set]

    def _begin(self, deal_set: str) -> None:
        if deal_set not in self._fixed:
            self._fixed[deal_set] = trio.Event()
            self._bots.start_soon(self._fix, self._orders[deal_set])

    async def _fix(self, order: DealSetOrder) -> None:
        # Everybody who plays any table of it has a say in its packs.
        await self._bots.ensure(order.bots)
        await self._fix_deals(order)
        self._fixed[order.deal_set].set()

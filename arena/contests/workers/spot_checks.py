"""Plays some deal-sets a second time at another worker, with the same packs, and keeps both scores.

A worker on another machine sees the cards of what it plays and reports the moves of its bots, so it could favour a bot.
Which deal-sets are checked is drawn after their report. The second play counts for nothing, and its bots agree on no
deal: they get the packs of the first play.
"""

import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from arena.contests.workers.assigned import AssignedDealSet, Keep, SecondPlay
from arena.contests.workers.worker import Lost, Needs, Worker
from arena.durable_files import Unwritten
from arena.live.work import CannotPlay
from arena.sandbox.command import BadCommand
from arena.store import StoreError

SHARE: Final = 0.01
"""Share of the deal-sets of workers on other machines that are played again."""
MOST_WAITING: Final = 64
"""Checks that wait for a worker; beyond it none is begun, as without a second machine."""

AT_ONCE: Final = 4
"""Checks that are played at the same time, so that one that waits for a rare worker does not keep the others waiting."""

Find = Callable[[Needs, str], Awaitable[Worker]]
"""Waits for a worker that meets needs, asks for a deal-set and has another name, at best another key.

Raises:
  CannotPlay: if all such workers are broken.
"""

_RANDOM: Final = secrets.SystemRandom()
_log = logging.getLogger(__name__)


class SpotChecker:
    """Draws deal-sets and has them played again. Made and used in trio."""

    def __init__(
        self, keep: Keep, *, share: float = SHARE, draw: Callable[[], float] = _RANDOM.random
    ) -> None:
        """Check nothing yet. `draw` returns numbers from 0 to below 1."""
        self._keep, self._share, self._draw = keep, share, draw
        self._drawn, self._waiting = trio.open_memory_channel[tuple[AssignedDealSet, Needs]](
            MOST_WAITING
        )

    def consider(self, deal_set: AssignedDealSet, needs: Needs) -> None:
        """Draw whether a deal-set is played again that workers have just completed."""
        if deal_set.played_by and self._draw() < self._share:
            try:
                self._drawn.send_nowait((deal_set, needs))
            except trio.WouldBlock:
                fields = {"deal_set": deal_set.order.deal_set}
                _log.warning("no worker for spot checks: one is left out", extra=fields)

    async def run(self, find: Find) -> None:
        """Have the drawn deal-sets played again until cancelled, each at a worker that `find` returns."""
        async with trio.open_nursery() as nursery:
            for _ in range(AT_ONCE):
                nursery.start_soon(self._check_drawn, find)

    async def _check_drawn(self, find: Find) -> None:
        async for deal_set, needs in self._waiting:
            fields = {"deal_set": deal_set.order.deal_set, "worker": deal_set.played_by}
            try:
                worker = await find(needs, deal_set.played_by)
                await worker.play(SecondPlay(deal_set, self._keep))
            except Exception as error:  # a second play stops nothing
                if isinstance(error, Unwritten):
                    raise
                is_known = isinstance(error, (BadCommand, CannotPlay, Lost, StoreError))
                _log.warning(
                    "a spot check was not finished",
                    extra={**fields, "why": str(error)},
                    exc_info=None if is_known else error,
                )

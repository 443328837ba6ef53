"""Plays some deal-sets a second time at another worker, with the same packs, and keeps both scores.

A worker on another machine sees the cards of what it plays and reports the moves of its bots, so it could favour a bot.
The deal-sets to check are drawn after their reports. The second play does not count, and its bots take part in no
handshake: they get the packs of the first play.
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
"""The maximal number of checks that wait for a worker, for example because there is no second machine; no further check begins."""

AT_ONCE: Final = 4
"""The number of simultaneous checks, so that a check that waits for a rare worker does not delay the others."""

Find = Callable[[Needs, str], Awaitable[Worker]]
"""Waits for a worker that meets needs, asks for a deal-set and has another name, preferably with another key.

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
        """Draw whether a deal-set that workers have just completed is played again."""
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
            except Exception as error:  # the error of a second play must not stop play
                if isinstance(error, Unwritten):
                    raise
                is_known = isinstance(error, (BadCommand, CannotPlay, Lost, StoreError))
                _log.warning(
                    "a spot check was not finished",
                    extra={**fields, "why": str(error)},
                    exc_info=None if is_known else error,
                )

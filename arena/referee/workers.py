"""Steps that take long are played in another process, with all clocks stopped.

Otherwise one slow step would hold up every match of the referee, and cost time on
the clocks of bots at other tables.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import trio

from arena.games.catalogue import game_by_id
from arena.games.contract import Deals, Move, Seat, Step

if TYPE_CHECKING:
    from collections.abc import Callable

Chosen = tuple[tuple[Seat, Move], ...]


class Workers:
    """A few processes that play heavy steps; they start with the first one."""

    def __init__(self, processes: int = 1) -> None:
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None

    async def step(self, game_id: str, state: object, chosen: Chosen, deals: Deals) -> Step:
        """Play a step of a game elsewhere.

        Raises:
          Exception: whatever the rules raise; `BrokenProcessPool` if a worker died.
        """
        if self._pool is None:
            # Never fork: a forked gRPC process may deadlock.
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(self._processes, mp_context=context)
        try:
            future = self._pool.submit(_play, game_id, state, chosen, deals)
            wait: Callable[[], Step] = future.result
            return await trio.to_thread.run_sync(wait, abandon_on_cancel=True)
        except Exception:
            if getattr(self._pool, "_broken", False):
                self._pool = None  # the next heavy step starts new workers
            raise

    def close(self) -> None:
        """Stop the processes without waiting for them."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _play(game_id: str, state: object, chosen: Chosen, deals: Deals) -> Step:
    return game_by_id(game_id).rules.step(state, chosen, deals)

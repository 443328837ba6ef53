"""A process that plays for an arena: it launches bots, deals, plays and records, as it is asked.

It is an arena of its own, of which nobody knows but its bots: with a journal, deals and a clock of its
own, and the store, the key and the replays of the arena that it plays for. It ends with that one,
however that came: its standard input ends then.
"""

import logging
import os
from pathlib import Path
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.jail import BadCommand, Wall
from arena.server.arena import Arena
from arena.server.competitions.drawn_tournament import play_here
from arena.server.competitions.entrants import EntrantChanged, know_commands
from arena.server.competitions.players import Players
from arena.server.competitions.playing_messages import (
    BadLine,
    Counted,
    Ended,
    Failed,
    Lines,
    Message,
    Play,
    Ready,
    line_of,
    message_of,
)
from arena.server.tournaments.dealer import Dealer
from arena.store import Store, StoreError

COUNT_S: Final = 1.0
"""Between two words of how it fares."""

_log = logging.getLogger(__name__)


class Playing:
    """Plays what a stream asks for, in an arena. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        store: Store,
        data: Path,
        bots: Path,
        nursery: trio.Nursery,
        *,
        wall: Wall | None = None,
    ) -> None:
        """Plays nothing yet.

        Args:
          arena: Where it is played.
          store: Has competitions and versions.
          data: The folder of the arena that it plays for, with the archives of uploaded versions.
          bots: Gets a folder and a log for each instance of a bot.
          nursery: Has the bots.
          wall: What they are jailed by; None jails nobody.
        """
        self._arena = arena
        self._held, self._registry = store.competitions(), store.registry()
        self._players = Players(arena, data, bots, nursery, wall=wall)
        self._dealers = {
            fair: Dealer([], fair=fair, fix_deals=arena.matches.fix_deals, bots=self._players)
            for fair in (False, True)
        }
        self._writing = trio.Lock()

    async def run(self, asks: trio.abc.ReceiveStream, answers: trio.abc.SendStream) -> None:
        """Play what is asked for until nobody asks any more.

        Raises:
          BadLine: if something else is asked.
        """
        self._answers = answers
        await self._say(Ready(os.getpid(), tuple(sorted(self._arena.matches.begun_deal_sets))))
        lines = Lines(asks)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._count)
            while line := await lines.next():
                asked = message_of(line)
                if not isinstance(asked, Play):
                    raise BadLine("a playing process is asked to play, and nothing else")
                nursery.start_soon(self._play, asked)
            nursery.cancel_scope.cancel()

    async def _play(self, asked: Play) -> None:
        failed, why = None, ""
        order = asked.order
        dealer = self._dealers[not order.terms.seeded]
        try:
            await self._know(asked)
            dealer.add(order)
            await play_here(self._arena, self._players, dealer, order.deal_set, asked.match)
        except (BadCommand, EntrantChanged) as error:
            failed, why = Failed.COMMAND, str(error)
        except StoreError as error:
            failed, why = Failed.STORE, str(error)
        except Exception:
            _log.exception("a match could not be played", extra={"match": asked.match})
            failed, why = Failed.INTERNAL, "a process that plays for this arena failed: see its log"
        is_held = order.deal_set in self._arena.matches.begun_deal_sets
        if not is_held:
            dealer.forget(order.deal_set)
        await self._say(Ended(asked.number, is_held, failed, why))

    async def _know(self, asked: Play) -> None:
        """Know the bots of a deal-set; the seat of a version that cannot be launched is played by fallback."""
        names = {bot.name for bot in asked.order.bots}
        new = sorted(name for name in names if not self._players.is_launched(name))
        if any("@" not in name for name in new):
            held = await run_sync(self._held.get, asked.competition)
            await know_commands(self._players, held)
        for name in new:
            bot, at, number = name.partition("@")
            if at:
                version = await run_sync(self._registry.version, bot, int(number))
                try:
                    await run_sync(self._players.add_version, version)
                except BadCommand as error:
                    _log.warning("a version cannot be launched", extra={"why": str(error)})

    async def _count(self) -> None:
        while True:
            games = self._arena.watch.counts.games.values()
            decisions = sum(game.decisions for game in games)
            await self._say(Counted(len(self._arena.matches.referee.tables), decisions))
            await trio.sleep(COUNT_S)

    async def _say(self, message: Message) -> None:
        try:
            async with self._writing:
                await self._answers.send_all(line_of(message))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # nobody listens any more; that the other stream has ended ends all

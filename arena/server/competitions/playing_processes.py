"""Processes that play for an arena: deal-sets of bots that it launches are dealt out to them.

A bot that dials in is at one endpoint, and plays where it is. One that the arena launches can be
launched anywhere: so a deal-set of such bots alone is played whole by one process, which launches its
own, deals, and keeps its own journal. Who plays whom, what was played and who is told stay here.

A deal-set stays with the process that began it, also after a kill of either: no other one has its packs.
"""

import itertools
import logging
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import trio
from trio.to_thread import run_sync

from arena.jail import BadCommand
from arena.ladder.results import MatchOutcome
from arena.server.arena import Arena
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
from arena.server.data_folder import playing_folders
from arena.server.orders import DealSetOrder
from arena.store import StoreError

START_S: Final = 60.0
"""From its start, longest until a process is ready: it may have a journal to go on with."""
AGAIN_S: Final = 0.5
"""Between the end of a process and its next start; twice as long each time that it was not ready."""
LONGEST_AGAIN_S: Final = 30.0
STOP_S: Final = 10.0
"""Longest that a process takes to end once nobody wants it."""
MOST_STARTS: Final = 6
"""Starts in a row that come to nothing, after which its matches are waited for no more."""

Command = Callable[[int], Sequence[str]]
"""What starts the process of a number: a program that is `arena.server.competitions.playing`."""

_log = logging.getLogger(__name__)


class Running(Protocol):
    """A process, however it was started: as a `trio.Process`."""

    stdin: trio.abc.SendStream | None
    stdout: trio.abc.ReceiveStream | None

    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


Start = Callable[[Sequence[str]], Awaitable[Running]]
"""Starts a program with pipes at its standard input and output."""


class CannotPlay(Exception):
    """A process cannot play what is its own to play. The text says why."""


class Launches(Protocol):
    """Who knows which bots the arena launches."""

    def is_launched(self, name: str) -> bool:
        """Whether the arena starts this bot; others dial in."""
        ...


@dataclass(slots=True)
class _Asked:
    """A match that was asked for, and what came of it."""

    play: Play
    answered: trio.Event = field(default_factory=trio.Event)
    ended: Ended | None = None


class _Process:
    """One of them: started, started again when it has died, and asked."""

    def __init__(self, number: int, command: Sequence[str], start: Start) -> None:
        self.number: Final = number
        self._command, self._start = command, start
        self.settled = trio.Event()
        """Set once it was ready, or could not be started: until then nobody knows what it holds."""
        self.holds: set[str] = set()
        self.counted = Counted(0, 0)
        self.starts = 0
        self.pid = 0
        self.why_broken = ""
        """Why it does not come up; empty while there is hope."""
        self.gone = trio.Event()
        """Set once it has ended and will not be started again."""
        self._asked: dict[int, _Asked] = {}
        self._process: Running | None = None
        self._writing = trio.Lock()
        self._is_ready = False
        self._is_wanted = True

    @property
    def in_play(self) -> int:
        """Matches that it was asked for and has not answered."""
        return len(self._asked)

    async def run(self) -> None:
        """Have it run until it is dismissed."""
        failed = 0
        try:
            while not self._is_done():
                was_ready = await self._run_once()
                failed = 0 if was_ready else failed + 1
                if self._is_done():
                    break
                if failed >= MOST_STARTS:
                    self._give_up()
                fields = {"playing": self.number, "ready": was_ready}
                _log.warning("a process that plays has ended, and is started again", extra=fields)
                await trio.sleep(min(LONGEST_AGAIN_S, AGAIN_S * 2**failed))
        finally:
            self.gone.set()

    def _is_done(self) -> bool:
        """Whether it is to be started no more; a call, as that changes while it runs."""
        return not self._is_wanted

    async def _run_once(self) -> bool:
        """Have it run once, to its end; whether it was ready to play."""
        try:
            process = await self._start(self._command)
        except OSError as error:
            fields = {"playing": self.number, "why": error.strerror}
            _log.error("a process that plays cannot be started", extra=fields)
            return False
        self.starts += 1
        self._process, self._is_ready = process, False
        try:
            await self._listen(process)
        finally:
            self._process = None
            with trio.CancelScope(shield=True):
                await _end(process)
        return self._is_ready

    async def _listen(self, process: Running) -> None:
        assert process.stdout is not None
        lines = Lines(process.stdout)
        with trio.move_on_after(START_S) as patience:
            try:
                while line := await lines.next():
                    patience.deadline = trio.current_time() + START_S  # it counts every second
                    await self._heard(message_of(line))
            except BadLine as error:
                fields = {"playing": self.number, "why": str(error)}
                _log.error("a process that plays said what nobody understands", extra=fields)

    async def _heard(self, message: Message) -> None:
        if isinstance(message, Ready):
            self.pid, self._is_ready, self.why_broken = message.pid, True, ""
            self.holds.update(message.holds)
            self.settled.set()
            for asked in list(self._asked.values()):
                await self._write(asked.play)
        elif isinstance(message, Counted):
            self.counted = message
        elif isinstance(message, Ended) and message.number in self._asked:
            asked = self._asked.pop(message.number)
            asked.ended = message
            asked.answered.set()

    async def ask(self, play: Play) -> Ended:
        """What became of a match; it is asked for again where the process has died meanwhile."""
        if self.why_broken:
            raise CannotPlay(self.why_broken)
        asked = self._asked[play.number] = _Asked(play)
        try:
            if self._is_ready:
                await self._write(play)
            await asked.answered.wait()
        finally:
            self._asked.pop(play.number, None)
        assert asked.ended is not None
        return asked.ended

    async def _write(self, play: Play) -> None:
        process = self._process
        if process is None:
            return  # the next one is told
        assert process.stdin is not None
        try:
            async with self._writing:
                await process.stdin.send_all(line_of(play))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # likewise

    def _give_up(self) -> None:
        """Answer whoever waits for it. It is tried again all the same."""
        self.why_broken = (
            f"process {self.number}, which plays for this arena, does not start; the logs say why"
        )
        self.settled.set()
        for number, asked in list(self._asked.items()):
            asked.ended = Ended(number, is_held=True, failed=Failed.INTERNAL, why=self.why_broken)
            asked.answered.set()

    def drain(self) -> None:
        """Have it end once nothing is in play any more."""
        self._is_wanted = False
        if self._process is not None and self._is_ready:
            self._process.terminate()
        elif self._process is not None:
            self._process.kill()  # it plays nothing yet

    async def dismiss(self) -> None:
        """Have it end, as it plays nothing."""
        self._is_wanted = False
        process = self._process
        if process is not None and process.stdin is not None:
            await process.stdin.aclose()


async def _started(command: Sequence[str]) -> Running:
    return await trio.lowlevel.open_process(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the arena, which ends it
    )


class PlayingProcesses:
    """The processes that play for an arena. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        data: Path,
        command: Command,
        processes: int,
        start: Start = _started,
    ) -> None:
        """Starts none yet.

        Args:
          arena: The arena they play for.
          data: Its folder.
          command: Starts one.
          processes: How many take what is new. Where there are others from before, they bring to an
            end what they began.
          start: Starts a program.
        """
        self._arena = arena
        self._wanted = processes
        known = [int(folder.name) for folder in playing_folders(data)]
        numbers = sorted({*known, *range(1, processes + 1)})
        self._processes = [_Process(number, command(number), start) for number in numbers]
        self._at: dict[str, _Process] = {}
        """Who plays which deal-set, by its name."""
        self._numbers = itertools.count(1)

    @property
    def most(self) -> int:
        """How many times as many matches are worth playing at a time as one process plays."""
        return max(1, self._wanted)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Have them run until cancelled; started once it is known what each of them holds."""
        self._arena.elsewhere = self
        async with trio.open_nursery() as nursery:
            for process in self._processes:
                nursery.start_soon(process.run)
            for process in self._processes:
                await process.settled.wait()
                self._at.update(dict.fromkeys(process.holds, process))
            for process in list(self._processes):
                if process.number > self._wanted and not process.holds and not process.why_broken:
                    await process.dismiss()
                    self._processes.remove(process)
            task_status.started()

    def plays(self, order: DealSetOrder, players: Launches) -> bool:
        """Whether a deal-set is played by one of them."""
        if order.deal_set in self._at:
            return True
        return (
            self._wanted > 0
            and all(players.is_launched(bot.name) for bot in order.bots)
            and order.deal_set not in self._arena.matches.begun_deal_sets
        )

    async def play(self, competition: str, order: DealSetOrder, match_id: str) -> MatchOutcome:
        """How a match of a competition's deal-set ended, which `plays` said; it is recorded then.

        Raises:
          CannotPlay: if its process cannot be started, or has failed.
          BadCommand: if a bot cannot be launched any more.
          StoreError: if the result cannot be recorded or read.
        """
        process = self._at.get(order.deal_set)
        if process is None:
            process = min(self._processes, key=self._load)
            self._at[order.deal_set] = process
        ended = await process.ask(Play(next(self._numbers), competition, order, match_id))
        if ended.failed is Failed.COMMAND:
            raise BadCommand(ended.why)
        if ended.failed is Failed.STORE:
            raise StoreError(ended.why)
        if ended.failed is not None:
            raise CannotPlay(ended.why)
        if not ended.is_held:
            self._at.pop(order.deal_set, None)
        found = await run_sync(self._arena.matches.results.outcomes, [match_id])
        return found[match_id]

    def _load(self, process: _Process) -> tuple[bool, int, int]:
        """The less, the sooner a process gets the next deal-set."""
        elsewhere = process.number > self._wanted or bool(process.why_broken)
        return elsewhere, process.in_play, process.number

    # As the arena knows them.

    def drain(self) -> None:
        """As `Elsewhere.drain`."""
        for process in self._processes:
            process.drain()

    async def idle(self) -> None:
        """As `Elsewhere.idle`."""
        for process in self._processes:
            await process.gone.wait()

    def told(self) -> list[Mapping[str, int]]:
        """As `Elsewhere.told`."""
        return [
            {
                "number": each.number,
                "pid": each.pid,
                "starts": each.starts,
                "matches": each.counted.matches,
                "decisions": each.counted.decisions,
            }
            for each in self._processes
        ]


async def _end(process: Running) -> None:
    """End a process that is not wanted any more, and wait for it: its folder must be free."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with trio.move_on_after(STOP_S):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    if process.stdout is not None:
        await process.stdout.aclose()

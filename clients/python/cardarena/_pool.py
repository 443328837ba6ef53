"""Plays several matches at once in processes, each with the bot's class, loaded once, and the objects of its matches.

The process that called `run` has the connection, and a thread for each process, which passes work to it and answers
from it. A match stays in the process in which it began.
"""

import multiprocessing
import pickle
import queue
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from typing import TYPE_CHECKING, Final, TypeAlias

from cardarena._ask import AnyAsk, Ask
from cardarena._bot import Bot, load_once
from cardarena._errors import Misconfigured
from cardarena._lanes import pieces
from cardarena._play import OneByOne, Port, play
from cardarena._session import News, Work
from cardarena.v1.play_pb2 import Answer, MatchStart

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

_NAME: Final = "cardarena-process-"
CHECK_S: Final = 0.1
"""The time in seconds after which a process learns that its ask was closed."""
LEAVE_S: Final = 1.0
"""Seconds that a process may take to end before it is terminated."""
EXIT_INTERRUPTED: Final = 130  # as in shells: 128 plus the number of SIGINT


def is_pool_process() -> bool:
    """Return whether this process belongs to a pool: it imports the program and does not connect."""
    return multiprocessing.current_process().name.startswith(_NAME)


@dataclass(frozen=True, slots=True)
class _Closed:
    """The ask that the process is deciding was closed."""


@dataclass(frozen=True, slots=True)
class _Done:
    """The process has finished a piece of work, or loading."""


_ToProcess: TypeAlias = News | AnyAsk | _Closed


class Pool:
    """Processes that play for a connection."""

    def __init__(self, bot: type[Bot], processes: int) -> None:
        """Start the processes, and wait until each has loaded.

        Raises:
          Misconfigured: if the class cannot be found by other processes.
          SystemExit: if a process has ended; it has printed the reason.
        """
        self._children = [_Child(bot, number) for number in range(1, processes + 1)]
        try:
            for child in self._children:
                child.start()
            for child in self._children:
                child.await_done()
        except BaseException:
            self.close()
            raise

    def play(self, port: Port) -> None:
        """Play until the connection is over."""
        threads = [
            threading.Thread(target=child.serve, args=(port,), name=child.name, daemon=True)
            for child in self._children
        ]
        for thread in threads:
            thread.start()
        homes: dict[int, _Child] = {}
        busy: Counter[_Child] = Counter()
        while (work := port.take()) is not None:
            for match, piece in pieces(work):
                if match not in homes:
                    homes[match] = min(self._children, key=lambda each: busy[each])
                    busy[homes[match]] += 1
                homes[match].work.put(piece)
                if piece.news and not isinstance(piece.news[0], MatchStart):
                    busy[homes.pop(match)] -= 1
        for child in self._children:
            child.work.put(None)
        for thread in threads:
            thread.join()
        port.take()  # raises the error of a thread

    def close(self) -> None:
        """End the processes."""
        for child in self._children:
            child.hang_up()
        for child in self._children:
            child.end()


class _Child:
    """A process, in the process that started it."""

    def __init__(self, bot: type[Bot], number: int) -> None:
        self.name = f"{_NAME}{number}"
        self.work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        context = multiprocessing.get_context("spawn")
        self._pipe, self._its_pipe = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_serve, args=(self._its_pipe, bot), name=self.name, daemon=True
        )
        self._bot = bot

    def start(self) -> None:
        """Start the process, which begins to load.

        Raises:
          Misconfigured: if the class cannot be found by another process.
        """
        try:
            self._process.start()
        except (pickle.PicklingError, AttributeError) as error:
            raise Misconfigured(
                f"{self._bot.__qualname__} is not found by another process: with `processes`, the "
                f"class is at the top of a module ({error})"
            ) from error
        self._its_pipe.close()

    def serve(self, port: Port) -> None:
        """Pass work to the process until there is no more."""
        try:
            while (work := self.work.get()) is not None:
                for news in work.news:
                    self._send(news)
                    self.await_done()
                for ask in work.asks:
                    if port.show(ask):
                        self._send(ask)
                        self.await_done(ask, port)
        # this includes SystemExit, with which a bot may end the program
        except BaseException as error:
            port.fail(error)

    def await_done(self, ask: AnyAsk | None = None, port: Port | None = None) -> None:
        """Wait until the process has finished, and send its answers.

        Raises:
          SystemExit: if it has ended.
        """
        while True:
            try:
                while ask is not None and not self._pipe.poll(CHECK_S):
                    if not ask.open:
                        ask = None
                        self._send(_Closed())
                said = self._pipe.recv()
            except (EOFError, OSError):
                raise self._ended() from None
            if isinstance(said, _Done):
                return
            if port is not None:
                port.answer(map(Answer.FromString, said))

    def hang_up(self) -> None:
        """Close the pipe, so that the process ends after its work."""
        self._pipe.close()

    def end(self) -> None:
        """Wait for the process to end for `LEAVE_S` seconds, then terminate it."""
        if self._process.pid is None:
            return
        self._process.join(LEAVE_S)
        self._process.terminate()
        self._process.join()

    def _send(self, item: _ToProcess) -> None:
        try:
            self._pipe.send(item)
        except OSError:
            raise self._ended() from None

    def _ended(self) -> SystemExit:
        self._process.join(LEAVE_S)
        code = self._process.exitcode or 0
        number = self.name.removeprefix(_NAME)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        sys.stderr.write(f"cardarena: process {number} of the bot ended with {how}\n")
        return SystemExit(code if code >= 0 else 128 - code)


# In the process.


def _serve(pipe: Pipe, bot: type[Bot]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that connects
    load_once(bot)
    port = _PipePort(pipe)
    try:
        play(OneByOne(bot), port)
    except KeyboardInterrupt:
        raise SystemExit(EXIT_INTERRUPTED) from None


class _PipePort:
    """The `Port` of a process of the pool: a pipe to the process with the connection."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._ask: AnyAsk | None = None
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="cardarena-pipe", daemon=True).start()

    def _read(self) -> None:
        try:
            while True:
                item: _ToProcess = self._pipe.recv()
                if isinstance(item, Ask):
                    self._ask = item
                    self._work.put(Work([], [item]))
                elif not isinstance(item, _Closed):
                    self._work.put(Work([item], []))
                elif self._ask is not None:
                    self._ask.open = False
        except (EOFError, OSError):
            self._work.put(None)

    def take(self) -> Work | None:
        """Report the last piece as done, and wait for the next one."""
        if not self._say(_Done()):
            return None
        return self._work.get()

    def show(self, ask: AnyAsk) -> bool:
        """Return true: the other process has asked the connection."""
        ask.shown = True
        return True

    def answer(self, answers: Iterable[Answer]) -> None:
        """Send answers to the other process."""
        self._say([answer.SerializeToString() for answer in answers])

    def fail(self, error: BaseException) -> None:
        """End play."""
        raise error

    def _say(self, item: _Done | Sequence[bytes]) -> bool:
        try:
            self._pipe.send(item)
        except OSError:
            return False
        return True

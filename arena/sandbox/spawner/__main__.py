"""The loop of the spawner: it reads requests from a socket and answers each on its own pipe.

A request is a message of JSON. `{"do": "try", …}` finds the sandbox level, `{"do": "start", "id": …,
…}` starts a bot, `{"do": "signal", "id": …, "signal": …}` signals a bot. The first two pass the pipe
for the answer, which is lines of JSON; a start also passes the pipe for the bot's output. When the
other end of the socket is closed, the spawner kills all bots and exits.
"""

import contextlib
import functools
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from arena.sandbox.spawner.bubblewrap import of_etc
from arena.sandbox.spawner.memory_files import HeldFiles, MemoryFiles, TooLarge, enter_namespace
from arena.sandbox.spawner.memory_watch import CHECK_S, MemoryWatch
from arena.sandbox.spawner.order import Level, SpawnOrder, order_of
from arena.sandbox.spawner.priority import lower_session
from arena.sandbox.spawner.reachable_paths import ReachablePaths, UnreachablePath, closed_folder
from arena.sandbox.spawner.spawn import GROUP, CannotSpawn, SpawnedProcess, SpawnMethod, start
from arena.sandbox.spawner.trial import TrialResult, end, try_levels

if TYPE_CHECKING:
    from arena.sandbox.spawner.control_group import ControlGroups

MAX_MESSAGE_BYTES: Final = 128 << 10
FIRST_USER: Final = 200_000
_USERS_OF_ONE: Final = 1024
_SPAWNERS: Final = 1024
"""Two spawners of a machine share user ids only if their process ids differ by a multiple of this."""


class Spawner:
    """Starts bots and reports how they end."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._bots: dict[int, SpawnedProcess] = {}
        self._ids: dict[int, int] = {}
        """The ids of bots, by the descriptors of their processes."""
        self._to_lower: list[int] = []
        """The processes whose session is to be lowered."""
        self._signalled: set[int] = set()
        """The ids of bots that were sent a signal."""
        self._reports: dict[int, int] = {}
        """The pipes on which the ends of bots are reported, by their ids."""
        self._root = os.getuid() == 0
        self._users = [
            FIRST_USER + os.getpid() % _SPAWNERS * _USERS_OF_ONE + n for n in range(_USERS_OF_ONE)
        ][::-1]
        self._reach: ReachablePaths | None = None
        self._no_reach = ""
        """Why `_reach` is None where root runs the spawner."""
        self._level = Level.S0
        self._bwrap = ""
        self._groups: ControlGroups | None = None
        self._memory_watch = MemoryWatch()
        self._memory: MemoryFiles | None = None
        if self._root:
            try:
                self._reach = ReachablePaths()
            except OSError as error:
                self._no_reach = (
                    "root starts bots as other users, which cannot reach the arena's socket because"
                    f" root may not mount here ({error.strerror}): start the arena as another user"
                )

    def run(self, requests: socket.socket) -> None:
        """Serve requests until the other end of the socket is closed."""
        self._poll.register(requests, select.POLLIN)
        try:
            while True:
                for fd, _ in self._poll.poll(CHECK_S * 1000 if self._bots else None):
                    if fd == requests.fileno():
                        if not self._serve(requests):
                            return
                    elif fd in self._ids:
                        self._ended(fd)
                while self._to_lower and lower_session(self._to_lower[0]):
                    del self._to_lower[0]
                if self._bots:
                    self._memory_watch.look(self._bots.values())
        finally:
            for started in self._bots.values():
                end(started)

    def _serve(self, requests: socket.socket) -> bool:
        text, given, _, _ = socket.recv_fds(requests, MAX_MESSAGE_BYTES, 2)
        for fd in given:
            os.set_inheritable(fd, False)
        if not text:
            return False
        self._do(json.loads(text), given)
        return True

    def _do(self, request: Mapping[str, Any], given: list[int]) -> None:
        match request["do"]:
            case "signal":
                self._signal(int(request["id"]), int(request["signal"]))
            case "try":
                (report,) = given
                _write(report, self._try(order_of(request["order"]), Level(request["most"])))
                os.close(report)
            case "start":
                report, output = given
                number = int(request["id"])
                try:
                    started = self._start(order_of(request["order"]), output)
                except (CannotSpawn, UnreachablePath, TooLarge, OSError, ValueError) as error:
                    _write(report, {"error": str(error)})
                    os.close(report)
                else:
                    group = "" if started.group is None else started.group.path
                    _write(report, {"started": started.pid, "group": group})
                    fd = os.pidfd_open(started.pid)
                    self._bots[number], self._ids[fd] = started, number
                    self._to_lower.append(started.pid)
                    self._reports[number] = report
                    self._poll.register(fd, select.POLLIN)
                finally:
                    os.close(output)
            case _:
                for fd in given:
                    os.close(fd)

    def _try(self, order: SpawnOrder, most: Level) -> dict[str, Any]:
        unreachable = self._no_reach
        try:
            self._show(order.visible)
        except (UnreachablePath, OSError) as error:
            unreachable = str(error)
        user = self._users[-1] if self._root else -1
        find = functools.partial(try_levels, order, user=user, most=most, unreachable=unreachable)
        result, why_disk = None, ""
        if order.in_memory and most is not Level.S1 and not unreachable:
            result, why_disk = self._try_in_memory(order, find)
        if result is None:
            result = find()
        self._level, self._bwrap, self._groups = result.level, result.bwrap, result.groups
        missing = [list(pair) for pair in result.missing]
        return {"level": result.level, "missing": missing, "why_disk": why_disk}

    def _try_in_memory(
        self, order: SpawnOrder, find: Callable[..., TrialResult]
    ) -> tuple[TrialResult | None, str]:
        """Return the result of the trial with files in memory, or None and why bots must read a disk."""
        try:
            if not self._root:
                enter_namespace()
            memory = MemoryFiles(of_etc())
            held = memory.hold(order)
        except (TooLarge, OSError) as error:
            return None, str(error)
        result = find(files=held)
        memory.release(held)
        if result.level not in {Level.S2, Level.S3}:
            memory.close()
            return None, next(why for level, why in result.missing if level is Level.S2)
        self._memory = memory
        return result, ""

    def _start(self, order: SpawnOrder, output: int) -> SpawnedProcess:
        if self._level is Level.S0:
            raise CannotSpawn("there is no sandbox here")
        if self._root and not self._users:
            raise CannotSpawn(f"{_USERS_OF_ONE} bots run already, which is the most")
        self._show(order.visible)
        user = self._users.pop() if self._root else -1
        files: HeldFiles | None = None
        try:
            if order.socket and self._reach is not None:
                # Other users may enter the folder but not list it; only this user may connect.
                folder = os.path.dirname(order.socket)
                self._reach.show(folder, writable=True)
                os.chmod(folder, 0o711)  # noqa: S103 - to enter, not to list
                os.chown(order.socket, user, GROUP)
            if order.folder and self._level is Level.S1:
                self._give(order.folder, user)
            if order.writable:
                self._give(order.writable, user)
            if order.in_memory and self._level is not Level.S1:
                if self._memory is None:
                    raise CannotSpawn("this spawner keeps no files in memory")
                files = self._memory.hold(order)
            group = self._groups.make(order.limits) if self._groups is not None else None
            method = SpawnMethod(self._level, self._bwrap, user, group, files)
            return start(order, method, output)
        except BaseException:
            if user >= 0:
                self._users.append(user)
            self._release(files)
            raise

    def _release(self, files: HeldFiles | None) -> None:
        if files is not None and self._memory is not None:
            self._memory.release(files)

    def _show(self, paths: Sequence[str]) -> None:
        """Let the users of bots read these paths.

        Raises `UnreachablePath` if one of them stays closed to other users than root.
        """
        if self._reach is None:
            return
        for path in paths:
            self._reach.show(path)
            closed = closed_folder(path)
            if closed is not None:
                raise UnreachablePath(
                    f"{closed} is not readable for other users than root, and bots run as another:"
                    f" chmod o+rX {closed}"
                )

    def _give(self, folder: str, user: int) -> None:
        if self._reach is not None:
            self._reach.show(folder, writable=True)
            os.chown(folder, user, GROUP)

    def _ended(self, fd: int) -> None:
        number = self._ids.pop(fd)
        self._poll.unregister(fd)
        os.close(fd)
        started, report = self._bots.pop(number), self._reports.pop(number)
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(started.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            # The waiting process exits with 128 + N if signal N ended the bot, as shells do.
            code = 128 - code if 128 < code < 128 + 65 else code
            memory = self._memory_watch.judge(started)
            by_itself = code != 0 and number not in self._signalled
            _write(report, {"ended": code, **(memory if by_itself else {})})
        self._signalled.discard(number)
        if started.group is not None and self._groups is not None:
            self._groups.ended(started.group)
        self._release(started.files)
        if started.user >= 0:
            self._users.insert(0, started.user)
        os.close(report)

    def _signal(self, number: int, which: int) -> None:
        started = self._bots.get(number)
        if started is None:
            return
        self._signalled.add(number)
        if which == signal.SIGKILL:
            end(started)
        elif started.inside < 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(started.pid, which)
        else:
            with contextlib.suppress(OSError, ValueError):
                path = f"/proc/{started.inside}/task/{started.inside}/children"
                with open(path, encoding="ascii") as file:
                    for pid in file.read().split():
                        os.kill(int(pid), which)


def _write(pipe: int, report: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):  # the reader may have closed it
        os.write(pipe, json.dumps(report).encode() + b"\n")


def main(fd: int) -> None:
    """Serve requests on an inherited socket."""
    os.environ.clear()
    os.set_inheritable(fd, False)  # a bot that had it could start processes
    os.umask(0o022)  # users of bots must be able to enter the folders that it makes
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it exits when the arena closes the socket
    with socket.socket(fileno=fd) as requests:
        Spawner().run(requests)


if __name__ == "__main__":
    main(int(sys.argv[1]))

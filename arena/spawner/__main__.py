"""The loop of the spawner: it reads requests from a socket and answers each on its own pipe.

A request is a message of JSON. `{"do": "try", …}` finds the sandbox level, `{"do": "start", "id": …,
…}` starts a bot, `{"do": "signal", "id": …, "signal": …}` signals a bot. The first two pass the pipe
for the answer, which is lines of JSON; a start also passes the pipe for the bot's output. When the
other end of the socket is closed, the spawner kills all bots and exits.
"""

import array
import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from arena.spawner.order import Level, SpawnOrder, order_of
from arena.spawner.reachable_paths import ReachablePaths, UnreachablePath, closed_folder
from arena.spawner.spawn import GROUP, CannotSpawn, SpawnedProcess, SpawnMethod, start
from arena.spawner.trial import end, try_levels

if TYPE_CHECKING:
    from arena.spawner.control_group import ControlGroups

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
                for fd, _ in self._poll.poll():
                    if fd == requests.fileno():
                        if not self._serve(requests):
                            return
                    elif fd in self._ids:
                        self._ended(fd)
        finally:
            for started in self._bots.values():
                end(started)

    def _serve(self, requests: socket.socket) -> bool:
        text, ancillary, _, _ = requests.recvmsg(MAX_MESSAGE_BYTES, socket.CMSG_SPACE(2 * 4))
        given = array.array("i")
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                given.frombytes(data[: len(data) - len(data) % given.itemsize])
        for each in given:
            os.set_inheritable(each, False)
        if not text:
            return False
        self._do(json.loads(text), list(given))
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
                except (CannotSpawn, UnreachablePath, OSError, ValueError) as error:
                    _write(report, {"error": str(error)})
                    os.close(report)
                else:
                    group = "" if started.group is None else started.group.path
                    _write(report, {"started": started.pid, "group": group})
                    fd = os.pidfd_open(started.pid)
                    self._bots[number], self._ids[fd] = started, number
                    self._reports[number] = report
                    self._poll.register(fd, select.POLLIN)
                finally:
                    os.close(output)
            case _:
                for each in given:
                    os.close(each)

    def _try(self, order: SpawnOrder, most: Level) -> dict[str, Any]:
        unreachable = self._no_reach
        try:
            self._show(order.visible)
        except (UnreachablePath, OSError) as error:
            unreachable = str(error)
        user = self._users[-1] if self._root else -1
        found = try_levels(order, user=user, most=most, unreachable=unreachable)
        self._level, self._bwrap, self._groups = found.level, found.bwrap, found.groups
        return {"level": found.level, "missing": [list(each) for each in found.missing]}

    def _start(self, order: SpawnOrder, output: int) -> SpawnedProcess:
        if self._level is Level.S0:
            raise CannotSpawn("there is no sandbox here")
        if self._root and not self._users:
            raise CannotSpawn(f"{_USERS_OF_ONE} bots run already, which is the most")
        self._show(order.visible)
        if order.socket and self._reach is not None:
            self._reach.show(order.socket, writable=True)
            # The bots' group may connect, and no other user.
            os.chown(order.socket, 0, GROUP)
            os.chmod(order.socket, 0o660)
        user = self._users.pop() if self._root else -1
        try:
            if order.folder and self._level is Level.S1:
                self._give(order.folder, user)
            if order.writable:
                self._give(order.writable, user)
            group = self._groups.make(order.limits) if self._groups is not None else None
            return start(order, SpawnMethod(self._level, self._bwrap, user, group), output)
        except BaseException:
            if user >= 0:
                self._users.append(user)
            raise

    def _show(self, paths: Sequence[str]) -> None:
        """Let the users of bots read these paths.

        Raises:
          UnreachablePath: if one of them stays closed to other users than root.
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
        """Let a user write in a folder."""
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
            _write(report, {"ended": 128 - code if 128 < code < 128 + 65 else code})
        if started.group is not None and self._groups is not None:
            self._groups.ended(started.group)
        if started.user >= 0:
            self._users.insert(0, started.user)
        os.close(report)

    def _signal(self, number: int, which: int) -> None:
        started = self._bots.get(number)
        if started is None:
            return
        if which == signal.SIGKILL:
            end(started)
        elif started.inside < 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(started.pid, which)
        else:
            with contextlib.suppress(OSError, ValueError):
                path = f"/proc/{started.inside}/task/{started.inside}/children"
                with open(path, encoding="ascii") as file:
                    for each in file.read().split():
                        os.kill(int(each), which)


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

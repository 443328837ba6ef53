"""The jailer's loop: a request a message, and what becomes of each told on a pipe of its own.

A request is JSON. `{"do": "try", …}` finds the level, `{"do": "start", "id": …, …}` starts a bot,
`{"do": "signal", "id": …, "signal": …}` signals to one. With the first two comes the pipe on which
the answer is told, as lines of JSON; with a start also the one for the bot's output. When the other
end of the socket is closed, all bots end, and the jailer with them.
"""

import array
import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from arena.jailer.cell import Cell, Level, cell_of
from arena.jailer.reach import Reach, Unreachable, closed_folder
from arena.jailer.starting import GROUP, CannotStart, Started, Way, start
from arena.jailer.trial import end, try_levels

if TYPE_CHECKING:
    from arena.jailer.control_group import ControlGroups

MAX_MESSAGE_BYTES: Final = 128 << 10
FIRST_USER: Final = 200_000
_USERS_OF_ONE: Final = 1024
_JAILERS: Final = 1024
"""Jailers of one machine share users only if their process ids are so many apart."""


class Jailer:
    """What one jailer has started."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._bots: dict[int, Started] = {}
        self._ids: dict[int, int] = {}
        """Of bots by the descriptors of their processes."""
        self._told: dict[int, int] = {}
        """The pipes on which it is told how bots end."""
        self._root = os.getuid() == 0
        self._users = [
            FIRST_USER + os.getpid() % _JAILERS * _USERS_OF_ONE + n for n in range(_USERS_OF_ONE)
        ][::-1]
        self._reach: Reach | None = None
        self._level = Level.S0
        self._bwrap = ""
        self._groups: ControlGroups | None = None
        if self._root:
            with contextlib.suppress(OSError):
                self._reach = Reach()

    def run(self, requests: socket.socket) -> None:
        """Serve requests until there are no more."""
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

    def _do(self, told: Mapping[str, Any], given: list[int]) -> None:
        match told["do"]:
            case "signal":
                self._signal(int(told["id"]), int(told["signal"]))
            case "try":
                (tell,) = given
                _tell(tell, self._try(told))
                os.close(tell)
            case "start":
                tell, output = given
                number = int(told["id"])
                try:
                    started = self._start(cell_of(told["cell"]), output)
                except (CannotStart, Unreachable, OSError, ValueError) as error:
                    _tell(tell, {"error": str(error)})
                    os.close(tell)
                else:
                    _tell(tell, {"started": started.pid})
                    fd = os.pidfd_open(started.pid)
                    self._bots[number], self._ids[fd], self._told[number] = started, number, tell
                    self._poll.register(fd, select.POLLIN)
                finally:
                    os.close(output)
            case _:
                for each in given:
                    os.close(each)

    def _try(self, told: Mapping[str, Any]) -> dict[str, Any]:
        user = self._users.pop() if self._root else -1
        verdict = try_levels(
            cell_of(told["cell"]), user=user, most=Level(told["most"]), show=self._show
        )
        if user >= 0:
            self._users.append(user)
        self._level, self._bwrap, self._groups = verdict.level, verdict.bwrap, verdict.groups
        return {"level": verdict.level, "missing": [list(each) for each in verdict.missing]}

    def _start(self, cell: Cell, output: int) -> Started:
        if self._level is Level.S0:
            raise CannotStart("there is no wall here")
        if self._root and not self._users:
            raise CannotStart(f"{_USERS_OF_ONE} bots run at a time, and each has a user of its own")
        for path in cell.visible:
            self._show(path)
        if cell.socket and self._root:
            self._uncover(cell.socket)
            # The bot's user connects as one of the group; nobody else on this machine can.
            os.chown(cell.socket, 0, GROUP)
            os.chmod(cell.socket, 0o660)
        user = self._users.pop() if self._root else -1
        try:
            if cell.folder and self._level is Level.S1:
                self._own(cell.folder, user)
            if cell.writable:
                self._own(cell.writable, user)
            group = self._groups.make(cell.limits) if self._groups is not None else None
            return start(cell, Way(self._level, self._bwrap, user, group), output)
        except BaseException:
            if user >= 0:
                self._users.append(user)
            raise

    def _show(self, path: str) -> None:
        if not self._root:
            return
        if self._reach is not None:
            self._reach.show(path)
        closed = closed_folder(path)
        if closed is not None:
            raise Unreachable(
                f"{closed} is not readable for other users than root, and bots run as another:"
                f" chmod o+rX {closed}"
            )

    def _uncover(self, path: str) -> None:
        """Have bots reach what is theirs to write, as the arena's socket."""
        if self._reach is not None:
            self._reach.show(path, writable=True)

    def _own(self, folder: str, user: int) -> None:
        """Let a user write in a folder that is outside of what it has to itself."""
        if user >= 0:
            self._uncover(folder)
            os.chown(folder, user, GROUP)

    def _ended(self, fd: int) -> None:
        number = self._ids.pop(fd)
        self._poll.unregister(fd)
        os.close(fd)
        started, tell = self._bots.pop(number), self._told.pop(number)
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(started.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            # As shells do, who waits for the bot tells of its signals by numbers above 128.
            _tell(tell, {"ended": 128 - code if 128 < code < 128 + 65 else code})
        if started.group is not None:
            started.group.remove()
        if started.user >= 0:
            self._users.insert(0, started.user)
        os.close(tell)

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


def _tell(pipe: int, what: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):  # who asked has gone
        os.write(pipe, json.dumps(what).encode() + b"\n")


def main(fd: int) -> None:
    """Serve at a socket that was handed down."""
    os.environ.clear()
    os.set_inheritable(fd, False)  # whoever has it orders the jailer about
    os.umask(0o022)  # what it makes above what bots may see, they have to enter
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends with the arena
    with socket.socket(fileno=fd) as requests:
        Jailer().run(requests)


if __name__ == "__main__":
    main(int(sys.argv[1]))

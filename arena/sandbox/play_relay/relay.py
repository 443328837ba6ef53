"""The loop of the relay: it accepts the connections of bots, and passes on what both sides send.

The arena sends requests by a socket of messages in JSON. `{"add": N, "to": PATH}` passes a listening socket; its
connections are relayed to the socket file PATH. `{"remove": N}` closes it and its connections. The relay reports
`{"bot": N, "why": SENTENCE, "flood_s": SECONDS}` when it has closed a bot's connections, and the same without
`flood_s` when further connections of a bot wait. It exits when the arena closes the socket.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from arena.sandbox.play_relay.budget import CONNECTION_BYTES, Budget, FrameCounter, Sent

MAX_CONNECTIONS: Final = 8
"""The maximal number of open connections of a bot; further ones wait until one is closed. An SDK needs one."""
CHUNK_BYTES: Final = 32 << 10
"""The number of bytes that are read at once, and the most that is buffered of a connection in each direction."""
RETRY_S: Final = 0.2
"""Seconds until connections are accepted again after the arena could not be reached, or no descriptor was free."""
MAX_REQUEST_BYTES: Final = 4_096

_ACCEPTED_AT_ONCE: Final = 4
_IN: Final = select.EPOLLIN
_OUT: Final = select.EPOLLOUT
_CONNECTION: Final = Sent(CONNECTION_BYTES)


@dataclass(slots=True, eq=False)
class _Bot:
    number: int
    listener: socket.socket
    to: str
    """The path of the arena's socket."""
    budget: Budget
    links: list["_Link"] = field(default_factory=list)
    rests_until_s: float = 0.0
    """The time before which no connection is accepted."""
    was_told: bool = False
    """Whether the relay has reported that its connections wait."""


@dataclass(slots=True, eq=False)
class _Link:
    bot: _Bot
    near: socket.socket
    """The bot's side."""
    far: socket.socket
    """The arena's side."""
    counter: FrameCounter = field(default_factory=FrameCounter)
    up: bytes = b""
    """Bytes for the arena that are not sent yet."""
    down: bytes = b""
    """Bytes for the bot that are not sent yet."""
    near_mask: int = 0
    far_mask: int = 0


class PlayRelay:
    """Relays connections of bots until the arena closes the socket of its requests."""

    def __init__(
        self, requests: socket.socket, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests = requests
        self._now_s = now_s
        self._poll = select.epoll()
        self._bots: dict[int, _Bot] = {}
        self._closed_to: set[_Bot] = set()
        """Bots whose connections are not accepted now."""
        self._ready: dict[int, Callable[[int], None]] = {}
        """What is called with the events of a descriptor."""
        self._buffer = memoryview(bytearray(CHUNK_BYTES))
        self._goes_on = True
        requests.setblocking(False)
        self._register(requests, _IN, self._serve)

    def run(self) -> None:
        """Relay until the arena closes the socket."""
        while self._goes_on:
            self.turn(self._until_listening_s())

    def close(self) -> None:
        for number in tuple(self._bots):
            self._remove(number)
        self._poll.close()

    def turn(self, timeout_s: float | None) -> None:
        """Wait for events for at most `timeout_s` seconds, and handle them."""
        for fd, events in self._poll.poll(timeout_s):
            # An earlier event may have closed it.
            if (call := self._ready.get(fd)) is not None:
                call(events)
        if self._closed_to:
            for bot in tuple(self._closed_to):
                self._listen(bot)

    def _until_listening_s(self) -> float | None:
        """Return the time until a bot that rests may connect again; None if none rests."""
        now_s = self._now_s()
        rests_s = [
            bot.rests_until_s - now_s for bot in self._closed_to if len(bot.links) < MAX_CONNECTIONS
        ]
        return max(0.0, min(rests_s)) if rests_s else None

    # Requests.

    def _serve(self, _: int) -> None:
        try:
            text, given, _, _ = socket.recv_fds(self._requests, MAX_REQUEST_BYTES, 1)
        except BlockingIOError:
            return
        except OSError:  # the arena has ended before it read all reports
            text, given = b"", []
        if not text:
            self._goes_on = False
            return
        request = json.loads(text)
        if "remove" in request:
            self._remove(int(request["remove"]))
        else:
            listener = socket.socket(fileno=given[0])
            listener.setblocking(False)
            number = int(request["add"])
            bot = _Bot(number, listener, str(request["to"]), Budget(self._now_s()))
            self._bots[number] = bot
            self._closed_to.add(bot)

    def _remove(self, number: int) -> None:
        bot = self._bots.pop(number, None)
        if bot is None:
            return
        self._close_all(bot)
        self._stop_listening(bot)
        self._closed_to.remove(bot)
        bot.listener.close()

    def _report(self, bot: _Bot, why: str, **more: float) -> None:
        report: dict[str, Any] = {"bot": bot.number, "why": why, **more}
        # An arena that reads slowly misses some reports.
        with contextlib.suppress(OSError):
            self._requests.send(json.dumps(report).encode())

    # Connections.

    def _listen(self, bot: _Bot) -> None:
        if len(bot.links) < MAX_CONNECTIONS and self._now_s() >= bot.rests_until_s:
            self._closed_to.remove(bot)
            self._register(bot.listener, _IN, lambda _: self._accept(bot))

    def _stop_listening(self, bot: _Bot, rest_s: float = 0.0) -> None:
        """Stop accepting connections; the kernel queues some of them, at no cost to the relay."""
        bot.rests_until_s = self._now_s() + rest_s
        if bot not in self._closed_to:
            self._closed_to.add(bot)
            self._unregister(bot.listener)

    def _accept(self, bot: _Bot) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                near, _ = bot.listener.accept()
            except BlockingIOError:
                return
            except OSError:  # no descriptor is free
                self._stop_listening(bot, RETRY_S)
                return
            near.setblocking(False)
            far = socket.socket(socket.AF_UNIX)
            far.setblocking(False)
            try:
                far.connect(bot.to)
            except OSError:
                near.close()
                far.close()
                self._stop_listening(bot, RETRY_S)
                return
            link = _Link(bot, near, far)
            bot.links.append(link)
            self._watch(link)
            if why := bot.budget.spend(self._now_s(), _CONNECTION):
                self._cut(bot, why)
                return
            if len(bot.links) >= MAX_CONNECTIONS:
                self._stop_listening(bot)
                if not bot.was_told:
                    bot.was_told = True
                    self._report(bot, f"it has {MAX_CONNECTIONS} connections, and more must wait")
                return

    def _cut(self, bot: _Bot, why: str) -> None:
        self._close_all(bot)
        self._stop_listening(bot, bot.budget.rest_s)
        self._report(bot, why, flood_s=self._now_s() - bot.budget.since_s)

    def _close_all(self, bot: _Bot) -> None:
        for link in tuple(bot.links):
            self._close(link)

    def _close(self, link: _Link) -> None:
        for side, mask in ((link.near, link.near_mask), (link.far, link.far_mask)):
            if mask:
                self._unregister(side)
            side.close()
        link.bot.links.remove(link)

    # Bytes.

    def _watch(self, link: _Link) -> None:
        """Wait for the events of a link that can be handled. A side is read only if the other has received the bytes before.

        A bot that does not read is not read either: the arena would have to keep its answers.
        """
        free = not link.up and not link.down
        near_mask = (_IN if free else 0) | (_OUT if link.down else 0)
        far_mask = (0 if link.down else _IN) | (_OUT if link.up else 0)
        if near_mask != link.near_mask:
            self._change(link.near, link.near_mask, near_mask, lambda _: self._near(link))
            link.near_mask = near_mask
        if far_mask != link.far_mask:
            self._change(link.far, link.far_mask, far_mask, lambda events: self._far(link, events))
            link.far_mask = far_mask

    def _near(self, link: _Link) -> None:
        """Handle the bot's side, which has sent bytes or can receive more."""
        try:
            if link.down:
                link.down = link.down[link.near.send(link.down) :]
                self._watch(link)
                return
            size = link.near.recv_into(self._buffer)
            if not size:
                self._close(link)
                return
            data = self._buffer[:size]
            bot = link.bot
            if why := bot.budget.spend(self._now_s(), link.counter.count(data)):
                self._cut(bot, why)
                return
            link.up = _unsent(link.far, data)
            if link.up:
                self._watch(link)
        except BlockingIOError:
            return
        except OSError:
            self._close(link)

    def _far(self, link: _Link, events: int) -> None:
        """Handle the arena's side, which has sent bytes or can receive more."""
        try:
            if link.up and events & _OUT:
                link.up = link.up[link.far.send(link.up) :]
                self._watch(link)
                return
            size = 0 if link.down else link.far.recv_into(self._buffer)
            if not size:
                self._close(link)
                return
            link.down = _unsent(link.near, self._buffer[:size])
            if link.down:
                self._watch(link)
        except BlockingIOError:
            return
        except OSError:
            self._close(link)

    # Descriptors.

    def _register(self, what: socket.socket, mask: int, call: Callable[[int], None]) -> None:
        self._ready[what.fileno()] = call
        self._poll.register(what, mask)

    def _unregister(self, what: socket.socket) -> None:
        del self._ready[what.fileno()]
        self._poll.unregister(what)

    def _change(
        self, what: socket.socket, before: int, mask: int, call: Callable[[int], None]
    ) -> None:
        """Wait for other events. Without any, the descriptor is not watched, because its end would be reported repeatedly."""
        if not before:
            self._register(what, mask, call)
        elif not mask:
            self._unregister(what)
        else:
            self._poll.modify(what, mask)


def _unsent(to: socket.socket, data: memoryview) -> bytes:
    """Send as much as the other side accepts; return the rest."""
    try:
        size = to.send(data)
    except BlockingIOError:
        size = 0
    return bytes(data[size:]) if size < len(data) else b""


def main(fd: int) -> None:
    """Relay for the arena at the other end of an inherited socket."""
    os.environ.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it exits when the arena closes the socket
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with socket.socket(fileno=fd) as requests, contextlib.closing(PlayRelay(requests)) as relay:
        relay.run()

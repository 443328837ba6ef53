"""The process of `arena web`: serves the site with uvicorn until a signal."""

import asyncio
import contextlib
import errno
import functools
import ipaddress
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import cast

import uvicorn

from arena.api.admission.connections import raised_descriptor_limit
from arena.api.admission.http_connections import HttpLimits, Places
from arena.web.acting.forwarding import ForwardedProcess
from arena.web.app import Web, application
from arena.web.arena_source import ArenaSource
from arena.web.event_hub import EventHub, FeedLimits
from arena.web.live_pages import LivePages
from arena.web.passed_on import people_folder
from arena.web.subscribers import HandoverConnection

GRACE_S = 5
"""Seconds for open requests after a signal."""
KEEP_ALIVE_S = 5
"""Seconds from an answer to the next request; less than the time for a head, so that idle connections end in order."""
MOST_CONNECTIONS = 2_000
"""The maximal number of connections of other machines, and of subscribers of matches in play."""
MOST_OF_ADDRESS = 128
"""The maximal number of connections of an address, which a whole class may share."""
HEAD_S = 10.0
ANSWER_S = 300.0
"""Seconds for the answer; the longest are replays of some megabytes."""
OTHER_DESCRIPTORS = 128
"""The number of descriptors for the store, replays, the worker and the arena's socket."""
NICENESS = 10
"""The niceness of this process, so that an arena on the same machine has priority."""


class CannotServePages(Exception):
    """The server cannot listen on the address. The text says why."""


def serve(
    data: Path,
    host: str,
    port: int,
    listening: Callable[[str], None],
    lifeline: int | None = None,
    *,
    store_url: str = "",
    organiser: bool = False,
    site_address: str = "",
    embed_in: Sequence[str] = (),
    bots_from: Sequence[str] = (),
) -> None:
    """Serve the pages of a data folder until SIGINT or SIGTERM; `listening` is called with the address.

    With `store_url` results are read from that store in PostgreSQL instead of the folder's.

    With `site_address`, the public address of the site, previews and feeds have absolute links; pages of the origins
    `embed_in` may contain a match, and pages of the origins `bots_from` may connect bots.

    With `organiser` there are also pages for organisers, and the address must be of this machine.

    With `lifeline` it also ends when its parent process does: it is the descriptor of a pipe whose
    other end the parent has open, which the kernel closes even if the parent is killed.

    Raises `CannotServePages` if it cannot listen on the address.
    """
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    bound = _bound(host, port)
    if organiser and not ipaddress.ip_address(bound.getsockname()[0]).is_loopback:
        bound.close()
        raise CannotServePages(f"pages for organisers are for this machine only, not for {host}")
    web = Web(
        data,
        store_url=store_url,
        organiser=organiser,
        address=site_address,
        embed_in=embed_in,
    )
    acting = ForwardedProcess(web.archive.watch_socket)
    play = ForwardedProcess(
        json.dumps([str(people_folder(data)), str(web.archive.watch_socket)]),
        "arena.web.play.server",
    )
    sockets = ForwardedProcess(web.archive.watch_socket, "arena.web.sockets.process")
    with (
        contextlib.closing(bound),
        contextlib.closing(web),
        contextlib.closing(acting),
        contextlib.closing(play),
        contextlib.closing(sockets),
    ):
        address = bound.getsockname()
        shown = f"[{address[0]}]" if ":" in address[0] else address[0]

        async def main() -> None:
            places, feeds = limits(raised_descriptor_limit())
            pages = LivePages(web, EventHub(ArenaSource(web.archive.watch_socket), feeds))
            server = uvicorn.Server(
                uvicorn.Config(
                    application(web, pages.routes(), acting, play, sockets, bots_from),
                    interface="asgi3",
                    http=protocol(places),
                    ws="none",
                    lifespan="off",
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    timeout_keep_alive=KEEP_ALIVE_S,
                    timeout_graceful_shutdown=GRACE_S,
                    backlog=1024,
                )
            )
            # Before `listening`, after which signals may come. uvicorn has its own handlers while it
            # serves, and raises the signal again when it has stopped.
            for ends in (signal.SIGINT, signal.SIGTERM):
                signal.signal(ends, lambda *_: _stop(server))
            listening(f"{shown}:{address[1]}")
            if lifeline is not None:
                Thread(target=_end_with, args=(lifeline,), daemon=True).start()
            running = [asyncio.create_task(process.run()) for process in (acting, play, sockets)]
            await server.serve(sockets=[bound])
            for task in running:
                task.cancel()

        asyncio.run(main())


def limits(descriptors: int) -> tuple[HttpLimits, FeedLimits]:
    """Return the limits of connections and of subscribers, for a process that may open this number of descriptors."""
    most = min((descriptors - OTHER_DESCRIPTORS) * 2 // 5, MOST_CONNECTIONS)
    places = HttpLimits(
        of_address=min(MOST_OF_ADDRESS, most // 2),
        remote=most,
        local=most // 2,
        head_s=HEAD_S,
        answer_s=ANSWER_S,
    )
    return places, FeedLimits(in_all=most)


def protocol(limits: HttpLimits) -> type[asyncio.Protocol]:
    """Return the factory of the connections of one port, in the form that uvicorn needs."""
    made: Callable[..., asyncio.Protocol] = functools.partial(HandoverConnection, Places(limits))
    return cast("type[asyncio.Protocol]", made)  # uvicorn calls it, and needs no class


def _stop(server: uvicorn.Server) -> None:
    """Stop the server, or prevent its start. An exception could interrupt any code of the loop."""
    server.should_exit = True


def _end_with(lifeline: int) -> None:
    """End this process with SIGTERM when the lifeline is closed; kill it if that takes too long."""
    # No file object: its lock would be held by this thread when the interpreter exits, which is fatal.
    while os.read(lifeline, 1):
        pass
    signal.raise_signal(signal.SIGTERM)
    time.sleep(2 * GRACE_S)
    os._exit(1)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotServePages(f"cannot listen on {host}: {error.strerror}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(1024)
    except OSError as error:
        bound.close()
        taken = error.errno == errno.EADDRINUSE
        why = "the port is in use; choose another one" if taken else error.strerror
        raise CannotServePages(f"cannot listen on {host}:{port}: {why}") from None
    return bound

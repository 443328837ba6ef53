"""An arena on a thread of this process, with whatever tokens and settings a test wants."""

import threading
from contextlib import contextmanager

import trio

from arena.server.admission.key_reload import KeyReloader
from arena.server.admission.tokens import Tokens
from arena.server.app import ServerSettings, serve
from tests.doubles.streams import PATIENCE_S

LONG_S = 120.0


@contextmanager
def running(folder, tokens, keys=None, **settings):
    """The arena, while the block runs. With `keys` it notices how they change."""
    stop, listening, found = threading.Event(), threading.Event(), []

    async def main(arena):
        found.append(arena)
        listening.set()
        async with trio.open_nursery() as nursery:
            if keys is not None:
                nursery.start_soon(KeyReloader(keys, tokens, arena.sessions.hang_up).run)
            await trio.to_thread.run_sync(stop.wait)
            nursery.cancel_scope.cancel()

    def run():
        try:
            serve(ServerSettings(folder, **settings), tokens, main)
        except BaseException as error:
            found.append(error)
        finally:
            listening.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert listening.wait(PATIENCE_S)
    try:
        if isinstance(found[0], BaseException):
            raise found[0]
        yield found[0]
    finally:
        stop.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    assert len(found) == 1, found


def in_arena(folder, main, *, long_s=LONG_S, **settings):
    """What `main` returns, given an arena with its server."""
    found = []

    def run():
        try:
            found.append(serve(ServerSettings(folder, **settings), Tokens(), main))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(long_s)
    assert not thread.is_alive()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]

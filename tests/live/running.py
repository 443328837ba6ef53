"""An arena on a thread of this process, with whatever tokens and settings a test wants."""

import threading
from contextlib import contextmanager

import trio

from arena.api.admission.key_reload import KeyReloader
from arena.app.arena_process import ServerSettings, serve
from arena.bots.tokens import Tokens
from tests.doubles.streams import PATIENCE_S

LONG_S = 120.0


@contextmanager
def running(folder, tokens, keys=None, **settings):
    """The arena, while the block runs. With `keys` it notices how they change."""
    stop, listening, served = threading.Event(), threading.Event(), []

    async def main(arena):
        served.append(arena)
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
            served.append(error)
        finally:
            listening.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert listening.wait(PATIENCE_S)
    try:
        if isinstance(served[0], BaseException):
            raise served[0]
        yield served[0]
    finally:
        stop.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    assert len(served) == 1, served


def in_arena(folder, main, *, long_s=LONG_S, **settings):
    """What `main` returns, given an arena with its server."""
    results = []

    def run():
        try:
            results.append(serve(ServerSettings(folder, **settings), Tokens(), main))
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(long_s)
    assert not thread.is_alive()
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]

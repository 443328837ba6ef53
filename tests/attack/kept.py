"""What a server keeps for good of each call that comes to nothing.

    python -m tests.attack.kept

A flood of calls that are reset at once (`culprits.resets`) meets one server after another, and then one of
calls that send more than their window allows (`culprits.oversized`). The C library's own count of bytes in use,
before and after, tells what each call has left behind. Servers of ten lines show which way of serving a
call leaves something, and `arena` is all of it.
"""

import asyncio
import ctypes
import gc
import subprocess
import sys
import threading
import time

import grpc

from arena.heap import share_one_heap
from bench import arena_server
from tests.attack.culprits import Attacker, oversized, resets
from tests.chaos.processes import die_with_parent

SECONDS = 3.0
ROUNDS = 4
"""The first fills what is filled once, and is not told."""
REST_S = 1.5
"""After a flood, until its last calls are over."""
_COUNTS = [
    "arena",
    "ordblks",
    "smblks",
    "hblks",
    "hblkhd",
    "usmblks",
    "fsmblks",
    "uordblks",
    "fordblks",
    "keepcost",
]


class _InUse(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [(name, ctypes.c_size_t) for name in _COUNTS]


async def cancelled(context):
    """A read that is cancelled with its call."""
    await context.read()


async def outlasting(context):
    """A read in a task of its own, which ends with its call."""
    reading = asyncio.ensure_future(context.read())
    reading.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait((reading,))


async def answered(context):
    """The same, and the call is answered though it is over."""
    try:
        await outlasting(context)
    except asyncio.CancelledError:
        return


async def refused(context):
    """Read, and refused without a word."""
    await context.read()
    context.set_code(grpc.StatusCode.RESOURCE_EXHAUSTED)


async def refused_with_trailers(context):
    """Read, and refused with trailers."""
    context.set_trailing_metadata((("grpc-status-details-bin", bytes(100)),))
    await refused(context)


BARE = {
    each.__name__: each
    for each in (cancelled, outlasting, answered, refused, refused_with_trailers)
}
ARENA = "arena"
MEETS = {
    resets: (cancelled.__name__, outlasting.__name__, answered.__name__, ARENA),
    oversized: (refused.__name__, refused_with_trailers.__name__, ARENA),
}
"""Which servers a flood meets."""


def serve(name):
    """Serve until the process ends; each line on the input is answered by the bytes in use."""
    die_with_parent()
    share_one_heap()
    threading.Thread(target=_tell, daemon=True).start()
    if name == ARENA:
        arena_server.main(arena_server.Job(game="abstrac", streams=2, seats=2, matches=1))
    else:
        asyncio.run(_bare(BARE[name]))


class _Any(grpc.GenericRpcHandler):
    """Serves every call."""

    def __init__(self, play):
        async def serve(_, context):
            await play(context)

        self._handler = grpc.stream_stream_rpc_method_handler(serve)

    def service(self, handler_call_details):
        return self._handler


async def _bare(play):
    # As the arena has it: a stream's window stays what it is.
    server = grpc.aio.server(options=(("grpc.http2.bdp_probe", 0),))
    server.add_generic_rpc_handlers((_Any(play),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)  # noqa: T201
    await server.wait_for_termination()


def _tell():
    in_use = ctypes.CDLL(None).mallinfo2
    in_use.restype = _InUse
    for _ in sys.stdin:
        gc.collect()
        print(in_use().uordblks, flush=True)  # noqa: T201


def kept(name, flood):
    """Bytes that a server keeps of each call of a flood, one figure for each round."""
    command = [sys.executable, "-m", "tests.attack.kept", name]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        address, found, before = server.stdout.readline().strip(), [], 0
        for _ in range(ROUNDS):
            attacker = Attacker(address, SECONDS)
            flood(attacker)
            time.sleep(REST_S)
            server.stdin.write("\n")
            server.stdin.flush()
            now = int(server.stdout.readline())
            found.append((now - before) / max(1, attacker.outcome.sent))
            before = now
    finally:
        server.kill()
        server.communicate()
    return found[1:]


if __name__ == "__main__":
    if names := sys.argv[1:]:
        serve(*names)
    else:
        for flood, servers in MEETS.items():
            for each in servers:
                told = ", ".join(f"{figure:.0f}" for figure in kept(each, flood))
                print(f"{flood.__name__:9} {each:21} {told} bytes a call")  # noqa: T201

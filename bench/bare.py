"""The lower bound: a grpc.aio server that sends one message, and repeats it after each answer.

Run as a program with the length of the message in bytes, it prints its address. It needs only grpcio, so that any
version of grpcio can be measured.
"""

import asyncio
import sys
from typing import Any, Final

import grpc

METHOD: Final = "/cardarena.bench.Bare/Play"


class _Handlers(grpc.GenericRpcHandler):
    def __init__(self, ask: bytes) -> None:
        self._ask = ask

    def service(self, handler_call_details: Any) -> Any:
        if handler_call_details.method == METHOD:
            return grpc.stream_stream_rpc_method_handler(self._play)
        return None

    async def _play(self, _: Any, context: Any) -> None:
        ask, read, write = self._ask, context.read, context.write
        while await read() is not grpc.aio.EOF:
            await write(ask)


async def _serve(ask: bytes) -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_Handlers(ask),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(_serve(bytes(int(sys.argv[1]))))

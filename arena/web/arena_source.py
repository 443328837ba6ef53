"""Matches in play, from the arena that runs in the folder, by its socket file."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import grpc

from arena.server.data_folder import watch_socket
from arena.web.hall import NoArena, NotLive
from cardarena.v1 import watch_pb2, watch_pb2_grpc

WAIT_S = 3.0
AWAY = "no arena answers in this folder"
_COMES_BACK = (("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1_000))
"""An arena that was killed is back within seconds, and the socket file costs nothing to try."""


class ArenaSource:
    """A `Source` of what an arena on this machine plays. Made and used on one loop."""

    def __init__(self, data: Path) -> None:
        self._channel = grpc.aio.insecure_channel(f"unix:{watch_socket(data)}", options=_COMES_BACK)
        self._stub = watch_pb2_grpc.WatchServiceStub(self._channel)

    async def watch(self, match_id: str, after: int) -> AsyncIterator[watch_pb2.WatchResponse]:
        """Follow a match, as `Source.watch`."""
        request = watch_pb2.WatchRequest(match_id=match_id, after=after)
        call = self._stub.Watch(request)
        try:
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                raise NotLive(error.details() or f"no match {match_id!r} may be watched") from None
            raise NoArena(AWAY) from None
        finally:
            with contextlib.suppress(Exception):
                call.cancel()

    async def live(self) -> watch_pb2.ListLiveResponse:
        """What is in play, as `Source.live`."""
        try:
            return await self._stub.ListLive(watch_pb2.ListLiveRequest(), timeout=WAIT_S)
        except grpc.aio.AioRpcError:
            raise NoArena(AWAY) from None

    async def close(self) -> None:
        """Hang up."""
        await self._channel.close()

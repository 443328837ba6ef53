"""Reads matches in play from the arena of a data folder, over its Unix socket."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import grpc

from cardarena.v1 import watch_pb2, watch_pb2_grpc

WAIT_S = 3.0
AWAY = "no arena answers in this folder"
BUSY = "the arena is busy, and answers late"
_RECONNECT = (("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1_000))
"""Short waits, because an arena restarts within seconds, and a local socket is cheap to try."""


class NotLive(Exception):
    """A match cannot be watched now. The text says why."""


class NoArena(NotLive):
    """No arena answers, so the matches in play are unknown."""


class ArenaBusy(NotLive):
    """An arena runs but cannot answer now."""


class ArenaSource:
    """The matches in play of an arena on this machine. Create it on the loop that uses it."""

    def __init__(self, watch_socket: Path) -> None:
        self._channel = grpc.aio.insecure_channel(f"unix:{watch_socket}", options=_RECONNECT)
        self._stub = watch_pb2_grpc.WatchServiceStub(self._channel)

    async def watch(self, match_id: str, after: int) -> AsyncIterator[watch_pb2.WatchResponse]:
        """Follow a match from the frame after `after`.

        Raises:
          NotLive: if the match cannot be watched.
          NoArena: if no arena answers, or the arena stops.
          ArenaBusy: if the arena runs, and cannot answer now.
        """
        request = watch_pb2.WatchRequest(match_id=match_id, after=after)
        call = self._stub.Watch(request)
        try:
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                raise NotLive(error.details() or f"no match {match_id!r} can be watched") from None
            raise _why(error) from None
        finally:
            with contextlib.suppress(Exception):
                call.cancel()

    async def live(self) -> watch_pb2.ListLiveResponse:
        """List the matches in play.

        Raises `NoArena` if no arena answers, and `ArenaBusy` if the arena runs, and cannot answer now.
        """
        try:
            return await self._stub.ListLive(watch_pb2.ListLiveRequest(), timeout=WAIT_S)
        except grpc.aio.AioRpcError as error:
            raise _why(error) from None

    async def close(self) -> None:
        await self._channel.close()


def _why(error: grpc.aio.AioRpcError) -> NotLive:
    """Return the error of a failed call: the socket has no listener, or the arena refused or was late."""
    absent = error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    return NoArena(AWAY) if absent else ArenaBusy(BUSY)

"""The watch service: matches in play, for spectators.

Of a deal-set only the number of matches in play is public: they have the same boards, so the course of one reveals
the cards of another. Of a match that is a deal-set of its own, spectators see what its event buffer has: hands of seats
only where they are open.
"""

from collections.abc import AsyncIterator, Callable
from typing import Final

from arena.errors.refused import Refused
from arena.live.event_buffers import EventBuffer, EventBuffers
from arena.live.limits import Context
from arena.live.matches.open_matches import InPlay
from cardarena.v1 import watch_pb2, watch_pb2_grpc

MOST_LISTED: Final = 50


class SpectateCalls(watch_pb2_grpc.WatchServiceServicer):
    """Serves `cardarena.v1.WatchService`."""

    def __init__(
        self, buffers: EventBuffers, in_play: Callable[[], InPlay], flush: Callable[[], None]
    ) -> None:
        """`flush` writes the journal to its file before anything is shown."""
        self._buffers = buffers
        self._in_play = in_play
        self._flush = flush

    async def Watch(
        self, request: watch_pb2.WatchRequest, context: Context
    ) -> AsyncIterator[watch_pb2.WatchResponse]:
        buffer = self._buffers.get(request.match_id)
        if buffer is None:
            raise Refused("UNKNOWN_MATCH", repr(request.match_id))
        async for message in buffer.follow(request.after):
            self._flush()
            yield message

    def ListLive(
        self, request: watch_pb2.ListLiveRequest, context: Context
    ) -> watch_pb2.ListLiveResponse:
        return watch_pb2.ListLiveResponse(
            matches=[_live(buffer) for buffer in self._buffers.live(MOST_LISTED)],
            sealed=[
                watch_pb2.SealedGame(game=game, matches=matches, deal_sets=deal_sets)
                for game, matches, deal_sets in self._in_play().sealed()
            ],
        )


def _live(buffer: EventBuffer) -> watch_pb2.LiveMatch:
    opened = buffer.opening.opened
    return watch_pb2.LiveMatch(
        match_id=buffer.match_id,
        game=opened.terms.game,
        bots=opened.bots,
        hand=buffer.hand,
        hands_open=opened.hands_open,
    )

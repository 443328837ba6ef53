"""The watch service: matches in play, for spectators.

Of a deal-set nothing is told but that so many of its tables are in play: they play the same
boards, so how one goes tells what is to come at another. What is told of a match that is played
alone is what its feed has: seats' hands only where it was opened so.
"""

from collections.abc import AsyncIterator, Callable
from typing import Final

from arena.server.feeds import Feed, Feeds
from arena.server.gate.calls import Context
from arena.server.matches.in_play import InPlay
from arena.server.refusals import not_found
from cardarena.v1 import watch_pb2, watch_pb2_grpc

MOST_LISTED: Final = 50


class Watching(watch_pb2_grpc.WatchServiceServicer):
    """Serves `cardarena.v1.WatchService`."""

    def __init__(
        self, feeds: Feeds, in_play: Callable[[], InPlay], flush: Callable[[], None]
    ) -> None:
        """`flush` writes what the journal has taken: nothing is shown before."""
        self._feeds = feeds
        self._in_play = in_play
        self._flush = flush

    async def Watch(
        self, request: watch_pb2.WatchRequest, context: Context
    ) -> AsyncIterator[watch_pb2.WatchResponse]:
        feed = self._feeds.get(request.match_id)
        if feed is None:
            raise not_found("UNKNOWN_MATCH", f"no match {request.match_id!r} may be watched now")
        async for told in feed.follow(request.after):
            self._flush()
            yield told

    def ListLive(
        self, request: watch_pb2.ListLiveRequest, context: Context
    ) -> watch_pb2.ListLiveResponse:
        return watch_pb2.ListLiveResponse(
            matches=[_live(feed) for feed in self._feeds.live(MOST_LISTED)],
            sealed=[
                watch_pb2.SealedGame(game=game, tables=tables, deal_sets=deal_sets)
                for game, tables, deal_sets in self._in_play().sealed()
            ],
        )


def _live(feed: Feed) -> watch_pb2.LiveMatch:
    opened = feed.opening.opened
    return watch_pb2.LiveMatch(
        match_id=feed.match_id,
        game=opened.terms.game,
        bots=opened.bots,
        hand=feed.hand,
        hands_open=opened.hands_open,
    )

"""Matches that have ended, as the lobby service lists them.

Only organisers see matches of a deal-set that is not closed: the matches of one deal-set have the same boards, so
the course of one reveals the cards of another.
"""

from arena.api.admission.access import organiser
from arena.api.match_messages import stored_filter, stored_match_message
from arena.api.pages import NEWEST, PagePosition, numbered_page, page_size
from arena.api.store_refusals import on_thread
from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.live.limits import Context
from arena.store import StoredMatches
from cardarena.v1 import lobby_pb2


class MatchCalls:
    """Serves the calls of `cardarena.v1.LobbyService` that need no running arena."""

    def __init__(self, results: StoredMatches, tokens: Tokens) -> None:
        self._results, self._tokens = results, tokens

    async def GetMatch(
        self, request: lobby_pb2.GetMatchRequest, context: Context
    ) -> lobby_pb2.GetMatchResponse:
        sees_all = self._sees_all(context)
        stored = await on_thread(self._results.get, request.match_id)
        if stored is None or not (sees_all or stored.closed):
            raise Refused("UNKNOWN_MATCH", repr(request.match_id))
        return lobby_pb2.GetMatchResponse(match=stored_match_message(stored, sees_all=sees_all))

    async def ListMatches(
        self, request: lobby_pb2.ListMatchesRequest, context: Context
    ) -> lobby_pb2.ListMatchesResponse:
        size = page_size(request.page_size)
        page, token = await self._page_of_ended(request, size, context)
        return lobby_pb2.ListMatchesResponse(matches=page, next_page_token=token)

    async def _page_of_ended(
        self, request: lobby_pb2.ListMatchesRequest, size: int, context: Context
    ) -> tuple[list[lobby_pb2.MatchInfo], str]:
        place, sees_all = PagePosition.of_token(request.page_token), self._sees_all(context)
        wanted = stored_filter(request.ended, sees_all=sees_all)
        ended = await on_thread(
            self._results.find, wanted, limit=size + 1, after=place.ended, skip=request.skip
        )
        token = ""
        if len(ended) > size:
            last = PagePosition.after(ended[size - 1]) if size else None
            token = (last or PagePosition(ended=place.ended or NEWEST)).token
        return [stored_match_message(match, sees_all=sees_all) for match in ended[:size]], token

    async def ListPlayedGames(
        self, request: lobby_pb2.ListPlayedGamesRequest, context: Context
    ) -> lobby_pb2.ListPlayedGamesResponse:
        wanted = stored_filter(request.ended, sees_all=self._sees_all(context))
        games = await on_thread(self._results.games, wanted)
        return lobby_pb2.ListPlayedGamesResponse(games=sorted(games))

    async def ListPlayedBots(
        self, request: lobby_pb2.ListPlayedBotsRequest, context: Context
    ) -> lobby_pb2.ListPlayedBotsResponse:
        names = await on_thread(self._results.bots, request.competition)
        page, token = numbered_page(names, request.page_size, request.page_token)
        return lobby_pb2.ListPlayedBotsResponse(bots=page, next_page_token=token)

    def _sees_all(self, context: Context) -> bool:
        return organiser(context, self._tokens) is not None

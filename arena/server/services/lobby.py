"""The lobby: games, who is there, and matches made by hand.

Of a deal-set that is not closed only an organiser is told anything: the tables of one
deal-set play the same boards, so how one goes tells what is to come at another.
"""

import asyncio
import functools
from collections import Counter
from collections.abc import Sequence

from arena.games.catalogue import GAMES, Game
from arena.ladder.results import MatchOutcome
from arena.server.bots import BotId
from arena.server.gate.access import organiser
from arena.server.gate.calls import Context
from arena.server.gate.limits import address_of
from arena.server.gate.order_quota import Orderer, OrderQuota
from arena.server.gate.tokens import Tokens
from arena.server.matches.in_play import OrderedMatch
from arena.server.matches.matches import Matches
from arena.server.matches.results import outcome_for_ladder
from arena.server.orders import BY_HAND, DealSetOrder, requested_terms
from arena.server.refusals import invalid, not_found
from arena.server.services.pages import NEWEST, Place, page_size
from arena.server.session.register import SessionRegister
from arena.server.session.session import Session
from arena.store import MatchFilter, StoredMatch
from arena.wire.settings import setting_message
from cardarena.v1 import game_pb2, lobby_pb2, lobby_pb2_grpc


class Lobby(lobby_pb2_grpc.LobbyServiceServicer):
    """Serves `cardarena.v1.LobbyService`."""

    def __init__(self, matches: Matches, sessions: SessionRegister, tokens: Tokens) -> None:
        """`tokens` tell who is an organiser, and which names are nobody's in particular."""
        self._matches = matches
        self._tokens = tokens
        self._sessions = sessions
        self._quota = OrderQuota(lambda match_id: matches.get(match_id) is not None)

    def ListGames(
        self, request: lobby_pb2.ListGamesRequest, context: Context
    ) -> lobby_pb2.ListGamesResponse:
        return _all_games()

    def CreateMatch(
        self, request: lobby_pb2.CreateMatchRequest, context: Context
    ) -> lobby_pb2.CreateMatchResponse:
        bots = tuple(BotId(name) for name in request.bots)
        for name, seats in Counter(request.bots).items():
            # Guests play against themselves to try things out, and their results are nobody's.
            if seats > 1 and not self._tokens.is_guest(name):
                raise invalid("BOT_TWICE", f"{name!r} has a key, and sits once at a table")
        terms = requested_terms(request.terms, seats=len(bots), seeded=bool(request.seed))
        order = DealSetOrder.of_match(terms, bots, seed=request.seed)
        orderer = self._orderer(context)
        self._quota.require(orderer, terms, self._where(bots))
        match = self._matches.order(order, order.deal_set, BY_HAND)
        self._quota.made(orderer, match.match_id)
        return lobby_pb2.CreateMatchResponse(match=self._ordered(match))

    async def GetMatch(
        self, request: lobby_pb2.GetMatchRequest, context: Context
    ) -> lobby_pb2.GetMatchResponse:
        sees_all = self._sees_all(context)
        match = self._matches.get(request.match_id)
        if match is not None and (sees_all or match.order.alone):
            return lobby_pb2.GetMatchResponse(match=self._ordered(match))
        found = await asyncio.to_thread(self._matches.results.get, request.match_id)
        if found is None or not (sees_all or found.closed):
            raise not_found("UNKNOWN_MATCH", f"there is no match {request.match_id!r}")
        return lobby_pb2.GetMatchResponse(match=_ended(found))

    async def ListMatches(
        self, request: lobby_pb2.ListMatchesRequest, context: Context
    ) -> lobby_pb2.ListMatchesResponse:
        size, place = page_size(request.page_size), Place.of_token(request.page_token)
        sees_all = self._sees_all(context)
        in_play = self._matches.in_play
        before = in_play.get(place.in_play)
        # Of a match that is told to nobody, no page tells either whether it is in play.
        on = before is not None and (sees_all or before.order.alone)
        after, most = (place.in_play if on else ""), size + 1  # tells whether there is another page
        ordered = (
            in_play.page(most, alone=not sees_all, after=after) if on or not place.begun else ()
        )
        infos = [self._ordered(match) for match in ordered[:size]]
        if len(ordered) > size:
            token = Place(in_play=infos[-1].match_id).token
            return lobby_pb2.ListMatchesResponse(matches=infos, next_page_token=token)
        room = size - len(infos)
        found = await asyncio.to_thread(
            self._matches.results.find,
            MatchFilter(closed=not sees_all),
            limit=room + 1,
            after=place.ended,
        )
        shown = [each for each in found[:room] if each.outcome.match_id not in in_play]
        token = ""
        if len(found) > room:
            last = found[room - 1] if room else None
            ended = place.ended if last is None else (last.ended_unix_ms, last.outcome.match_id)
            token = Place(ended=ended or NEWEST).token
        infos += [_ended(each) for each in shown]
        return lobby_pb2.ListMatchesResponse(matches=infos, next_page_token=token)

    def ListBots(
        self, request: lobby_pb2.ListBotsRequest, context: Context
    ) -> lobby_pb2.ListBotsResponse:
        size, sees_all = page_size(request.page_size), self._sees_all(context)
        # The last name of a page may have left since: the next begins with those after it.
        found = self._sessions.invited(request.page_token, size + 1)
        alone_of = self._matches.in_play.alone_of
        return lobby_pb2.ListBotsResponse(
            bots=[
                _bot_info(each, each.matches if sees_all else alone_of[each.bot.name])
                for each in found[:size]
            ],
            next_page_token=found[size - 1].bot.name if len(found) > size else "",
        )

    def _sees_all(self, context: Context) -> bool:
        return organiser(context.invocation_metadata() or (), self._tokens) is not None

    def _orderer(self, context: Context) -> Orderer:
        holder = organiser(context.invocation_metadata() or (), self._tokens)
        if holder is not None:
            return Orderer(owner=holder.owner)
        return Orderer(address_of(context.peer()))

    def _where(self, bots: Sequence[BotId]) -> dict[str, str | None]:
        """Where the bots that are here have their streams, by name; None for those with a key."""
        found = {bot.name: self._sessions.get(bot) for bot in bots}
        return {
            name: session.address if self._tokens.is_guest(name) else None
            for name, session in found.items()
            if session is not None and session.connected
        }

    def _ordered(self, match: OrderedMatch) -> lobby_pb2.MatchInfo:
        game, bots = match.order.terms.game.id, [bot.name for bot in match.table.bots]
        if match.played is not None:  # and is just being recorded
            return _info(game, bots, outcome_for_ladder(match.played))
        table = self._matches.referee.tables.get(match.match_id)
        return lobby_pb2.MatchInfo(
            match_id=match.match_id,
            game=game,
            bots=bots,
            status=lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING,
            decisions=0 if table is None else table.decisions,
        )


@functools.cache
def _all_games() -> lobby_pb2.ListGamesResponse:
    return lobby_pb2.ListGamesResponse(games=[_game_info(game) for game in GAMES])


def _game_info(game: Game) -> lobby_pb2.GameInfo:
    return lobby_pb2.GameInfo(
        game=game.id,
        title=game.title,
        rules_version=game.rules_version,
        seats=game.seats,
        options=[
            lobby_pb2.OptionInfo(
                default_setting=setting_message(setting.name, setting.default),
                meaning=setting.meaning,
                minimum=setting.minimum,
                maximum=setting.maximum,
                choices=setting.choices,
            )
            for setting in game.settings
        ],
        summary=game.summary,
    )


def _bot_info(session: Session, matches: int) -> lobby_pb2.BotInfo:
    return lobby_pb2.BotInfo(
        bot=session.bot.name,
        games=[
            lobby_pb2.BotGame(game=game.id, seats=sorted(session.games[game.id].seats))
            for game in GAMES
            if game.id in session.games
            and session.games[game.id].rules_version in (0, game.rules_version)
        ],
        matches=matches,
        max_matches=session.max_matches,
    )


def _ended(found: StoredMatch) -> lobby_pb2.MatchInfo:
    return _info(found.game, found.bots, found.outcome)


def _info(game: str, bots: Sequence[str], outcome: MatchOutcome) -> lobby_pb2.MatchInfo:
    return lobby_pb2.MatchInfo(
        match_id=outcome.match_id,
        game=game,
        bots=bots,
        status=lobby_pb2.MatchStatus.MATCH_STATUS_ENDED,
        scores=[int(score) for score in outcome.scores],
        places=outcome.places,
        decisions=outcome.decisions,
        ending=game_pb2.Ending.Value(f"ENDING_{outcome.ending.upper()}"),
    )

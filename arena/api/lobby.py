"""The lobby service of an arena that runs: games, connected bots, and matches that are ordered by hand."""

import asyncio
import functools
import hashlib
from collections import Counter
from collections.abc import Sequence

from arena.api.admission.access import organiser
from arena.api.admission.order_quota import Orderer, OrderQuota
from arena.api.match_messages import ended_message, stored_match_message
from arena.api.matches import MatchCalls
from arena.api.pages import PagePosition, first_page, page_size
from arena.api.store_refusals import on_thread, refusable
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.contests.human_opponents import HumanOpponents
from arena.errors.refused import BOT_NOT_AVAILABLE, Refused
from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.live.limits import Context, address_of
from arena.live.matches.match_record import MatchRecord
from arena.live.matches.matches import Matches
from arena.live.matches.results import match_outcome
from arena.live.orders import BY_HAND, DealSetOrder, requested_terms
from arena.live.session.register import SessionRegister
from arena.live.session.session import Session
from arena.referee.terms import TIME_CLASSES
from arena.referee.wire.settings import setting_message
from cardarena.v1 import lobby_pb2, lobby_pb2_grpc


class LobbyCalls(MatchCalls, lobby_pb2_grpc.LobbyServiceServicer):
    """Serves `cardarena.v1.LobbyService` of an arena that runs."""

    def __init__(
        self,
        matches: Matches,
        sessions: SessionRegister,
        tokens: Tokens,
        people: HumanOpponents | None = None,
    ) -> None:
        """`tokens` identify organisers and guests; `people` has the bots that people may play against."""
        super().__init__(matches.results, tokens)
        self._matches = matches
        self._sessions, self._people = sessions, people
        self._quota = OrderQuota(lambda match_id: matches.get(match_id) is not None)

    def ListGames(
        self, request: lobby_pb2.ListGamesRequest, context: Context
    ) -> lobby_pb2.ListGamesResponse:
        return _all_games()

    async def CreateMatch(
        self, request: lobby_pb2.CreateMatchRequest, context: Context
    ) -> lobby_pb2.CreateMatchResponse:
        bots = tuple(BotId(name) for name in request.bots)
        for name, seats in Counter(request.bots).items():
            # Guests may play against themselves, as their results do not count.
            if seats > 1 and not self._tokens.is_guest(name):
                raise Refused("BOT_TWICE", repr(name))
        terms = requested_terms(request.terms, seats=len(bots), seeded=bool(request.seed))
        orderer = self._orderer(context)
        match_id = _requested_id(orderer, request.request_id)
        order = DealSetOrder.of_match(terms, bots, seed=request.seed, match_id=match_id)
        if match_id and self._matches.get(match_id) is None:
            stored = await asyncio.to_thread(self._matches.results.get, match_id)
            if stored is not None:
                if (stored.game, tuple(stored.bots)) != (terms.game.id, tuple(request.bots)):
                    raise Refused("MATCH_ID_TAKEN", match_id)
                return lobby_pb2.CreateMatchResponse(
                    match=stored_match_message(stored, sees_all=self._sees_all(context))
                )
        is_new = self._matches.get(order.deal_set) is None
        if is_new:
            self._quota.require(orderer, terms, self._where(bots))
        match = self._matches.order(order, order.deal_set, BY_HAND)
        if is_new:
            self._quota.made(orderer, match.match_id)
        return lobby_pb2.CreateMatchResponse(match=self._ordered(match))

    async def GetMatch(
        self, request: lobby_pb2.GetMatchRequest, context: Context
    ) -> lobby_pb2.GetMatchResponse:
        match = self._matches.get(request.match_id)
        if match is not None and (match.order.alone or self._sees_all(context)):
            return lobby_pb2.GetMatchResponse(match=self._ordered(match))
        return await super().GetMatch(request, context)

    async def ListMatches(
        self, request: lobby_pb2.ListMatchesRequest, context: Context
    ) -> lobby_pb2.ListMatchesResponse:
        if request.HasField("ended"):
            return await super().ListMatches(request, context)
        size, place = page_size(request.page_size), PagePosition.of_token(request.page_token)
        sees_all = self._sees_all(context)
        in_play = self._matches.in_play
        before = in_play.get(place.in_play)
        # A page does not reveal whether a match is in play that the caller may not see.
        on = before is not None and (sees_all or before.order.alone)
        # One more match shows whether there is another page.
        after, most = (place.in_play if on else ""), size + 1
        ordered = (
            in_play.page(most, alone=not sees_all, after=after) if on or not place.begun else ()
        )
        page, token = first_page(
            ordered, size, lambda match: PagePosition(in_play=match.match_id).token
        )
        listed = [self._ordered(match) for match in page]
        if not token:
            ended, token = await self._page_of_ended(request, size - len(listed), context)
            # A match whose result is being recorded is in play.
            listed += [match for match in ended if match.match_id not in in_play]
        return lobby_pb2.ListMatchesResponse(matches=listed, next_page_token=token)

    def ListBots(
        self, request: lobby_pb2.ListBotsRequest, context: Context
    ) -> lobby_pb2.ListBotsResponse:
        size, sees_all = page_size(request.page_size), self._sees_all(context)
        # The last bot of a page may have disconnected since: the next page begins after its name.
        invited = self._sessions.invited(request.page_token, size + 1)
        alone_of = self._matches.in_play.alone_of
        page, token = first_page(invited, size, lambda session: session.bot.name)
        return lobby_pb2.ListBotsResponse(
            bots=[
                _bot_info(session, session.matches if sees_all else alone_of[session.bot.name])
                for session in page
            ],
            next_page_token=token,
        )

    async def ListHumanOpponents(
        self, request: lobby_pb2.ListHumanOpponentsRequest, context: Context
    ) -> lobby_pb2.ListHumanOpponentsResponse:
        accepting = {} if self._people is None else await on_thread(self._people.accepting)
        return lobby_pb2.ListHumanOpponentsResponse(
            opponents=[
                lobby_pb2.HumanOpponent(
                    bot=bot,
                    games=[
                        lobby_pb2.BotGame(game=game["id"], seats=game["seats"]) for game in games
                    ],
                )
                for bot, games in accepting.items()
            ]
        )

    async def SeatPerson(
        self, request: lobby_pb2.SeatPersonRequest, context: Context
    ) -> lobby_pb2.SeatPersonResponse:
        if self._people is None:
            raise Refused(BOT_NOT_AVAILABLE, "this arena launches no bots")
        terms = requested_terms(request.terms, seats=request.terms.seats, seeded=False)
        if terms.time_control != TIME_CLASSES["human"]:
            raise Refused("BAD_TIME_CONTROL", "people play by the time class `human`")
        token = await refusable(self._people.seat(request.opponent, terms))
        return lobby_pb2.SeatPersonResponse(token=token)

    def _orderer(self, context: Context) -> Orderer:
        holder = organiser(context, self._tokens)
        if holder is not None:
            return Orderer(owner=holder.owner)
        return Orderer(address_of(context.peer()))

    def _where(self, bots: Sequence[BotId]) -> dict[str, str | None]:
        """Return the addresses of connected bots, by name; None for those with a key."""
        sessions = {bot.name: self._sessions.get(bot) for bot in bots}
        return {
            name: session.address if self._tokens.is_guest(name) else None
            for name, session in sessions.items()
            if session is not None and session.connected
        }

    def _ordered(self, match: MatchRecord) -> lobby_pb2.MatchInfo:
        game, bots = match.order.terms.game.id, [bot.name for bot in match.table.bots]
        if match.played is not None:  # and its result is being recorded
            return ended_message(game, bots, match_outcome(match.played))
        runner = self._matches.referee.runners.get(match.match_id)
        return lobby_pb2.MatchInfo(
            match_id=match.match_id,
            game=game,
            bots=bots,
            status=lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING,
            decisions=0 if runner is None else runner.decisions,
        )


def _requested_id(orderer: Orderer, request_id: str) -> str:
    """Return the id of the match that an orderer requests with this text; empty without a text.

    A repeated request has the same id, so the journal and the store know the match after a restart too.
    """
    if not request_id:
        return ""
    whose = ("owner", orderer.owner) if orderer.owner else ("address", orderer.address)
    return hashlib.sha256(repr((*whose, request_id)).encode()).hexdigest()[:32]


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
            lobby_pb2.BotGame(game=game.id, seats=sorted(session.declared.games[game.id].seats))
            for game in GAMES
            if game.id in session.declared.games
            and session.declared.games[game.id].rules_version in (0, game.rules_version)
        ],
        matches=matches,
        max_matches=session.declared.max_matches,
    )

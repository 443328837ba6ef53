"""The lobby service: games, connected bots, and matches that are ordered by hand.

Only organisers see matches of a deal-set that is not closed: the matches of one deal-set have the same boards, so
the course of one reveals the cards of another.
"""

import asyncio
import functools
import hashlib
from collections import Counter
from collections.abc import Sequence

from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.schedule.deal_sets import MatchOutcome
from arena.server.admission.access import organiser
from arena.server.admission.limits import Context, address_of
from arena.server.admission.order_quota import Orderer, OrderQuota
from arena.server.admission.tokens import Tokens
from arena.server.bots import BotId
from arena.server.matches.match_record import MatchRecord
from arena.server.matches.matches import Matches
from arena.server.matches.results import match_outcome
from arena.server.orders import BY_HAND, DealSetOrder, requested_terms
from arena.server.refusals import Refused
from arena.server.services.pages import NEWEST, PagePosition, first_page, page_size
from arena.server.session.register import SessionRegister
from arena.server.session.session import Session
from arena.store import MatchFilter, StoredMatch
from arena.wire.enums import enum_number
from arena.wire.settings import setting_message
from cardarena.v1 import game_pb2, lobby_pb2, lobby_pb2_grpc


class LobbyCalls(lobby_pb2_grpc.LobbyServiceServicer):
    """Serves `cardarena.v1.LobbyService`."""

    def __init__(self, matches: Matches, sessions: SessionRegister, tokens: Tokens) -> None:
        """`tokens` tell who is an organiser, and which bots are guests."""
        self._matches = matches
        self._tokens = tokens
        self._sessions = sessions
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
            found = await asyncio.to_thread(self._matches.results.get, match_id)
            if found is not None:
                if (found.game, tuple(found.bots)) != (terms.game.id, tuple(request.bots)):
                    raise Refused("MATCH_ID_TAKEN", match_id)
                return lobby_pb2.CreateMatchResponse(match=_ended(found))
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
        sees_all = self._sees_all(context)
        match = self._matches.get(request.match_id)
        if match is not None and (sees_all or match.order.alone):
            return lobby_pb2.GetMatchResponse(match=self._ordered(match))
        found = await asyncio.to_thread(self._matches.results.get, request.match_id)
        if found is None or not (sees_all or found.closed):
            raise Refused("UNKNOWN_MATCH", repr(request.match_id))
        return lobby_pb2.GetMatchResponse(match=_ended(found))

    async def ListMatches(
        self, request: lobby_pb2.ListMatchesRequest, context: Context
    ) -> lobby_pb2.ListMatchesResponse:
        size, place = page_size(request.page_size), PagePosition.of_token(request.page_token)
        sees_all = self._sees_all(context)
        in_play = self._matches.in_play
        before = in_play.get(place.in_play)
        # A page does not reveal whether a match is in play that the caller may not see.
        on = before is not None and (sees_all or before.order.alone)
        after, most = (place.in_play if on else ""), size + 1  # one more, if there is another page
        ordered = (
            in_play.page(most, alone=not sees_all, after=after) if on or not place.begun else ()
        )
        page, token = first_page(
            ordered, size, lambda match: PagePosition(in_play=match.match_id).token
        )
        infos = [self._ordered(match) for match in page]
        if token:
            return lobby_pb2.ListMatchesResponse(matches=infos, next_page_token=token)
        room = size - len(infos)
        found = await asyncio.to_thread(
            self._matches.results.find,
            MatchFilter(closed=not sees_all),
            limit=room + 1,
            after=place.ended,
        )
        shown = [each for each in found[:room] if each.outcome.match_id not in in_play]
        if len(found) > room:
            last = found[room - 1] if room else None
            ended = place.ended if last is None else (last.ended_unix_ms, last.outcome.match_id)
            token = PagePosition(ended=ended or NEWEST).token
        infos += [_ended(each) for each in shown]
        return lobby_pb2.ListMatchesResponse(matches=infos, next_page_token=token)

    def ListBots(
        self, request: lobby_pb2.ListBotsRequest, context: Context
    ) -> lobby_pb2.ListBotsResponse:
        size, sees_all = page_size(request.page_size), self._sees_all(context)
        # The last bot of a page may have disconnected since: the next page begins after its name.
        found = self._sessions.invited(request.page_token, size + 1)
        alone_of = self._matches.in_play.alone_of
        page, token = first_page(found, size, lambda session: session.bot.name)
        return lobby_pb2.ListBotsResponse(
            bots=[
                _bot_info(each, each.matches if sees_all else alone_of[each.bot.name])
                for each in page
            ],
            next_page_token=token,
        )

    def _sees_all(self, context: Context) -> bool:
        return organiser(context, self._tokens) is not None

    def _orderer(self, context: Context) -> Orderer:
        holder = organiser(context, self._tokens)
        if holder is not None:
            return Orderer(owner=holder.owner)
        return Orderer(address_of(context.peer()))

    def _where(self, bots: Sequence[BotId]) -> dict[str, str | None]:
        """The addresses of connected bots, by name; None for those with a key."""
        found = {bot.name: self._sessions.get(bot) for bot in bots}
        return {
            name: session.address if self._tokens.is_guest(name) else None
            for name, session in found.items()
            if session is not None and session.connected
        }

    def _ordered(self, match: MatchRecord) -> lobby_pb2.MatchInfo:
        game, bots = match.order.terms.game.id, [bot.name for bot in match.table.bots]
        if match.played is not None:  # and its result is being recorded
            return _info(game, bots, match_outcome(match.played))
        runner = self._matches.referee.runners.get(match.match_id)
        return lobby_pb2.MatchInfo(
            match_id=match.match_id,
            game=game,
            bots=bots,
            status=lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING,
            decisions=0 if runner is None else runner.decisions,
        )


def _requested_id(orderer: Orderer, request_id: str) -> str:
    """The id of the match that an orderer requests by this text; empty without one.

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
        ending=enum_number(game_pb2.Ending, outcome.ending),
    )

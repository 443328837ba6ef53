"""The lobby: games, and matches made by hand."""

from arena.games.catalogue import GAMES, Game
from arena.referee import TimeControl
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.gate.calls import Context
from arena.server.matches.orders import MatchOrder, MatchRecord
from arena.server.refusals import invalid, not_found
from arena.server.services.pages import page
from arena.wire.settings import setting_message, values_of_settings
from cardarena.v1 import game_pb2, lobby_pb2, lobby_pb2_grpc


class Lobby(lobby_pb2_grpc.LobbyServiceServicer):
    """Serves `cardarena.v1.LobbyService`."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    def ListGames(
        self, request: lobby_pb2.ListGamesRequest, context: Context
    ) -> lobby_pb2.ListGamesResponse:
        return lobby_pb2.ListGamesResponse(games=[_game_info(game) for game in GAMES])

    def CreateMatch(
        self, request: lobby_pb2.CreateMatchRequest, context: Context
    ) -> lobby_pb2.CreateMatchResponse:
        control = TimeControl()
        if request.HasField("time_control"):
            control = _time_control(request.time_control)
        order = MatchOrder(
            game=request.game,
            bots=tuple(BotId(name) for name in request.bots),
            options=dict(values_of_settings(request.options)),
            time_control=control,
            seed=request.seed,
        )
        return lobby_pb2.CreateMatchResponse(match=_match_info(self._arena.create(order)))

    def GetMatch(
        self, request: lobby_pb2.GetMatchRequest, context: Context
    ) -> lobby_pb2.GetMatchResponse:
        record = self._arena.matches.get(request.match_id)
        if record is None:
            raise not_found("UNKNOWN_MATCH", f"there is no match {request.match_id!r}")
        return lobby_pb2.GetMatchResponse(match=_match_info(record))

    def ListMatches(
        self, request: lobby_pb2.ListMatchesRequest, context: Context
    ) -> lobby_pb2.ListMatchesResponse:
        newest_first = list(reversed(self._arena.matches.values()))
        records, token = page(
            newest_first, lambda record: record.match_id, request.page_size, request.page_token
        )
        return lobby_pb2.ListMatchesResponse(
            matches=[_match_info(record) for record in records], next_page_token=token
        )


def _time_control(given: game_pb2.TimeControl) -> TimeControl:
    try:
        return TimeControl.from_message(given)
    except ValueError as error:
        raise invalid("BAD_TIME_CONTROL", str(error)) from None


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


def _match_info(record: MatchRecord) -> lobby_pb2.MatchInfo:
    info = lobby_pb2.MatchInfo(
        match_id=record.match_id,
        game=record.game,
        bots=record.bots,
        status=lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING,
    )
    outcome = record.outcome
    if outcome is not None:
        info.status = lobby_pb2.MatchStatus.MATCH_STATUS_ENDED
        info.scores.extend(outcome.scores)
        info.places.extend(outcome.places)
        info.ending = outcome.ending.value  # type: ignore[assignment]
    return info

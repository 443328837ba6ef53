"""Functions that make orders and requests of single matches, for tests and benchmarks."""

from collections.abc import Mapping, Sequence

from arena.bots.bot_ids import BotId
from arena.games.catalogue import game_by_id
from arena.live.orders import DealSetOrder
from arena.referee.terms import DEFAULT_FAULT_LIMIT, MatchTerms, TimeControl
from arena.referee.wire.settings import setting_message
from cardarena.v1 import game_pb2, lobby_pb2


def match_order(
    game_id: str,
    bots: Sequence[BotId | str],
    options: Mapping[str, object] | None = None,
    *,
    seed: str = "",
    match_id: str = "",
    time_control: TimeControl | None = None,
    fault_limit: int = DEFAULT_FAULT_LIMIT,
) -> DealSetOrder:
    """Return the order of a single match; without `match_id` its id is random.

    Raises:
      UnknownGame: if there is no such game.
      BadOptions: if the game does not allow these options or seats.
    """
    game = game_by_id(game_id)
    players = tuple(BotId(bot) if isinstance(bot, str) else bot for bot in bots)
    terms = MatchTerms(
        game,
        game.options(options or {}, len(players)),
        len(players),
        time_control or TimeControl(),
        fault_limit,
        seeded=bool(seed),
    )
    return DealSetOrder.of_match(terms, players, seed=seed, match_id=match_id)


def match_request(
    game_id: str,
    bots: Sequence[str],
    options: Mapping[str, int | str | bool | None] | None = None,
    *,
    seed: str = "",
    time_control: Mapping[str, int] | None = None,
) -> lobby_pb2.CreateMatchRequest:
    """Return a request to the lobby for a match. Its values are not checked."""
    control = None if time_control is None else game_pb2.TimeControl(**time_control)
    settings = [
        game_pb2.Setting(name=name) if value is None else setting_message(name, value)
        for name, value in (options or {}).items()
    ]
    terms = game_pb2.MatchTerms(game=game_id, options=settings, time_control=control)
    return lobby_pb2.CreateMatchRequest(terms=terms, bots=bots, seed=seed)

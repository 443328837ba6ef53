"""The codec of every family of games."""

from typing import Final

from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.referee.wire.codec import Codec
from arena.referee.wire.shape import Mismatch
from cardarena.v1 import game_pb2, play_pb2

_HOLDERS: Final = (game_pb2.GameMove, game_pb2.GameEvent, game_pb2.GameView, play_pb2.Ask)
"""The messages with a `oneof game`."""


def _codecs() -> dict[str, Codec]:
    """Make the codecs of all families.

    Raises `Mismatch` if a family's classes and messages differ, or its number is not the same in every `oneof game`.
    """
    families = {game.family: game for game in GAMES}
    numbers = {game.family: game.number for game in GAMES}
    for message in _HOLDERS:
        fields = message.DESCRIPTOR.oneofs_by_name["game"].fields
        theirs = {field.name: field.number for field in fields}
        if theirs != numbers:
            odd = ", ".join(sorted(dict(theirs.items() ^ numbers.items())))
            raise Mismatch(f"{message.DESCRIPTOR.name} has other games, or numbers, for: {odd}")
    return {family: Codec(family, game.number, game.messages) for family, game in families.items()}


_CODECS: Final = _codecs()


def codec_of(game: Game) -> Codec:
    """Return the codec of a game's family."""
    return _CODECS[game.family]

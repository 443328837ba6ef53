"""The codec of every family of games, by the numbers of `cardarena.v1.GameMove`."""

from collections.abc import Mapping
from typing import Final

from arena.games.catalogue import GAMES, Game
from arena.wire.codec import Codec
from arena.wire.shape import Mismatch
from cardarena.v1 import game_pb2, play_pb2

FAMILY_NUMBERS: Final[Mapping[str, int]] = {
    "abstrac": 16,
    "democracy": 17,
    "chinese_poker": 18,
    "arlington": 19,
    "jam": 20,
    "klaberjass": 21,
    "sixty_six": 22,
    "loo": 23,
    "oklahoma_rummy": 24,
    "soko": 25,
    "pineapple": 26,
    "open_face_chinese_poker": 27,
    "eleusis": 28,
}


def _codecs() -> dict[str, Codec]:
    """Make the codecs of all families.

    Raises:
      Mismatch: if a family's classes and messages differ, or its number is not
        the same in every `oneof game`.
    """
    modules = {game.family: game.module for game in GAMES}
    oneofs = (game_pb2.GameMove, game_pb2.GameEvent, game_pb2.GameView, play_pb2.Ask)
    for message in oneofs:
        fields = message.DESCRIPTOR.oneofs_by_name["game"].fields
        numbers = {field.name: field.number for field in fields}
        if numbers != FAMILY_NUMBERS:
            raise Mismatch(f"{message.DESCRIPTOR.name} numbers the games {numbers}")
    return {
        family: Codec(family, number, modules[family]) for family, number in FAMILY_NUMBERS.items()
    }


_CODECS: Final = _codecs()


def codec_of(game: Game) -> Codec:
    """The codec that a game's matches are played with."""
    return _CODECS[game.family]

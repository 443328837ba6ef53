"""Jam: 26 tricks for two, with the black and the red cards as separate packs."""

from typing import Final

from arena.games.game import Game
from arena.games.jam import messages, rules

GAMES: Final = (
    Game(
        id="jam",
        family="jam",
        number=20,
        title="Jam",
        summary="A colour each and 26 tricks, of which those won in a row count most.",
        rules=rules,
        messages=messages,
        rules_version=1,
        seats=(2,),
    ),
)

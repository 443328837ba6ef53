"""Sixty-Six: tricks, marriages and the claim to have 66 points, for two."""

from typing import Final

from arena.games.game import Game
from arena.games.sixty_six import messages, rules

GAMES: Final = (
    Game(
        id="sixty_six",
        family="sixty_six",
        number=22,
        title="Sixty-Six",
        summary="Tricks and marriages: the first to 66 points must say so, or close in time.",
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=(2,),
    ),
)

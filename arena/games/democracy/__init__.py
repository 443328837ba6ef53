"""Democracy: simultaneous tricks for two to six seats."""

from typing import Final

from arena.games.democracy import messages, rules
from arena.games.game import Game

GAMES: Final = (
    Game(
        id="democracy",
        family="democracy",
        number=17,
        title="Democracy",
        summary="All play a card at once for tricks whose cards win the vote of four tribes.",
        rules=rules,
        messages=messages,
        rules_version=1,
        seats=(2, 3, 4, 5, 6),
    ),
)

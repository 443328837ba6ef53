"""Oklahoma Rummy: sets and runs from two packs with wild 2s."""

from typing import Final

from arena.games.game import Game
from arena.games.oklahoma_rummy import messages, rules

GAMES: Final = (
    Game(
        id="oklahoma_rummy",
        family="oklahoma_rummy",
        number=24,
        title="Oklahoma Rummy",
        summary="Sets and runs from two packs with wild 2s, and whole discard piles to take.",
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=tuple(rules.SEATS),
    ),
)

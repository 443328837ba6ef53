"""Kuhn Poker: two seats, three cards, and one round of betting."""

from typing import Final

from arena.games.game import Game
from arena.games.kuhn_poker import messages, rules

GAMES: Final = (
    Game(
        id="kuhn_poker",
        family="kuhn_poker",
        number=29,
        title="Kuhn Poker",
        summary="A card each of three, and one bet: the smallest poker there is.",
        rules=rules,
        messages=messages,
        rules_version=1,
        seats=(2,),
    ),
)

"""Loo: a pot divided by tricks, and a fine for players without a trick."""

from typing import Final

from arena.games.game import Game
from arena.games.loo import messages, rules

GAMES: Final = (
    Game(
        id="loo",
        family="loo",
        number=23,
        title="Loo",
        summary="A share of the pot for each trick, a fine for playing without one.",
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=tuple(rules.SEATS),
    ),
)

"""Arlington: tricks to collect cards, and sets to score them."""

from typing import Final

from arena.games.arlington import messages, rules
from arena.games.game import Game

GAMES: Final = (
    Game(
        id="arlington",
        family="arlington",
        number=19,
        title="Arlington",
        summary="Lead cards to gather more of them and sets to keep them, until the lead runs dry.",
        rules=rules,
        messages=messages,
        rules_version=1,
        seats=tuple(rules.SEATS),
    ),
)

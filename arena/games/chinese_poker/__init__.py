"""Chinese Poker: two to four seats, and thirteen cards set as three poker hands."""

from typing import Final

from arena.games.chinese_poker import messages, rules
from arena.games.game import Game

GAMES: Final = (
    Game(
        id="chinese_poker",
        family="chinese_poker",
        number=18,
        title="Chinese Poker",
        summary="Set thirteen cards into three poker hands and compare with everybody else.",
        rules=rules,
        messages=messages,
        rules_version=3,
        seats=tuple(rules.SEATS),
    ),
)

"""Soko, or Canadian stud: five-card stud in which four-card flushes and straights count."""

from typing import Final

from arena.games.game import Game
from arena.games.soko import messages, rules, state

GAMES: Final = (
    Game(
        id="soko",
        family="soko",
        number=25,
        title="Soko",
        summary="Five-card stud where four of a suit or four in a row count, at spread limit.",
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=tuple(state.SEATS),
    ),
)

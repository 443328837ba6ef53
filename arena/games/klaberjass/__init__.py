"""Klaberjass: bidding for trump, sequences and nine tricks, for two."""

from typing import Final

from arena.games.game import Game
from arena.games.klaberjass import messages, rules

GAMES: Final = (
    Game(
        id="klaberjass",
        family="klaberjass",
        number=21,
        title="Klaberjass",
        summary="Bid for trump, compare sequences, and make more than the other in nine tricks.",
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=(2,),
    ),
)

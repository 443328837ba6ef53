"""The Pineapple games: Hold'em with three hole cards, of which one is discarded."""

from typing import Final

from arena.games.game import Game
from arena.games.pineapple import messages, rules, state
from arena.games.pineapple.messages import Variant


def _game(variant: Variant, game_id: str, title: str, summary: str) -> Game:
    return Game(
        id=game_id,
        family="pineapple",
        number=26,
        title=title,
        summary=summary,
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=tuple(state.SEATS),
        preset={"variant": variant.value},
    )


GAMES: Final = (
    _game(
        Variant.PINEAPPLE,
        "pineapple",
        "Pineapple",
        "Hold'em with three cards in hand, of which one goes before the flop.",
    ),
    _game(
        Variant.CRAZY,
        "crazy_pineapple",
        "Crazy Pineapple",
        "Hold'em with three cards in hand, of which one goes after the betting on the flop.",
    ),
    _game(
        Variant.CRAZY_HILO,
        "crazy_pineapple_hi_lo",
        "Crazy Pineapple Hi-Lo",
        "Crazy Pineapple where the best hand and the best low split the pot.",
    ),
)

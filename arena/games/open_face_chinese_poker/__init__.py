"""Open-Face Chinese Poker: three poker hands are built card by card, face up."""

from typing import Final

from arena.games.game import Game
from arena.games.open_face_chinese_poker import messages, rules

GAMES: Final = (
    Game(
        id="open_face_chinese_poker",
        family="open_face_chinese_poker",
        number=27,
        title="Open-Face Chinese Poker",
        summary="Build three poker hands card by card in the open; queens in front earn Fantasyland.",
        rules=rules,
        messages=messages,
        rules_version=2,
        seats=tuple(rules.SEATS),
    ),
)

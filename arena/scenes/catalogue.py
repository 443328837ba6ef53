"""The scenes of the arena, by the name of a game's family, in one explicit list."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, cast

from arena.games.catalogue import Game
from arena.games.contract import Event, Seat, View
from arena.scenes import (
    abstrac,
    arlington,
    chinese_poker,
    democracy,
    eleusis,
    jam,
    klaberjass,
    loo,
    oklahoma_rummy,
    open_face_chinese_poker,
    pineapple,
    sixty_six,
    soko,
)
from arena.scenes.eye import Eye
from arena.scenes.sentences import Words
from arena.scenes.vocabulary import Scene


class Scenes(Protocol):
    """What a module of scenes offers; `arena.scenes` says what each is."""

    ENDS: tuple[type, ...]
    WORDS: Words
    QUIET: Words
    scene: Callable[[Eye], Scene]
    close: Callable[[View, Sequence[Event], Seat | None], View]


_FAMILIES: Final[Mapping[str, object]] = {
    "abstrac": abstrac,
    "arlington": arlington,
    "chinese_poker": chinese_poker,
    "democracy": democracy,
    "eleusis": eleusis,
    "jam": jam,
    "klaberjass": klaberjass,
    "loo": loo,
    "oklahoma_rummy": oklahoma_rummy,
    "open_face_chinese_poker": open_face_chinese_poker,
    "pineapple": pineapple,
    "sixty_six": sixty_six,
    "soko": soko,
}


def scenes_of(game: Game) -> Scenes:
    """The scenes of a game's family."""
    return cast("Scenes", _FAMILIES[game.family])

"""The games that a bot declares, which must be among those of this SDK."""

import difflib
from collections.abc import Iterable
from typing import Final

from cardarena._errors import Refused
from cardarena._families import FAMILIES
from cardarena.v1.play_pb2 import GameSupport

KNOWN: Final = tuple(game for games in FAMILIES.values() for game in games)
"""The ids of all games of this SDK."""


def supported(games: Iterable[str | GameSupport]) -> list[GameSupport]:
    """Return the games for `hello`: all of this SDK if none is named.

    Raises:
      Refused: if this SDK does not have a game.
    """
    support = [
        GameSupport(game=game) if isinstance(game, str) else game for game in (games or KNOWN)
    ]
    for entry in support:
        if entry.game not in KNOWN:
            near = difflib.get_close_matches(entry.game, KNOWN, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it knows {', '.join(KNOWN)}"
            raise Refused(f"this version of the SDK knows no game {entry.game!r}: {hint}")
    return support

"""The games whose messages this SDK has: one row for each family.

A new family is one row here and one module that gives its messages short names.
"""

import difflib
from collections.abc import Iterable
from typing import Final

from cardarena._errors import Refused
from cardarena.v1.play_pb2 import GameSupport

FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "abstrac": ("abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"),
    "democracy": ("democracy",),
    "chinese_poker": ("chinese_poker",),
    "arlington": ("arlington",),
    "jam": ("jam",),
    "klaberjass": ("klaberjass",),
    "sixty_six": ("sixty_six",),
    "loo": ("loo",),
    "oklahoma_rummy": ("oklahoma_rummy",),
    "soko": ("soko",),
    "pineapple": ("pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"),
    "open_face_chinese_poker": ("open_face_chinese_poker",),
    "eleusis": ("eleusis", "eleusis_express"),
}
"""The field of `oneof game` that carries a family's messages, and the ids of its games."""

KNOWN: Final = tuple(game for games in FAMILIES.values() for game in games)
"""The ids of all games that this SDK has messages of."""


def supported(games: Iterable[str | GameSupport]) -> list[GameSupport]:
    """What `hello` says of the games: all that this SDK knows if none is named.

    Raises:
      Refused: if this SDK has no messages of a game.
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

"""How long a match of a qualification is: as short as a game can be, and two hands at least."""

from typing import Final

from arena.deal import first_pack
from arena.games.catalogue import BadOptions, Game

HANDS: Final = 2


def short_hands(game: Game, seats: int) -> int:
    """Two hands; one for each seat where everybody has to deal as often as the others.

    Raises:
      BadOptions: if the game has no such length.
    """
    options = game.options({"hands": HANDS}, seats)
    try:
        first_pack(game.rules, options, seats)  # what only the rules can judge
    except BadOptions:
        return seats
    return HANDS

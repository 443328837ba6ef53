"""Tables of which a quick run tries a few rows: what each of the others adds is worth less time."""

import pytest

from arena.games.catalogue import game_by_id

OF_EACH_KIND = {"abstrac", "chinese_poker", "sixty_six", "pineapple"}
"""Games that stand for all: in turn, all at once, with hidden cards, with bets."""
_Named = type(pytest.param())


def slow_unless(is_quick, rows):
    """The rows as parameters; those of which `is_quick` is false are slow."""
    table = []
    for row in rows:
        name, values = None, row if isinstance(row, tuple) else (row,)
        if isinstance(row, _Named):
            name, values = row.id, row.values
        marks = () if is_quick(*values) else pytest.mark.slow
        table.append(pytest.param(*values, id=name, marks=marks))
    return table


def slow_unless_of_each_kind(games):
    """The games as parameters; the quick run has one of each kind."""
    return slow_unless(lambda game: game.id in OF_EACH_KIND, games)


def fewest_seats(game_id, seats):
    """Whether nobody could be missing from the game."""
    return seats == game_by_id(game_id).seats[0]

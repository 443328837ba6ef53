"""Tables of which a quick run tries a few rows: what each of the others adds is worth less time."""

import pytest

from arena.games.catalogue import game_by_id

OF_EACH_KIND = {"abstrac", "chinese_poker", "sixty_six", "pineapple"}
"""Games that stand for all: in turn, all at once, with hidden cards, with bets."""
_Named = type(pytest.param())


def slow_unless(is_quick, rows, mark=pytest.mark.slow):
    """The rows as parameters; those of which `is_quick` is false are slow, or deep by another mark."""
    table = []
    for row in rows:
        name, values = None, row if isinstance(row, tuple) else (row,)
        if isinstance(row, _Named):
            name, values = row.id, row.values
        marks = () if is_quick(*values) else mark
        table.append(pytest.param(*values, id=name, marks=marks))
    return table


def slow_unless_of_each_kind(games, mark=pytest.mark.slow):
    """The games as parameters; the quick run has one of each kind."""
    return slow_unless(lambda game: game.id in OF_EACH_KIND, games, mark)


EACH_GAME = pytest.mark.deep("each game")
"""Games beside those of each kind, where a test is of what all games share."""
RULES = pytest.mark.deep("rules")
"""Rows that only rules could fail: these are pure, and import nothing else."""


def fewest_seats(game_id, seats):
    """Whether nobody could be missing from the game."""
    return seats == game_by_id(game_id).seats[0]

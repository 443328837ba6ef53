"""Matches of any game by random play, straight through the rules."""

import random
from itertools import islice

import pytest

from arena.games.catalogue import GAMES
from arena.testing.deals import SeededDeals
from tests.games.random_play import random_turns
from tests.rows import RULES, fewest_seats, slow_unless

SITTINGS = [
    pytest.param(game, seats, id=f"{game.id} for {seats}")
    for game in GAMES
    for seats in sorted({game.seats[0], game.seats[-1]})
]
"""Every game with the fewest seats and the most."""
EVERY_SITTING = pytest.mark.parametrize(
    ("game", "seats"),
    slow_unless(
        lambda game, seats: fewest_seats(game.id, seats) and game.id != "eleusis", SITTINGS, RULES
    ),
)
"""The quick run has the fewest, and of Eleusis the Express alone."""
MOST_TURNS = 100
"""Turns of a walk that need not reach the end of its match."""


class Walk:
    """A match of random moves, and all that can be seen of it; only its beginning unless `whole`."""

    def __init__(self, game, seats, seed, options=None, *, whole=False):
        self.game, self.seats = game, seats
        self.options = game.options({"hands": seats} if options is None else options, seats)
        self.deals = SeededDeals(seed)
        self.random = random.Random(seed)
        self.most = None if whole else MOST_TURNS

    def __iter__(self):
        """The turns of a match; the first is the deal, with nothing chosen."""
        match = random_turns(self.game.rules, self.options, self.seats, self.random, self.deals)
        return islice(match, self.most)

    def moves(self):
        for turn in self:
            yield from (move for _, move in turn.chosen)

    def events(self):
        for turn in self:
            yield from (told.event for told in turn.events)

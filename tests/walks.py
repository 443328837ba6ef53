"""Matches of any game by random play, straight through the rules."""

import random
from dataclasses import dataclass
from itertools import islice

import pytest

from arena.games.catalogue import GAMES
from arena.testing.deals import SeededDeals
from tests.rows import fewest_seats, slow_unless

SITTINGS = [
    pytest.param(game, seats, id=f"{game.id} for {seats}")
    for game in GAMES
    for seats in sorted({game.seats[0], game.seats[-1]})
]
"""Every game with the fewest seats and the most."""
EVERY_SITTING = pytest.mark.parametrize(
    ("game", "seats"),
    slow_unless(
        lambda game, seats: fewest_seats(game.id, seats) and game.id != "eleusis", SITTINGS
    ),
)
"""The quick run has the fewest, and of Eleusis the Express alone."""
MOST_TURNS = 100
"""Turns of a walk that need not reach the end of its match."""


@dataclass
class Turn:
    """One step of a match: the state before it, what was chosen, and what came of it."""

    state: object
    chosen: tuple
    step: object


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
        return islice(self._turns(), self.most)

    def _turns(self):
        rules = self.game.rules
        step = rules.start(self.options, self.seats, self.deals)
        yield Turn(None, (), step)
        while acting := rules.to_act(step.state):
            state = step.state
            chosen = tuple(
                (seat, rules.moves(state, seat).sample(self.random.randrange)) for seat in acting
            )
            step = rules.step(state, chosen, self.deals)
            yield Turn(state, chosen, step)

    def moves(self):
        for turn in self:
            yield from (move for _, move in turn.chosen)

    def events(self):
        for turn in self:
            yield from (told.event for told in turn.step.events)

"""Random play of any game, for tests over the whole catalogue."""

import random
from dataclasses import dataclass

from arena.testing.deals import Seeded

MAX_DECISIONS = 20_000
"""No match of any game with random players comes near; one that does hangs."""


@dataclass(frozen=True)
class Moment:
    """A state with seats to act, what they chose, and what followed."""

    state: object
    acting: tuple
    chosen: tuple
    told: tuple
    after: object


def pick(game, legal, draw):
    """One legal move; in Eleusis mostly a listed one, as nearly all strings are long and wrong."""
    if game.family == "eleusis" and draw.random() < 0.9:
        return draw.choice(legal.offered)
    return legal.sample(draw.randrange)


def moments(game, options, seats, seed):
    """Play a match by random moves, moment by moment.

    Raises:
      AssertionError: if the match does not end.
    """
    draw = random.Random(f"{game.id} {seats} {seed}")
    deals = Seeded(f"random play {seed}")
    rules = game.rules
    state, _ = rules.start(options, seats, deals)
    decisions = 0
    while acting := rules.to_act(state):
        chosen = tuple((seat, pick(game, rules.moves(state, seat), draw)) for seat in acting)
        after, told = rules.step(state, chosen, deals)
        yield Moment(state, acting, chosen, told, after)
        state = after
        decisions += len(acting)
        assert decisions < MAX_DECISIONS, "the match does not end"

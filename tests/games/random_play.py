"""Random play of any game, for tests over the whole catalogue."""

import random
from dataclasses import dataclass

from arena.deal import KeyedDeals, seeded_key

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


def moments(game, options, seats, seed):
    """Play a match by uniformly random moves, moment by moment.

    Raises:
      AssertionError: if the match does not end.
    """
    draw = random.Random(f"{game.id} {seats} {seed}")
    deals = KeyedDeals(seeded_key(f"random play {seed}"))
    rules = game.rules
    state, _ = rules.start(options, seats, deals)
    decisions = 0
    while acting := rules.to_act(state):
        chosen = tuple((seat, rules.moves(state, seat).sample(draw.randrange)) for seat in acting)
        after, told = rules.step(state, chosen, deals)
        yield Moment(state, acting, chosen, told, after)
        state = after
        decisions += len(acting)
        assert decisions < MAX_DECISIONS, "the match does not end"

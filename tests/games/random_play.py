"""Random play of any game, for tests over the whole catalogue."""

import random
from dataclasses import dataclass

from arena.local.turns import turns
from arena.testing.deals import SeededDeals

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


def with_effect(game, given):
    """Those of the options that have an effect beside the others; the game refuses the rest."""
    defaults = {setting.name: setting.default for setting in game.settings}
    values = (defaults | dict(game.preset) | given).__getitem__
    return {
        setting.name: given[setting.name]
        for setting in game.settings
        if setting.name in given and not setting.unmet(values)
    }


def pick(game, legal, draw):
    """One legal move; in Eleusis mostly a listed one, as nearly all strings are long and wrong."""
    if game.family == "eleusis" and draw.random() < 0.9:
        return draw.choice(legal.offered)
    return legal.sample(draw.randrange)


def random_turns(rules, options, seats, draw, deals):
    """The turns of a match in which each legal move is equally likely."""
    return turns(
        rules,
        options,
        seats,
        deals,
        lambda state, seat: rules.moves(state, seat).sample(draw.randrange),
    )


def moments(game, options, seats, seed):
    """Play a match by random moves, moment by moment.

    Raises:
      AssertionError: if the match does not end.
    """
    draw = random.Random(f"{game.id} {seats} {seed}")
    deals = SeededDeals(f"random play {seed}")
    rules = game.rules
    decisions = 0

    def choose(state, seat):
        return pick(game, rules.moves(state, seat), draw)

    for turn in turns(rules, options, seats, deals, choose):
        if turn.chosen:
            acting = tuple(seat for seat, _ in turn.chosen)
            yield Moment(turn.before, acting, turn.chosen, turn.events, turn.after)
        decisions += len(turn.chosen)
        assert decisions < MAX_DECISIONS, "the match does not end"

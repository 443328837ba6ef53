"""Observations and actions of Kuhn Poker."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, Fields, Number, OneOf
from arena.envs.encoders.lengths import totals_code
from arena.games.contract import Options
from arena.games.kuhn_poker import messages as m
from arena.games.kuhn_poker import rules


def view_code(options: Options, seats: int) -> Fields:
    """Return the code of views."""
    return Fields(
        m.View,
        seats,
        hand=Number(0, options.hands or m.OWN_LENGTH),
        card=OneOf((*rules.PACK, None)),
        chips=BySeat(Number(0, 2), seats),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: all moves of the game."""
    return ActionSpace(FixedMoves(m.Check(), m.Bet(), m.Fold(), m.Call()))

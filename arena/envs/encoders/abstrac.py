"""Observations and actions of the Abstracs."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, CardOrder, Fields, Number
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.abstrac import messages as m
from arena.games.abstrac import rules
from arena.games.cards import JOKER, pack
from arena.games.contract import Options


def view_code(options: Options, seats: int) -> Fields:
    full = options.variant == m.Variant.FIFTYTWO
    cards = pack() if full else (*pack("9TJQKA"), JOKER)
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands_of(options)),
        half=Number(0, 2),
        row=CardOrder(cards),
        taken=BySeat(CardOrder(cards), seats),
        limit=Number(0, m.HALF),
        undealt=Number(0, m.HALF),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    return ActionSpace(FixedMoves(*m.CHOICES, *m.TAKES[m.HALF]))

"""Observations and actions of Oklahoma Rummy."""

from typing import Final

from arena.envs.actions import ActionSpace, FixedMoves, OfferedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, LatestOf, Number, OneOf
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.cards import PACK_52
from arena.games.contract import MAX_OFFERED, Options
from arena.games.oklahoma_rummy import messages as m
from arena.games.oklahoma_rummy import rules
from arena.games.oklahoma_rummy.melds import TableMeld

_MELDS: Final = 16
"""The number of melds of a table that are written; earlier ones are in a digest."""
_EXTENSIONS: Final = 128
_REBUILDS: Final = 100


def view_code(options: Options, seats: int) -> Fields:
    cards, deck = CardCounts(PACK_52, 2), len(rules.DECK)
    meld = Fields(
        TableMeld,
        seats,
        cards=CardOrder(rules.DECK),
        stands_for=CardOrder((*PACK_52, *(f"A{suit}" for suit in "cdhs"))),
        points=Number(0, 500, 100),
    )
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands_of(options)),
        held=cards,
        drawn=OneOf((*PACK_52, None)),
        hand_sizes=BySeat(Number(0, deck), seats),
        known=BySeat(cards, seats),
        tables=BySeat(Fields(m.Table, seats, melds=LatestOf(meld, _MELDS)), seats),
        pile=CardOrder(rules.DECK),
        stock=Number(0, deck),
        rebuilds=Number(0, _REBUILDS, 1),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: draws and discards, and melds by their place in the offer."""
    words = (m.DRAW, m.DECLINE, m.NO_DISCARD)
    return ActionSpace(
        FixedMoves(*words, *m.DISCARDS.values()),
        OfferedMoves(MAX_OFFERED, m.TakePile, m.Meld),
        OfferedMoves(_EXTENSIONS, m.Extend),
    )

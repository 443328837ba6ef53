"""Observations and actions of Chinese Poker."""

from arena.envs.actions import ActionSpace, FixedMoves, OfferedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, Maybe, Number, SeatOf, SeveralOf
from arena.envs.encoders.lengths import totals_code
from arena.games.cards import PACK_52
from arena.games.chinese.hands import Rows
from arena.games.chinese.settings import OFFERED_SETTINGS
from arena.games.chinese_poker import messages as m
from arena.games.chinese_poker import rules
from arena.games.contract import Options


def view_code(options: Options, seats: int) -> Fields:
    cards = CardCounts(reversed(PACK_52))
    natural = Fields(m.ShownNatural, seats, cards=CardOrder(PACK_52))
    return Fields(
        m.View,
        seats,
        hand=Number(0, options.hands or m.HANDS_PER_SEAT * seats),
        to_act=SeveralOf(SeatOf(seats), seats),
        held=cards,
        setting=Maybe(Fields(Rows, seats, front=cards, middle=cards, back=cards)),
        naturals=SeveralOf(natural, seats),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: of 72,072 settings the best ones of a search."""
    return ActionSpace(
        FixedMoves(m.DECLARE_NATURAL, m.PLAY, m.SURRENDER),
        OfferedMoves(OFFERED_SETTINGS + 1, m.Set),
    )

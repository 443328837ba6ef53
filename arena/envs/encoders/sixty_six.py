"""Observations and actions of Sixty-Six."""

from typing import Final

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, Number, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.cards import SUITS
from arena.games.contract import Options
from arena.games.sixty_six import messages as m
from arena.games.sixty_six import rules
from arena.games.sixty_six.scoring import MOST_AWARDED, PACK_24

_TRICKS: Final = 12
_POINTS: Final = 250
"""More than all points of a hand: 120 of the cards, 10 for the last trick and 100 of four marriages."""


def view_code(options: Options, seats: int) -> Fields:
    cards = CardCounts(PACK_24)
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands_of(options)),
        trump=OneOf(SUITS),
        upcard=OneOf((*PACK_24, None)),
        stock=Number(0, _TRICKS),
        held=cards,
        hand_sizes=BySeat(Number(0, 6), seats),
        known=BySeat(cards, seats),
        led=OneOf((*PACK_24, None)),
        declared=OneOf((*SUITS, None)),
        points=BySeat(Number(0, _POINTS, 66), seats),
        pending=BySeat(Number(0, 100), seats),
        played=BySeat(CardOrder(PACK_24), seats),
        winners=SeveralOf(SeatOf(seats), _TRICKS),
        carry=Number(0, hands_of(options) * MOST_AWARDED, MOST_AWARDED),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    calls = (m.CLAIM, m.CLOSE, m.EXCHANGE, *m.MARRIAGES.values())
    return ActionSpace(FixedMoves(*calls, *m.PLAYS.values()))

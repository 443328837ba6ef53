"""Observations and actions of Klaberjass."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, Number, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.cards import RANKS, SUITS
from arena.games.contract import Options
from arena.games.klaberjass import messages as m
from arena.games.klaberjass import rules
from arena.games.klaberjass.scoring import FIFTY, MOST_POINTS, PACK_32, TWENTY

TRICKS = 9


def view_code(options: Options, seats: int) -> Fields:
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands_of(options)),
        upcard=OneOf(PACK_32),
        stock=Number(0, len(PACK_32)),
        auction=Fields(m.Auction, seats, passes=Number(0, 4), trump=OneOf((*SUITS, None))),
        contest=Fields(
            m.Contest,
            seats,
            value=OneOf((0, TWENTY, FIFTY)),
            tops=BySeat(OneOf(("", *RANKS)), seats),
            suits=BySeat(OneOf(("", *SUITS)), seats),
            shown=SeveralOf(CardCounts(PACK_32), 4),
        ),
        held=CardCounts(PACK_32),
        hand_sizes=BySeat(Number(0, TRICKS), seats),
        known=BySeat(CardCounts(PACK_32), seats),
        led=OneOf((*PACK_32, None)),
        points=BySeat(Number(0, MOST_POINTS), seats),
        played=BySeat(CardOrder(PACK_32), seats),
        winners=SeveralOf(SeatOf(seats), TRICKS),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    bids = (*m.FIRST_BIDS, *m.REPLIES, *(m.Name(suit) for suit in SUITS), *m.KEEP_OR_EXCHANGE)
    melds = (m.NO_MELD, *m.ANNOUNCEMENTS.values(), m.GOOD, m.NOT_GOOD, m.HOW_HIGH)
    return ActionSpace(FixedMoves(*bids, *melds, *m.PLAYS.values(), *m.BELAS.values()))

"""Observations and actions of Jam."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, Number, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.cards import PACK_52
from arena.games.contract import Options
from arena.games.jam import messages as m
from arena.games.jam import rules
from arena.games.jam.scoring import HAND, MAX_RUBBERS, TRICKS


def view_code(options: Options, seats: int) -> Fields:
    piles = BySeat(CardOrder(PACK_52), seats)
    hands = hands_of(options) if options.hands else MAX_RUBBERS * options.max_hands
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands),
        held=CardCounts(PACK_52),
        hand_sizes=BySeat(Number(0, 2 * HAND), seats),
        stock_sizes=BySeat(Number(0, TRICKS), seats),
        discards=piles,
        known=BySeat(CardCounts(PACK_52), seats),
        led=OneOf((*PACK_52, None)),
        draws_left=Number(0, HAND),
        played=piles,
        winners=SeveralOf(SeatOf(seats), TRICKS),
        totals=BySeat(totals_code(rules, options, seats), seats),
        rubbers=BySeat(Number(0, MAX_RUBBERS), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    return ActionSpace(FixedMoves(*m.DRAWS.values(), *m.PLAYS.values(), *m.DISCARDS.values()))

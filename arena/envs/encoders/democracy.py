"""Observations and actions of Democracy."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, Number, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.contract import Options
from arena.games.democracy import messages as m
from arena.games.democracy import rules


def view_code(options: Options, seats: int) -> Fields:
    sizes, cards = m.SIZES[seats], rules.PACKS[seats]
    tricks = sizes.first_day + sizes.second_day
    suit = Number(0, 25)
    points = Fields(m.SuitPoints, seats, clubs=suit, diamonds=suit, hearts=suit, spades=suit)
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands_of(options)),
        day=Number(0, 2),
        upcard=OneOf((*m.HAND_ORDER, None)),
        held=CardCounts(m.HAND_ORDER, max(1, sizes.jokers)),
        hand_size=Number(0, sizes.first_day),
        pool=Number(0, sizes.first_day),
        undealt=Number(0, len(cards)),
        island=Fields(
            m.Island,
            seats,
            upcards=CardOrder(cards),
            plays=CardOrder(cards),
            winners=SeveralOf(SeatOf(seats, m.TIE), tricks),
            captured=BySeat(CardOrder(cards), seats),
            points=BySeat(points, seats),
            discarded=CardOrder(cards),
        ),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    return ActionSpace(FixedMoves(*m.PLAYS.values()))

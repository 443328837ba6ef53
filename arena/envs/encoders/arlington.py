"""Observations and actions of Arlington."""

from typing import Final

from arena.envs.actions import ActionSpace, FixedMoves, OfferedMoves
from arena.envs.codes import (
    BySeat,
    CardCounts,
    CardOrder,
    Fields,
    LatestOf,
    Maybe,
    Number,
    OneOf,
    SeatOf,
    SeveralOf,
)
from arena.envs.encoders.lengths import hands_of, totals_code
from arena.games.arlington import messages as m
from arena.games.arlington import rules
from arena.games.arlington.sets import JOKERS
from arena.games.cards import JOKER, PACK_52, pack
from arena.games.contract import MAX_OFFERED, Options

_CARDS: Final = (*PACK_52, JOKER)
_SETS: Final = 12
"""The number of sets of a table that are written; earlier ones are in a digest."""


def view_code(options: Options, seats: int) -> Fields:
    cards, deck = CardCounts(_CARDS, JOKERS), len(_CARDS) + 1
    table = Fields(
        m.Table, seats, sets=LatestOf(cards, _SETS), points=LatestOf(Number(0, 200), _SETS)
    )
    return Fields(
        m.View,
        seats,
        hand=Number(0, hands_of(options)),
        held=cards,
        hand_sizes=BySeat(Number(0, deck), seats),
        known=BySeat(cards, seats),
        tables=BySeat(table, seats),
        trick_seats=SeveralOf(SeatOf(seats), seats),
        trick_cards=SeveralOf(OneOf(_CARDS), seats),
        active=Maybe(Fields(m.Active, seats, index=Number(0, deck))),
        graveyard=Number(0, deck),
        buried=CardOrder(pack(jokers=JOKERS)),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: each card, and the sets and changes of tables by their place in the offer."""
    cards = (*m.LEAD_CARDS.values(), *m.PLAY_CARDS.values())
    return ActionSpace(
        FixedMoves(m.PASS, m.KILL, *cards),
        OfferedMoves(MAX_OFFERED, m.LeadSet, m.PlayS2, m.Add, m.TakeJoker, m.Overplay),
    )

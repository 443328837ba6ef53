"""Observations and actions of Loo."""

from collections.abc import Iterable
from typing import Final

from arena.envs.actions import ActionSpace, ChosenMoves, FixedMoves
from arena.envs.codes import BySeat, CardCounts, CardOrder, Fields, Number, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.lengths import totals_code
from arena.games.cards import PACK_52
from arena.games.contract import Moves, Options
from arena.games.loo import messages as m
from arena.games.loo import rules

_HAND: Final = 5


def view_code(options: Options, seats: int) -> Fields:
    cards, totals = CardCounts(PACK_52), totals_code(rules, options, seats)
    bound = rules.margin_bound(options, seats)
    return Fields(
        m.View,
        seats,
        hand=Number(0, options.hands or rules.DEALS_EACH * seats),
        upcard=OneOf(PACK_52),
        pot=Number(0, bound or 0, _HAND * seats),
        chips=BySeat(totals, seats),
        players=SeveralOf(SeatOf(seats), seats),
        passed=SeveralOf(SeatOf(seats), seats),
        exchanged=BySeat(Number(0, _HAND), seats),
        stock=Number(0, len(PACK_52)),
        dead=Number(0, len(PACK_52)),
        held=cards,
        discarded=cards,
        trick=SeveralOf(OneOf(PACK_52), seats),
        played=BySeat(CardOrder(PACK_52), seats),
        winners=SeveralOf(SeatOf(seats), _HAND),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: all moves of the game, exchanges by the places of the cards in the hand."""
    words = (*m.DECLARATIONS, *m.REVEAL_OR_HOLD)
    return ActionSpace(
        FixedMoves(*words, *m.PLAYS.values(), *m.CIVIL.values()),
        ChosenMoves(
            1 << _HAND,
            "exchange: bit n of the number says whether card n of `held` goes",
            _exchanges,
            is_by_place=True,
        ),
    )


def _exchanges(view: m.View, moves: Moves) -> Iterable[m.Exchange | None]:
    if view.phase is not m.Phase.EXCHANGE:
        return ()
    bits = {card: 1 << at for at, card in enumerate(view.held)}
    offered = {sum([bits[card] for card in move.cards]): move for move in moves.offered}
    return map(offered.get, range(1 << len(view.held)))

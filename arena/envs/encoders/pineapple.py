"""Observations and actions of the Pineapple games."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import CardOrder, Fields, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.betting import betting_codes, wagers
from arena.games.betting.moves import CALL, CHECK, FOLD
from arena.games.betting.rounds import Structure
from arena.games.cards import PACK_52
from arena.games.contract import Options
from arena.games.pineapple import messages as m
from arena.games.pineapple.state import first_match


def view_code(options: Options, seats: int) -> Fields:
    _, match = first_match(options, seats)
    return Fields(
        m.View,
        seats,
        to_act=SeveralOf(SeatOf(seats), seats),
        held=CardOrder(PACK_52),
        given_up=OneOf((*PACK_52, None)),
        board=CardOrder(PACK_52),
        live=SeveralOf(SeatOf(seats), seats),
        **betting_codes(match, seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: all moves in fixed limit, and in no-limit a few sizes of bets."""
    is_fixed = options.structure == Structure.FIXED
    moves = FixedMoves(FOLD, CHECK, CALL, *m.DISCARDS.values())
    return ActionSpace(moves, wagers(1 if is_fixed else 0))

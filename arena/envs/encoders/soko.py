"""Observations and actions of Soko."""

from arena.envs.actions import ActionSpace, FixedMoves
from arena.envs.codes import BySeat, CardOrder, Fields, Number, OneOf, SeatOf, SeveralOf
from arena.envs.encoders.betting import betting_codes, wagers
from arena.games.betting.moves import CALL, CHECK, FOLD
from arena.games.betting.rounds import Structure
from arena.games.cards import PACK_52
from arena.games.contract import Options
from arena.games.soko import messages as m
from arena.games.soko.state import first_match


def view_code(options: Options, seats: int) -> Fields:
    stakes, match = first_match(options, seats)
    doubled = stakes.limits[1]
    return Fields(
        m.View,
        seats,
        round=Number(0, 4),
        hole=OneOf((*PACK_52, None)),
        upcards=BySeat(CardOrder(PACK_52), seats),
        live=SeveralOf(SeatOf(seats), seats),
        min_bet=Number(0, doubled.least),
        max_bet=Number(0, doubled.most),
        **betting_codes(match, seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: at a small spread limit all moves, otherwise a few sizes of bets."""
    stakes, _ = first_match(options, seats)
    is_spread = options.structure == Structure.SPREAD
    totals = 2 * options.max_bet - stakes.bring_in + 1 if is_spread else 0
    return ActionSpace(FixedMoves(FOLD, CHECK, CALL), wagers(totals))

"""The showdown of the Pineapple games."""

from collections.abc import Sequence

from arena import poker
from arena.cards import Card
from arena.games.betting.pots import Pot, best_of, share_out
from arena.games.contract import Seat
from arena.games.pineapple.messages import PotWon


def unshown(pot: Pot, seats: int) -> PotWon:
    """Return a pot that the only seat left wins."""
    (winner,) = pot.eligible
    shares = tuple([pot.amount if seat == winner else 0 for seat in range(seats)])
    return PotWon(pot.amount, pot.eligible, (winner,), (), shares)


def award(
    pots: Sequence[Pot],
    order: Sequence[Seat],
    holes: Sequence[Sequence[Card]],
    board: Sequence[Card],
    *,
    with_low: bool,
) -> tuple[PotWon, ...]:
    """Divide each pot.

    `order` are the seats that show, from the dealer's left, which is the order of odd chips (B11);
    `holes` are the hole cards by seat.
    """
    highs: list[int | None] = [None] * len(holes)
    lows: list[int | None] = [None] * len(holes)
    for seat in order:
        cards = (*holes[seat], *board)
        highs[seat] = poker.standard(cards)
        if with_low:
            lows[seat] = poker.eight_or_better(cards)
    won = []
    for pot in pots:
        players = [seat for seat in order if seat in pot.eligible]
        winners, low_winners = best_of(players, highs), best_of(players, lows)
        # The odd chip goes to the high half. Without a low the high half is the whole pot.
        low_half = pot.amount // 2 if low_winners else 0
        shares = share_out(pot.amount - low_half, winners, len(holes))
        if low_winners:
            lows_shares = share_out(low_half, low_winners, len(holes))
            shares = tuple([high + low for high, low in zip(shares, lows_shares, strict=True)])
        won.append(PotWon(pot.amount, pot.eligible, tuple(winners), tuple(low_winners), shares))
    return tuple(won)

"""The first seat to act by exposed cards, and the showdown of Soko."""

from collections.abc import Sequence

from arena import poker
from arena.cards import CANONICAL, Card
from arena.games.betting.pots import Pot, best_of, share_out
from arena.games.contract import Seat
from arena.games.soko.messages import PotWon


def first_to_act(upcards: Sequence[Sequence[Card]], order: Sequence[Seat]) -> Seat:
    """Return the seat of `order` with the lowest exposed hand; of equals the first (S6 to S8)."""
    return min(order, key=lambda seat: poker.soko_upcards(upcards[seat]))


def odd_chip_order(winners: Sequence[Seat], hands: Sequence[Sequence[Card]]) -> list[Seat]:
    """Return winners by their highest single card, rank before suit (B11, S14).

    Suits are ordered from spades down to clubs, as in the canonical order.
    """
    return sorted(winners, key=lambda seat: -max(CANONICAL[card] for card in hands[seat]))


def award(
    pots: Sequence[Pot], hands: Sequence[Sequence[Card]], live: Sequence[Seat], seats: int
) -> list[PotWon]:
    """Divide each pot; `hands` belong to the seats `live`, of `seats` seats."""
    held: list[Sequence[Card]] = [()] * seats
    values: list[int | None] = [None] * seats
    for seat, hand in zip(live, hands, strict=True):
        held[seat] = hand
        # The last seat left wins without a comparison; it may have fewer than five cards.
        values[seat] = 0 if len(live) == 1 else poker.soko(hand)
    won = []
    for pot in pots:
        winners = best_of(pot.eligible, values)
        shares = share_out(pot.amount, odd_chip_order(winners, held), seats)
        won.append(PotWon(pot.amount, pot.eligible, tuple(winners), shares))
    return won

"""Who acts first at Soko by what is exposed, and who wins at the showdown."""

from collections.abc import Sequence

from arena import poker
from arena.cards import CANONICAL, Card
from arena.games.betting.pots import Pot, best_of, share_out
from arena.games.contract import Seat
from arena.games.soko.words import PotWon


def first_to_act(upcards: Sequence[Sequence[Card]], order: Sequence[Seat]) -> Seat:
    """The seat of `order` with the lowest hand exposed; of equals the first (S6 to S8)."""
    return min(order, key=lambda seat: poker.soko_upcards(upcards[seat]))


def odd_chip_order(winners: Sequence[Seat], hands: Sequence[Sequence[Card]]) -> list[Seat]:
    """Winners by the highest single card they hold, rank before suit (B11, S14).

    Suits from spades down to clubs, as in the canonical order.
    """
    return sorted(winners, key=lambda seat: -max(CANONICAL[card] for card in hands[seat]))


def award(
    pots: Sequence[Pot], hands: Sequence[Sequence[Card]], live: Sequence[Seat], seats: int
) -> list[PotWon]:
    """Share out each pot by itself among `seats` seats; `hands` are those of the seats `live`."""
    held: list[Sequence[Card]] = [()] * seats
    values: list[int | None] = [None] * seats
    for seat, hand in zip(live, hands, strict=True):
        held[seat] = hand
        # The last seat left may have fewer than five cards, and wins whatever they are.
        values[seat] = 0 if len(live) == 1 else poker.soko(hand)
    won = []
    for pot in pots:
        winners = best_of(pot.eligible, values)
        shares = share_out(pot.amount, odd_chip_order(winners, held), seats)
        won.append(PotWon(pot.amount, pot.eligible, tuple(winners), shares))
    return won

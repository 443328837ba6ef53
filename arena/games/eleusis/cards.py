"""How the cards of Eleusis are dealt, drawn, played and given back."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.cards import PACK_52, Card, pack
from arena.games.cel import DECK_ORDER
from arena.games.contract import Deals, Seat
from arena.games.eleusis.options import Variant
from arena.games.eleusis.state import NO_CALLS, NO_LAYOUT, NO_OFFICE, Cards, Match, Table
from arena.games.eleusis.words import Layout

DEALT: Final = {Variant.ELEUSIS.value: 14, Variant.EXPRESS.value: 12}
PACKS: Final = 2
_TWO_PACKS: Final = pack(packs=PACKS)
_PLACE: Final = {card: place for place, card in enumerate(DECK_ORDER)}


def undealt(seats: int) -> Table:
    """The table while the dealer thinks of a rule."""
    return Table(Cards(((),) * seats, (), 0), NO_LAYOUT, NO_CALLS, NO_OFFICE)


def deal(match: Match, deals: Deals) -> Table:
    """Deal one card at a time from the dealer's left; the next card is the starter."""
    deck = deals.shuffle(match.hand, "deck", _TWO_PACKS)
    players = match.players
    cut = DEALT[match.options.variant] * len(players)
    hands: list[tuple[Card, ...]] = [()] * len(match.seats)
    for place, seat in enumerate(players):
        hands[seat] = deck[place : cut : len(players)]
    layout = Layout((deck[cut],), (match.dealer,), (), (), ())
    return Table(Cards(tuple(hands), deck[cut + 1 :], PACKS), layout, NO_CALLS, NO_OFFICE)


def in_hand_order(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Spades, hearts, diamonds, clubs, each from ace to king."""
    return tuple(sorted(cards, key=_PLACE.__getitem__))


class Draw(NamedTuple):
    """Cards after a draw."""

    cards: Cards
    drawn: tuple[Card, ...]
    """In hand order."""


def draw(cards: Cards, seat: Seat, count: int, hand: int, deals: Deals) -> Draw:
    """Cards from the top of the stock to a hand; if there are too few, a pack goes under it."""
    stock, packs = cards.stock, cards.packs
    while len(stock) < count:
        packs += 1
        stock += deals.shuffle(hand, f"pack {packs}", PACK_52)
    drawn = stock[:count]
    hands = _with(cards.hands, seat, cards.hands[seat] + drawn)
    return Draw(Cards(hands, stock[count:], packs), in_hand_order(drawn))


def put_down(cards: Cards, seat: Seat, played: Sequence[Card]) -> Cards:
    """Cards leave a hand for the table."""
    left = list(cards.hands[seat])
    for card in played:
        left.remove(card)
    return Cards(_with(cards.hands, seat, tuple(left)), cards.stock, cards.packs)


def give_back(cards: Cards, seat: Seat) -> Cards:
    """A whole hand goes under the stock (E13)."""
    hands = _with(cards.hands, seat, ())
    return Cards(hands, cards.stock + cards.hands[seat], cards.packs)


def put_right(layout: Layout, seat: Seat, played: tuple[Card, ...]) -> Layout:
    """Right cards lengthen the mainline."""
    return Layout(
        layout.mainline + played,
        layout.main_seats + (seat,) * len(played),
        layout.sidelines,
        layout.side_seats,
        layout.side_after,
    )


def put_wrong(layout: Layout, seat: Seat, played: tuple[Card, ...]) -> Layout:
    """Wrong cards go as one unit under the last card of the mainline."""
    return Layout(
        layout.mainline,
        layout.main_seats,
        (*layout.sidelines, played),
        (*layout.side_seats, seat),
        (*layout.side_after, len(layout.mainline) - 1),
    )


def cards_played(layout: Layout) -> int:
    """Cards played after the starter, right and wrong."""
    return len(layout.mainline) - 1 + sum(map(len, layout.sidelines))


def right_up_to(layout: Layout, marker: int) -> int:
    """Right cards among the first `marker` cards played after the starter."""
    seen, unit = 0, 0
    for place in range(len(layout.mainline)):
        if place:
            seen += 1
            if seen > marker:
                return place - 1
        while unit < len(layout.sidelines) and layout.side_after[unit] == place:
            seen += len(layout.sidelines[unit])
            unit += 1
            if seen >= marker:
                return place
    return len(layout.mainline) - 1


def _with(
    hands: tuple[tuple[Card, ...], ...], seat: Seat, hand: tuple[Card, ...]
) -> tuple[tuple[Card, ...], ...]:
    return (*hands[:seat], hand, *hands[seat + 1 :])

"""Functions that deal, draw and play the cards of Eleusis."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.games.cards import PACK_52, Card, pack, without
from arena.games.cel import DECK_ORDER
from arena.games.contract import Deals, Seat, with_entry
from arena.games.eleusis.messages import Layout, Variant
from arena.games.eleusis.state import NO_CALLS, NO_LAYOUT, NO_OFFICE, Cards, Match, Table

DEALT: Final = {Variant.ELEUSIS.value: 14, Variant.EXPRESS.value: 12}
PACKS: Final = 2
_TWO_PACKS: Final = pack(packs=PACKS)
_PLACE: Final = {card: place for place, card in enumerate(DECK_ORDER)}


def undealt(seats: int) -> Table:
    """Return the table before the deal, while the dealer makes a rule."""
    return Table(Cards(((),) * seats, (), 0), NO_LAYOUT, NO_CALLS, NO_OFFICE)


def deal(match: Match, deals: Deals) -> Table:
    """Deal singly from the dealer's left; the next card is the starter."""
    deck = deals.shuffle(match.hand, "deck", _TWO_PACKS)
    players = match.players
    cut = DEALT[match.options.variant] * len(players)
    hands: list[tuple[Card, ...]] = [()] * len(match.seats)
    for place, seat in enumerate(players):
        hands[seat] = deck[place : cut : len(players)]
    layout = Layout((deck[cut],), (match.dealer,), (), (), ())
    return Table(Cards(tuple(hands), deck[cut + 1 :], PACKS), layout, NO_CALLS, NO_OFFICE)


def in_hand_order(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return cards in the order spades, hearts, diamonds, clubs, each from ace to king."""
    return tuple(sorted(cards, key=_PLACE.__getitem__))


class Draw(NamedTuple):
    """The cards after a draw."""

    cards: Cards
    drawn: tuple[Card, ...]
    """The drawn cards, in hand order."""


def draw(cards: Cards, seat: Seat, count: int, hand: int, deals: Deals) -> Draw:
    """Draw from the top of the stock; if it is too small, a shuffled pack is put under it."""
    stock, packs = cards.stock, cards.packs
    while len(stock) < count:
        packs += 1
        stock += deals.shuffle(hand, f"pack {packs}", PACK_52)
    drawn = stock[:count]
    hands = with_entry(cards.hands, seat, cards.hands[seat] + drawn)
    return Draw(Cards(hands, stock[count:], packs), in_hand_order(drawn))


def put_down(cards: Cards, seat: Seat, played: Sequence[Card]) -> Cards:
    """Move cards from a hand to the table."""
    hand = without(cards.hands[seat], played)
    return Cards(with_entry(cards.hands, seat, hand), cards.stock, cards.packs)


def give_back(cards: Cards, seat: Seat) -> Cards:
    """Put a whole hand under the stock (E13)."""
    hands = with_entry(cards.hands, seat, ())
    return Cards(hands, cards.stock + cards.hands[seat], cards.packs)


def put_right(layout: Layout, seat: Seat, played: tuple[Card, ...]) -> Layout:
    """Add right cards to the mainline."""
    return Layout(
        layout.mainline + played,
        layout.main_seats + (seat,) * len(played),
        layout.sidelines,
        layout.side_seats,
        layout.side_after,
    )


def put_wrong(layout: Layout, seat: Seat, played: tuple[Card, ...]) -> Layout:
    """Put wrong cards as one unit under the last card of the mainline."""
    return Layout(
        layout.mainline,
        layout.main_seats,
        (*layout.sidelines, played),
        (*layout.side_seats, seat),
        (*layout.side_after, len(layout.mainline) - 1),
    )


def cards_played(layout: Layout) -> int:
    """Return the number of cards played after the starter, right and wrong."""
    return len(layout.mainline) - 1 + sum(map(len, layout.sidelines))


def right_up_to(layout: Layout, marker: int) -> int:
    """Return the number of right cards among the first `marker` cards played after the starter."""
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

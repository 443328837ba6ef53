"""The state of a match of Eleusis, and how cards move in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.cards import PACK_52, Card, pack
from arena.games.cel import DECK_ORDER
from arena.games.contract import Deals, Seat
from arena.games.eleusis_rule import Verdict, Witness
from arena.games.eleusis_table import (
    SHOWN_CALLS,
    SHOWN_GUESSES,
    Calls,
    Guesses,
    Layout,
    NoPlay,
    Office,
    Options,
    Phase,
    Play,
    Variant,
)

DEALT: Final = {Variant.ELEUSIS.value: 14, Variant.EXPRESS.value: 12}
PACKS: Final = 2
_TWO_PACKS: Final = pack(packs=PACKS)
_PLACE: Final = {card: place for place, card in enumerate(DECK_ORDER)}

NO_LAYOUT: Final = Layout((), (), (), (), ())
NO_CALLS: Final = Calls((), (), (), ())
NO_GUESSES: Final = Guesses((), ())
NO_OFFICE: Final = Office(None, 0, (), ())


@dataclass(frozen=True, slots=True)
class Match:
    """What outlasts a hand."""

    options: Options
    seats: tuple[Seat, ...]
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]
    previous_rule: str

    @property
    def dealer(self) -> Seat:
        return self.seats[self.hand % len(self.seats)]

    @property
    def players(self) -> tuple[Seat, ...]:
        """All but the dealer, from its left."""
        dealer = self.dealer
        return self.seats[dealer + 1 :] + self.seats[:dealer]


@dataclass(frozen=True, slots=True)
class Secret:
    """The rule of the hand and what only its dealer may know of it."""

    rule: str = ""
    """Empty until one was accepted."""
    refused: int = 0
    """Rules that were refused."""
    verdict: Verdict = Verdict.ACCEPTED
    """On the last rule sent."""
    reason: str = ""
    """Why it was refused."""
    by_arena: bool = False
    dearest: int = 0
    """The most that the rule cost for one card while it was tried."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards that are not on the table."""

    hands: tuple[tuple[Card, ...], ...]
    """By seat, each in the order received, in which it goes under the stock after a
    no-play; it is shown sorted. The dealer has none."""
    stock: tuple[Card, ...]
    """The next to be drawn first."""
    packs: int
    """Packs used in this hand."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is and how far it has come."""

    seat: Seat
    pending: Play | NoPlay | None
    """What the prophet is to judge."""
    taken: tuple[int, ...]
    """Turns completed, by seat."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Wrong guesses of the hand (Express)."""

    count: int = 0
    shown: Guesses = NO_GUESSES
    witnesses: tuple[tuple[Seat, Witness], ...] = ()
    """Where the last guess of each seat fails; told after the hand."""


@dataclass(frozen=True, slots=True)
class Table:
    """All that a hand consists of, once it is dealt."""

    cards: Cards
    layout: Layout
    calls: Calls
    office: Office


@dataclass(frozen=True, slots=True)
class State:
    """A match between two moves."""

    match: Match
    secret: Secret
    phase: Phase
    turn: Turn
    table: Table
    attempts: Attempts

    def at(self, phase: Phase, turn: Turn, table: Table) -> "State":
        """The same hand further on."""
        return State(self.match, self.secret, phase, turn, table, self.attempts)


def active(match: Match, office: Office) -> tuple[Seat, ...]:
    """The seats that have turns, from the dealer's left."""
    prophet, expelled = office.prophet, office.expelled
    if prophet is None and not expelled:
        return match.players
    return tuple([seat for seat in match.players if seat != prophet and seat not in expelled])


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


def with_call(
    calls: Calls, seat: Seat, shown: tuple[Card, ...], after: int, *, right: bool
) -> Calls:
    """One more no-play, the oldest being forgotten."""
    return Calls(
        (*calls.seats, seat)[-SHOWN_CALLS:],
        (*calls.hands, shown)[-SHOWN_CALLS:],
        (*calls.after, after)[-SHOWN_CALLS:],
        (*calls.right, right)[-SHOWN_CALLS:],
    )


def with_guess(attempts: Attempts, seat: Seat, text: str, witness: Witness | None) -> Attempts:
    """One more wrong guess, the oldest being forgotten."""
    others = tuple(each for each in attempts.witnesses if each[0] != seat)
    return Attempts(
        attempts.count + 1,
        Guesses(
            (*attempts.shown.seats, seat)[-SHOWN_GUESSES:],
            (*attempts.shown.texts, text)[-SHOWN_GUESSES:],
        ),
        others if witness is None else (*others, (seat, witness)),
    )


def _with(
    hands: tuple[tuple[Card, ...], ...], seat: Seat, hand: tuple[Card, ...]
) -> tuple[tuple[Card, ...], ...]:
    return (*hands[:seat], hand, *hands[seat + 1 :])

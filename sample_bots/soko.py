"""Plays Soko by its equity: the part of the pot that its cards should win.

The equity is counted over imagined deals of all unseen cards; the others keep the cards that they show. The bot bets if
its equity exceeds its share, with larger bets for a higher equity, and calls if the pot is worth the price. It needs
only the SDK.
"""

from collections import Counter
from functools import cache

import cardarena
from cardarena import soko

NUMBER = {rank: number for number, rank in enumerate("23456789TJQKA", start=2)}
PACK = [rank + suit for rank in NUMBER for suit in "cdhs"]
HAND = 5
# The classes from low to high, and the sets that make them; runs and suits are found separately.
HIGH, PAIR, FOUR_RUN, FOUR_SUITED, TWO_PAIR, TRIPS, RUN, SUITED, FULL, QUADS, RUN_SUITED = range(11)
SHAPES = {(1, 1, 1, 1, 1): HIGH, (2, 1, 1, 1): PAIR, (2, 2, 1): TWO_PAIR, (3, 1, 1): TRIPS}
SHAPES |= {(3, 2): FULL, (4, 1): QUADS}

MAX_DEALS = 150
"""The number of imagined deals for one decision, which take about ten milliseconds.

It is a count, not a time, so that the bot plays equally on every machine.
"""
RESERVE_S = 0.5
"""The seconds on the clock below which the count ends early."""
EDGE = 1.1
"""The factor of its share that its equity must reach for a bet."""


def run_top(ranks, length):
    """Return the highest rank of `length` ranks in a row, with the ace also low, or 0."""
    held = {*ranks, 1} if 14 in ranks else {*ranks}
    tops = (top for top in range(14, length - 1, -1) if held >= {*range(top - length + 1, top + 1)})
    return next(tops, 0)


@cache
def by_ranks(ranks):
    """Return five cards of these ranks, the highest first, without regard to suits, as a tuple; a greater one is better."""
    count = Counter(ranks)
    ordered = sorted(ranks, key=lambda rank: (count[rank], rank), reverse=True)
    kind = SHAPES[tuple(sorted(count.values(), reverse=True))]
    top = run_top(ranks, 5)
    if top:
        return RUN, top
    top = run_top(ranks, 4)
    if top and kind < FOUR_RUN:
        left = list(ranks)
        for rank in range(top - 3, top + 1):
            left.remove(14 if rank == 1 else rank)
        return FOUR_RUN, top, *left
    return kind, *ordered


def strength(cards):
    """Return a hand of five as a tuple; a greater one is better."""
    ranks = sorted([NUMBER[card[0]] for card in cards], reverse=True)
    value = by_ranks(tuple(ranks))
    suits = [card[1] for card in cards]
    if suits.count(suits[0]) == 5:
        return (RUN_SUITED, *value[1:]) if value[0] == RUN else (SUITED, *ranks)
    for suit in suits[:2]:  # a four-card suit leaves out one of the five cards
        if suits.count(suit) == 4 and value[0] < FOUR_SUITED:
            order = sorted(cards, key=lambda card: (card[1] == suit, NUMBER[card[0]]), reverse=True)
            return FOUR_SUITED, *[NUMBER[card[0]] for card in order]
    return value


class SokoBot(soko.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: soko.Ask) -> soko.Choice:
        equity = self.equity(ask)
        return cardarena.Noted(bet(ask, equity), f"equity {equity:.2f}")

    def equity(self, ask):
        """Return the part of the pot that the own cards should win."""
        view = ask.view
        up = [view.upcards[seat].cards for seat in view.live if seat != self.seat]
        own = [view.hole, *view.upcards[self.seat].cards]
        seen = {*own, *(card for cards in view.upcards for card in cards.cards)}
        unseen = [card for card in PACK if card not in seen]
        needed = HAND - len(own)
        total = 0.0
        for deal in range(MAX_DEALS):
            drawn = ask.random.sample(unseen, needed + sum(HAND - len(cards) for cards in up))
            mine, at = strength([*own, *drawn[:needed]]), needed
            part = 1
            for cards in up:
                more = HAND - len(cards)
                other = strength([*cards, *drawn[at : at + more]])
                at += more
                if other > mine:
                    part = 0
                    break
                part += other == mine
            total += 1 / part if part else 0.0
            if ask.time_left_s() < RESERVE_S:
                return total / (deal + 1)
        return total / MAX_DEALS


def bet(ask, equity):
    """Return a move for a hand with this equity."""
    view = ask.view
    moves = {move.verb: move for move in ask.moves if not move.to}
    wagers = [move for move in ask.moves if move.to]  # from the smallest to the largest
    pot = sum(view.chips.bets) + sum(view.chips.paid)
    share = 1 / len(view.live)
    if wagers and (equity > EDGE * share or view.phase == soko.PHASE_BRING_IN):
        size = int((equity - share) / (1 - share) * len(wagers))
        return wagers[max(0, min(size, len(wagers) - 1))]
    if not view.to_call:
        return moves[soko.CHECK]
    worth_it = equity * (pot + view.to_call) > view.to_call
    return moves[soko.CALL if worth_it else soko.FOLD]


if __name__ == "__main__":
    cardarena.run(SokoBot)

"""Plays the three Pineapples by its equity: the part of the pot that its cards should win.

The equity is counted over imagined deals of all unseen cards, in which the others may hold any cards. The bot bets if
its equity exceeds its share, with larger bets for a higher equity, calls if the pot is worth the price, and discards
the card without which its equity is highest. It needs only the SDK.
"""

from collections import Counter
from functools import cache
from itertools import combinations

import cardarena
from cardarena import pineapple

RANKS = "..23456789TJQKA"  # a rank's number is its place
NUMBER = {rank: RANKS.index(rank) for rank in "23456789TJQKA"}
PACK = [rank + suit for rank in NUMBER for suit in "cdhs"]
LOW = "A2345678"
FLUSH, STRAIGHT_FLUSH = 5, 8

MAX_DEALS = 120
"""The number of imagined deals for one decision, which take about ten milliseconds.

It is a count, not a time, so that the bot plays equally on every machine.
"""
RESERVE_S = 0.5
"""The seconds on the clock below which the count ends early."""
EDGE = 1.1
"""The factor of its share that its equity must reach for a bet."""


def straight_top(ranks):
    """Return the highest rank of five in a row, or 0."""
    held = {*ranks, 1} if 14 in ranks else {*ranks}
    tops = (top for top in range(14, 4, -1) if held.issuperset(range(top - 4, top + 1)))
    return next(tops, 0)


@cache
def by_ranks(ranks):
    """Return the best five cards of these ranks, the highest first, without regard to suits, as a tuple; a greater one is better."""
    count = Counter(ranks)
    sets = sorted(count, key=lambda rank: (count[rank], rank), reverse=True)
    first, second = count[sets[0]], count[sets[1]]
    if first == 4:
        return 7, sets[0], max(sets[1:])
    if first == 3 and second > 1:
        return 6, sets[0], sets[1]
    top = straight_top(ranks)
    if top:
        return 4, top
    if first == 3:
        return 3, *sets[:3]
    if second == 2:
        return 2, sets[0], sets[1], max(sets[2:])
    if first == 2:
        return 1, *sets[:4]
    return 0, *sets[:5]


def high(cards):
    """Return the best hand of five among the cards, as a tuple. The greater is better."""
    suits = [card[1] for card in cards]
    for suit in "cdhs":
        if suits.count(suit) > 4:
            ranks = sorted((NUMBER[card[0]] for card in cards if card[1] == suit), reverse=True)
            top = straight_top(ranks)
            return (STRAIGHT_FLUSH, top) if top else (FLUSH, *ranks[:5])
    return by_ranks(tuple(sorted([NUMBER[card[0]] for card in cards], reverse=True)))


def low(cards):
    """Return the best low among the cards, the greater the better, or None without one."""
    ranks = sorted({LOW.index(card[0]) for card in cards if card[0] in LOW})[:5]
    return tuple(-rank for rank in reversed(ranks)) if len(ranks) == 5 else None


def won(mine, others):
    """Return my share of the winnings of the best hand."""
    if any(other > mine for other in others):
        return 0.0
    return 1 / (1 + others.count(mine))


class PineappleBot(pineapple.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: pineapple.Ask) -> pineapple.Choice:
        view = ask.view
        kept = list(combinations(view.held, 2))
        equities = self.equities(ask, kept)
        best = max(equities)
        if view.phase == pineapple.PHASE_DISCARD:
            keep = kept[equities.index(best)]
            (card,) = (card for card in view.held if card not in keep)
            return cardarena.Noted(
                pineapple.Move(verb=pineapple.DISCARD, card=card), f"equity {best:.2f}"
            )
        return cardarena.Noted(bet(ask, best), f"equity {best:.2f}")

    def equities(self, ask, kept):
        """Return the expected share of the pot for each two cards that may be kept."""
        view = ask.view
        seen = {*view.held, view.given_up, *view.board}
        unseen = [card for card in PACK if card not in seen]
        others, to_come = len(view.live) - 1, 5 - len(view.board)
        sums = [0.0] * len(kept)
        for deal in range(MAX_DEALS):
            drawn = ask.random.sample(unseen, 2 * others + to_come)
            board = [*view.board, *drawn[2 * others :]]
            hands = [[*drawn[2 * other : 2 * other + 2], *board] for other in range(others)]
            highs = [high(hand) for hand in hands]
            lows = [low(hand) for hand in hands] if self.game.endswith("hi_lo") else None
            for place, pair in enumerate(kept):
                mine = [*pair, *board]
                sums[place] += self.part(mine, highs, lows)
            if ask.time_left_s() < RESERVE_S:
                return [each / (deal + 1) for each in sums]
        return [each / MAX_DEALS for each in sums]

    def part(self, cards, highs, lows):
        """Return the part of the pot that the cards win from others with these hands and lows."""
        of_high = won(high(cards), highs)
        if lows is None:
            return of_high
        mine, theirs = low(cards), [each for each in lows if each is not None]
        if mine is None:
            return of_high / 2 if theirs else of_high
        return (of_high + won(mine, theirs)) / 2


def bet(ask, equity):
    """Return a betting move for a hand with this equity."""
    view = ask.view
    moves = {move.verb: move for move in ask.moves if not move.to}
    wagers = [move for move in ask.moves if move.to]  # from the smallest to the largest
    pot = sum(view.chips.bets) + sum(view.chips.paid)
    share = 1 / len(view.live)
    if wagers and equity > EDGE * share:
        size = int((equity - share) / (1 - share) * len(wagers))
        return wagers[min(size, len(wagers) - 1)]
    if not view.to_call:
        return moves[pineapple.CHECK]
    worth_it = equity * (pot + view.to_call) > view.to_call
    return moves[pineapple.CALL if worth_it else pineapple.FOLD]


if __name__ == "__main__":
    cardarena.run(PineappleBot)

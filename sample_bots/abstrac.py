"""Plays the four Abstracs by searching ahead.

Nothing is hidden once the row lies there, so this is a game like chess: look at
my takes, at the answers to each, and so on (alpha-beta, one ply deeper in every
round). Towards the end of a row the search reaches the last card, and the play
is perfect from there on.
"""

import functools
import itertools

import cardarena
from cardarena import abstrac

POSITIONS = 20_000
"""Looked at for one move, at most: about a tenth of a second. A count, not a time, so that
the bot plays the same on every machine."""
RESERVE_S = 0.5
"""The search ends early when the clock shows less than this."""

SUIT_LIMITS = {"s": 1, "h": 2, "c": 3, "d": 4}
SET_POINTS = (0, 0, 0, 2, 8)
RUN_POINTS = (0, 0, 0, 3, 4, 6, 12)
INFINITY = 1_000_000

# Cards taken are the bits of an integer, thirteen for each suit. The joker has no bit: it
# counts as a card, but in no combination.
BITS = {
    rank + suit: 1 << place
    for place, (suit, rank) in enumerate(itertools.product("cdhs", "23456789TJQKA"))
}


class AbstracBot(cardarena.Bot):
    games = ("abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo")

    def move(self, ask: abstrac.Ask):
        search = Search(self.game, list(ask.view.row), ask.time_left_s)
        if ask.view.phase == abstrac.PHASE_CHOOSE:
            # Whatever taking first is worth, taking second is worth that less than nothing.
            margin, _ = search.best_take(Heap(), Heap(), limit=12)
            order = abstrac.FIRST if margin >= 0 else abstrac.SECOND
            return abstrac.Move(verb=abstrac.CHOOSE, order=order)
        mine, theirs = (Heap.of(ask.view.taken[s].cards) for s in (self.seat, 1 - self.seat))
        margin, count = search.best_take(mine, theirs, ask.view.limit)
        return cardarena.Noted(
            abstrac.Move(verb=abstrac.TAKE, count=count), f"{margin:+.0f}, {search.reached}"
        )

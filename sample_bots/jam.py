"""Plays Jam: wins tricks as cheaply as it can, and saves its strength for streaks.

Every card is played at some time, so only the order counts. The bot keeps its high cards together: it puts low cards
back while there is a stock, breaks the other seat's streaks before they score, and continues its own.
"""

import cardarena
from cardarena import jam

RANKS = "23456789TJQKA"


def rank(card):
    return RANKS.index(card[0])


def streak(winners):
    """Return the winner of the last tricks, and the number of tricks in a row."""
    length = 0
    for winner in reversed(winners):
        if winner != winners[-1]:
            break
        length += 1
    return (winners[-1] if winners else None), length


class JamBot(jam.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: jam.Ask) -> jam.Choice:
        view, moves = ask.view, ask.moves
        if view.phase == jam.PHASE_DRAW:
            return self.draw(ask)
        if view.phase == jam.PHASE_DISCARD:
            # Low cards go back, because they must all be played, but later.
            return min(moves, key=lambda move: rank(move.card))
        if view.phase == jam.PHASE_FOLLOW:
            return self.follow(ask)
        who, length = streak(view.winners)
        if who == ask.seat and length >= 2:
            # try to win four or five tricks in a row
            return max(moves, key=lambda move: rank(move.card))
        ordered = sorted(moves, key=lambda move: rank(move.card))
        return ordered[len(ordered) // 2]

    def draw(self, ask):
        pile = ask.view.discards[ask.seat].cards
        good = pile and rank(pile[-1]) >= RANKS.index("T")
        source = jam.SOURCE_DISCARDS if good else jam.SOURCE_STOCK
        return next((move for move in ask.moves if move.source == source), ask.moves[0])

    def follow(self, ask):
        led = rank(ask.view.led)
        winning = [move for move in ask.moves if rank(move.card) > led]
        cheapest = min(ask.moves, key=lambda move: rank(move.card))
        if not winning:
            return cheapest
        _, length = streak(ask.view.winners)
        win = min(winning, key=lambda move: rank(move.card))
        matters = length >= 2 or len(ask.view.winners) >= 18
        # An early trick outside a streak is worth a middle card at most.
        return win if matters or rank(win.card) <= RANKS.index("J") else cheapest


if __name__ == "__main__":
    cardarena.run(JamBot)

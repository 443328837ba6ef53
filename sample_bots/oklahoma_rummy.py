"""Plays Oklahoma Rummy: takes small piles, melds what scores, and keeps its hand light.

It lays the offered meld that is worth most, and one without 2s before one with them, because a 2 fits everywhere. It
discards the card that costs most in the hand and fits least with the others, and tries not to give the next seat a
pile.
"""

import cardarena
from cardarena import oklahoma_rummy as rummy

RANKS = "A23456789TJQK"
GOOD_PILE = 6
"""The length of a pile above which it is left to others, unless most of it can be melded."""


def cost(card):
    """Return the points lost for a card in the hand."""
    if card == "Qs":
        return 100
    return 20 if card[0] in "2A" else 10 if card[0] in "89TJQK" else 5


def fits(card, other):
    """Return how well two cards fit: 2 for a set, 1 for a run with at most one card between."""
    if card[0] == other[0]:
        return 2
    gap = abs(RANKS.index(card[0]) - RANKS.index(other[0]))
    near = gap in (1, 2, 11, 12)  # queen or king with the ace
    return 1 if card[1] == other[1] and near else 0


def partners(card, hand):
    others = list(hand)
    others.remove(card)
    return sum(fits(card, other) for other in others if other[0] != "2")


def twos(move):
    return sum(card[0] == "2" for card in move.cards)


def worth(move):
    """Return the points that laying a move's cards saves and scores; a 2 counts less, because it fits other melds too."""
    return sum(cost(card) for card in move.cards) - 45 * twos(move)


class OklahomaRummyBot(rummy.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: rummy.Ask) -> rummy.Choice:
        if ask.view.phase == rummy.PHASE_DRAW:
            return self.draw(ask)
        melds = [move for move in ask.moves if move.verb == rummy.MELD]
        # 2s are melded when a seat may soon go out, or when the hand is nearly empty.
        sizes = [size for seat, size in enumerate(ask.view.hand_sizes) if seat != ask.seat]
        hurry = min(sizes) <= 5 or len(ask.view.held) <= 6
        melds = [move for move in melds if hurry or twos(move) <= 1]
        if melds:
            return max(melds, key=worth)
        extensions = [
            move
            for move in ask.moves
            if move.verb == rummy.EXTEND and (hurry or move.card[0] != "2")
        ]
        if extensions:
            return max(extensions, key=lambda move: cost(move.card))
        return self.discard(ask)

    def draw(self, ask):
        takes = [move for move in ask.moves if move.verb == rummy.TAKE_PILE]
        if takes and self.is_good(ask.view):
            return max(takes, key=worth)
        return ask.moves[0]  # draw, or decline if there is nothing to draw

    def is_good(self, view):
        """Return whether the pile is short, or has many cards that can be melded with the hand."""
        if len(view.pile) <= GOOD_PILE:
            return True
        cards = [*view.held, *view.pile]
        matched = sum(card[0] == "2" or partners(card, cards) >= 4 for card in view.pile)
        return matched * 2 >= len(view.pile) and min(view.hand_sizes) > 3

    def discard(self, ask):
        discards = [move for move in ask.moves if move.verb == rummy.DISCARD]
        if not discards:
            return ask.moves[0]  # nothing but queens of spades
        held = ask.view.held

        def loss(move):
            if move.card[0] == "2":
                return 60
            return 12 * partners(move.card, held) - cost(move.card)

        return min(discards, key=loss)


if __name__ == "__main__":
    cardarena.run(OklahomaRummyBot)

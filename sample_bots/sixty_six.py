"""Plays Sixty-Six: wins tricks with many points, plays cheap cards otherwise, and counts its points.

It exchanges and shows marriages whenever it can, claims as soon as it has 66, and closes the stock if its sure tricks
should be enough. It needs only the SDK.
"""

import cardarena
from cardarena import sixty_six

RANKS = "9JQKTA"  # from low to high
POINTS = dict(zip(RANKS, (0, 2, 3, 4, 10, 11), strict=True))
GOAL = 66
GIVEN = 3
"""The approximate points that the other seat adds to a trick that it cannot win."""


class SixtySixBot(sixty_six.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: sixty_six.Ask) -> sixty_six.Choice:
        view = ask.view
        moves = {move.verb: move for move in ask.moves}  # of marriages, the last
        if view.points[self.seat] >= GOAL:
            return moves[sixty_six.CLAIM]
        if sixty_six.EXCHANGE in moves:
            return moves[sixty_six.EXCHANGE]
        self.unseen = self.cards_unseen(view)
        plays = [move for move in ask.moves if move.verb == sixty_six.PLAY]
        if view.led:
            return min(plays, key=lambda move: self.cost_of_reply(view, move.card))
        marriages = [move for move in ask.moves if move.verb == sixty_six.MARRIAGE]
        if sixty_six.CLOSE in moves and self.is_enough(view, marriages):
            return moves[sixty_six.CLOSE]
        if marriages:
            return max(marriages, key=lambda move: move.suit == view.trump)
        return min(plays, key=lambda move: self.cost_of_lead(view, move.card))

    def cards_unseen(self, view):
        """Return the cards that the other seat may hold."""
        seen = {*view.held, view.upcard}
        for heap in view.played:
            seen.update(heap.cards)
        return [rank + suit for rank in RANKS for suit in "cdhs" if rank + suit not in seen]

    def beaten_by(self, card):
        """Return the unseen higher cards of the suit."""
        higher = RANKS[RANKS.index(card[0]) + 1 :]
        return [each for each in self.unseen if each[1] == card[1] and each[0] in higher]

    def is_enough(self, view, marriages):
        """Return whether the present points and the sure tricks make 66."""
        points = view.points[self.seat]
        if marriages and self.seat in view.winners:
            points += max(40 if move.suit == view.trump else 20 for move in marriages)
        trumps = sum(card[1] == view.trump for card in self.unseen)
        sure = [card for card in view.held if card[1] == view.trump and not self.beaten_by(card)]
        if len(sure) >= min(trumps, 2):  # they draw the other seat's trumps, or most of them
            sure += [card for card in view.held if card[1] != view.trump and card[0] == "A"]
        return points + sum(POINTS[card[0]] + GIVEN for card in sure) >= GOAL

    def breaks_marriage(self, view, card):
        if card[0] not in "KQ" or view.declared:
            return False
        partner = ("Q" if card[0] == "K" else "K") + card[1]
        return partner in view.held or partner in self.unseen

    def cost_of_lead(self, view, card):
        """Return the expected loss of a led card: its points if it may be beaten, and its later use."""
        points = POINTS[card[0]]
        trump = card[1] == view.trump
        if view.strict:
            trumps = [each for each in self.unseen if each[1] == view.trump]
            safe = not self.beaten_by(card) and (trump or not trumps)
            return -points - GIVEN if safe else points + 2 * trump
        return points + 6 * trump + 8 * self.breaks_marriage(view, card)

    def cost_of_reply(self, view, card):
        """Return the loss of a reply less its gain."""
        points = POINTS[card[0]]
        trump = card[1] == view.trump
        # Trumps, kings and queens are worth more than their points while there are tricks to come.
        keep = 5 * trump + 8 * self.breaks_marriage(view, card)
        higher = RANKS.index(card[0]) > RANKS.index(view.led[0])
        if not (higher if card[1] == view.led[1] else trump):
            return points + keep
        return keep - POINTS[view.led[0]] - (0 if trump else points)


if __name__ == "__main__":
    cardarena.run(SixtySixBot)

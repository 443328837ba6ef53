"""Plays Loo: stays out with poor hands, and makes sure of its first trick.

It estimates how many tricks its hand should take; it plays the hand if the share of the pot is worth the risk of the
fine. It keeps trumps and aces and exchanges the others. It needs only the SDK.
"""

import cardarena
from cardarena import loo

RANKS = "23456789TJQKA"  # from low to high
PAM = "Jc"
FEE = 5
# The expected tricks of a card against a few players.
TRUMP_TRICKS = dict(
    zip(RANKS, (0.2, 0.2, 0.2, 0.25, 0.3, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.75, 0.95), strict=True)
)
PLAIN_TRICKS = {"A": 0.4, "K": 0.2, "Q": 0.1}


class LooBot(loo.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: loo.Ask) -> loo.Choice:
        view = ask.view
        self.trump = view.upcard[1]
        moves = {move.verb: move for move in ask.moves}
        match view.phase:
            case loo.PHASE_DECLARE:
                return moves[loo.PLAY_HAND if self.dares(view) else loo.PASS]
            case loo.PHASE_EXCHANGE:
                return max(ask.moves, key=lambda move: self.kept_worth(view, move.cards))
            case loo.PHASE_LEAD | loo.PHASE_FOLLOW:
                return max(ask.moves, key=lambda move: self.worth(view, move))
            case _:
                return ask.moves[0]  # reveals a flush if there is one

    def tricks(self, card):
        if self.is_trump(card):
            return 1.0 if card == PAM else TRUMP_TRICKS[card[0]]
        return PLAIN_TRICKS.get(card[0], 0.0)

    def is_trump(self, card):
        return card == PAM or card[1] == self.trump

    def height(self, card):
        """Return the order of a card among all that can take a trick; a trump is higher than any plain card."""
        if card == PAM:
            return 99
        return RANKS.index(card[0]) + (20 if self.is_trump(card) else 0)

    def dares(self, view):
        """Return whether the share of the pot is worth more than the fine for no trick."""
        waiting = len(self.players) - len(view.players) - len(view.passed) - 1
        if not view.players and not waiting:
            return True  # no other seat plays, so the pot can be taken
        # Drawing improves a hand a little; more players reduce its share of the pot.
        tricks = sum(map(self.tricks, view.held)) + 0.3
        tricks -= 0.12 * (len(view.players) + waiting / 3)
        looed = max(0.05, 1 - 0.62 * tricks)
        return tricks * view.pot / 5 > looed * FEE

    def kept_worth(self, view, discards):
        """Return the expected tricks of the kept cards; each drawn card adds a little."""
        kept = [card for card in view.held if card not in discards]
        return sum(map(self.tricks, kept)) + 0.24 * len(discards)

    def worth(self, view, move):
        """Return a number that is high for the best winning card, or otherwise for the least useful card."""
        card = move.card
        height = self.height(card)
        needs_one = self.seat not in view.winners
        if view.phase == loo.PHASE_LEAD:
            if move.civil and PAM in view.held:
                return -1  # would prevent the play of the own Pam
            if card[0] == "A" or card == PAM:
                return 200 + height + move.civil
            return height if needs_one or self.is_trump(card) else 20 - height
        best = max(self.height(each) for each in view.trick if self.counts(each, view.trick[0]))
        wins = height > best and self.counts(card, view.trick[0])
        last = len(view.trick) == len(view.players) - 1
        if not wins:
            return -height
        return 200 - height if last else 100 + height if needs_one else 100 - height

    def counts(self, card, led):
        return self.is_trump(card) or (card[1] == led[1] and not self.is_trump(led))


if __name__ == "__main__":
    cardarena.run(LooBot)

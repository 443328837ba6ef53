"""Plays Klaberjass: bids on jacks, nines and aces, and counts what each card wins or loses.

It takes or names a suit if the hand is strong enough in it, announces sequences whenever it may, and always calls the
bela. It needs only the SDK.
"""

import cardarena
from cardarena import klaberjass

PLAIN = "789JQKTA"  # from low to high
TRUMPS = "78QKTA9J"
NATURAL = "789TJQKA"
PLAIN_POINTS = dict(zip(PLAIN, (0, 0, 0, 2, 3, 4, 10, 11), strict=True))
TRUMP_POINTS = dict(zip(TRUMPS, (0, 0, 3, 4, 10, 11, 14, 20), strict=True))
# The expected points of a maker from a card of six.
TRUMP_WORTH = dict(zip(TRUMPS, (6, 6, 8, 8, 14, 16, 24, 34), strict=True))
PLAIN_WORTH = dict(zip(PLAIN, (0, 0, 0, 0, 1, 2, 7, 14), strict=True))
ENOUGH = 62
"""The worth of a hand that should make more than half of the points."""
HOPELESS = 40
"""The worth of a hand below which the bot offers a schmeiss or passes."""


class KlaberjassBot(klaberjass.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: klaberjass.Ask) -> klaberjass.Choice:
        view = ask.view
        self.trump = view.auction.trump
        moves = {move.verb: move for move in ask.moves}
        match view.phase:
            case klaberjass.PHASE_FIRST_BID:
                good = worth(view.held, view.upcard[1]) >= ENOUGH
                return moves[klaberjass.TAKE if good else klaberjass.PASS]
            case klaberjass.PHASE_SECOND_BID | klaberjass.PHASE_NAME:
                return self.name(ask, moves)
            case klaberjass.PHASE_REPLY:
                suit = view.upcard[1] if view.auction.passes < 2 else best_suit(view)
                hopeless = worth(view.held, suit) < HOPELESS
                return moves[klaberjass.YES if hopeless else klaberjass.NO]
            case klaberjass.PHASE_LEAD | klaberjass.PHASE_FOLLOW:
                return self.play(ask)
            case _:
                return ask.moves[-1]  # exchange, announce and contest if possible

    def name(self, ask, moves):
        named = [move for move in ask.moves if move.verb == klaberjass.NAME]
        best = max(named, key=lambda move: worth(ask.view.held, move.suit))
        enough = worth(ask.view.held, best.suit) >= ENOUGH
        return best if enough or klaberjass.PASS not in moves else moves[klaberjass.PASS]

    def play(self, ask):
        view = ask.view
        seen = {*view.held, view.upcard}.union(*(heap.cards for heap in view.played))
        self.unseen = [rank + suit for rank in PLAIN for suit in "cdhs" if rank + suit not in seen]
        cost = self.cost_of_reply if view.led else self.cost_of_lead
        # Of a card's two moves, choose the one with the bela.
        return min(ask.moves, key=lambda move: (cost(view, move.card), not move.bela))

    def points(self, card):
        return (TRUMP_POINTS if card[1] == self.trump else PLAIN_POINTS)[card[0]]

    def height(self, card):
        return (TRUMPS if card[1] == self.trump else PLAIN).index(card[0])

    def share_beaten(self, card):
        """Return roughly the chance that the other seat beats a card led, from the unseen cards."""
        higher = [
            each
            for each in self.unseen
            if each[1] == card[1] and self.height(each) > self.height(card)
        ]
        held = len(self.unseen) / 2 if self.unseen else 1
        risk = min(1.0, len(higher) / 2)
        if card[1] != self.trump:
            trumps = [each for each in self.unseen if each[1] == self.trump]
            same = [each for each in self.unseen if each[1] == card[1]]
            risk = max(risk, 0.5 ** len(same) * min(1.0, len(trumps) / held * 2))
        return risk

    def cost_of_lead(self, view, card):
        points, risk = self.points(card), self.share_beaten(card)
        drawing = 6 if card[1] == self.trump and view.auction.maker == self.seat else 0
        return risk * 2 * points - (1 - risk) * (points + 5 + drawing)

    def cost_of_reply(self, view, card):
        points, led = self.points(card), self.points(view.led)
        higher = self.height(card) > self.height(view.led)
        if not (higher if card[1] == view.led[1] else card[1] == self.trump):
            return led + points + self.height(card) / 10
        # A card that would win anyway later is not worth its points now.
        later = 0 if self.share_beaten(card) else points
        return later - led - points


def worth(cards, trump):
    """Return the expected points of a hand of six with this trump, including sequences."""
    total = 0
    for suit in "cdhs":
        ranks = [card[0] for card in cards if card[1] == suit]
        table = TRUMP_WORTH if suit == trump else PLAIN_WORTH
        total += sum(table[rank] for rank in ranks)
        row = "".join(rank if rank in ranks else " " for rank in NATURAL)
        total += 8 * sum(len(run) >= 3 for run in row.split())
    return total


def best_suit(view):
    return max("cdhs".replace(view.upcard[1], ""), key=lambda suit: worth(view.held, suit))


if __name__ == "__main__":
    cardarena.run(KlaberjassBot)

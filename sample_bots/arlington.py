"""Plays Arlington by weighing the effect of every move on the tables and on its hand.

Points on my table count in full, and those on the others' tables against me. Sets in my hand count about half, because
a set that is led can be beaten, and a hand can end before it is led. Single cards are led and played to gather more if
they are likely to take the trick; they are chosen among those that the hand needs least. It needs only the SDK.
"""

import cardarena
from cardarena import arlington

RANKS = "23456789TJQKA"
SUITS = "cdhs"
JOKER = "Jk"
COUPLES = {"KQ": (8, 2), "QJ": (4, 1)}  # points in one suit, and in two

IN_HAND = 0.5  # the worth of a set in the hand, relative to one on the table
STANDS = 0.8  # the chance that a set led is not beaten
GATHERED = 0.8  # the worth of another card in the hand
JOKER_WORTH = 3.0
LEAD_WORTH = 1.0


def rank(card):
    return RANKS.index(card[0])


def points(cards):
    """Return the score of a set in its best reading; 0 if it is no set."""
    plain = [card for card in cards if card != JOKER]
    jokers, size = len(cards) - len(plain), len(cards)
    ranks, suits = {rank(card) for card in plain}, {card[1] for card in plain}
    best = couple_points(plain, jokers)
    if len(ranks) <= 1 and (size > 1 or ranks <= {rank("As")}) and size <= len(SUITS):
        best = max(best, 2 ** (size - 1))
    in_row = not plain or max(ranks) - min(ranks) < size
    if len(suits) <= 1 and in_row and len(ranks) == len(plain) and 2 <= size <= len(RANKS):
        best = max(best, 2 * (size - 1))
    return best


def couple_points(plain, jokers):
    """Return the points of cards as a couple with this number of jokers; 0 if they are no couple."""
    if len(plain) + jokers == 1:
        return 2 * (jokers == 1 or plain == ["2h"])
    if len(plain) + jokers != 2:
        return 0
    have = {card[0] for card in plain}
    suited = len({card[1] for card in plain}) < 2
    fitting = [pay for pair, pay in COUPLES.items() if have <= set(pair)]
    if not fitting or len(have) < len(plain):
        return 0
    return max(in_one if suited else in_two for in_one, in_two in fitting)


def candidates(plain):
    """Yield the sets of a hand without jokers that are worth a search."""
    for card in plain:
        yield [card]
    for one in RANKS:
        yield [card for card in plain if card[0] == one]
    for suit in SUITS:
        row = []
        for card in sorted((card for card in plain if card[1] == suit), key=rank):
            row = [*row, card] if row and rank(card) == rank(row[-1]) + 1 else [card]
            yield row
    for high, low in COUPLES:
        for one in plain:
            yield from ([one, two] for two in plain if one[0] == high and two[0] == low)


def hand_worth(hand):
    """Return the points of the sets in a hand: the best one, then the best of the rest, and so on."""
    plain = [card for card in hand if card != JOKER]
    worth = JOKER_WORTH * (len(hand) - len(plain))
    while plain:
        best = max(candidates(plain), key=lambda cards: points(cards) if cards else 0)
        if not points(best):
            break
        worth += points(best)
        plain = [card for card in plain if card not in best]
    return worth


class ArlingtonBot(arlington.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: arlington.Ask) -> arlington.Choice:
        self.view = ask.view
        self.held = list(ask.view.held)
        self.now = self.worth_of(self.held)
        return max(ask.moves, key=self.weigh)

    def weigh(self, move):
        match move.verb:
            case arlington.LEAD_CARD:
                return self.lead_card(move.card)
            case arlington.LEAD_SET:
                gain = STANDS * points(move.cards) - (1 - STANDS) * LEAD_WORTH
                return gain - self.loses(move.cards)
            case arlington.PLAY_S2:
                return self.buries(move.seat, move.index) - self.loses(["2s"])
            case arlington.ADD | arlington.TAKE_JOKER:
                return self.change_set(move)
            case arlington.PLAY_CARD:
                return self.play_card(move.card)
            case arlington.OVERPLAY:
                return self.overplay(move.cards)
            case arlington.KILL:
                active = self.view.active
                gain = self.buries(active.owner, active.index) + LEAD_WORTH
                return gain - self.loses(["2s"])
        return 0.0  # a pass

    def worth_of(self, hand):
        return IN_HAND * hand_worth(hand) + GATHERED * 0.25 * len(hand)

    def loses(self, cards, gains=()):
        """Return the loss of the hand without some cards and with others."""
        left = [*self.held, *gains]
        for card in cards:
            left.remove(card)
        return self.now - self.worth_of(left)

    def share(self, seat):
        """Return the worth of a point on a seat's table to me."""
        return 1.0 if seat == self.seat else -1.0 / (len(self.players) - 1)

    def buries(self, seat, index):
        """Return the gain for me if a set on a table goes to the graveyard."""
        return -self.share(seat) * self.view.tables[seat].points[index]

    def gathers(self, card, seats_left):
        """Return the chance that no seat to come beats a card of the led suit."""
        view = self.view
        seen = {*view.held, *view.buried, *view.trick_cards}
        seen.update(each for table in view.tables for cards in table.sets for each in cards.cards)
        higher = sum(high + card[1] not in seen for high in RANKS[rank(card) + 1 :])
        return 1 / (1 + 0.6 * higher * seats_left)

    def lead_card(self, card):
        others = sum(size > 0 for size in self.view.hand_sizes) - 1
        takes = 1.0 if card == JOKER else self.gathers(card, others)
        return takes * (LEAD_WORTH + GATHERED * others) - LEAD_WORTH - self.loses([card])

    def change_set(self, move):
        """Add a card to a set, or take a joker from it."""
        table = self.view.tables[move.seat]
        cards, gains = [*table.sets[move.index].cards, move.card], []
        if move.verb == arlington.TAKE_JOKER:
            cards.remove(JOKER)
            gains = [JOKER]
        change = points(cards) - table.points[move.index]
        return self.share(move.seat) * change - self.loses([move.card], gains)

    def play_card(self, card):
        trick, left = self.view.trick_cards, self.seats_to_come()
        led = trick[0]
        takes = 0.0
        if JOKER not in (led, card) and card[1] == led[1]:
            followed = [rank(each) for each in trick if each[1] == led[1]]
            takes = self.gathers(card, left) if rank(card) > max(followed) else 0.0
        return takes * (LEAD_WORTH + GATHERED * (len(trick) + left)) - self.loses([card])

    def overplay(self, cards):
        active = self.view.active
        stands = STANDS if self.seats_to_come() else 1.0
        gain = stands * (points(cards) + LEAD_WORTH)
        return gain + self.buries(active.owner, active.index) - self.loses(cards)

    def seats_to_come(self):
        """Return the seats with cards that play or answer after me."""
        sizes = self.view.hand_sizes
        count = (self.view.lead - self.seat) % len(sizes) - 1
        return sum(sizes[(self.seat + 1 + at) % len(sizes)] > 0 for at in range(count))


if __name__ == "__main__":
    cardarena.run(ArlingtonBot)

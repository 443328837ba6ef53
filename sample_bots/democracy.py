"""Plays Democracy by comparing the effect of every card on this trick with its effect on other tricks.

A point is worth its increase of my chance of a tribe, less the increase of the others' chances; points of a decided
tribe are worth nothing. The others are assumed to play any card that I have not seen. The bot plays the card whose
effect on this upcard exceeds that on the average upcard most: so strong cards win valuable tricks, and the others are
discarded. It needs only the SDK.
"""

import math
from collections import Counter

import cardarena
from cardarena import democracy

RANKS = "6789TJQKA345"  # from low to high
SUITS = "cdhs"
POINTS = dict(zip(RANKS, (0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5), strict=True))
JOKER = "Jk"
JOKERS = {4: 2, 6: 1}  # in the pack, by number of seats
TRIBE = 13
SUIT_POINTS = 25


def points(card):
    return 0 if card == JOKER else POINTS[card[0]]


def plain_rank(card):
    """Return a card's height if no trump is played; a joker is a five."""
    return RANKS.index("5" if card == JOKER else card[0])


def trump_of(upcard):
    return None if upcard == JOKER else upcard[1]


def none_of(few, all_cards, draws):
    """Return the chance that none of a few among all cards is drawn."""
    return math.prod(max(0, all_cards - few - i) / (all_cards - i) for i in range(draws))


def chances(card, trump, unseen, others):
    """Return the chances that the card wins the trick, and that it ties."""
    size = len(unseen)
    trumps = [each for each in unseen if each[1] == trump]
    if card[1] == trump:
        if card[0] == "6":  # wins as the only trump, or beside the 5
            return none_of(len(trumps), size, others) + others / size * ("5" + trump in trumps), 0.0
        if card[0] == "5":
            return none_of("6" + trump in trumps, size, others), 0.0
        higher = [each for each in trumps if plain_rank(each) > plain_rank(card)]
        return none_of(len(higher), size, others), 0.0
    plain = [plain_rank(each) for each in unseen if each not in trumps]
    mine = plain_rank(card)
    beaten_by = len(trumps) + sum(rank > mine for rank in plain)
    wins = none_of(beaten_by + plain.count(mine), size, others)
    return wins, none_of(beaten_by, size, others) - wins


def tribe_chance(have, left, seats):
    """Return the chance to end with 13 points if the remaining points go to the seats at random, in lumps."""
    spread = math.sqrt(4 * left * (seats - 1)) / seats
    over = have + left / seats - (TRIBE - 0.5)
    return 0.5 * (1 + math.erf(over / spread / math.sqrt(2))) if spread else float(over > 0)


def lead(captured, left, me):
    """Return my chance of the tribe less the mean chance of the others."""
    chance = [tribe_chance(have, left, len(captured)) for have in captured]
    return chance[me] - (sum(chance) - chance[me]) / (len(chance) - 1)


def total_worth(cards, worth_of_point):
    return sum(points(card) * worth_of_point[card[1]] for card in cards)


class DemocracyBot(democracy.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: democracy.Ask) -> democracy.Choice:
        view = ask.view
        self.unseen = self.unseen_cards(view)
        self.others = len(self.players) - 1
        self.weigh_points(view.island)
        spread = Counter(self.unseen)
        usual = {
            card: sum(n * self.worth(card, up) for up, n in spread.items()) / len(self.unseen)
            for card in set(view.held)
        }
        return max(
            ask.moves, key=lambda move: self.worth(move.card, view.upcard) - usual[move.card]
        )

    def unseen_cards(self, view):
        """Return the cards that may be in the others' hands."""
        pack = [rank + suit for rank in RANKS for suit in SUITS]
        pack += [JOKER] * JOKERS.get(len(self.players), 0)
        seen = [*view.held, *view.island.upcards, *view.island.plays, view.upcard]
        return list((Counter(pack) - Counter(seen)).elements())

    def weigh_points(self, island):
        """Compute the worth of a point of each suit to me in my own heap, and in another's."""
        self.mine, self.theirs = {JOKER[1]: 0.0}, {JOKER[1]: 0.0}
        lost = Counter()
        for card in island.discarded:
            lost[card[1]] += points(card)
        for suit, name in zip(SUITS, ("clubs", "diamonds", "hearts", "spades"), strict=True):
            have = [getattr(each, name) for each in island.points]
            left = SUIT_POINTS - sum(have) - lost[suit]
            step = min(3, left)
            gains = []
            for seat in range(len(have)):
                after = [*have[:seat], have[seat] + step, *have[seat + 1 :]]
                gain = lead(after, left - step, self.seat) - lead(have, left, self.seat)
                gains.append(gain / step if step else 0.0)
            self.mine[suit] = gains.pop(self.seat)
            self.theirs[suit] = sum(gains) / len(gains)
        # The others' cards of a trick: as many as there are others, of the average unseen card.
        self.thrown_mine = total_worth(self.unseen, self.mine) * self.others / len(self.unseen)
        self.thrown_theirs = total_worth(self.unseen, self.theirs) * self.others / len(self.unseen)

    def worth(self, card, upcard):
        """Return the worth of playing the card to a trick with this upcard."""
        wins, ties = chances(card, trump_of(upcard), self.unseen, self.others)
        own, shown = (card,), (card, upcard)
        win = total_worth(shown, self.mine) + self.thrown_mine
        tie = total_worth(own, self.mine) + self.thrown_theirs
        lose = total_worth(shown, self.theirs) + self.thrown_theirs
        return wins * win + ties * tie + (1 - wins - ties) * lose


if __name__ == "__main__":
    cardarena.run(DemocracyBot)

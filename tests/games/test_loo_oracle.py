"""Three-card Loo beside a second engine, which was written from the page alone.

The page's ruling: three cards, three tricks, payments of three; no Pam and no flushes; all else as in
five-card Loo. Both engines get the same packs and moves. Legal moves, tricks and chips must be equal.
"""

import random
from collections import Counter

import pytest

from arena.games.cards import PACK_52
from arena.games.loo import rules as loo
from arena.games.loo.messages import Exchange, Options, Pass, Phase, Play, PlayHand
from arena.testing.deals import SeededDeals

RANKS = "23456789TJQKA"
MATCHES = 6


def beats(card, other, trump):
    """Whether a card takes a trick that the other one leads or holds."""
    if card[1] == other[1]:
        return RANKS.index(card[0]) > RANKS.index(other[0])
    return card[1] == trump


def best_of(trick, trump):
    best = trick[0]
    for card in trick[1:]:
        if beats(card, best, trump):
            best = card
    return best


def replies(hand, trick, trump):
    """Follow suit and beat; or trump and overtrump; or play anything."""
    best = best_of(trick, trump)
    for suit in (trick[0][1], trump):
        same = {card for card in hand if card[1] == suit}
        if same:
            return {card for card in same if beats(card, best, trump)} or same
    return set(hand)


class Table:
    """The money, hands and tricks of a match, kept by hand."""

    def __init__(self, seats, packs):
        self.seats, self.packs = seats, packs
        self.chips, self.pot, self.hand = [0] * seats, 0, -1
        self.deal()

    def deal(self):
        self.hand += 1
        dealer = self.hand % self.seats
        self.order = [(dealer + 1 + left) % self.seats for left in range(self.seats)]
        pack = list(self.packs[self.hand])
        self.hands = {seat: [] for seat in self.order}
        for seat in self.order * 3:
            self.hands[seat].append(pack.pop(0))
        self.trump, self.stock = pack.pop(0)[1], pack
        self.chips[dealer] -= 3
        self.pot += 3
        self.declared, self.players, self.exchanges = 0, [], 0
        self.trick, self.leader, self.won = [], None, []

    def phase(self):
        if self.declared < self.seats:
            return "declare"
        return "exchange" if self.exchanges < len(self.players) else "play"

    def turn(self):
        if self.phase() == "declare":
            return self.order[self.declared]
        if self.phase() == "exchange":
            return self.players[self.exchanges]
        leader = self.players[0] if self.leader is None else self.leader
        at = self.players.index(leader) + len(self.trick)
        return self.players[at % len(self.players)]

    def legal(self):
        hand = self.hands[self.turn()]
        return replies(hand, self.trick, self.trump) if self.trick else set(hand)

    def declare(self, *, plays):
        seat = self.turn()
        self.declared += 1
        if plays:
            self.players.append(seat)
        if self.declared == self.seats and len(self.players) < 2:
            for seat in self.players:
                self.chips[seat] += self.pot
                self.pot = 0
            self.deal()

    def exchange(self, given):
        hand = self.hands[self.turn()]
        for card in given:
            hand.remove(card)
            hand.append(self.stock.pop(0))
        self.exchanges += 1

    def play(self, card):
        seat = self.turn()
        self.hands[seat].remove(card)
        self.leader = seat if not self.trick else self.leader
        self.trick.append(card)
        if len(self.trick) < len(self.players):
            return
        at = self.players.index(self.leader) + self.trick.index(best_of(self.trick, self.trump))
        self.leader = self.players[at % len(self.players)]
        self.won.append(self.leader)
        self.trick = []
        if len(self.won) == 3:
            self.settle()

    def settle(self):
        for seat in self.won:
            self.chips[seat] += self.pot // 3
        self.pot = 0
        for seat in set(self.players) - set(self.won):
            self.chips[seat] -= 3
            self.pot += 3
        self.deal()


@pytest.mark.parametrize("seats", [5, 8, 10])
def test_three_card_loo_is_as_a_second_engine_plays_it(seats):
    for number in range(MATCHES):
        draw, deals = random.Random(f"{seats} {number}"), SeededDeals(number)
        hands = 3 * seats
        packs = [deals.shuffle(hand, "deck", PACK_52) for hand in range(hands)]
        table = Table(seats, [*packs, packs[0]])
        state, _ = loo.start(Options(cards="three"), seats, deals)
        seen = Counter()
        while acting := loo.to_act(state):
            assert acting == (table.turn(),)
            legal = loo.moves(state, acting[0])
            move = draw.choice(legal.all)
            seen[type(move)] += 1
            match move:
                case PlayHand() | Pass():
                    assert table.phase() == "declare"
                    # Most play, so that some exchange and not only the last two.
                    move = PlayHand() if draw.random() < 0.6 else Pass()
                    table.declare(plays=isinstance(move, PlayHand))
                case Exchange(cards):
                    assert table.phase() == "exchange"
                    if len(cards) > len(table.stock):  # a new stock is as in five-card Loo
                        move = Exchange(())
                    table.exchange(move.cards)
                case Play(card, civil):
                    assert table.phase() == "play"
                    assert not civil
                    assert {move.card for move in legal.all} == table.legal()
                    table.play(card)
            state, _ = loo.step(state, ((acting[0], move),), deals)
            if loo.to_act(state):  # at the end the second engine has dealt once more
                view = loo.view(state, None)
                assert (list(view.chips), view.pot) == (table.chips, table.pot)
        assert seen[Play] > hands
        view = loo.view(state, None)
        assert view.phase is Phase.OVER
        last_dealer = hands % seats
        expected = [have + 3 * (seat == last_dealer) for seat, have in enumerate(table.chips)]
        assert (list(view.chips), view.pot + 3) == (expected, table.pot)

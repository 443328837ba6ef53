"""Betting beside pokerkit: random sequences, and every difference named by its ruling.

Pineapple's betting is hold'em's, so whole hands are played on both sides, ours
with discards in between. Soko at pot-limit and no-limit is played beside stud of
five cards. Before each decision the seat to act, its call, the range of its
raise and all chips must be equal; at the end the pots.
"""

import random
from collections import Counter

import pytest
from pokerkit import (
    Automation,
    BettingStructure,
    Deck,
    FixedLimitTexasHoldem,
    NoLimitTexasHoldem,
    Opening,
    StandardHighHand,
    State,
    Street,
)

from arena.games.betting.match import Match, Scores, Terms
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, BringIn, Raise
from arena.games.cards import PACK_52
from arena.games.contract import Seat
from arena.games.pineapple import rules as pineapple
from arena.games.pineapple import state as pineapple_state
from arena.games.pineapple.messages import Options, Phase
from arena.games.soko import rules as soko
from arena.games.soko import state as soko_state
from arena.games.soko.messages import Options as SokoOptions
from arena.testing.deals import StackedDeals
from tests.rows import RULES, slow_unless

# All but the showdown, where the pots are still to be seen.
AUTOMATIONS = tuple(
    automation
    for automation in Automation
    if automation is not Automation.HOLE_CARDS_SHOWING_OR_MUCKING
)
SEQUENCES = 1_000
SHORT = (3, 5, 8, 13, 21, 40, 100)


class Ours:
    """A hand of Pineapple or Soko; seat 0 sits left of the dealer, as pokerkit has it."""

    def __init__(self, game, first_match, options, stacks, deck=PACK_52):
        seats = len(stacks)
        everybody = tuple(map(Seat, range(seats)))
        stakes, _ = first_match(options, seats)
        nothing = (0,) * seats
        terms, scores = Terms(everybody, "cash", seats), Scores((nothing,) * (seats - 1), nothing)
        match = Match(terms, scores, seats - 1, everybody[-1], everybody, stacks)
        self.game, self.deals = game, StackedDeals({(seats - 1, "deck"): deck})
        self.state, events = game.begin_hand(stakes, match, self.deals)
        self.events = [event for event, _ in events]
        self.discard()

    def step(self, chosen):
        self.state, events = self.game.step(self.state, chosen, self.deals)
        self.events += [event for event, _ in events]

    def discard(self):
        while self.state.phase is Phase.DISCARD:
            asked = pineapple.to_act(self.state)
            self.step(tuple((seat, pineapple.fallback(self.state, seat)) for seat in asked))

    def act(self, move):
        self.step(((self.state.betting.pending[0], move),))
        self.discard()

    def facing(self):
        round_ = self.state.betting
        if not round_.pending:
            return None
        chips = round_.chips
        wager = (round_.min_to, round_.max_to)
        return round_.pending[0], round_.to_call, wager, chips.stacks, chips.bets

    def told(self, kind):
        return [event for event in self.events if type(event).__name__ == kind]


def our_pineapple(stacks, **options):
    return Ours(pineapple, pineapple_state.first_match, Options(**options), stacks)


def pokerkits_facing(state):
    if state.actor_index is None:
        return None
    wager = (None, None)
    if state.can_post_bring_in():
        least = state.effective_bring_in_amount
        whole = state.max_completion_betting_or_raising_to_amount
        return state.actor_index, 0, (least, whole or least), tuple(state.stacks), tuple(state.bets)
    if state.can_complete_bet_or_raise_to():
        wager = (
            state.min_completion_betting_or_raising_to_amount,
            state.max_completion_betting_or_raising_to_amount,
        )
    return (
        state.actor_index,
        state.checking_or_calling_amount,
        wager,
        tuple(state.stacks),
        tuple(state.bets),
    )


def named_difference(round_, theirs):
    """The ruling by which the two differ on purpose before a decision, or None."""
    if not round_.pending:
        return "B7" if theirs[1] == 0 else None  # asked to check, though nobody can bet
    price, limits = round_.price, round_.limits
    seat = round_.pending[0]
    if theirs[0] != seat and not any(theirs[4]) and limits.structure != "fixed":
        return "S6"  # who is lowest: suits break no tie, and four cards may be a hand of Soko
    if theirs[0] == seat and theirs[1] < round_.to_call and max(theirs[4]) < price.to_match:
        return "B9"  # of a short bring-in the full amount is to match
    same_but_wager = theirs[:2] == (seat, round_.to_call)
    if not same_but_wager:
        return None
    if round_.min_to is None and limits.structure == "fixed" and price.full_bets == 4:
        return "B6"  # a bet or big blind and three raises; theirs a big blind and four
    whole = round_.chips.bets[seat] + round_.chips.stacks[seat]
    if 0 < price.to_match < limits.least and round_.min_to == min(limits.least, whole):
        return "B3"  # a short opener is completed to the minimum
    completed = price.full_bets == 1 and price.size == price.level
    if completed and theirs[2][1] == round_.max_to and (theirs[2][0] or 0) < round_.min_to:
        return "completion"  # it is the opening bet: its size is all of it, not what it adds
    facing = price.to_match - round_.answered[seat]
    if round_.min_to is None and round_.answered[seat] >= 0 and 0 < facing < price.size:
        return "B4"  # a short all-in reopens nothing for a seat that has acted
    return None


def play(chance, *, fixed):
    """Both hands side by side; gives the rulings by which they differed."""
    seats = chance.choice((2, 2, 3, 4, 6))
    stacks = tuple(500 if fixed else chance.choice(SHORT) for _ in range(seats))
    ante = chance.choice((0, 0, 1))
    if fixed:
        mine = our_pineapple(stacks, ante=ante)
        theirs = FixedLimitTexasHoldem.create_state(
            AUTOMATIONS, True, ante, (1, 2), 2, 4, stacks, seats
        )
    else:
        mine = our_pineapple(stacks, ante=ante, structure="nolimit")
        theirs = NoLimitTexasHoldem.create_state(AUTOMATIONS, True, ante, (1, 2), 2, stacks, seats)
    return play_on(chance, mine, theirs, Counter())


def play_on(chance, mine, theirs, differences):
    """Play both hands to their end, or to a difference after which they are different ones."""
    while True:
        deal_cards(mine, theirs)
        expected, result = pokerkits_facing(theirs), mine.facing()
        if expected != result:
            ruling = named_difference(mine.state.betting, expected) if expected else None
            assert ruling is not None, (expected, result, mine.state.line)
            differences[ruling] += 1
            if ruling in ("B3", "B4", "B9", "S6"):
                return differences  # from here on the two hands are different ones
            if ruling == "B7":
                theirs.check_or_call()
                continue
        elif result is None:
            break
        act(chance, mine, theirs)
    assert_same_end(mine, theirs)
    return differences


def assert_same_end(mine, theirs):
    if len(mine.state.betting.live) == 1:
        (ended,) = mine.told("HandEnded")
        assert list(ended.nets) == list(theirs.payoffs)
    else:
        pots = [(pot.amount, pot.eligible) for pot in mine.told("PotWon")]
        assert pots == [(pot.amount, tuple(pot.player_indices)) for pot in theirs.pots]


def act(chance, mine, theirs):
    round_ = mine.state.betting
    drawn = chance.random()
    if theirs.can_post_bring_in():
        bring_in(chance, mine, theirs)
    elif round_.min_to is not None and drawn < 0.4:
        sizes = (round_.min_to, round_.max_to, chance.randint(round_.min_to, round_.max_to))
        to = chance.choice(sizes)
        theirs.complete_bet_or_raise_to(to)
        mine.act(Raise(to) if round_.price.to_match else Bet(to))
    elif round_.to_call and drawn > 0.88:
        theirs.fold()
        mine.act(FOLD)
    else:
        theirs.check_or_call()
        mine.act(CALL if round_.to_call else CHECK)


def bring_in(chance, mine, theirs):
    """The smallest, or a full bet; pokerkit has nothing between."""
    round_ = mine.state.betting
    full = range(round_.limits.least, round_.max_to + 1)
    if full and chance.random() < 0.5:
        to = chance.choice((full[0], full[-1], chance.choice(full)))
        theirs.complete_bet_or_raise_to(to)
        mine.act(BringIn(to))
    else:
        theirs.post_bring_in()
        mine.act(BringIn(round_.min_to))


def deal_cards(mine, theirs):
    """Deal pokerkit the cards of stud that ours has dealt."""
    while theirs.can_deal_hole():
        seat = theirs.hole_dealee_index
        deal = mine.state.hand.deal
        cards = (deal.holes[seat], *deal.upcards[seat])
        theirs.deal_hole(cards[len(theirs.hole_cards[seat])])


STUD = tuple(
    automation
    for automation in AUTOMATIONS
    if automation not in (Automation.HOLE_DEALING, Automation.CARD_BURNING)
)
STRUCTURES = {"pot": BettingStructure.POT_LIMIT, "nolimit": BettingStructure.NO_LIMIT}


def stud(structure, ante, least, stacks):
    """Five-card stud at these stakes, where the lowest hand begins each round."""
    streets = tuple(
        Street(
            False,
            (False, True) if number == 0 else (True,),
            0,
            False,
            Opening.LOW_CARD if number == 0 else Opening.LOW_HAND,
            least if number < 2 else 2 * least,
            None,
        )
        for number in range(4)
    )
    seats = len(stacks)
    return State(
        STUD,
        Deck.STANDARD,
        (StandardHighHand,),
        streets,
        STRUCTURES[structure],
        True,
        ante,
        (0,) * seats,
        max(1, least // 2),
        stacks,
        seats,
    )


def without_pair(chance, seats):
    """A pack in which nobody's first two cards up are a pair, which would double the limits."""
    cards = chance.sample(PACK_52, len(PACK_52))
    first = [card for card in cards if card[0] in "2468TQ"][:seats]
    others = [card for card in cards if card[0] not in "2468TQ"]
    return (*others[:seats], *first, *others[seats:])


def play_stud(chance, structure):
    seats, ante, least = (
        chance.choice((2, 3, 4, 6)),
        chance.choice((0, 1, 2)),
        chance.choice((4, 5)),
    )
    stacks = tuple(chance.choice(SHORT) for _ in range(seats))
    options = SokoOptions(structure=structure, ante=ante, min_bet=least)
    deck = without_pair(chance, seats)
    mine = Ours(soko, soko_state.first_match, options, stacks, deck)
    return play_on(chance, mine, stud(structure, ante, least, stacks), Counter())


@RULES
@pytest.mark.parametrize("structure", STRUCTURES)
def test_random_betting_of_soko_is_pokerkits_but_for_the_named_rulings(structure):
    differences = Counter()
    for number in range(SEQUENCES):
        differences += play_stud(random.Random(f"stud {structure} {number}"), structure)
    assert set(differences) == {"B3", "B4", "B9", "S6", "completion"}
    ended = differences.total() - differences["completion"]
    assert ended < SEQUENCES * 2 // 5, differences


@pytest.mark.parametrize(
    ("fixed", "rulings"),
    slow_unless(
        lambda fixed, rulings: not fixed, [(True, {"B6"}), (False, {"B3", "B4", "B7"})], RULES
    ),
    ids=["fixed", "nolimit"],
)
def test_random_betting_is_pokerkits_but_for_the_named_rulings(fixed, rulings):
    """Fixed limit with deep stacks; no-limit with stacks from one and a half blinds up."""
    differences = Counter()
    for number in range(SEQUENCES):
        chance = random.Random(f"betting {fixed} {number}")
        differences += play(chance, fixed=fixed)
    assert set(differences) == rulings
    if not fixed:
        assert differences["B3"] + differences["B4"] < SEQUENCES // 25


def test_a_small_all_in_of_fixed_limit_is_completed_where_pokerkit_adds_a_bet():
    """B5: after an all-in of 13 over a blind of 10 the next raise goes to 20; theirs to 23."""
    stacks = (500, 500, 13)
    stakes = {"small_blind": 5, "big_blind": 10, "small_bet": 10, "big_bet": 20}
    mine = our_pineapple(stacks, **stakes)
    theirs = FixedLimitTexasHoldem.create_state(
        AUTOMATIONS, True, 0, (5, 10), 10, 20, stacks, len(stacks)
    )
    assert mine.facing() == pokerkits_facing(theirs)
    mine.act(Raise(13))
    theirs.complete_bet_or_raise_to(13)
    assert mine.facing()[:3] == (0, 8, (20, 20))
    assert pokerkits_facing(theirs)[:3] == (0, 8, (23, 23))

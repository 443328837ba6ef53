"""Betting beside pokerkit: random sequences, and every difference named by its ruling.

Pineapple's betting is hold'em's, so whole hands are played on both sides, ours
with discards in between. Before each decision the seat to act, its call, the
range of its raise and all chips must be equal; at the end the pots.
"""

import random
from collections import Counter

import pytest
from pokerkit import Automation, FixedLimitTexasHoldem, NoLimitTexasHoldem

from arena.cards import PACK_52
from arena.games import pineapple
from arena.games.betting.match import HandEnded, Match, Scores, Terms
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, Raise
from arena.games.contract import Seat
from arena.games.pineapple import Options, rules
from arena.games.pineapple.stakes import first_match
from arena.games.pineapple.words import Phase, PotWon
from arena.testing.deals import Loaded
from tests.rows import slow_unless

# All but the showdown, where the pots are still to be seen.
AUTOMATIONS = tuple(
    each for each in Automation if each is not Automation.HOLE_CARDS_SHOWING_OR_MUCKING
)
SEQUENCES = 1_000
SHORT = (3, 5, 8, 13, 21, 40, 100)


class Ours:
    """A hand of Pineapple; seat 0 sits left of the dealer, as pokerkit has it."""

    def __init__(self, options, stacks):
        seats = len(stacks)
        everybody = tuple(map(Seat, range(seats)))
        stakes, _ = first_match(options, seats)
        nothing = (0,) * seats
        terms, scores = Terms(everybody, "cash", seats), Scores((nothing,) * (seats - 1), nothing)
        match = Match(terms, scores, seats - 1, everybody[-1], everybody, stacks)
        self.deals = Loaded({(seats - 1, "deck"): PACK_52})
        self.state, told = rules.begin_hand(stakes, match, self.deals)
        self.events = [event for event, _ in told]
        self.discard()

    def step(self, chosen):
        self.state, told = pineapple.step(self.state, chosen, self.deals)
        self.events += [event for event, _ in told]

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
        return [event for event in self.events if isinstance(event, kind)]


def pokerkits_facing(state):
    if state.actor_index is None:
        return None
    wager = (None, None)
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
    same_but_wager = theirs[:2] == (seat, round_.to_call)
    if not same_but_wager:
        return None
    if round_.min_to is None and limits.structure == "fixed" and price.full_bets == 4:
        return "B6"  # a bet or big blind and three raises; theirs a big blind and four
    whole = round_.chips.bets[seat] + round_.chips.stacks[seat]
    if 0 < price.to_match < limits.least and round_.min_to == min(limits.least, whole):
        return "B3"  # a short opener is completed to the minimum
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
        mine = Ours(Options(ante=ante), stacks)
        theirs = FixedLimitTexasHoldem.create_state(
            AUTOMATIONS, True, ante, (1, 2), 2, 4, stacks, seats
        )
    else:
        mine = Ours(Options(ante=ante, structure="nolimit"), stacks)
        theirs = NoLimitTexasHoldem.create_state(AUTOMATIONS, True, ante, (1, 2), 2, stacks, seats)
    differences = Counter()
    while True:
        expected, found = pokerkits_facing(theirs), mine.facing()
        if expected != found:
            ruling = named_difference(mine.state.betting, expected) if expected else None
            assert ruling is not None, (expected, found, mine.state.line)
            differences[ruling] += 1
            if ruling in ("B3", "B4"):
                return differences  # from here on the two hands are different ones
            if ruling == "B7":
                theirs.check_or_call()
                continue
        elif found is None:
            break
        act(chance, mine, theirs)
    assert_same_end(mine, theirs)
    return differences


def assert_same_end(mine, theirs):
    if len(mine.state.betting.live) == 1:
        (ended,) = mine.told(HandEnded)
        assert list(ended.nets) == list(theirs.payoffs)
    else:
        pots = [(pot.amount, pot.eligible) for pot in mine.told(PotWon)]
        assert pots == [(pot.amount, tuple(pot.player_indices)) for pot in theirs.pots]


def act(chance, mine, theirs):
    round_ = mine.state.betting
    drawn = chance.random()
    if round_.min_to is not None and drawn < 0.4:
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


@pytest.mark.parametrize(
    ("fixed", "rulings"),
    slow_unless(lambda fixed, rulings: not fixed, [(True, {"B6"}), (False, {"B3", "B4", "B7"})]),
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
    mine = Ours(Options(**stakes), stacks)
    theirs = FixedLimitTexasHoldem.create_state(
        AUTOMATIONS, True, 0, (5, 10), 10, 20, stacks, len(stacks)
    )
    assert mine.facing() == pokerkits_facing(theirs)
    mine.act(Raise(13))
    theirs.complete_bet_or_raise_to(13)
    assert mine.facing()[:3] == (0, 8, (20, 20))
    assert pokerkits_facing(theirs)[:3] == (0, 8, (23, 23))

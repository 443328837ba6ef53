"""Soko where it surprises, whole matches at random, and what a seat may not learn."""

import random

import pytest

from arena.games.betting.match import HandEnded, Match, Scores, Terms
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, BringIn, Raise
from arena.games.cards import PACK_52, parse_cards
from arena.games.catalogue import game_by_id
from arena.games.contract import BadOptions, IllegalMove, Seat
from arena.games.options import build_options
from arena.games.soko import rules
from arena.games.soko import rules as soko
from arena.games.soko.messages import Dealt, Options, Phase, PotWon, Shown, UpcardsDealt
from arena.games.soko.rules import first_to_act
from arena.games.soko.state import first_match
from arena.testing.deals import StackedDeals
from tests.walks import Walk


def deck_of(start):
    cards = parse_cards(start)
    return (*cards, *(card for card in PACK_52 if card not in cards))


class Sitting:
    """A match that is told move by move; every hand has the same pack."""

    def __init__(self, seats, start="", **options):
        self.deals = StackedDeals({(hand, "deck"): deck_of(start) for hand in range(200)})
        self.state, self.told = soko.start(Options(**options), seats, self.deals)
        self.events = [event for event, _ in self.told]

    def do(self, *moves):
        for move in moves:
            chosen = ((soko.to_act(self.state)[0], move),)
            self.state, self.told = soko.step(self.state, chosen, self.deals)
            self.events += [event for event, _ in self.told]
        return self

    @property
    def seen(self):
        return soko.view(self.state, None)

    def heard(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


FIRST = [
    # upcards by seat             order       seat  why
    ("As Kd Ah", (1, 2, 0), 1, "an ace is high"),
    ("7s 7d Kh", (1, 2, 0), 1, "S7: of equal cards the first from the dealer's left"),
    ("7s 7d Kh", (2, 0, 1), 0, "S7: ... wherever that is"),
    ("2s2d AsKd AhQd", (1, 2, 0), 2, "S6: the lowest hand exposed, a pair is higher"),
    ("2s3s4s 9d8c2h", (1, 0), 0, "S8: three suited or in a row are nothing"),
    ("2s3s4s9s AsAdKhQc", (1, 0), 1, "S8: four suited are over a pair"),
    ("2s3d4s5h AsAdKhQc", (1, 0), 1, "S8: four in a row are over a pair"),
]


@pytest.mark.parametrize(("up", "order", "seat", "why"), FIRST, ids=[row[-1] for row in FIRST])
def test_the_first_to_act_is(up, order, seat, why):
    assert first_to_act([parse_cards(cards) for cards in up.split()], order) == seat


def test_a_card_down_each_and_then_a_card_up_from_the_dealers_left():
    sitting = Sitting(3, "2c 3c 4c 5c 6c 7c")
    assert [soko.view(sitting.state, seat).hole for seat in (1, 2, 0)] == ["2c", "3c", "4c"]
    assert sitting.seen.upcards == (("7c",), ("5c",), ("6c",))
    assert sitting.heard(UpcardsDealt) == [UpcardsDealt(1, (1, 2, 0), ("5c", "6c", "7c"))]


BRING_INS = [
    # options             span      offered      why
    ({}, (2, 10), (2, 4, 10), "half the smallest bet; a full bet is offered too"),
    ({"min_bet": 5}, (2, 10), (2, 5, 10), "rounded down"),
    ({"min_bet": 1}, (1, 10), (1, 10), "S12: but at least 1"),
    ({"start_stack": 4}, (2, 3), (2, 3), "at most the stack"),
    ({"start_stack": 2}, (1, 1), (1,), "a stack that is too short posts what it has"),
    ({"structure": "pot"}, (2, 4), (2, 4), "a smallest bet where the antes are less"),
    ({"structure": "pot", "ante": 9}, (2, 18), (2, 4, 18), "the antes at pot-limit"),
    ({"structure": "nolimit"}, (2, 199), (2, 4, 199), "the whole stack at no-limit"),
]


@pytest.mark.parametrize(
    ("options", "span", "offered", "why"), BRING_INS, ids=[row[-1] for row in BRING_INS]
)
def test_the_lowest_card_must_bring_in(options, span, offered, why):
    sitting = Sitting(2, "Ac Kc 3d 2d", **options)  # seat 0 has the two up
    seen = sitting.seen
    assert (seen.phase, seen.to_act) == (Phase.BRING_IN, 0)
    assert (seen.min_to, seen.max_to) == span
    moves = soko.moves(sitting.state, 0)
    assert moves.offered == tuple(map(BringIn, offered))
    assert moves.count() == span[1] - span[0] + 1
    assert soko.fallback(sitting.state, 0) == BringIn(span[0])


REFUSED = [
    ((), FOLD, "no folding before the bring-in"),
    ((), CHECK, "no checking either"),
    ((), Bet(4), "nor a bet of another name"),
    ((), BringIn(1), "under the minimum"),
    ((), BringIn(11), "over the largest bet"),
    ((BringIn(2),), BringIn(4), "one bring-in only"),
    ((BringIn(2),), Bet(4), "the completion is a raise (B1)"),
    ((BringIn(2), CALL), CALL, "nothing to call in a new round"),
]


@pytest.mark.parametrize(("moves", "move", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_a_move_is_refused_and_changes_nothing(moves, move, why):
    sitting = Sitting(2, "Ac Kc 3d 2d").do(*moves)
    before, seat = sitting.state, soko.to_act(sitting.state)[0]
    assert move not in soko.moves(before, seat)
    with pytest.raises(IllegalMove):
        soko.step(before, ((seat, move),), sitting.deals)
    assert before == Sitting(2, "Ac Kc 3d 2d").do(*moves).state


def test_s1_there_are_four_rounds_and_then_the_showdown():
    sitting = Sitting(2, "Ac Kc 3d 2d").do(BringIn(2), CALL)
    for number in (2, 3, 4):
        assert sitting.seen.round == number
        sitting.do(CHECK, CHECK)
    assert [event.seat for event in sitting.heard(Shown)] == [1, 0]
    assert sitting.seen.hand == 1


LIMITS = [
    # the third cards  limits of rounds 1 to 4                          why
    ("9s 7s", [(4, 10), (4, 10), (8, 20), (8, 20)], "without a pair only the last two are doubled"),
    ("3s 7s", [(4, 10), (8, 20), (8, 20), (8, 20)], "a pair doubles the second too, and not twice"),
]


@pytest.mark.parametrize(("thirds", "limits", "why"), LIMITS, ids=[row[-1] for row in LIMITS])
def test_limits_are_doubled(thirds, limits, why):
    sitting = Sitting(2, f"Ac Kc 3d 2d {thirds}")
    result = [(sitting.seen.min_bet, sitting.seen.max_bet)]
    sitting.do(BringIn(2), CALL)
    while sitting.seen.hand == 0:
        result.append((sitting.seen.min_bet, sitting.seen.max_bet))
        sitting.do(CHECK, CHECK)
    assert result == limits


def test_s9_the_pair_of_a_seat_that_is_all_in_doubles_the_limits():
    """Seat 0 calls the bring-in with its last chips and is dealt a second nine."""
    seats = tuple(map(Seat, range(3)))
    stakes, _ = first_match(Options(), 3)
    match = Match(Terms(seats, "cash", 3), Scores((), (0,) * 3), 0, Seat(0), seats, (3, 100, 100))
    deals = StackedDeals({(0, "deck"): deck_of("Kc Jd Tc 4h 8d 9d 5s Qh 9c")})
    state, _ = rules.begin_hands(stakes, match, deals)
    for seat, move in ((1, BringIn(2)), (2, CALL), (0, CALL)):
        state, _ = rules.step(state, ((Seat(seat), move),), deals)
    seen = soko.view(state, None)
    assert (seen.chips.stacks[0], seen.upcards[0]) == (0, ("9d", "9c"))
    assert (seen.min_bet, seen.max_bet) == (8, 20)


RAISED = (BringIn(2), Raise(4), Raise(8), Raise(12), Raise(16))
CHECKED = (BringIn(2), CALL, CHECK, CHECK)

# fmt: off
SPANS = [
    # structure  moves        from and to    why
    ("pot",      RAISED[:1],  (4, 2 + 6),    "the completion: the pot of 4 and the call of 2"),
    ("pot",      RAISED[:2],  (8, 4 + 10),   "the pot of 8 and the call of 2"),
    ("pot",      CHECKED[:2], (4, 6),        "the pot of 6"),
    ("pot",      CHECKED,     (8, 8),        "a smallest bet, doubled, where the pot is less"),
    ("pot",      RAISED,      (20, 16 + 34), "the number of raises has no cap"),
    ("nolimit",  RAISED,      (20, 199),     "... nor at no-limit"),
    ("spread",   RAISED,      (None, None),  "as it has at spread limit"),
    ("nolimit",  CHECKED,     (8, 197),      "the smallest bet is doubled, the largest is the stack"),
]
# fmt: on


@pytest.mark.parametrize(
    ("structure", "moves", "expected", "why"), SPANS, ids=[row[-1] for row in SPANS]
)
def test_the_next_bet_or_raise_is(structure, moves, expected, why):
    seen = Sitting(2, "Ac Kc 3d 2d 7s 9s", structure=structure).do(*moves).seen
    assert (seen.min_to, seen.max_to) == expected
    assert (seen.max_bet > 0) == (structure == "spread")


def test_a_folded_seat_gets_no_more_cards():
    sitting = Sitting(3, "Ac Kc Qc 3d 4d 2d").do(BringIn(2), FOLD, CALL)
    assert sitting.seen.live == (0, 2)
    assert sitting.heard(UpcardsDealt)[-1].seats == (2, 0)


def test_cards_of_folded_hands_stay_in_sight():
    sitting = Sitting(3, "Ac Kc Qc 3d 4d 2d").do(BringIn(2), FOLD, CALL)
    assert sitting.seen.upcards[1] == ("3d",)
    assert soko.view(sitting.state, 1).hole == "Ac"


def test_the_line_lists_the_bring_in_as_a_bet():
    sitting = Sitting(2, "Ac Kc 3d 2d").do(BringIn(2), Raise(6), CALL, CHECK)
    line = sitting.seen.line
    assert line.actions == ("bet", "raise", "call", "check")
    assert (line.tos, line.starts) == ((2, 6, 6, 0), (0, 3))


def test_the_last_seat_takes_the_pot_and_shows_nothing():
    sitting = Sitting(2, "Ac Kc 3d 2d").do(BringIn(2), Raise(8), FOLD)
    (won,) = sitting.heard(PotWon)
    assert (won.amount, won.winners, won.shares) == (6, (1,), (0, 6))
    assert not sitting.heard(Shown)


def test_a_seat_that_the_ante_took_all_from_brings_nothing_in():
    """S6 asks the lowest card of those who can still bet: seat 0 has the 5h and no chips left."""
    options = Options(format="freezeout")
    stakes, _ = first_match(options, 3)
    seats = (Seat(0), Seat(1), Seat(2))
    terms = Terms(seats, "freezeout", 100)
    match = Match(terms, Scores((), (0, 0, 0)), 0, Seat(0), seats, (1, 299, 300))
    deals = StackedDeals({(0, "deck"): deck_of("2c3c4cKdQd5h")})  # seat 1 is dealt first
    state, _ = rules.begin_hands(stakes, match, deals)
    assert soko.view(state, None).upcards == (("5h",), ("Kd",), ("Qd",))
    assert soko.to_act(state) == (2,)


def test_s13_hands_without_a_decision_pass_in_a_freezeout():
    """Seat 0 has just the ante and wins the first hand, so that it can bet in the second."""
    seats = (Seat(0), Seat(1))
    options = Options(format="freezeout")
    stakes, _ = first_match(options, 2)
    match = Match(Terms(seats, "freezeout", 100), Scores((), (0, 0)), 0, Seat(0), seats, (1, 399))
    aces = deck_of("2c Ac 3d Ad 4h Ah 6s As 8c Kc")  # from the dealer's left
    decks = {(0, "deck"): aces, (1, "deck"): deck_of("Kc Kd Kh Ks")}
    state, events = rules.begin_hands(stakes, match, StackedDeals(decks))
    assert [event.nets for event, _ in events if isinstance(event, HandEnded)] == [(1, -1)]
    assert (soko.view(state, None).hand, soko.to_act(state)) == (1, (0,))


BAD = [
    ({"min_bet": 11}, 2, "smallest over largest bet"),
    ({"ante": 200}, 2, "an ante that leaves nothing"),
    ({"structure": "nolimit", "start_stack": 4001}, 2, "over a thousand bets deep without a cap"),
    ({"structure": "fixed"}, 2, "no such structure"),
    ({"hands": 3}, 2, "not a multiple of the seats"),
    ({"min_bet": 0}, 2, "no bet at all"),
    ({}, 9, "too many seats"),
    ({}, 1, "too few seats"),
]


@pytest.mark.parametrize(("options", "seats", "why"), BAD, ids=[row[-1] for row in BAD])
def test_options_are_checked(options, seats, why):
    with pytest.raises(BadOptions):
        soko.start(build_options(Options, options), seats, StackedDeals({}))


# Decisions of a hand at most: the digest's highest of its own random play, and half as much again.
MOST = {2: 24, 4: 51, 6: 69, 8: 95}


@pytest.mark.parametrize("seats", MOST)
@pytest.mark.parametrize("format_", ["cash", "freezeout"])
@pytest.mark.parametrize("stack", [20, 200])
def test_random_matches_keep_chips_and_cards(seats, format_, stack):
    options = {"format": format_, "hands": 2 * seats, "start_stack": stack}
    game, decisions, hand = game_by_id("soko"), 0, -1
    for turn in Walk(game, seats, f"soko{stack}", options, whole=True):
        state = turn.after
        seen = soko.view(state, None)
        chips = seen.chips
        assert sum(chips.stacks) + sum(chips.bets) + sum(chips.paid) == stack * seats
        assert min(chips.stacks) >= 0
        deal = state.hand.deal
        known = [card for card in deal.holes if card] + list(deal.stock)
        known += [card for cards in deal.upcards for card in cards]
        assert sorted(known) == sorted(PACK_52)
        assert sum(seen.totals) == 0
        decisions = decisions + 1 if seen.hand == hand else 0
        hand = seen.hand
        assert decisions <= MOST[seats]
    ended = soko.result(state)
    assert seen.phase is Phase.OVER
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))
    if format_ == "cash":
        assert len(ended.hand_scores) == 2 * seats


def test_a_freezeout_goes_on_until_one_seat_has_everything():
    options = {"format": "freezeout", "start_stack": 60}
    for turn in Walk(game_by_id("soko"), 4, "out", options, whole=True):
        state = turn.after
        assert all(state.hand.match.stacks[seat] for seat in state.hand.match.players)
    assert sorted(soko.result(state).scores) == [-60, -60, -60, 180]


def test_a_seat_learns_its_hole_card_and_what_lies_open():
    """Up to the last round, whatever the others have down and the pack has left."""
    seen = set()
    for seed in range(20):
        hidden = [place for place in range(52) if place != 0 and not 3 <= place < 12]
        order = list(hidden)
        random.Random(seed).shuffle(order)
        deck = list(PACK_52)
        for place, other in zip(hidden, order, strict=True):
            deck[place] = PACK_52[other]
        sitting = Sitting(3, "".join(deck))
        events = []
        for move in (None, BringIn(2), CALL, CALL, CHECK, CHECK, CHECK):
            if move:
                sitting.do(move)
            events += [event for event, who in sitting.told if who is None or 1 in who]
            events.append(soko.view(sitting.state, 1))
            if soko.to_act(sitting.state) == (1,):
                events.append(soko.moves(sitting.state, 1).offered)
        seen.add(repr(events))
    assert len(seen) == 1


def test_hole_cards_are_told_to_their_seat_alone():
    for turn in Walk(game_by_id("soko"), 3, "private"):
        for event, who in turn.events:
            assert who == ((event.seat,) if isinstance(event, Dealt) else None)
        assert soko.view(turn.after, None).hole is None

"""The Pineapples where they surprise, whole matches at random, and what a seat may not learn."""

import random
from itertools import pairwise

import pytest

from arena.games.betting.match import HandEnded, UncalledReturned
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, Raise
from arena.games.betting.pots import Pot
from arena.games.betting.rounds import clockwise
from arena.games.cards import PACK_52, parse_cards
from arena.games.catalogue import game_by_id
from arena.games.contract import BadOptions, IllegalMove
from arena.games.options import build_options
from arena.games.pineapple import rules
from arena.games.pineapple import rules as pineapple
from arena.games.pineapple.messages import (
    BoardDealt,
    Dealt,
    Discard,
    GaveUp,
    Options,
    Phase,
    PotWon,
    Shown,
    Street,
)
from arena.games.pineapple.rules import award
from arena.testing.deals import StackedDeals
from tests.walks import Walk

IDS = ("pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo")
VARIANTS = ("pineapple", "crazy", "crazy_hilo")


class Sitting:
    """A match that is told move by move; every hand has the pack in canonical order."""

    def __init__(self, seats, deck=PACK_52, **options):
        self.deals = StackedDeals({(hand, "deck"): deck for hand in range(100)})
        self.events = []
        self.state, events = pineapple.start(Options(**options), seats, self.deals)
        self.hear(events)

    def hear(self, told):
        self.told = told
        self.events += [event for event, _ in told]

    def do(self, *moves):
        """Each move by the seat to act; a discard is made by all, of their first card."""
        for move in moves:
            asked = pineapple.to_act(self.state)
            chosen = tuple(
                (seat, pineapple.fallback(self.state, seat) if move is Discard else move)
                for seat in asked
            )
            self.state, events = pineapple.step(self.state, chosen, self.deals)
            self.hear(events)
        return self

    @property
    def seen(self):
        return pineapple.view(self.state, None)

    def heard(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


# fmt: off
FIRST = [
    # seats  options                             to act  bets        why
    (2,      {},                                 0,      (1, 2),     "P2: of two seats the dealer has the small blind"),
    (3,      {},                                 0,      (0, 1, 2),  "left of the big blind, here the dealer"),
    (4,      {},                                 3,      (0, 1, 2, 0), "left of the big blind"),
    (3,      {"small_blind": 0, "big_blind": 0, "ante": 1}, 1, (0, 0, 0), "without blinds left of the dealer"),
    (2,      {"small_blind": 0, "big_blind": 0, "ante": 1}, 1, (0, 0), "... of two seats as well"),
]
# fmt: on


@pytest.mark.parametrize(
    ("seats", "options", "first", "bets", "why"), FIRST, ids=[row[-1] for row in FIRST]
)
def test_before_the_flop_the_first_is(seats, options, first, bets, why):
    seen = Sitting(seats, **options).seen
    assert seen.to_act == (first,)
    assert seen.chips.bets == bets


def test_a_hand_begins_with_its_dealer_and_the_cards_of_each_seat():
    sitting = Sitting(3)
    began, *dealt = sitting.told
    assert (began.event.hand, began.event.dealer, began.event.chips.bets) == (0, 0, (0, 1, 2))
    assert began.sent_to is None
    holes = {seat: pineapple.view(sitting.state, seat).held for seat in range(3)}
    assert [(sent.event.cards, sent.sent_to) for sent in dealt] == [
        (holes[seat], (seat,)) for seat in range(3)
    ]


def test_a_bet_that_nobody_called_is_returned():
    sitting = Sitting(2).do(CALL, CHECK, Discard, Bet(2), FOLD)
    assert sitting.heard(UncalledReturned) == [UncalledReturned(1, 2)]


def test_after_the_flop_the_dealer_of_two_seats_is_last():
    sitting = Sitting(2).do(CALL, CHECK, Discard)
    assert (sitting.seen.street, sitting.seen.to_act) == (Street.FLOP, (1,))


# fmt: off
DISCARDS = [
    # variant       moves                         street          why
    ("pineapple",   (CALL, CHECK),                Street.PREFLOP, "before the flop"),
    ("crazy",       (CALL, CHECK, CHECK, CHECK),  Street.FLOP,    "after the betting on the flop"),
    ("crazy_hilo",  (CALL, CHECK, CHECK, CHECK),  Street.FLOP,    "likewise"),
]
# fmt: on


@pytest.mark.parametrize(
    ("variant", "moves", "street", "why"), DISCARDS, ids=[f"{row[0]} {row[-1]}" for row in DISCARDS]
)
def test_all_discard_at_once(variant, moves, street, why):
    sitting = Sitting(2, variant=variant).do(*moves)
    seen = sitting.seen
    assert (seen.phase, seen.street, seen.to_act) == (Phase.DISCARD, street, (0, 1))
    # By rank and suit in a canonical pack, the first card to the dealer's left.
    assert pineapple.view(sitting.state, 0).held == ("2d", "2s", "3d")
    assert pineapple.moves(sitting.state, 0).all == tuple(map(Discard, ("2d", "2s", "3d")))
    sitting.do(Discard)
    assert pineapple.view(sitting.state, 0).held == ("2s", "3d")
    assert pineapple.view(sitting.state, 0).given_up == "2d"


@pytest.mark.parametrize("variant", VARIANTS)
def test_p4_seats_without_chips_discard_too_and_the_board_runs_out(variant):
    options = {"structure": "nolimit", "start_stack": 20, "variant": variant}
    sitting = Sitting(2, **options).do(Raise(20), CALL)
    assert (sitting.seen.phase, sitting.seen.to_act) == (Phase.DISCARD, (0, 1))
    flop_first = variant != "pineapple"
    assert bool(sitting.seen.board) is flop_first
    sitting.do(Discard)
    assert [event.street for event in sitting.heard(BoardDealt)] == [
        Street.FLOP,
        Street.TURN,
        Street.RIVER,
    ]
    assert [event.seat for event in sitting.heard(Shown)] == [1, 0]
    assert sitting.seen.hand == 1


def test_p5_a_folded_seat_does_not_discard():
    sitting = Sitting(3).do(FOLD, CALL, CHECK)
    assert sitting.seen.to_act == (1, 2)


def test_the_last_seat_takes_the_pot_without_showing_or_discarding():
    sitting = Sitting(3).do(Raise(4), FOLD, FOLD)
    (won,) = sitting.heard(PotWon)
    assert (won.amount, won.winners, won.shares) == (5, (0,), (5, 0, 0))
    assert not sitting.heard(Shown)
    assert not sitting.heard(GaveUp)
    assert sitting.heard(HandEnded)[0].nets == (3, -1, -2)


@pytest.mark.parametrize("dealer", range(3))
def test_b11_odd_chips_of_both_halves_go_round_from_the_dealers_left(dealer):
    """All three tie: of five chips in each half the last seat gets one, the others two."""
    holes = [parse_cards(hole) for hole in ("AsKs", "AhKh", "AdKd")]
    order = clockwise((0, 1, 2), dealer)
    (won,) = award([Pot(10, (0, 1, 2))], order, holes, parse_cards("2c3c4d8s9h"), with_low=True)
    assert won.winners == won.low_winners == order
    assert won.shares == tuple(2 if seat == dealer else 4 for seat in range(3))


def test_a_card_is_burnt_before_flop_turn_and_river():
    sitting = Sitting(2).do(CALL, CHECK, Discard, *[CHECK] * 3)
    first = 2 * rules.HOLE
    flop, turn, river = PACK_52[first + 1 : first + 4], PACK_52[first + 5], PACK_52[first + 7]
    assert sitting.seen.board == (*flop, turn)
    sitting.do(CHECK)
    assert sitting.seen.board == (*flop, turn, river)


def test_bets_double_on_the_turn():
    sitting = Sitting(2).do(CALL, CHECK, Discard)
    assert (sitting.seen.min_to, sitting.seen.max_to) == (2, 2)
    sitting.do(CHECK, CHECK)
    assert (sitting.seen.min_to, sitting.seen.max_to) == (4, 4)


def test_p10_a_seat_that_does_not_answer_gives_up_its_first_card():
    sitting = Sitting(2).do(CALL, CHECK)
    assert pineapple.fallback(sitting.state, 1) == Discard("2c")


REFUSED = [
    # moves         chosen                                      why
    ((), ((0, Discard("2d")),), "no discard while betting"),
    ((), ((1, CALL),), "not the seat's turn"),
    ((CALL, CHECK), ((0, CHECK), (1, CHECK)), "no betting at the discard"),
    ((CALL, CHECK), ((0, Discard("2c")), (1, Discard("2c"))), "another seat's card"),
    ((CALL, CHECK), ((0, Discard("2d")),), "half a discard"),
]


@pytest.mark.parametrize(("moves", "chosen", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_a_choice_is_refused_and_changes_nothing(moves, chosen, why):
    sitting = Sitting(2).do(*moves)
    before = sitting.state
    with pytest.raises(IllegalMove):
        pineapple.step(before, chosen, sitting.deals)
    assert before == Sitting(2).do(*moves).state


BAD = [
    # options                                        seats  why
    ({"small_blind": 3}, 2, "small blind over the big"),
    ({"big_blind": 4, "small_blind": 2}, 2, "fixed limit: a big blind that is no small bet"),
    ({"big_bet": 1}, 2, "fixed limit: a big bet under the small"),
    ({"small_blind": 0, "big_blind": 0}, 2, "nothing to play for"),
    ({"start_stack": 2001}, 2, "over a thousand bets deep"),
    ({"ante": 100}, 2, "an ante that leaves nothing"),
    ({"ante": 40, "stacks": "100,40"}, 2, "an ante that leaves nothing to one seat"),
    ({"stacks": "100,40"}, 3, "stacks of two seats for three"),
    ({"stacks": "2001,40"}, 2, "a stack over a thousand bets deep"),
    ({"stacks": "100,40", "start_stack": 40}, 2, "two sizes of a stack"),
    ({"hands": 3}, 2, "not a multiple of the seats"),
    ({"structure": "spread"}, 2, "no such structure"),
    ({"format": "knockout"}, 2, "no such format"),
    ({}, 10, "too many seats"),
    ({}, 1, "too few seats"),
]


@pytest.mark.parametrize(("options", "seats", "why"), BAD, ids=[row[-1] for row in BAD])
def test_options_are_checked(options, seats, why):
    with pytest.raises(BadOptions):
        pineapple.start(build_options(Options, options), seats, StackedDeals({}))


@pytest.mark.parametrize("game_id", IDS)
def test_the_variant_is_not_a_users_to_choose(game_id):
    game = game_by_id(game_id)
    assert "variant" not in {setting.name for setting in game.settings}
    assert game.options({}, 2).variant == game.preset["variant"]


@pytest.mark.parametrize(
    ("structure", "stack"), [("fixed", 100), ("nolimit", 200)], ids=["fixed", "nolimit"]
)
def test_the_stack_goes_with_the_structure(structure, stack):
    chips = Sitting(2, structure=structure).seen.chips
    assert sum(chips.stacks + chips.bets) == 2 * stack


def test_stacks_of_each_seat_are_those_at_the_start_of_every_cash_hand():
    sitting = Sitting(3, stacks="100,40,7")
    for hand in range(2):
        assert sitting.seen.hand == hand
        chips = sitting.seen.chips
        assert [sum(parts) for parts in zip(chips.stacks, chips.bets, strict=True)] == [100, 40, 7]
        sitting.do(Raise(4), FOLD, FOLD)


def test_unequal_stacks_carry_over_in_a_freezeout():
    sitting = Sitting(2, format="freezeout", stacks="100,40").do(FOLD)
    assert sitting.heard(HandEnded)[0].nets == (-1, 1)
    chips = sitting.seen.chips
    assert [sum(parts) for parts in zip(chips.stacks, chips.bets, strict=True)] == [99, 41]


@pytest.mark.parametrize(
    ("hands", "limited"), [(2, True), (0, False)], ids=["a limit of hands", "all chips"]
)
def test_a_freezeout_says_whether_a_limit_of_hands_ended_it(hands, limited):
    options = {"format": "freezeout", "start_stack": 4, "hands": hands}
    *_, last = Walk(game_by_id("pineapple"), 2, "limit", options, whole=True)
    state = last.after
    ended = pineapple.result(state)
    assert ended.ended_by_limit is limited
    assert limited == (min(ended.scores) > -4)


# fmt: off
STAKES = [
    # options             chips a hand        why
    ({},                  2 * (8 + 16),       "four small bets twice, and four big bets twice"),
    ({"ante": 3},         3 + 2 * (8 + 16),   "the ante too"),
    ({"max_raises": 1},   2 * (4 + 8),        "two bets in each round"),
    ({"start_stack": 30}, 30,                 "no more than the stack"),
]
# fmt: on


@pytest.mark.parametrize(("options", "chips", "why"), STAKES, ids=[row[-1] for row in STAKES])
def test_a_seat_loses_at_most_at_fixed_limit(options, chips, why):
    game = game_by_id("pineapple")
    assert game.margin_bound(game.options({"hands": 2, **options}, 2), 2) == 2 * 2 * chips


def test_with_unequal_stacks_each_seat_loses_at_most_its_own():
    game = game_by_id("pineapple")
    options = game.options({"hands": 2, "stacks": "60,20"}, 2)
    assert game.margin_bound(options, 2) == 2 * (48 + 20)


# Decisions of a hand at most: with two seats at fixed limit by counting, else the digest's
# highest of its own random play, and half as much again.
MOST = {("fixed", 2): 25, ("fixed", 6): 98, ("fixed", 9): 105}
MOST |= {("nolimit", 2): 24, ("nolimit", 6): 51, ("nolimit", 9): 66}


@pytest.mark.parametrize("game_id", IDS)
@pytest.mark.parametrize("format_", ["cash", "freezeout"])
@pytest.mark.parametrize(("structure", "seats"), MOST)
def test_random_matches_keep_chips_and_cards(game_id, format_, structure, seats):
    game = game_by_id(game_id)
    options = {
        "structure": structure,
        "format": format_,
        "hands": 2 * seats,
        "start_stack": 30,
    }
    decisions = 0
    hand = -1
    for turn in Walk(game, seats, f"{game_id}{structure}", options, whole=True):
        state = turn.after
        seen = pineapple.view(state, None)
        chips = seen.chips
        assert sum(chips.stacks) + sum(chips.bets) + sum(chips.paid) == 30 * seats
        assert min(chips.stacks) >= 0
        deal = state.hand.deal
        known = [card for hole in deal.holes for card in hole]
        known += [card for card in deal.given_up if card] + list(deal.runout)
        assert len(known) == len(set(known)) == 3 * len(state.hand.match.players) + 5
        assert sum(seen.totals) == 0
        decisions = decisions + len(turn.chosen) if pineapple.hand_number(state) == hand else 0
        hand = pineapple.hand_number(state)
        assert decisions <= MOST[structure, seats]
    ended = pineapple.result(state)
    assert seen.phase is Phase.OVER
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))
    if format_ == "cash":
        assert len(ended.hand_scores) == 2 * seats
        assert sum(chips.stacks) == 30 * seats


@pytest.mark.parametrize("seats", [2, 5])
def test_a_freezeout_goes_on_until_one_seat_has_everything(seats):
    game = game_by_id("crazy_pineapple")
    options = {"structure": "nolimit", "format": "freezeout", "start_stack": 40}
    dealers = []
    for turn in Walk(game, seats, "freezeout", options, whole=True):
        state = turn.after
        match = state.hand.match
        assert match.dealer in match.players
        assert all(match.stacks[seat] > 0 for seat in match.players)
        if not dealers or dealers[-1][0] != match.hand:
            dealers.append((match.hand, match.dealer))
    ended = pineapple.result(state)
    assert sorted(ended.scores) == [-40] * (seats - 1) + [40 * (seats - 1)]
    assert sorted(ended.places) == [1] + [2] * (seats - 1)
    assert [hand for hand, _ in dealers] == list(range(len(ended.hand_scores)))
    # The deal always moves on.
    assert all(one != other for (_, one), (_, other) in pairwise(dealers))


def test_a_freezeout_passes_over_seats_without_chips():
    """Seat 0, the dealer, is out after the first hand: seat 1 deals, and then seat 2."""
    pack = ("7h", "Kc", "Tc", "Ac", "Kd", "Jd", "Ad", "8h", "9h")
    deck = (*pack, *(card for card in PACK_52 if card not in pack))
    options = {"structure": "nolimit", "format": "freezeout", "start_stack": 10}
    sitting = Sitting(3, deck, **options).do(Raise(10), CALL, FOLD, Discard)
    assert sitting.heard(HandEnded)[0].nets == (-10, 12, -2)
    seen = sitting.seen
    assert (seen.hand, seen.dealer, seen.live, seen.to_act) == (1, 1, (1, 2), (1,))
    assert seen.chips.bets == (0, 1, 2)
    sitting.do(FOLD)
    assert (sitting.seen.dealer, sitting.seen.chips.stacks) == (2, (0, 19, 8))


def same_but_hidden(seed, seat):
    """Two packs in which only the cards that `seat` of three does not get are shuffled."""
    own = {place for place in range(9) if (place + 1) % 3 == seat}
    board = {10, 11, 12}
    hidden = [place for place in range(52) if place not in own | board]
    cards = [PACK_52[place] for place in hidden]
    random.Random(seed).shuffle(cards)
    deck = list(PACK_52)
    for place, card in zip(hidden, cards, strict=True):
        deck[place] = card
    return tuple(deck)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_seat_learns_its_own_cards_the_board_and_the_betting(variant):
    """Up to the turn; whatever the others hold, discard or fold."""
    lines = {
        "pineapple": (CALL, CALL, CHECK, Discard, CHECK, CHECK),
        "crazy": (CALL, CALL, CHECK, CHECK, CHECK, CHECK),
        "crazy_hilo": (FOLD, CALL, CHECK, CHECK, CHECK),
    }
    seen = set()
    for seed in range(15):
        sitting = Sitting(3, same_but_hidden(seed, 1), variant=variant)
        events = []
        for move in (None, *lines[variant]):
            if move:
                sitting.do(move)
            events += [event for event, who in sitting.told if who is None or 1 in who]
            events.append(pineapple.view(sitting.state, 1))
            if 1 in pineapple.to_act(sitting.state):
                events.append(pineapple.moves(sitting.state, 1).offered)
        seen.add(repr(events))
    assert len(seen) == 1


def test_private_events_are_for_their_seat_and_the_spectator_sees_no_hole_cards():
    game = game_by_id("pineapple")
    for turn in Walk(game, 4, "private"):
        for event, who in turn.events:
            private = isinstance(event, Dealt | GaveUp)
            assert who == ((event.seat,) if private else None)
        seen = pineapple.view(turn.after, None)
        assert (seen.held, seen.given_up) == ((), None)


def test_the_line_tells_the_betting_of_the_hand():
    sitting = Sitting(2).do(Raise(4), CALL, Discard, CHECK)
    line = sitting.seen.line
    assert line.seats == (0, 1, 1)
    assert line.actions == ("raise", "call", "check")
    assert (line.tos, line.starts) == ((4, 4, 0), (0, 2))

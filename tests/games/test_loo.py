"""The rules of Loo where they surprise, and matches played at random."""

import random

import pytest

from arena.games.cards import PACK_52, SUITS, parse_cards
from arena.games.contract import BadOptions, IllegalMove, Seat
from arena.games.loo import rules
from arena.games.loo import rules as loo
from arena.games.loo.messages import (
    PASS,
    Began,
    Dealt,
    Declared,
    Drawn,
    Ending,
    Exchange,
    Exchanged,
    FlushShown,
    Hold,
    Options,
    Phase,
    Play,
    PlayHand,
    Recycled,
    RevealFlush,
    Scored,
)
from arena.games.loo.rules import SEATS
from arena.games.loo.state import Cards, Deal, Line, Match, Tricks, before
from arena.games.loo.tricks import flush_of, legal_replies, loo_board, trick_winner
from arena.games.options import build_options
from arena.testing.deals import SeededDeals, UnshuffledDeals
from tests.games.random_play import random_turns

MOST_SEEN = {5: 358, 6: 528, 7: 658, 8: 864, 9: 1101, 10: 1344}
"""The digest's decisions of a random match, where holders of a flush alone are asked for it."""


# fmt: off
REPLIES = [
    # hand          trick       civil  legal      why
    ("9s 3s 7h",    "Ts Ks",    False, "9s 3s",   "nothing beats the king: any spade"),
    ("As 3s 7h",    "Ts 2h Ks", False, "As 3s",   "no duty to head once the trick is trumped (R7)"),
    ("7h 2h Ad",    "Ts 5h",    False, "7h",      "without the suit the trump there is to be beaten"),
    ("Jc 2h Ad",    "Ts 5h",    False, "Jc",      "Pam counts for beating (R7)"),
    ("Jc 9h Ad",    "Th 5h",    False, "Jc",      "Pam counts for beating in trump too (R7)"),
    ("Jc 2c",       "Tc",       False, "2c",      "Pam is no club"),
    ("Jc 2c",       "Ac",       True,  "2c",      "civil in clubs: the other club"),
    ("Ah 2h",       "Jc",       False, "Ah 2h",   "Pam led: trumps, none of which beats it"),
    ("Jc 4s",       "Ah",       True,  "Jc",      "civil, but Pam is the only trump"),
    ("2h 3d",       "Ah Jc",    True,  "2h",      "Pam may have been the only trump of another"),
    ("Ad As 9s",    "8s Qc",    False, "As 9s",   "a card thrown off is nothing to beat: 9s does it"),
    ("9s 2s",       "8s Qc",    False, "9s",      "and the suit led is headed whatever was thrown off"),
    ("9s 2s",       "8s Qc Ts", False, "9s 2s",   "but the best of the suit counts, thrown off or not"),
    ("9h 2h",       "8s Ac 3h", False, "9h",      "of trumps the trump there, whatever is thrown off"),
    ("9h 2h",       "8s Ac",    False, "9h 2h",   "any trump beats what was thrown off"),
    ("4h 2h",       "Jc Ac",    False, "4h 2h",   "nor does a club thrown off to Pam count"),
]
# fmt: on


@pytest.mark.parametrize(
    ("hand", "trick", "civil", "legal", "why"), REPLIES, ids=[row[-1] for row in REPLIES]
)
def test_a_player_may_play(hand, trick, civil, legal, why):
    trump = "c" if trick == "Ac" else "h"
    got = legal_replies(parse_cards(hand), parse_cards(trick), trump, civil=civil)
    assert got == parse_cards(legal)


@pytest.mark.parametrize("trump", SUITS)
def test_of_the_cards_that_must_be_played_those_that_take_the_trick_are_legal(trump):
    """The digest's rule of following, said by who would take the trick."""
    draw, headed = random.Random(trump), 0
    for _ in range(2_000):
        size, before = draw.randint(1, 5), draw.randint(1, 5)
        cards = tuple(draw.sample(PACK_52, size + before))
        hand, trick, civil = cards[:size], cards[size:], draw.random() < 0.2
        trumps = [card for card in hand if card == "Jc" or card[1] == trump]
        if civil and len(trumps) > 1:
            trumps = [card for card in trumps if card != "Jc"]
        led = trick[0]
        followed = [card for card in hand if card[1] == led[1] and card != "Jc"]
        if led == "Jc" or led[1] == trump or not followed:
            followed = trumps
        taking = [card for card in followed if trick_winner((*trick, card), trump) == before]
        legal = legal_replies(hand, trick, trump, civil=civil)
        assert set(legal) == set(taking or followed or hand), (hand, trick, civil)
        headed += 0 < len(taking) < len(followed)
    assert headed > 50, "too few tricks that could be taken or not"


@pytest.mark.parametrize(
    ("trick", "trump", "place"),
    [("Jc As Ah", "h", 0), ("Tc Jc Ac", "h", 1), ("9s Td As", "h", 2), ("2c Kd Ad", "h", 0)],
    ids=["Pam led", "Pam to a club", "the ace of the suit", "other suits never win"],
)
def test_a_trick_is_won_by(trick, trump, place):
    assert trick_winner(parse_cards(trick), trump) == place


# fmt: off
FLUSHES = [
    # high              low                trump why
    ("2s 3s 4s 5s Jc", "Ah Kh Qh Jh Th",  "h",  "the least mouche beats the best in trump"),
    ("2h 3h 4h 5h 7h", "As Ks Qs Js Ts",  "h",  "a flush in trump beats a plain one"),
    ("As 3s 4s 5s 7s", "Kd Qd Jd Td 9d",  "h",  "the highest card"),
    ("As Ks 9s 5s 2s", "Ad Kd 9d 4d 3d",  "h",  "then the next, and so on"),
]
# fmt: on


@pytest.mark.parametrize(("high", "low", "trump", "why"), FLUSHES, ids=[row[-1] for row in FLUSHES])
def test_a_flush_beats_another(high, low, trump, why):
    assert flush_of(parse_cards(high), trump) > flush_of(parse_cards(low), trump)


def test_of_equal_flushes_the_first_from_the_dealers_left_wins():
    """R6. Others with a flush or Pam are exempt, and only players pay."""
    hands = {3: "2s 3s 4s 5s 7s", 4: "Jc 2d 3d 4h 5h", 0: "2d 3d 4d 5d 7d", 1: "2c 3d 4c 5c 7c"}
    seen = loo_board({seat: parse_cards(hand) for seat, hand in hands.items()}, "h")
    assert seen == (3, (4, 0), (1,))


def at(hands, *, phase, upcard="2h", stock="", dead="", turn=None, pot=5, leader=None):
    """A hand in the middle, dealt by seat 0; an empty hand has passed."""
    seats = len(hands)
    order = rules.CLOCKWISE[seats][0]
    players = tuple(seat for seat in order if hands[seat])
    passed = tuple(seat for seat in order if not hands[seat])
    nothing = ((),) * seats
    cards = Cards(tuple(map(parse_cards, hands)), parse_cards(stock), parse_cards(dead), nothing)
    tricks = Tricks(leader, (), nothing, (), civil=False)
    first = players[0] if turn is None else turn
    deal = Deal(upcard, cards, Line(players, passed, (0,) * seats), tricks, phase, first)
    chips = (-5, *(0,) * (seats - 1))
    match = Match(Options(), 0, pot, chips, (0,) * seats, ())
    return before(match, deal)


def after(state, *moves):
    """The state after these moves of whoever is to act, and all that was told."""
    events = []
    for move in moves:
        (seat,) = loo.to_act(state)
        state, new = loo.step(state, ((seat, move),), SeededDeals(1))
        events += new
    return state, events


def told_of(told, kind):
    return [event for event, _ in told if isinstance(event, kind)]


IN = PlayHand()
FIVE = ["2c 3d 8s 9c Tc", "Ah Kh As Ks 3c", "Jc Qh 4s 5s 9d", "", ""]


def test_who_plays_alone_takes_the_pot():
    """R3: the last seat is asked even when all others passed."""
    state, _ = loo.start(Options(), 5, SeededDeals(0))
    state, events = after(state, PASS, PASS, PASS, PASS)
    assert loo.to_act(state) == (0,)
    state, events = after(state, IN)
    (scored,) = told_of(events, Scored)
    assert (scored.ending, scored.won, scored.pot) == (Ending.WALKOVER, (5, 0, 0, 0, 0), 0)
    assert loo.view(state, None).chips == (0, -5, 0, 0, 0)  # seat 1 deals now


def test_a_pot_that_nobody_wants_grows():
    state, _ = loo.start(Options(), 5, SeededDeals(0))
    state, events = after(state, *[PASS] * 10)
    assert [event.pot for event in told_of(events, Scored)] == [5, 10]
    assert loo.view(state, None).pot == 15


def test_everybody_is_asked_for_a_flush_and_a_hold_is_not_told():
    """R6: asking holders alone would show who holds one."""
    hands = ["2c 3d 8s 9c Tc", "2s 5s 9s Ts Ks", "Jc Qh 4s 5s 9d", "", ""]
    state = at(hands, phase=Phase.FIRST_FLUSH)
    assert list(loo.moves(state, 1)) == [RevealFlush(), Hold()]
    state, events = after(state, Hold())
    assert (events, loo.to_act(state)) == ([], (2,))
    assert list(loo.moves(state, 2)) == [Hold()]
    state, events = after(state, Hold(), Hold())
    assert (events, loo.view(state, None).phase) == ([], Phase.EXCHANGE)


def test_a_better_flush_does_not_lose_by_silence():
    """R6: the flush revealed is a plain one, and seat 2 held a mouche back."""
    hands = ["2c 3d 8s 9c Tc", "Jc 4s 5s 9s 2s", "2d 5d 9d Td Kd", "As 3c", ""]
    state = at(hands, phase=Phase.FIRST_FLUSH, pot=10)
    _, events = after(state, Hold(), RevealFlush())
    (shown,) = told_of(events, FlushShown)
    assert shown == FlushShown(1, parse_cards("Jc 4s 5s 9s 2s"), (2,))
    (scored,) = told_of(events, Scored)
    assert scored.won == (0, 10, 0, 0, 0)


def test_an_exchange_is_limited_by_stock_and_dead_cards():
    """R4: the own discards cannot be drawn again."""
    hands = ["2c 3d 8s 9c Tc", "Ah Kh As Ks 3c", "Jc Qh 4s 5s 9d", "", ""]
    state = at(hands, phase=Phase.EXCHANGE, stock="2d", dead="4d 5d")
    offered = loo.moves(state, 1)
    assert max(len(move.cards) for move in offered) == 3
    assert offered.count() == 1 + 5 + 10 + 10
    state, events = after(state, Exchange(("Ah", "Kh")))
    drawn = told_of(events, Drawn)[0].cards
    assert told_of(events, Exchanged) == [Exchanged(1, 2)]
    assert told_of(events, Recycled) == [Recycled(2)]
    assert "2d" in drawn
    assert len({"4d", "5d"} & set(drawn)) == 1
    seen = loo.view(state, Seat(1))
    assert (seen.stock, seen.dead, seen.discarded) == (1, 2, ("Kh", "Ah"))
    assert seen.exchanged == (0, 2, 0, 0, 0)


def test_cards_drawn_are_told_to_their_seat_alone():
    state = at(FIVE, phase=Phase.EXCHANGE, stock="2d 4d")
    _, events = after(state, Exchange(("3c",)))
    assert [sent.sent_to for sent in events if isinstance(sent.event, Drawn)] == [(1,)]


def test_civil_goes_with_the_lead_of_the_ace_of_trump_alone():
    """R7, also if its leader holds Pam."""
    state = at(["2c", "Ah Jc", "9h 3h", "", ""], phase=Phase.LEAD, leader=1)
    assert list(loo.moves(state, 1)) == [
        Play("Ah", civil=False),
        Play("Ah", civil=True),
        Play("Jc", civil=False),
    ]
    state, _ = after(state, Play("Ah", civil=True))
    assert loo.view(state, None).civil
    state, _ = after(state, Play("9h", civil=False), Play("2c", civil=False))
    assert not loo.view(state, None).civil


def test_there_is_no_pam_if_it_is_turned_up():
    """R9: the jack of clubs is out of play and clubs are trump."""
    assert trick_winner(parse_cards("Ts 2c As"), "c") == 1
    for seed in range(400):
        state, _ = loo.start(Options(), 10, SeededDeals(seed))
        if state.deal.upcard == "Jc":
            assert all("Jc" not in hand for hand in state.deal.cards.hands)
            return
    raise AssertionError("no such deal in 400")


def test_a_player_without_a_trick_pays_and_the_pot_is_divided():
    hands = ["2s", "Ah", "3d", "", ""]
    state = at(hands, phase=Phase.LEAD, leader=1, pot=10)
    tricks = Tricks(1, (), ((),) * 5, (0, 0, 1, 1), civil=False)
    deal = Deal("2h", state.deal.cards, state.deal.line, tricks, Phase.LEAD, 1)
    state = before(state.match, deal)
    state, events = after(state, *(Play(card, civil=False) for card in ("Ah", "3d", "2s")))
    (scored,) = told_of(events, Scored)
    assert (scored.won, scored.looed, scored.pot) == ((4, 6, 0, 0, 0), (2,), 5)
    assert scored.chips == (-1, 6, -5, 0, 0)


@pytest.mark.parametrize(
    "move",
    [
        Exchange(("2d",)),
        Exchange(("Ah", "Kh", "2d")),
        Exchange(("Ah", "no card")),
        Exchange(("Ah", "Ah")),
        PASS,
        Play("Ah", civil=True),
    ],
    ids=["not held", "one not held", "no card", "a card twice", "another phase", "no lead"],
)
def test_an_illegal_move_leaves_the_state_as_it_was(move):
    state, same = (at(FIVE, phase=Phase.EXCHANGE, stock="2d 4d") for _ in range(2))
    with pytest.raises(IllegalMove):
        loo.step(state, ((1, move),), SeededDeals(1))
    assert state == same


@pytest.mark.parametrize(
    ("given", "seats"),
    [({}, 4), ({}, 11), ({"hands": 6}, 5), ({"hands": 301}, 7)],
    ids=["four seats", "eleven seats", "not a multiple of the seats", "too many hands"],
)
def test_options_are_checked(given, seats):
    with pytest.raises(BadOptions):
        loo.start(build_options(Options, given), seats, SeededDeals(0))


def play(seats, seed, options=Options()):  # noqa: B008 - frozen
    """A random match: every state, and what was told on entering it."""
    deals, chooser = SeededDeals(seed), random.Random(seed)
    for turn in random_turns(loo, options, seats, chooser, deals):
        yield turn.after, turn.events


def all_cards(deal):
    cards = deal.cards
    piles = (*cards.hands, cards.stock, cards.dead, *deal.tricks.played, (deal.upcard,))
    return sorted(card for pile in piles for card in pile)


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("seed", range(2))
def test_random_matches_keep_cards_and_chips_and_end_in_the_digests_bounds(seats, seed):
    asked_for_holders = 0
    for state, events in play(seats, seed):
        assert all_cards(state.deal) == sorted(PACK_52)
        assert sum(state.match.chips) + state.match.pot == 0
        assert state.match.pot % 5 == 0
        for seat in loo.to_act(state):
            offered = loo.moves(state, seat)
            assert loo.fallback(state, seat) in offered
            assert 1 <= offered.count() <= 32
            asked_for_holders += list(offered) != [Hold()]
        for event, who in events:
            assert (who is None) is not isinstance(event, Dealt | Drawn)
    ended = loo.result(state)
    assert len(ended.hand_scores) == 3 * seats
    assert asked_for_holders <= MOST_SEEN[seats]
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))


def test_every_seat_deals_three_times():
    dealers = {}
    for state, events in play(5, 1):
        dealers[loo.hand_number(state)] = loo.view(state, None).dealer
        for event in told_of(events, Declared):
            assert isinstance(event.plays, bool)
    assert list(dealers.values()) == [0, 1, 2, 3, 4] * 3


def test_a_pass_shows_the_own_cards_to_their_seat_alone():
    state, _ = loo.start(Options(), 5, SeededDeals(3))
    hand = loo.view(state, Seat(1)).held
    state, _ = after(state, PASS)
    mine, others, nobody = (loo.view(state, seat) for seat in (Seat(1), Seat(2), None))
    assert (mine.held, mine.discarded) == ((), hand)
    assert (others.discarded, nobody.discarded, nobody.held) == ((), (), ())
    assert (nobody.passed, nobody.dead) == ((1,), 5)
    state, _ = after(state, IN, IN, PASS, PASS)  # the last of them is seat 0
    assert loo.view(state, Seat(0)).discarded
    assert loo.view(state, None).discarded == ()


def test_cards_are_dealt_singly_from_the_dealers_left():
    state, _ = loo.start(Options(), 5, UnshuffledDeals())
    for left in range(5):
        assert loo.view(state, Seat((1 + left) % 5)).held == PACK_52[left:25:5]
    assert (state.deal.upcard, state.deal.cards.stock) == (PACK_52[25], PACK_52[26:])


def test_a_hand_begins_with_its_number_dealer_upcard_and_pot():
    """Also the second one, whose pot holds what nobody won."""
    state, events = loo.start(Options(), 5, UnshuffledDeals())
    assert events[0] == (Began(0, Seat(0), PACK_52[25], 5), None)
    state, events = after(state, *[PASS] * 5)
    (began,) = told_of(events, Began)
    assert began == Began(1, Seat(1), state.deal.upcard, 10)
    assert [seats for event, seats in events if event == began] == [None]


def test_cards_reach_the_dead_pile_in_the_order_of_play():
    """R4: in that order they are shuffled for a new stock."""
    state = at(FIVE, phase=Phase.EXCHANGE, stock="2d 4d 5d", dead="6d")
    state, _ = after(state, Exchange(("3c",)), Exchange(("4s", "5s")))
    assert state.deal.cards.dead == ("6d", "3c", "4s", "5s")


def test_hands_of_those_who_pass_are_dead_in_the_order_of_passing():
    state, _ = loo.start(Options(), 5, UnshuffledDeals())
    first, second = (loo.view(state, Seat(seat)).held for seat in (1, 2))
    state, _ = after(state, PASS, PASS)
    assert state.deal.cards.dead == (*first, *second)


def test_an_exchange_of_more_than_stock_and_dead_cards_is_refused():
    state = at(FIVE, phase=Phase.EXCHANGE, stock="2d", dead="4d 5d")
    with pytest.raises(IllegalMove, match="exchange up to 3 cards"):
        after(state, Exchange(("Ah", "Kh", "As", "Ks")))

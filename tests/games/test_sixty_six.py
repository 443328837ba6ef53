"""The rules of Sixty-Six where they surprise, and matches played at random."""

import random

import pytest

from arena.games.cards import parse_cards
from arena.games.contract import BadOptions, IllegalMove, Listed
from arena.games.options import build_options
from arena.games.sixty_six import rules as sixty_six
from arena.games.sixty_six.messages import (
    CLAIM,
    CLOSE,
    EXCHANGE,
    Claim,
    Drawn,
    Marriage,
    Options,
    Phase,
    Play,
    Scored,
)
from arena.games.sixty_six.rules import SEATS
from arena.games.sixty_six.scoring import PACK_24, Reason, Tally, award, with_carry
from arena.games.sixty_six.state import Deal, Match, Side, State, Stock, before
from arena.local.turns import turns
from arena.testing.deals import SeededDeals

MOST_DECISIONS = 24 * 2 * 11
"""Of a random match: eleven hands are the most seen, with two moves a card at the very most."""


# fmt: off
AWARDS = [
    # points    tricks   claimer closer then  award   reason   why
    ((66, 33),  (7, 5),   None,   None,   0,  (1, 0), Reason.SIXTY_SIX, "33 saves the loser from a schneider"),
    ((66, 32),  (7, 5),   None,   None,   0,  (2, 0), Reason.SCHNEIDER, "32 does not"),
    ((66, 0),   (5, 1),      0,   None,   0,  (2, 0), Reason.SCHNEIDER, "a trick without points is a trick"),
    ((66, 66),  (6, 6),      1,   None,   0,  (0, 0), Reason.NULL, "both have it: the claim is right and pays nothing (R7)"),
    ((66, 66),  (6, 6),   None,      0,   0,  (0, 0), Reason.NULL, "both have it after closing too (R7)"),
    ((65, 10),  (6, 2),   None,      0,   0,  (0, 3), Reason.CLOSER_SHORT_TRICKLESS, "a closer with 65 has lost; no trick when it closed (R6)"),
    ((65, 10),  (6, 2),   None,      0,   1,  (0, 2), Reason.CLOSER_SHORT, "the same with a trick when it closed (R6)"),
    ((65, 80),  (6, 0),      1,      0,   2,  (0, 2), Reason.CLOSER_SHORT, "the penalty stays two whatever the other has (R6)"),
    ((40, 65),  (3, 4),      1,      0,   0,  (2, 0), Reason.FALSE_CLAIM, "a false claim spares the closer (R6)"),
    ((66, 32),  (7, 0),   None,   None,   0,  (3, 0), Reason.SCHWARZ, "without a trick it is three"),
    ((65, 40),  (6, 0),      0,      0,   1,  (0, 3), Reason.FALSE_CLAIM_TRICKLESS, "the closer's false claim: trickless at the claim (R6)"),
]
# fmt: on


@pytest.mark.parametrize(
    ("points", "tricks", "claimer", "closer", "then", "pays", "reason", "why"),
    AWARDS,
    ids=[row[-1] for row in AWARDS],
)
def test_a_hand_pays_and_says_why(points, tricks, claimer, closer, then, pays, reason, why):
    assert award(Tally(points, tricks, claimer, closer, then)) == (pays, reason)


@pytest.mark.parametrize(
    ("gained", "carry", "paid", "left"),
    [((0, 0), 0, (0, 0), 1), ((0, 3), 2, (0, 5), 0), ((1, 0), 0, (1, 0), 0)],
    ids=["a null hand carries one", "a penalty takes what was carried (R8)", "nothing carried"],
)
def test_carrying(gained, carry, paid, left):
    assert with_carry(gained, carry) == (paid, left)


def at(hands, *, upcard, stock="", led=None, turn=0, winners=(), closer=None, pending=(0, 0)):
    """A hand in the middle, dealt by seat 1."""
    sides = [
        Side(parse_cards(cards), (), (), 0, waits)
        for cards, waits in zip(hands, pending, strict=True)
    ]
    phase = Phase.LEAD if led is None else Phase.FOLLOW
    reserve = Stock(parse_cards(stock), upcard, closer, 0)
    deal = Deal(tuple(sides), reserve, upcard[1], phase, turn, led, None, winners)
    match = Match(Options(), 1, 0, (0, 0), ((0, 0),))
    return before(match, deal)


def after(state, *moves):
    """The state after these moves of whoever is to act, and the events of the last."""
    events = ()
    for move in moves:
        (seat,) = sixty_six.to_act(state)
        state, events = sixty_six.step(state, ((seat, move),), SeededDeals(1))
    return state, [event for event, _ in events]


# fmt: off
TURNS = [
    # hand             moves before                  offered                               why
    ("9s Ah",  (),                       [CLAIM, CLOSE, EXCHANGE, Play("9s"), Play("Ah")], "all that a leader may do"),
    ("9s Ah",  (EXCHANGE,),              [CLAIM, CLOSE, Play("Js"), Play("Ah")],           "closing after an exchange (R4)"),
    ("9s Ah",  (CLOSE,),                 [CLAIM, Play("9s"), Play("Ah")],                  "no exchange after closing (R4)"),
    ("Qs Ks",  (),                       [CLAIM, CLOSE, Marriage("s"), Play("Qs"), Play("Ks")], "a marriage is offered"),
    ("Qs Ks Ah", (Marriage("s"),),       [CLAIM, Play("Qs"), Play("Ks")],                  "a marriage is led at once"),
    ("Qs Ks Ah", (CLOSE, Marriage("s")), [CLAIM, Play("Qs"), Play("Ks")],                  "a marriage after closing (R10)"),
    ("Qs Kh",  (),                       [CLAIM, CLOSE, Play("Qs"), Play("Kh")],           "king and queen of one suit"),
]
# fmt: on


@pytest.mark.parametrize(
    ("hand", "before", "offered", "why"), TURNS, ids=[row[-1] for row in TURNS]
)
def test_a_leader_may(hand, before, offered, why):
    state = at((hand, "9c 9d"), upcard="Js", stock="Ac")
    state, _ = after(state, *before)
    assert list(sixty_six.moves(state, 0)) == offered


def test_a_closing_follower_follows_suit_at_once():
    """R2: the seed lets either player close, and strict play begins with the closing."""
    state = at(("Qh Ts", "Ah 9h Ts"), upcard="Js", stock="Ac", led="Kh", turn=1)
    assert Play("Ts") in sixty_six.moves(state, 1)
    state, _ = after(state, CLOSE)
    assert list(sixty_six.moves(state, 1)) == [CLAIM, Play("Ah"), Play("9h")]
    assert sixty_six.view(state, 1).upcard is None


def test_nothing_is_carried_into_the_first_hand():
    state, _ = sixty_six.start(Options(), 2, SeededDeals(1))
    seen = sixty_six.view(state, None)
    assert (seen.carry, seen.totals, seen.dealer, seen.to_act) == (0, (0, 0), 0, 1)


def test_the_last_two_cards_go_face_down_first_and_the_upcard_to_the_loser():
    """R1: the loser's card is the upcard, so everybody is told of it."""
    state = at(("Ah 9c", "9h 9d"), upcard="Js", stock="Ac")
    (seat,) = sixty_six.to_act(state)
    state, _ = sixty_six.step(state, ((seat, Play("Ah")),), SeededDeals(1))
    state, events = sixty_six.step(state, ((1, Play("9h")),), SeededDeals(1))
    drawn = [sent for sent in events if isinstance(sent.event, Drawn)]
    assert drawn == [(Drawn(0, "Ac"), (0,)), (Drawn(1, "Js"), None)]
    seen = sixty_six.view(state, None)
    assert (seen.strict, seen.upcard, seen.stock, seen.known) == (True, None, 0, ((), ("Js",)))


# fmt: off
CLOSINGS = [
    # won before   after the closing, then a false claim        pays     why
    ((1,),         (),                                          (0, 2),  "the opponent had a trick when seat 0 closed"),
    ((0,),         (),                                          (0, 3),  "seat 0 had one, and that is not counted"),
    ((0,),         (Play("9h"), Play("Ah"), Play("Ad")),        (0, 3),  "the opponent had none then, and has one now"),
    ((1, 0),       (),                                          (0, 2),  "each had one"),
    ((),           (Play("9h"), Play("Ah"), Play("Ad")),        (0, 3),  "nobody had one"),
]
# fmt: on


@pytest.mark.parametrize(
    ("winners", "moves", "pays", "why"), CLOSINGS, ids=[row[-1] for row in CLOSINGS]
)
def test_a_closer_who_fails_pays_by_the_tricks_its_opponent_had_then(winners, moves, pays, why):
    """R6: two points, or three if the opponent was without a trick when the stock was closed."""
    state = at(("9h 9c", "Ah Ad"), upcard="Js", stock="Ac", winners=winners)
    _, events = after(state, CLOSE, *moves, CLAIM)
    assert next(event for event in events if isinstance(event, Scored)).gained == pays


def test_a_waiting_marriage_is_lost_without_a_trick():
    """R5: a claim is judged by the points that count by now."""
    state = at(("Qs Ks", "9c 9d"), upcard="Js", stock="Ac")
    state, events = after(state, Marriage("s"), CLAIM)
    scored = next(event for event in events if isinstance(event, Scored))
    assert (scored.points, scored.gained) == ((0, 0), (0, 3))


def test_a_waiting_marriage_counts_with_the_first_trick():
    state = at(("9h", "Ah"), upcard="Js", closer=0, pending=(0, 20), led="9h", turn=1)
    _, events = after(state, Play("Ah"))
    assert events[1].value == 11 + 20 + 10  # ace, marriage, last trick


@pytest.mark.parametrize(
    ("suit", "value"), [("s", 40), ("h", 20)], ids=["of trumps", "of another suit"]
)
def test_a_marriage_after_a_trick_counts_at_once(suit, value):
    state = at((f"Q{suit} K{suit}", "9c 9d"), upcard="Js", stock="Ac", winners=(0,))
    state, _ = after(state, Marriage(suit))
    side = state.deal.sides[0]
    assert (side.points, side.pending) == (value, 0)


def test_a_match_cannot_be_won_by_more_than_three_points_a_hand():
    assert sixty_six.margin_bound(build_options(Options, {"hands": 8}), 2) == 24
    assert sixty_six.margin_bound(Options(target=7, hands=0), 2) is None


@pytest.mark.parametrize(
    "move", [Play("As"), EXCHANGE, Marriage("d")], ids=["not held", "follower", "no lead"]
)
def test_an_illegal_move_leaves_the_state_as_it_was(move):
    state = at(("Qh Ts", "Ah 9s Qd Kd"), upcard="Js", stock="Ac", led="Kh", turn=1)
    same = at(("Qh Ts", "Ah 9s Qd Kd"), upcard="Js", stock="Ac", led="Kh", turn=1)
    with pytest.raises(IllegalMove):
        sixty_six.step(state, ((1, move),), SeededDeals(1))
    assert state == same


@pytest.mark.parametrize(
    ("given", "seats"),
    [({}, 3), ({"hands": 3}, 2), ({"hands": 62}, 2), ({"target": 0}, 2)],
    ids=["three seats", "uneven hands", "past the guard", "no target"],
)
def test_options_are_checked(given, seats):
    with pytest.raises(BadOptions):
        sixty_six.start(build_options(Options, given), seats, SeededDeals(0))


def play(seed, options=Options(), *, claims="true"):  # noqa: B008 - frozen
    """A random match: every state. Bots claim when it is true, or as it comes."""
    deals, chooser = SeededDeals(seed), random.Random(seed)

    def choose(state, seat):
        legal = list(sixty_six.moves(state, seat))
        if claims == "true" and sixty_six.view(state, seat).points[seat] < 66:
            legal = [move for move in legal if not isinstance(move, Claim)]
        return chooser.choice(legal)

    for turn in turns(sixty_six, options, 2, deals, choose):
        yield turn.after


def all_cards(deal):
    piles = [deal.stock.cards, *((side.hand + side.played) for side in deal.sides)]
    return sorted(
        [card for pile in piles for card in pile] + [deal.stock.upcard] * bool(deal.stock.upcard)
    )


@pytest.mark.parametrize("claims", ["true", "any"])
@pytest.mark.parametrize("seed", range(15))
def test_random_matches_keep_the_cards_and_end_in_the_digests_bounds(seed, claims):
    states = list(play(seed, claims=claims))
    for state in states:
        assert all_cards(state.deal) == sorted(PACK_24)
        for seat in sixty_six.to_act(state):
            offered: Listed = sixty_six.moves(state, seat)
            assert sixty_six.fallback(state, seat) in offered
            assert 1 < offered.count() <= 11 or len(state.deal.sides[seat].hand) == 1
        seen = [sixty_six.view(state, seat) for seat in SEATS]
        for seat, other in ((0, 1), (1, 0)):
            assert set(seen[other].known[seat]) <= set(seen[seat].held)
    ended = sixty_six.result(states[-1])
    assert len(states) - 1 <= MOST_DECISIONS
    assert max(ended.scores) >= 7 > min(ended.scores)
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))


def test_a_fixed_length_lets_both_deal_equally_often():
    states = list(play(3, Options(hands=8, target=1)))
    assert len(sixty_six.result(states[-1]).hand_scores) == 8
    dealers = {sixty_six.hand_number(state): sixty_six.view(state, None).dealer for state in states}
    assert list(dealers.values()) == [0, 1] * 4


def test_a_race_that_nobody_wins_ends_after_sixty_hands():
    """R12. Nobody can stay below seven for so long by playing, so the count is put in."""
    state = next(play(0))
    match = Match(Options(), 59, 0, (3, 3), ((0, 0),) * 59)
    late = State(match, state.deal, state.legal)
    over, _ = sixty_six.step(late, ((sixty_six.to_act(late)[0], CLAIM),), SeededDeals(0))
    assert sixty_six.result(over).scores == (6, 3)

"""The rulings on poker betting, B1 to B12, a row or a few for each."""

import pytest

from arena.games.betting import rounds
from arena.games.betting.match import (
    Format,
    Match,
    Scores,
    UncalledReturned,
    new_match,
    next_hand,
    score_hand,
)
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, Raise
from arena.games.betting.pots import Pot, end_round, pots_of
from arena.games.betting.rounds import Limits, Structure
from arena.games.contract import IllegalMove
from arena.games.pineapple.rules import award
from arena.games.soko.rules import award as award_soko

FIXED = Limits(Structure.FIXED, 10, 10, 3)
SPREAD = Limits(Structure.SPREAD, 4, 10, 3)
NOLIMIT = Limits(Structure.NOLIMIT, 10, 0, None)
DEEP = (500, 500, 500)

MOVES = {"f": FOLD, "k": CHECK, "c": CALL}


def move_of(word):
    """`f` folds, `k` checks, `c` calls, `b4` bets, `r20` raises to 20."""
    if word in MOVES:
        return MOVES[word]
    return {"b": Bet, "r": Raise}[word[0]](int(word[1:]))


def opened(limits, stacks, blinds=(), bring_in=None):
    """A round: blinds from seat 0 on, or a bring-in of seat 0, or nothing posted."""
    seats = tuple(range(len(stacks)))
    if bring_in:
        chips = rounds.put_in(rounds.post(stacks, 0), 0, min(bring_in, stacks[0]))
        price = rounds.opened(limits, bring_in)
        return rounds.begin(limits, chips, seats, seats[1:], price, posted=0)
    chips = rounds.post(stacks, 0, enumerate(blinds))
    price = rounds.opened(limits, blinds[-1]) if blinds else rounds.unopened(limits)
    order = seats[len(blinds) :] + seats[: len(blinds)]
    return rounds.begin(limits, chips, seats, order, price)


def play(round_, line):
    for word in line.split():
        round_ = rounds.act(round_, move_of(word))
    return round_


# fmt: off
LENGTHS = [
    # hands  format                   played  goes on  why
    (0,      Format.CASH,              19,    True,    "for cash, ten hands for each seat"),
    (0,      Format.CASH,              20,    False,   "... and no more"),
    (0,      Format.FREEZEOUT,        999,    True,    "a freezeout, until all chips are won"),
    (0,      Format.FREEZEOUT,       1000,    False,   "... but at most a thousand hands"),
    (2,      Format.CASH,               1,    True,    "as many hands as the options say"),
    (2,      Format.CASH,               2,    False,   "... for cash"),
    (2,      Format.FREEZEOUT,          2,    False,   "... and in a freezeout"),
]
# fmt: on


@pytest.mark.parametrize(
    ("hands", "format_", "played", "goes_on", "why"), LENGTHS, ids=[row[-1] for row in LENGTHS]
)
def test_a_match_of_two_lasts(hands, format_, played, goes_on, why):
    match = new_match(hands, format_, (100, 100))
    scores = Scores(((0, 0),) * played, (0, 0))
    assert (next_hand(match, scores) is not None) is goes_on


# fmt: off
NEXT_HANDS = [
    # format           dealer  nets              next dealer  players    stacks         why
    (Format.CASH,      0,      (50, -100, 50),   1,           (0, 1, 2), (100, 100, 100), "cash: all begin with the first stacks again"),
    (Format.CASH,      2,      (50, -50, 0),     0,           (0, 1, 2), (100, 100, 100), "... and the deal passes round the table"),
    (Format.FREEZEOUT, 0,      (50, -50, 0),     1,           (0, 1, 2), (150, 50, 100),  "a freezeout goes on with the chips that are left"),
    (Format.FREEZEOUT, 0,      (50, -100, 50),   2,           (0, 2),    (150, 0, 150),   "... past a seat without chips"),
    (Format.FREEZEOUT, 1,      (50, -100, 50),   2,           (0, 2),    (150, 0, 150),   "... also if it dealt"),
    (Format.FREEZEOUT, 2,      (-100, 50, 50),   1,           (1, 2),    (0, 150, 150),   "... and round the table"),
    (Format.FREEZEOUT, 0,      (200, -100, -100), None,       (),        (),              "... until one seat has all"),
]
# fmt: on


@pytest.mark.parametrize(
    ("format_", "dealer", "nets", "following", "players", "stacks", "why"),
    NEXT_HANDS,
    ids=[row[-1] for row in NEXT_HANDS],
)
def test_the_next_hand_has(format_, dealer, nets, following, players, stacks, why):
    match = new_match(0, format_, (100, 100, 100))
    match = Match(match.terms, match.scores, 0, dealer, match.players, match.stacks)
    scores = score_hand(match, tuple(100 + net for net in nets))
    assert (scores.hands, scores.totals) == ((nets,), nets)
    after = next_hand(match, scores)
    assert (after and (after.hand, after.dealer, after.players, after.stacks)) == (
        None if following is None else (1, following, players, stacks)
    )


# fmt: off
UNCALLED = [
    # stacks            line        seat  amount  why
    (DEEP,              "b30 f f",  0,    30,     "a bet that all fold to"),
    (DEEP,              "b30 r90 f f", 1, 60,     "the part of a raise that nobody called"),
    ((500, 40, 500),    "b90 c f",  0,    50,     "what a short call leaves over"),
    (DEEP,              "b30 c f",  None, None,   "none of a bet that was called"),
]
# fmt: on


@pytest.mark.parametrize(
    ("stacks", "line", "seat", "amount", "why"), UNCALLED, ids=[row[-1] for row in UNCALLED]
)
def test_a_seat_gets_back_what_was_not_called(stacks, line, seat, amount, why):
    """B8."""
    ended = play(opened(NOLIMIT, stacks), line)
    chips, told = end_round(ended)
    assert [event for event, _ in told] == (
        [] if seat is None else [UncalledReturned(seat, amount)]
    )
    assert sum(chips.stacks) + sum(chips.paid) == sum(stacks)
    assert chips.bets == (0,) * len(stacks)


NONE = (None, None)
# fmt: off
TURNS = [
    # limits  stacks            posted              line          seat  call  wager      why
    (NOLIMIT, DEEP,             {},                 "",             0,   0, (10, 500),  "B3: a bet is at least M, at most the stack"),
    (SPREAD,  DEEP,             {},                 "",             0,   0, (4, 10),    "B3: a bet is at most X in spread limit"),
    (FIXED,   DEEP,             {},                 "",             0,   0, (10, 10),   "B5: one size in fixed limit"),
    (NOLIMIT, (500, 7, 500),    {},                 "b20",          1,   7, NONE,       "B2, B3: a stack under C calls for less or folds"),
    (NOLIMIT, (500, 20, 500),   {},                 "b20",          1,  20, NONE,       "B3: a stack that only just calls cannot raise"),
    (NOLIMIT, (500, 25, 500),   {},                 "b20",          1,  20, (25, 25),   "B3: the low end is lowered to the stack"),
    (NOLIMIT, (6, 500, 500),    {},                 "b6",           1,   6, (10, 500),  "B3: a short opener is completed to M"),
    (NOLIMIT, (6, 500, 500),    {},                 "b6 r10",       2,  10, (20, 500),  "B3: a completion is the opening bet: R is its size"),
    (NOLIMIT, DEEP,             {},                 "b30",          1,  30, (60, 500),  "B3: R is the size of the bet"),
    (NOLIMIT, DEEP,             {},                 "b30 r100",     2, 100, (170, 500), "B3: R is the increment of a full raise"),
    (SPREAD,  DEEP,             {},                 "b6 r12",       2,  12, (18, 22),   "B3: a raise from R to X"),
    (SPREAD,  DEEP,             {"bring_in": 2},    "",             1,   2, (4, 10),    "B3: a bring-in under M is completed"),
    (SPREAD,  DEEP,             {"bring_in": 2},    "r10",          2,  10, (20, 20),   "B3: ... and R is the whole completion"),
    (SPREAD,  DEEP,             {"bring_in": 5},    "",             1,   5, (10, 15),   "B6: a bring-in of M or more is the bet"),
    (SPREAD,  DEEP,             {"bring_in": 2},    "c c",       None,   0, NONE,       "B4: the bring-in has acted: no option when called"),
    (SPREAD,  DEEP,             {"bring_in": 2},    "c r4",         0,   2, (8, 14),    "B4: ... but it may raise after a completion"),
    (SPREAD,  (500, 3, 500),    {"bring_in": 2},    "r3 c",         0,   1, NONE,       "B4: ... and not after a short all-in"),
    (SPREAD,  (500, 2, 500),    {"bring_in": 1},    "r2 c",         0,   1, NONE,       "B4: ... also if it was the smallest there is"),
    (SPREAD,  (500, 7, 500),    {"bring_in": 5},    "r7 c",         0,   2, NONE,       "B4: ... nor if it was a full bet"),
    (NOLIMIT, (500, 500, 35),   {},                 "b20 c r35",    0,  15, NONE,       "B4: a short all-in reopens nothing for the bettor"),
    (NOLIMIT, (500, 500, 40),   {},                 "b20 c r40",    0,  20, (60, 500),  "B4: a full one does"),
    (NOLIMIT, (500, 30, 45, 500), {},               "b20 r30 r45 c", 0, 25, (65, 500),  "B4: short all-ins add up to R for the bettor"),
    (NOLIMIT, (500, 500, 30, 45), {},               "b20 c r30 r45", 0, 25, (65, 500),  "B4: ... whoever called between"),
    (NOLIMIT, (500, 30, 40, 500), {},               "b20 r30 r40 c", 0, 20, (60, 500),  "B4: ... to R exactly too"),
    (NOLIMIT, (500, 35, 500, 45), {},               "b20 r35 c r45 c", 2, 10, NONE,     "B4: ... but not for one who called the first of them"),
    (NOLIMIT, (500, 6, 500),    {},                 "k b6 c",       0,   6, NONE,       "B4: who checked may not complete a short opener"),
    (FIXED,   (500, 14, 500),   {},                 "b10 r14",      2,  14, (20, 20),   "B5: under half a bet: the next raise completes, L + B"),
    (FIXED,   (500, 15, 500),   {},                 "b10 r15",      2,  15, (25, 25),   "B5: half a bet counts as a raise to there"),
    (FIXED,   (500, 14, 500),   {},                 "b10 r14 c",    0,   4, NONE,       "B5: under half reopens nothing"),
    (FIXED,   (500, 15, 500),   {},                 "b10 r15 c",    0,   5, (25, 25),   "B5: half reopens"),
    (FIXED,   (500, 4, 6, 500), {},                 "k b4 r6",      3,   6, (16, 16),   "B5: two short openers: the second is over half of B"),
    (FIXED,   (5, 500, 500),    {"blinds": (5, 10)}, "",            2,  10, (20, 20),   "B5: before the flop L is the whole big blind"),
    (FIXED,   DEEP,             {},                 "b10 r20 r30 r40", 1, 20, NONE,     "B6: a bet and three raises"),
    (FIXED,   DEEP,             {"blinds": (5, 10)}, "r20 r30 r40", 2,  20, NONE,       "B6: a big blind and three raises"),
    (FIXED,   (500, 500),       {},                 "b10 r20 r30 r40", 0, 10, NONE,     "B6: between two seats as well"),
    (FIXED,   (500, 500, 43),   {},                 "b10 r20 r30 r40 c", 2, 10, NONE,   "B6: at the cap not even a short all-in"),
    (FIXED,   (5, 500, 500),    {},                 "b5 r15 r25 r35", 2, 10, NONE,      "B5, B6: a counted opening all-in is the bet"),
    (FIXED,   (4, 500, 500),    {},                 "b4 r10 r20 r30", 2, 10, (40, 40),  "B5, B6: an opening all-in under half is not"),
    (SPREAD,  DEEP,             {"bring_in": 2},    "r4 r8 r12 r16", 2,  8, NONE,       "B6: a completion is the bet"),
    (NOLIMIT, DEEP,             {},                 "b10 r20 r30 r40 r50", 2, 20, (60, 500), "B6: no cap in no-limit"),
    (NOLIMIT, (500, 20, 20),    {},                 "b10 r20 c",    0,  10, NONE,       "B7: no raise when no other could put more in"),
    (NOLIMIT, (500, 20, 20),    {},                 "b20 c c",   None,   0, NONE,       "B8: all have acted"),
    (NOLIMIT, (500, 10),        {"blinds": (5, 10)}, "",            0,   5, NONE,       "B7: out-bet by an all-in: asked, but no raise"),
    (NOLIMIT, (500, 3),         {"blinds": (5, 10)}, "",         None,   0, NONE,       "B7: nobody has out-bet it: not asked"),
    (NOLIMIT, (500, 500, 3),    {"blinds": (5, 10)}, "",            2,   3, NONE,       "B2: a stack below the blind calls all it has"),
    (NOLIMIT, (500, 3, 500),    {"blinds": (5, 10)}, "",            2,  10, (20, 500),  "B9: the whole blind is owed though it was posted short"),
    (NOLIMIT, DEEP,             {"blinds": (5, 10)}, "c c",         1,   0, (20, 500),  "B1: the big blind may raise when all have called"),
    (NOLIMIT, DEEP,             {},                 "b10 f f",   None,   0, NONE,       "B8: one seat is left"),
    (SPREAD,  (1, 500, 500),    {"bring_in": 2},    "",             1,   2, (4, 10),    "B9: the whole bring-in is owed too"),
]
# fmt: on


@pytest.mark.parametrize(
    ("limits", "stacks", "posted", "line", "seat", "to_call", "wager", "why"),
    TURNS,
    ids=[row[-1] for row in TURNS],
)
def test_the_seat_to_act_may(limits, stacks, posted, line, seat, to_call, wager, why):
    after = play(opened(limits, stacks, **posted), line)
    assert (after.pending[0] if after.pending else None) == seat
    assert after.to_call == to_call
    assert (after.min_to, after.max_to) == wager


REFUSED = [
    # line        word    why
    ("", "f", "B1: folding where checking is free"),
    ("", "c", "B1: nothing to call"),
    ("b10", "k", "B1: a bet is to be called"),
    ("", "r10", "B1: the first wager is a bet"),
    ("b10", "b20", "B1: the next one is a raise"),
    ("", "b9", "B3: under the minimum"),
    ("", "b501", "B3: over the stack"),
    ("b10", "r19", "B3: under a full raise"),
    ("b10 f f", "k", "B8: the round is over"),
]


@pytest.mark.parametrize(("line", "word", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_a_move_is_refused_and_changes_nothing(line, word, why):
    before = play(opened(NOLIMIT, DEEP), line)
    if before.pending:
        assert move_of(word) not in rounds.choices(before)
    with pytest.raises(IllegalMove):
        rounds.act(before, move_of(word))
    assert before == play(opened(NOLIMIT, DEEP), line)


COLLECTED = [
    # stacks        posted               line       paid           back to  why
    ((500, 500), {}, "b30 c", (30, 30), None, "what is called stays"),
    ((500, 500), {}, "b30 f", (0, 0), 0, "a bet that nobody calls goes back"),
    ((500, 20), {}, "b30 c", (20, 20), 0, "what a short call leaves goes back"),
    ((500, 500, 500), {}, "b30 r90 f f", (30, 30, 0), 1, "down to the highest bet, folded too"),
    ((500, 500, 3), {"blinds": (5, 10)}, "c f", (5, 5, 3), 1, "a blind over all others goes back"),
    ((500, 500), {}, "k k", (0, 0), None, "nothing was bet"),
]


@pytest.mark.parametrize(
    ("stacks", "posted", "line", "paid", "owner", "why"), COLLECTED, ids=[r[-1] for r in COLLECTED]
)
def test_b8_collects(stacks, posted, line, paid, owner, why):
    chips, back_to = rounds.collect(play(opened(NOLIMIT, stacks, **posted), line))
    assert (chips.paid, back_to) == (paid, owner)
    assert chips.bets == (0,) * len(stacks)
    assert tuple(map(sum, zip(chips.stacks, chips.paid, strict=True))) == stacks


def test_b9_posts_what_there_is():
    chips = rounds.post((3, 1, 100), 2, ((0, 5), (2, 10)))
    assert (chips.stacks, chips.bets, chips.paid) == ((0, 0, 88), (1, 0, 10), (2, 1, 2))


def test_b1_checks_or_folds_for_a_seat_that_does_not_answer():
    assert rounds.fallback(opened(NOLIMIT, DEEP)) is CHECK
    assert rounds.fallback(play(opened(NOLIMIT, DEEP), "b10")) is FOLD


POTS = [
    # paid              live          pots                                  why
    ((10, 10, 10), (0, 1, 2), [(30, (0, 1, 2))], "equal parts are one pot"),
    ((5, 20, 20), (0, 1, 2), [(15, (0, 1, 2)), (30, (1, 2))], "a side pot"),
    ((5, 8, 20, 20), (0, 2, 3), [(20, (0, 2, 3)), (33, (2, 3))], "folded chips make no level"),
    ((20, 8, 20), (0, 2), [(48, (0, 2))], "levels of the same seats are one"),
    ((0, 8, 8), (0, 1, 2), [(16, (1, 2))], "without chips there is no pot to play for"),
    ((7, 3, 9), (2,), [(19, (2,))], "the last seat plays alone"),
]


@pytest.mark.parametrize(("paid", "live", "pots", "why"), POTS, ids=[row[-1] for row in POTS])
def test_b10_pots(paid, live, pots, why):
    assert pots_of(paid, live) == tuple(Pot(*pot) for pot in pots)


def test_b11_odd_chips_of_board_games_go_from_the_dealers_left():
    board = ("As", "Ks", "Qs", "Js", "Ts")
    holes = (("2c", "3c"), ("4d", "5d"), ("9h", "8h"))
    (won,) = award([Pot(17, (0, 1, 2))], (2, 0, 1), holes, board, with_low=False)
    assert won.shares == (6, 5, 6)


def test_b11_odd_chips_of_stud_go_to_the_highest_card():
    hands = [("Kh", "Qd", "Js", "9c", "2d"), ("Ks", "Qh", "Jc", "9d", "2s")]
    (won,) = award_soko([Pot(7, (0, 1))], hands, (0, 1), 2)
    assert won.shares == (3, 4)


# fmt: off
OFFERS = [
    # limits  stacks         posted               line    offered                    complete  why
    (FIXED,   DEEP,          {"blinds": (5, 10)}, "",     "f c r20",                 True,  "one size is the whole range"),
    (NOLIMIT, DEEP,          {"blinds": (5, 10)}, "",     "f c r20 r22 r35 r500",    False, "least, half pot, pot, all-in"),
    (NOLIMIT, DEEP,          {},                  "",     "k b10 b500",              False, "of an empty pot there is no half"),
    (NOLIMIT, (22, 22, 22),  {},                  "b10",  "f c r20 r22",             False, "a pot over the stack is left out"),
    (NOLIMIT, (500, 21, 500), {},                 "b10",  "f c r20 r21",             True,  "two sizes are all there are"),
    (NOLIMIT, (500, 8, 500), {},                  "b10",  "f c",                     True,  "no wager at all"),
]
# fmt: on


@pytest.mark.parametrize(
    ("limits", "stacks", "posted", "line", "offered", "complete", "why"),
    OFFERS,
    ids=[row[-1] for row in OFFERS],
)
def test_offered_are(limits, stacks, posted, line, offered, complete, why):
    result = rounds.choices(play(opened(limits, stacks, **posted), line))
    assert result.offered == tuple(map(move_of, offered.split()))
    assert result.complete is complete


def test_a_range_holds_counts_and_samples_every_size_once():
    result = rounds.choices(play(opened(NOLIMIT, (60, 60, 60)), "b10"))
    every = [FOLD, CALL, *map(Raise, range(20, 61))]
    assert result.count() == len(every)
    assert [result.sample(lambda _, at=at: at) for at in range(len(every))] == every
    assert all(move in result for move in every)
    assert not any(move in result for move in (CHECK, Raise(19), Raise(61), Bet(20), "fold"))

"""The time of a seat: what a move costs, what is left, and what an ask says."""

import pytest

from arena.games.catalogue import game_by_id
from arena.referee.clock import SeatClock
from arena.referee.terms import MAX_TIME_MS, MatchTerms, TimeControl, time_odds

MOVE_1S = TimeControl(move_ms=1000, bank_ms=0)
BANK_5S = TimeControl(move_ms=1000, bank_ms=5000)
FISCHER = TimeControl(move_ms=1000, bank_ms=5000, increment_ms=200)
HAND_3S = TimeControl(move_ms=1000, bank_ms=5000, hand_ms=3000)
MATCH_3S = TimeControl(move_ms=1000, bank_ms=5000, match_ms=3000)

LATE, HAND = "late", "a new hand"

# fmt: off
MOVES = [
    # control   what happens            bank_ms  allowed  why
    (BANK_5S,  [],                         5000,   6.0,   "at first: the move and the whole bank"),
    (BANK_5S,  [0.4],                      5000,   6.0,   "within the move's own time"),
    (BANK_5S,  [1.0],                      5000,   6.0,   "exactly the move's own time"),
    (BANK_5S,  [1.5],                      4500,   5.5,   "half a second out of the bank"),
    (BANK_5S,  [1.5, 1.5, 0.1, 3.0],       2000,   3.0,   "the bank is not refilled"),
    (BANK_5S,  [6.0],                         0,   1.0,   "all of it: the move's own time is left"),
    (BANK_5S,  [(7.0, LATE)],                 0,   1.0,   "never more than there was"),
    (BANK_5S,  [-0.2],                     5000,   6.0,   "a clock that ran backwards costs nothing"),
    (MOVE_1S,  [(1.04, LATE)],                0,   1.0,   "without a bank the grace is not charged"),
    (FISCHER,  [0.4],                      5200,   6.2,   "in time: the increment"),
    (FISCHER,  [1.5],                      4700,   5.7,   "in time, but out of the bank"),
    (FISCHER,  [(6.0, LATE)],                 0,   1.0,   "too late: no increment"),
    (FISCHER,  [0.1] * 10,                 7000,   8.0,   "a bank may grow"),
    (HAND_3S,  [],                         5000,   3.0,   "a hand's ceiling bounds move and bank"),
    (HAND_3S,  [0.5, 0.5],                 5000,   2.0,   "it counts the move's own time too"),
    (HAND_3S,  [2.9],                      3100,   0.1,   "little is left of the hand"),
    (HAND_3S,  [(3.0, LATE)],              3000,   0.0,   "nothing is left of the hand"),
    (HAND_3S,  [(3.0, LATE), HAND],        3000,   3.0,   "the next hand begins afresh, the bank not"),
    (MATCH_3S, [2.9],                      3100,   0.1,   "little is left of the match"),
    (MATCH_3S, [2.9, HAND],                3100,   0.1,   "a new hand does not help there"),
    (MATCH_3S, [(3.0, LATE), HAND, 1.0],   3000,   0.0,   "no time is ever below zero"),
]
# fmt: on


@pytest.mark.parametrize(
    ("control", "moves", "bank_ms", "allowed_s", "why"), MOVES, ids=[row[-1] for row in MOVES]
)
def test_time_after(control, moves, bank_ms, allowed_s, why):
    clock = SeatClock(control)
    for move in moves:
        if move == HAND:
            clock.new_hand()
        elif isinstance(move, tuple):
            clock.charge(move[0], in_time=False)
        else:
            clock.charge(move, in_time=True)
    assert clock.bank_ms == bank_ms
    assert clock.allowance_s == pytest.approx(allowed_s)


# fmt: off
TOLD = [
    # control   spent  had   told                   why
    (BANK_5S,  [],     0.0,  (1000, 5000, 0),     "move, bank and no increment"),
    (FISCHER,  [],     0.0,  (1000, 5000, 200),   "with an increment"),
    (BANK_5S,  [2.0],  0.0,  (1000, 4000, 0),     "what is left of the bank"),
    (HAND_3S,  [],     0.0,  (1000, 2000, 0),     "move and bank are no more than the hand's ceiling"),
    (HAND_3S,  [2.5],  0.0,  (500, 0, 0),         "less than a move is left of the hand"),
    (MATCH_3S, [2.0],  0.0,  (1000, 0, 0),        "exactly a move is left of the match"),
    (BANK_5S,  [],     0.4,  (600, 5000, 0),      "told again: the move runs already"),
    (BANK_5S,  [],     1.0,  (0, 5000, 0),        "told again: the move's own time is over"),
    (BANK_5S,  [],     2.5,  (0, 3500, 0),        "told again: into the bank"),
    (BANK_5S,  [],     9.0,  (0, 0, 0),           "told again: too late"),
    (HAND_3S,  [],     2.5,  (0, 500, 0),         "told again, under a ceiling"),
]
# fmt: on


@pytest.mark.parametrize(
    ("control", "spent", "had_s", "told", "why"), TOLD, ids=[row[-1] for row in TOLD]
)
def test_an_ask_says(control, spent, had_s, told, why):
    clock = SeatClock(control)
    for used_s in spent:
        clock.charge(used_s, in_time=True)
    assert clock.times_ms(had_s) == told


def test_a_bank_has_an_end_too():
    clock = SeatClock(TimeControl(bank_ms=MAX_TIME_MS, increment_ms=MAX_TIME_MS))
    clock.charge(1.0, in_time=True)
    assert clock.bank_ms == MAX_TIME_MS


def test_charges_are_whole_microseconds_as_the_journal_holds_them():
    clock = SeatClock(BANK_5S)
    clock.charge(1.000_000_4, in_time=True)
    assert clock.allowance_s == 6.0


def test_sums_are_exact():
    """In floating point 5 s and 0.1 s and 0.1 s are a little less than 5.2 s."""
    clock = SeatClock(TimeControl(move_ms=1000, bank_ms=5000, increment_ms=100))
    for moves in range(1, 1000):
        clock.charge(0.5, in_time=True)
        assert clock.bank_ms == 5000 + 100 * moves


# fmt: off
WRONG = [
    ({"move_ms": 0},                      "at least 1 ms",        "no time for a move"),
    ({"bank_ms": -1},                     "bank_ms is not neg",   "a bank below zero"),
    ({"increment_ms": -1},                "increment_ms is not",  "an increment below zero"),
    ({"hand_ms": -1},                     "hand_ms is not neg",   "a hand below zero"),
    ({"match_ms": -1},                    "match_ms is not neg",  "a match below zero"),
    ({"move_ms": MAX_TIME_MS + 1},        "longer than a day",    "a move of more than a day"),
    ({"increment_ms": MAX_TIME_MS + 1},   "longer than a day",    "an increment of more than a day"),
    ({"match_ms": MAX_TIME_MS + 1},       "longer than a day",    "a match of more than a day"),
]
# fmt: on


@pytest.mark.parametrize(("times", "text", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_time_control_is_refused(times, text, why):
    with pytest.raises(ValueError, match=text):
        TimeControl(**times)


# fmt: off
SHARES = [
    # share   the whole time control      its share                    why
    (1.0,     TimeControl(1000, 5000),    TimeControl(1000, 5000),     "all of it"),
    (0.25,    TimeControl(1000, 5000, 8), TimeControl(250, 1250, 2),   "a quarter of each time"),
    (0.001,   TimeControl(10, 10, 10),    TimeControl(1, 0, 0),        "a move has a millisecond, the bank may be empty"),
    (0.001,   TimeControl(1, 0, 0, 9, 9), TimeControl(1, 0, 0, 1, 1),  "a limit does not become none"),
]
# fmt: on


@pytest.mark.parametrize(("share", "whole", "shared", "why"), SHARES, ids=[r[-1] for r in SHARES])
def test_time_odds_give_a_bot_a_share_of_each_time(share, whole, shared, why):
    game = game_by_id("abstrac")
    odds = time_odds({"ann": share})
    terms = MatchTerms(game, game.options({}, 2), 2, whole, time_odds=odds)
    assert terms.control_of("ann@7") == terms.control_of("ann") == shared
    assert terms.control_of("bob") == whole


@pytest.mark.parametrize("share", [0.0, -1.0, 1.1, 0.0004])
def test_a_share_is_a_part_of_the_time_control(share):
    with pytest.raises(ValueError, match=r"from 0\.001 to 1"):
        time_odds({"ann": share})

"""The rules of Eleusis and its Express where they surprise, and matches played at random."""

import itertools
import pickle
import random
from collections import Counter
from dataclasses import replace

import pytest

from arena.games.cards import PACK_52
from arena.games.cel import DECK_ORDER
from arena.games.cel import Rule as Language
from arena.games.contract import BadOptions, IllegalMove, Seat
from arena.games.eleusis import rules as eleusis
from arena.games.eleusis.cards import cards_played, right_up_to
from arena.games.eleusis.hidden_rule import (
    EXAMPLES,
    Draws,
    Verdict,
    are_right,
    judge_guess,
    legal_among,
    validate,
)
from arena.games.eleusis.legal_moves import Strings
from arena.games.eleusis.messages import (
    Dealt,
    Declare,
    Drawn,
    End,
    Guess,
    Guessed,
    GuessRefuted,
    HandScored,
    Judge,
    Layout,
    NoPlay,
    Opinion,
    Options,
    PackAdded,
    Pass,
    Passed,
    Phase,
    Play,
    PlayResolved,
    Rule,
    RuleRefused,
    RuleReplaced,
)
from arena.games.eleusis.scoring import Prophecy, eleusis_scores, express_scores
from arena.games.eleusis.turn import FULL_HAND
from arena.games.options import build_options
from arena.testing.deals import SeededDeals, StackedDeals
from tests.rows import RULES, slow_unless

COLORS = EXAMPLES[0]
# The digest's figures for a hand of random single cards, with some room for the strings here.
MOST_DECISIONS, MOST_HELD, MOST_PACKS = 400, 90, 16


def draws(seed=0):
    return Draws(SeededDeals(seed).shuffle(0, "validate 1", PACK_52))


def begun(seats=4, rule=COLORS, seed=1, **options):
    """A first hand, dealt, with seat 0 as its dealer."""
    state, _ = eleusis.start(build_options(Options, options), seats, SeededDeals(seed))
    return act(state, Rule(rule), seed)[0]


def act(state, move, seed=1):
    (seat,) = eleusis.to_act(state)
    return eleusis.step(state, ((seat, move),), SeededDeals(seed))


def with_hands(state, mainline, *hands, **office):
    """The same hand with these cards; seat 1 plays first."""
    table = state.table
    line = tuple(mainline.split())
    layout = Layout(line, (0,) * len(line), (), (), ())
    cards = replace(table.cards, hands=((), *(tuple(hand.split()) for hand in hands)))
    office = replace(table.office, **office)
    return replace(state, table=replace(table, layout=layout, cards=cards, office=office))


def events(told, kind):
    return [event for event, _ in told if isinstance(event, kind)]


# The rule.

# fmt: off
REFUSED = [
    ("card.rank ==",            Verdict.SYNTAX,          "character 13: a value expected"),
    ("x" * 601,                 Verdict.SYNTAX,          "at most 600 characters"),
    ("line[1].face",            Verdict.RUNTIME_ERROR,   "no [1] in a list of 1, with As after 2c"),
    ("card.rank",               Verdict.RUNTIME_ERROR,   "true or false, not a number"),
    ("size(line) < 121 || card.rank / (size(line) - 121) == 0",
                                Verdict.TOO_PERMISSIVE,  "100.0% of all cards are right, over 90%"),
    ("size(line) < 120 || card.rank / (size(line) - 120) == 0",
                                Verdict.RUNTIME_ERROR,   "division by 0, with As after 120 cards"),
    ("line.all(a, 1 / 0 == 1 || true) && card.color != last.color",
                                Verdict.COST,            "takes too many steps in all"),
    ("size(line) < 110 || line.all(a, line.all(b, line.all(c, true)))",
                                Verdict.COST,            "steps in all, over 200,000,000"),
    ("card.rank > last.rank",   Verdict.DEAD_END,        "no card is right after"),
    ("card.rank == 5 && card.color == 'B'",
                                Verdict.TOO_RESTRICTIVE, "3.8% of all cards are right, under 4%"),
    ("card.rank != 5",          Verdict.TOO_PERMISSIVE,  "92.3% of all cards are right, over 90%"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    slow_unless(lambda text, verdict, reason: verdict is not Verdict.COST, REFUSED, RULES),
    ids=[r[0][:40] for r in REFUSED],
)
def test_a_rule_is_refused_with_the_reason(text, verdict, reason):
    result = validate(text, draws())
    assert result.verdict is verdict
    assert reason in result.reason


@pytest.mark.parametrize("text", slow_unless(COLORS.__eq__, EXAMPLES, RULES))
def test_the_examples_are_sound_although_they_are_not_tried(text):
    for seed in range(2):
        assert validate(f" {text}", draws(seed)).verdict is Verdict.ACCEPTED
    assert validate(text, draws()).dearest == validate(f" {text}", draws()).dearest


def test_a_refused_rule_may_be_followed_by_another():
    state, _ = eleusis.start(Options(), 3, SeededDeals(1))
    again, events = act(state, Rule("card.rank ="))
    ((refused, seats),) = events
    assert isinstance(refused, RuleRefused)
    assert seats == (0,)
    assert eleusis.to_act(again) == (0,)
    assert eleusis.view(again, Seat(0)).refusal == refused.reason != ""
    assert eleusis.view(again, Seat(1)) == eleusis.view(state, Seat(1))
    accepted, _ = act(again, Rule(" card.parity != last.parity"))
    assert accepted.phase is Phase.PLAY
    assert eleusis.view(accepted, Seat(0)).rule == " card.parity != last.parity"


def test_after_two_refusals_the_arena_chooses_and_the_dealer_scores_nothing():
    state, _ = eleusis.start(Options(max_turns=1), 3, SeededDeals(1))
    state, _ = act(state, eleusis.fallback(state, Seat(0)))
    state, told = act(state, eleusis.fallback(state, Seat(0)))
    cards = replace(state.table.cards, hands=((), ("2h",) * 9, ("2h",) * 30))
    state = replace(state, table=replace(state.table, cards=cards))
    (replaced,) = events(told, RuleReplaced)
    assert replaced.rule in EXAMPLES
    assert [seats for event, seats in told if isinstance(event, RuleReplaced)] == [(0,)]
    assert eleusis.view(state, Seat(1)).rule is None
    while state.match.hand == 0:
        state, told = act(state, eleusis.fallback(state, eleusis.to_act(state)[0]))
    (scored,) = events(told, HandScored)
    assert (scored.rule, scored.by_arena, scored.scores[0]) == (replaced.rule, True, 0)
    assert scored.scores[1] > 15
    assert scored.scores[2] == 0
    assert eleusis.view(state, Seat(2)).previous_rule == replaced.rule


def test_the_arenas_choice_depends_on_the_hand():
    def chosen(seed):
        state, _ = eleusis.start(Options(), 3, SeededDeals(seed))
        state, _ = act(state, Rule(""), seed)
        return act(state, Rule(""), seed)[0].secret.rule

    assert {chosen(seed) for seed in range(40)} == set(EXAMPLES)


# Guesses.

# fmt: off
GUESSES = [
    # rule         guess                                              line     accepted  why
    (COLORS,       COLORS,                                            "7h",    True,  "itself"),
    (COLORS,       "(last.color != card.color)",                      "7h",    True,  "otherwise"),
    (COLORS,       'card.color == "B"',                               "7h",    False, "true now"),
    (COLORS,       "size(line) == 9 || card.color != last.color",     "7h",    False,
     "an exception that may still come"),
    (COLORS,       "size(line) == 2 || card.color != last.color",     "7h 2s 4d", False,
     "an exception in the past"),
    (COLORS,       "size(line) == 17 || card.color != last.color",    "7h",    False,
     "an exception 16 cards ahead"),
    (COLORS,       "size(line) == 18 || card.color != last.color",    "7h",    True,
     "17 cards ahead are not looked at"),
    (COLORS,       "line[9].face || card.color != last.color",        "7h",    False,
     "errors that decide differently"),
    (COLORS,       "card.color != last.color && line[size(line)-1] == last", "7h", True,
     "roundabout"),
    ("card.parity == 1", "card.parity == true",                       "7h",    False,
     "true is not 1"),
]
# fmt: on


@pytest.mark.parametrize(
    ("rule", "guess", "line", "accepted", "why"), GUESSES, ids=[row[-1] for row in GUESSES]
)
def test_a_guess_is(rule, guess, line, accepted, why):
    result = judge_guess(rule, guess, line.split(), draws())
    assert result.accepted is accepted
    if not accepted:
        witness = result.witness
        line, card = list(witness.line), [witness.card]
        assert (legal_among(rule, line, card) == tuple(card)) is witness.legal
        assert (legal_among(guess, line, card) == tuple(card)) is not witness.legal
        assert are_right(rule, witness.line[:1], witness.line[1:])


def test_a_wrong_guess_costs_nothing_and_is_refuted_after_the_hand():
    state = with_hands(
        begun(variant="express", max_turns=1, guessers="player"),
        "7h",
        "2s 4d 5s",
        "2d 3d 4s",
        "2h 3h 4h",
    )
    state, _ = act(state, Play(("2s",)))
    for bad in ("card.rank = 1", "kard.face", ""):
        assert Guess(bad) not in eleusis.moves(state, Seat(1))
        with pytest.raises(IllegalMove, match="the guess is not a rule: character"):
            act(state, Guess(bad))
    state, told = act(state, Guess("card.face"))
    assert events(told, Guessed) == [Guessed(Seat(1), "card.face", accepted=False)]
    assert not events(told, GuessRefuted)
    assert (eleusis.view(state, Seat(3)).guesses.texts, state.turn.seat) == (("card.face",), 2)
    state, _ = act(state, Play(("4s",)))
    state, told = act(state, Play(("2h",)))
    assert not events(told, Guessed)
    (refuted,) = events(told, GuessRefuted) or events(act(state, Pass())[1], GuessRefuted)
    assert refuted.seat == 1
    assert Language.parse(COLORS).allows(refuted.card, refuted.line) is refuted.legal


def express_after_a_play(card, **options):
    state = with_hands(begun(variant="express", **options), "7h", "2s 4d", "3d 4s", "2h 3h")
    return act(state, Play((card,)))[0]


@pytest.mark.parametrize(
    ("options", "card", "asked"),
    [
        ({}, "2s", [1, 2, 3]),
        ({"guessers": "player"}, "2s", [1]),
        ({}, "4d", []),
    ],
    ids=["all, from the seat that played", "only the seat that played", "none after a wrong card"],
)
def test_who_may_guess(options, card, asked):
    """X2: the source says "after any correct play"."""
    state, result = express_after_a_play(card, **options), []
    while eleusis.view(state, None).phase is Phase.GUESS_OPTION:
        result += eleusis.to_act(state)
        assert eleusis.view(state, None).turn == 1
        state, (passed,) = act(state, Pass())
        assert passed.event == Passed(result[-1])
    assert (result, eleusis.to_act(state)) == (asked, (2,))


def test_a_guess_by_a_seat_that_did_not_play_scores_for_it_and_ends_the_hand():
    state = express_after_a_play("2s")
    state, _ = act(state, Guess("card.face"))
    state, told = act(state, Guess(COLORS))
    assert events(told, Guessed) == [Guessed(Seat(2), COLORS, accepted=True)]
    assert eleusis.hand_number(state) == 1
    assert state.match.hand_scores == ((16, 11, 16, 10),)


# Turns.


def test_a_prophet_is_an_option_while_two_others_are_left():
    state = with_hands(begun(5), "7h", "2s 3s", "2d 3d", "4h 5h", "6h 8h", expelled=(Seat(2),))
    after, _ = act(state, Play(("2s",)))
    assert after.phase is Phase.PROPHET_OPTION
    state = with_hands(begun(4), "7h", "2s 3s", "2d 3d", "4h 5h", expelled=(Seat(2),))
    after, _ = act(state, Play(("2s",)))
    assert after.phase is Phase.PLAY


# fmt: off
TURNS = [
    # dealer seat  prophet  expelled   next  why
    (0,      1,    None,    (),        2,    "the next seat clockwise"),
    (0,      5,    None,    (),        1,    "past the dealer"),
    (3,      2,    None,    (),        4,    "... wherever it sits"),
    (0,      1,    None,    (2,),      3,    "past an expelled seat"),
    (0,      1,    None,    (2, 3),    4,    "past two that follow each other"),
    (0,      4,    None,    (1, 5),    2,    "... and round the table"),
    (0,      2,    None,    (2,),      3,    "also after the seat that was expelled just now"),
    (0,      1,    2,       (),        3,    "past the prophet"),
    (0,      5,    1,       (),        2,    "... and round the table"),
    (0,      1,    2,       (3,),      4,    "past the prophet and an expelled seat behind it"),
    (0,      1,    3,       (2,),      4,    "... and one before it"),
    (3,      2,    4,       (5,),      0,    "past the dealer, the prophet and an expelled seat"),
    (0,      2,    3,       (1, 4, 5), 2,    "the only seat left plays again"),
]
# fmt: on


def at_the_end_of_a_turn(dealer, seat, taken=(0,) * 6, **office):
    """A hand of six that seat `dealer` deals, in which `seat` passes the option to become prophet."""
    state = begun(6, max_turns=3)
    state = replace(state, match=replace(state.match, hand=dealer), phase=Phase.PROPHET_OPTION)
    office = replace(state.table.office, **office)
    turn = replace(state.turn, seat=Seat(seat), taken=taken)
    return replace(state, turn=turn, table=replace(state.table, office=office))


@pytest.mark.parametrize(
    ("dealer", "seat", "prophet", "expelled", "following", "why"),
    TURNS,
    ids=[f"{at} {row[-1]}" for at, row in enumerate(TURNS)],
)
def test_the_next_turn_is_of(dealer, seat, prophet, expelled, following, why):
    state = at_the_end_of_a_turn(dealer, seat, prophet=prophet, expelled=expelled)
    after, _ = act(state, Pass())
    seen = eleusis.view(after, None)
    assert (seen.phase, seen.turn, seen.to_act) == (Phase.PLAY, following, following)


# fmt: off
LIMITS = [
    # turns taken         prophet  expelled  ends   why
    ((0, 3, 3, 3, 3, 3),  None,    (),       True,  "each seat has had its turns"),
    ((0, 3, 3, 3, 3, 2),  None,    (),       False, "one has a turn left"),
    ((0, 4, 3, 3, 3, 2),  None,    (),       False, "... though another has had more"),
    ((0, 3, 3, 3, 3, 2),  None,    (5,),     True,  "the one that has a turn left is expelled"),
    ((0, 3, 3, 3, 3, 2),  5,       (),       True,  "... or the prophet"),
    ((0, 3, 3, 3, 2, 2),  5,       (),       False, "one is the prophet, and another has a turn left"),
]
# fmt: on


@pytest.mark.parametrize(
    ("taken", "prophet", "expelled", "ends", "why"), LIMITS, ids=[row[-1] for row in LIMITS]
)
def test_the_limit_of_turns_ends_a_hand(taken, prophet, expelled, ends, why):
    state = at_the_end_of_a_turn(0, 4, taken, prophet=prophet, expelled=expelled)
    _, told = act(state, Pass())
    assert [scored.end for scored in events(told, HandScored)] == [End.TURN_CAP] * ends


def test_a_seat_that_is_expelled_in_its_turn_has_no_option_to_become_prophet():
    state = with_hands(begun(6), "7h " + "2s 3h " * 20, *["2h 3h"] * 5)
    after, _ = act(state, Play(("2h",)))
    assert after.table.office.expelled == (1,)
    assert (after.phase, eleusis.to_act(after)) == (Phase.PLAY, (2,))


def test_a_prophet_before_any_card_gives_the_dealer_nothing():
    """E17: the marker is then 0; a true no-play is a turn without a card (E5)."""
    state = with_hands(begun(4), "7h", "2h 3h 4h 5h 6h", "2s", "4d 5d")
    state, _ = act(state, NoPlay())
    state, _ = act(state, Declare())
    assert state.table.office.marker == 0
    state, _ = act(state, Play(("2s",)))
    state, told = act(state, Judge(Opinion.RIGHT, None))
    (scored,) = events(told, HandScored)
    assert scored.end is End.DEPLETED
    assert scored.scores == (0, 2 - 1 + 1, 2, 0)


def test_the_last_card_may_be_wrong_if_it_deposes_the_prophet():
    state = with_hands(begun(4), "7h", "2h 3h", "4d", "4h 5h", prophet=Seat(3))
    state = replace(state, turn=replace(state.turn, seat=Seat(2)))
    state, _ = act(state, Play(("4d",)))
    state, told = act(state, Judge(Opinion.RIGHT, None))
    (scored,) = events(told, HandScored)
    assert (scored.end, scored.scores) == (End.DEPLETED, (7, 5, 7, 0))  # E12


@pytest.mark.parametrize(
    ("opinion", "expelled"), [(Opinion.WRONG, (2,)), (Opinion.RIGHT, ())], ids=["right", "deposed"]
)
def test_who_deposes_the_prophet_is_not_expelled(opinion, expelled):
    line = "7h " + "2s 3h " * 16
    state = with_hands(begun(4), line, "2h 3h", "4h 5h", "4h 5h", prophet=Seat(1), marker=1)
    state = replace(state, turn=replace(state.turn, seat=Seat(2)))
    state, _ = act(state, Play(("4h",)))
    state, _ = act(state, Judge(opinion, None))
    assert state.table.office.expelled == expelled
    assert (state.table.office.prophet is None) is (expelled == ())


def test_drawn_cards_are_told_to_who_drew_them_alone():
    drawn = 0
    for _, events in play(4, 2):
        for event, who in events:
            if isinstance(event, Drawn):
                assert who == (event.seat,)
                drawn += 1
            elif not isinstance(event, RuleRefused | RuleReplaced):
                assert who is None
    assert drawn > 50


def test_a_string_is_wrong_as_a_whole_and_costs_two_for_each_card():
    state = with_hands(begun(4), "7h", "2s 3d 4d 5s", "4d 6d", "4h 5h")
    after, _ = act(state, Play(("2s", "3d", "4d")))
    layout = after.table.layout
    assert (layout.mainline, layout.sidelines) == (("7h",), (("2s", "3d", "4d"),))
    assert len(after.table.cards.hands[1]) == 1 + 6


def test_the_turn_limit_waits_for_all_that_still_play():
    state = begun(4, max_turns=2)
    turns = Counter()
    while state.match.hand == 0:
        (seat,) = eleusis.to_act(state)
        turns[seat] += state.phase is Phase.PLAY
        held = eleusis.view(state, seat).held
        legal = legal_among(COLORS, state.table.layout.mainline, held)
        wrong = [card for card in held if card not in legal]
        move = Pass() if state.phase is not Phase.PLAY else Play((wrong[0],))
        state, told = act(state, move)
    assert events(told, HandScored)[0].end is End.TURN_CAP
    assert turns == {1: 2, 2: 2, 3: 2}


def test_a_short_stock_gets_another_pack_under_it():
    state = with_hands(begun(4), "7h", "2h 3h", "4d 6d", "4h 5h")
    cards = replace(state.table.cards, stock=("As",))
    state = replace(state, table=replace(state.table, cards=cards))
    after, told = act(state, Play(("2h",)))
    pack = SeededDeals(1).shuffle(0, "pack 3", PACK_52)
    assert after.table.cards.hands[1] == ("3h", "As", pack[0])
    assert after.table.cards.stock == pack[1:]
    assert events(told, PackAdded) == [PackAdded(3)]


# fmt: off
MARKERS = [
    # mainline          units after each place    marker  right   why
    ("7h 2s 3d",        {},                            0,  0, "nothing before it"),
    ("7h 2s 3d",        {0: ["4d"]},                   0,  0, "nothing, though a wrong card follows"),
    ("7h 2s 3d",        {0: ["4d"]},                   1,  0, "a wrong card"),
    ("7h 2s 3d",        {0: ["4d"]},                   2,  1, "a wrong card and a right one"),
    ("7h 2s 3d",        {1: ["4d 5d", "6s"]},          1,  1, "a right card before two units"),
    ("7h 2s 3d",        {1: ["4d 5d", "6s"]},          3,  1, "and the first of them"),
    ("7h 2s 3d",        {1: ["4d 5d", "6s"]},          5,  2, "all"),
]
# fmt: on


@pytest.mark.parametrize(
    ("mainline", "units", "marker", "right", "why"), MARKERS, ids=[row[-1] for row in MARKERS]
)
def test_before_the_marker_lie(mainline, units, marker, right, why):
    line = tuple(mainline.split())
    pairs = [(after, tuple(unit.split())) for after in units for unit in units[after]]
    layout = Layout(
        line,
        (0,) * len(line),
        tuple(unit for _, unit in pairs),
        (1,) * len(pairs),
        tuple(after for after, _ in pairs),
    )
    assert right_up_to(layout, marker) == right
    assert cards_played(layout) == len(line) - 1 + sum(len(unit) for _, unit in pairs)


# fmt: off
def test_scores():
    """The dealer's row by row; the prophet's bonus counts for the dealer too (E17)."""
    prophecy = Prophecy(Seat(1), before=4, right_after=3, wrong_after=2)
    assert eleusis_scores((0, 5, 9, 2), Seat(0), None) == (7, 4, 0, 7)
    assert eleusis_scores((0, 5, 9, 2), Seat(0), prophecy) == (8, 11, 0, 7)
    assert eleusis_scores((5, 0, 9, 2), Seat(1), None) == (4, 7, 0, 7)
    assert express_scores((0, 5, 0, 20), Seat(0), None) == (15, 7, 15, -8)
    assert express_scores((0, 5, 9, 20), Seat(0), Seat(3)) == (7, 7, 3, -2)
# fmt: on


# Moves.


def every_string(hand):
    orders = (itertools.permutations(hand, size) for size in range(1, len(hand) + 1))
    return {Play(cards) for order in orders for cards in order}


@pytest.mark.parametrize("hand", ["7h", "7h 8h", "7h 7h", "2s 2s 3s 4s", "2s 2s 2s 3s 3s"])
def test_strings_are_counted_and_drawn_but_not_listed(hand):
    held = tuple(hand.split())
    moves, strings = Strings(held), every_string(held)
    assert moves.count() == len(strings) + 1
    assert moves.complete is (len(held) == 1)
    assert set(moves.offered) == {Play((card,)) for card in held} | {NoPlay()}
    assert all(string in moves for string in strings)
    chooser = random.Random(hand)
    drawn = Counter(moves.sample(chooser.randrange) for _ in range(200 * moves.count()))
    assert set(drawn) == strings | {NoPlay()}
    assert max(drawn.values()) < 1.5 * 200
    assert min(drawn.values()) > 0.6 * 200


@pytest.mark.parametrize(
    "cards",
    [(), ("9h",), ("7h", "7h"), ("7h", "8h", "9h"), tuple(["7h"] * 60)],
    ids=["none", "not held", "held once", "one not held", "too many"],
)
def test_a_string_is_of_cards_held(cards):
    assert Play(cards) not in Strings(("7h", "8h"))


@pytest.mark.parametrize("held", [1, 14, 52, 53, 72, 104, FULL_HAND])
def test_a_string_is_as_long_as_the_hand_at_most(held):
    """E3. Strings are never listed: an ask grows with the faces of a hand alone."""
    hand = (tuple(DECK_ORDER) * 4)[:held]
    strings = Strings(hand)
    assert Play(hand) in strings
    assert Play(hand[::-1]) in strings
    assert Play((*hand, hand[0])) not in strings
    assert strings.sample(random.Random(1).randrange) in strings
    assert len(strings.offered) == min(held, 52) + 1


# fmt: off
PENALTIES = [
    # held  played  drawn  why
    (14,        14,    28, "two for each of a whole first hand"),
    (72,        60,   120, "and of more than a pack"),
    (104,      104,   208, "up to four packs in hand"),
    (105,      105,   208, "but not more"),
    (208,        1,     1, "a full hand stays full"),
    (208,      208,   208, "however much of it is wrong"),
    (213,        3,     0, "and one that grew otherwise draws nothing"),
    (213,        6,     1, "until there is room"),
]
# fmt: on


@pytest.mark.parametrize(
    ("held", "played", "drawn", "why"), PENALTIES, ids=[row[-1] for row in PENALTIES]
)
def test_a_wrong_string_draws(held, played, drawn, why):
    hand = " ".join(["2d"] * held)  # red after red is wrong
    state = with_hands(begun(4), "7h", hand, "4d 6d", "4h 5h")
    after, told = act(state, Play(("2d",) * played))
    (resolved,) = events(told, PlayResolved)
    assert (resolved.right, resolved.penalty) == (False, drawn)
    assert eleusis.view(after, None).hand_sizes[1] == held - played + drawn
    assert sum(len(event.cards) for event in events(told, Drawn)) == drawn


def test_nobody_outgrows_the_table_by_playing_nothing_but_whole_hands():
    """The first hand of three seats, of which all play all they hold at every turn."""
    state, told = begun(3, max_turns=12), []
    most = 0
    while state.match.hand == 0 and state.phase is not Phase.OVER:
        (seat,) = eleusis.to_act(state)
        held = eleusis.view(state, seat).held
        state, told = act(state, Play(held) if state.phase is Phase.PLAY else Pass())
        most = max(most, *eleusis.view(state, None).hand_sizes)
    assert most == FULL_HAND
    assert events(told, HandScored)[0].end is End.TURN_CAP


def test_a_right_string_may_be_a_whole_hand_of_any_size():
    hand = " ".join(["2s 3h"] * 30)
    state = with_hands(begun(4), "7h", hand, "4d 6d", "4h 5h")
    _after, told = act(state, Play(tuple(hand.split())))
    assert events(told, HandScored)[0].end is End.DEPLETED


def test_heavy_steps_are_those_that_try_compare_or_evaluate_long():
    state, _ = eleusis.start(Options(), 4, SeededDeals(1))
    assert not eleusis.heavy(state, Seat(0), Rule(COLORS))  # known to be sound
    assert eleusis.heavy(state, Seat(0), Rule(f"{COLORS} "))
    dealt = begun()
    card = eleusis.view(dealt, Seat(1)).held[0]
    assert not eleusis.heavy(dealt, Seat(1), Play((card,)))
    assert not eleusis.heavy(dealt, Seat(1), NoPlay())
    dear = replace(dealt, secret=replace(dealt.secret, dearest=3000))
    assert not eleusis.heavy(dear, Seat(1), Play((card,)))
    assert eleusis.heavy(dear, Seat(1), Play((card,) * 7))
    assert eleusis.heavy(dear, Seat(1), NoPlay())
    assert eleusis.heavy(dealt, Seat(1), Guess(COLORS))


def test_a_state_can_travel_to_a_worker():
    state = begun(rule=" card.parity != last.parity")
    assert pickle.loads(pickle.dumps(state)) == state


@pytest.mark.parametrize("seats", [2, 9])
def test_there_are_three_to_eight_seats(seats):
    with pytest.raises(BadOptions, match="3 to 8"):
        eleusis.start(Options(), seats, SeededDeals(0))


# Whole matches.


def play(seats, seed, texts=EXAMPLES, **options):
    """A match of random offered moves, with strings now and then: states and what was told."""
    chooser = random.Random(seed)
    state, events = eleusis.start(build_options(Options, options), seats, SeededDeals(seed))
    yield state, events
    while asked := eleusis.to_act(state):
        (seat,) = asked
        moves = eleusis.moves(state, seat)
        move = chooser.choice(moves.offered)
        if state.phase is Phase.RULE:
            move = Rule(chooser.choice(texts))
        elif state.phase is Phase.PLAY and chooser.random() < 0.1:
            held = eleusis.view(state, seat).held
            string = Play(tuple(chooser.sample(held, min(len(held), chooser.randint(1, 3)))))
            move = string if string in moves else move
        state, events = act(state, move, seed)
        yield state, events


def all_cards(state):
    cards, layout = state.table.cards, state.table.layout
    piles = (*cards.hands, cards.stock, layout.mainline, *layout.sidelines)
    return Counter(card for pile in piles for card in pile)


@pytest.mark.parametrize("variant", ["eleusis", "express"])
@pytest.mark.parametrize("seats", [3, 4, 6, 8])
def test_random_matches_keep_the_cards_and_end_in_the_digests_bounds(seats, variant):
    whole, decisions = {}, Counter()
    for state, _ in play(seats, seats, variant=variant):
        cards = state.table.cards
        packs = whole.setdefault(cards.packs, Counter(PACK_52 * cards.packs))
        assert all_cards(state) == packs
        assert cards.packs <= MOST_PACKS
        assert max(map(len, cards.hands)) <= MOST_HELD
        # The digest counts guesses of the seat that played alone.
        decisions[state.match.hand] += state.turn.guesser in (None, state.turn.seat)
        for seat in eleusis.to_act(state):
            assert eleusis.fallback(state, seat) in eleusis.moves(state, seat)
        seen = eleusis.view(state, None)
        assert seen.hand_sizes == tuple(map(len, cards.hands))
        assert len(seen.layout.main_seats) == len(seen.layout.mainline)
    assert max(decisions.values()) <= MOST_DECISIONS * max(1, seats / 6)
    ended = eleusis.result(state)
    assert len(ended.hand_scores) == seats
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))
    assert eleusis.view(state, None).phase is Phase.OVER
    with pytest.raises(IllegalMove, match="over"):
        eleusis.step(state, (), SeededDeals(0))


@pytest.mark.parametrize("variant", ["eleusis", "express"])
def test_nobody_but_the_dealer_learns_the_rule_before_the_hand_ends(variant):
    for state, told in play(4, 7, variant=variant, hands=4):
        dealer, rule = state.match.dealer, state.secret.rule
        if state.phase in (Phase.RULE, Phase.OVER):
            continue
        assert eleusis.view(state, dealer).rule == rule
        assert events(told, HandScored) == []
        for seat in (None, *(seat for seat in range(4) if seat != dealer)):
            seen = eleusis.view(state, seat)
            assert seen.rule is None
            assert seen == replace(
                eleusis.view(replace(state, secret=replace(state.secret, rule="true")), seat)
            )


def test_a_seat_learns_its_own_cards_and_the_public_line_and_nothing_else():
    """The same own cards, with all the others shuffled, give the same view, moves and events."""
    state, events = eleusis.start(Options(), 4, SeededDeals(3))
    _, events = act(state, Rule(COLORS), 3)
    deck = list(SeededDeals(3).shuffle(0, "deck", PACK_52 * 2))
    own = {*range(1, 42, 3), 42}  # seat 2 is dealt at places 1, 4, 7 …; the starter lies at 42
    hidden = [at for at in range(len(deck)) if at not in own]

    def swapped(seed):
        order = list(deck)
        moved = [deck[at] for at in hidden]
        random.Random(seed).shuffle(moved)
        for at, card in zip(hidden, moved, strict=True):
            order[at] = card
        return StackedDeals({(0, "deck"): order}, SeededDeals(3))

    seen = set()
    for seed in range(20):
        after, events = eleusis.step(state, ((Seat(0), Rule(COLORS)),), swapped(seed))
        mine = tuple(event for event, who in events if who is None or 2 in who)
        assert [type(event) for event in mine] == [Dealt, Drawn]
        seen.add((repr(eleusis.view(after, Seat(2))), mine))
    assert len(seen) == 1

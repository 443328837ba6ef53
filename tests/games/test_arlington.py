"""Arlington: the sets by their definition, the surprising rulings, and bounds of random play."""

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest

from arena.games.arlington import rules
from arena.games.arlington import rules as arlington
from arena.games.arlington.layout import Layout, table_of
from arena.games.arlington.legal_moves import AtLead, InAnswer, InTrick
from arena.games.arlington.messages import (
    Add,
    Kill,
    LeadCard,
    LeadSet,
    Options,
    Overplay,
    Pass,
    Phase,
    PlayCard,
    PlayS2,
    Scored,
    TakeJoker,
)
from arena.games.arlington.rules import Match, State
from arena.games.arlington.sets import (
    Spectrum,
    additions_to,
    is_set,
    joker_swaps_of,
    points_of,
    reading_of,
    set_of,
    sets_within,
    spectra_of,
    strength_of,
)
from arena.games.cards import JOKER, PACK_52, pack, parse_cards
from arena.games.catalogue import game_by_id
from arena.games.contract import MAX_OFFERED, BadOptions, IllegalMove
from arena.referee.wire.games import codec_of
from arena.testing.deals import SeededDeals
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_LEAD_SET, ArlingtonMove
from cardarena.v1.game_pb2 import GameMove

DEALS = SeededDeals("arlington")
ACES, MULTIPLES, COUPLES, RUNS = Spectrum


def cards(text):
    return set_of(parse_cards(text))


def random_group(draw, most=6):
    """A few cards of a pack, mostly near each other so that they are often a set."""
    rank, suit = draw.choice("23456789TJQKA"), draw.choice("cdhs")
    near = [card for card in PACK_52 if card[0] == rank or card[1] == suit]
    near += [*draw.sample(PACK_52, 2), JOKER, JOKER]
    group = draw.sample(near, draw.randint(1, most))
    return set_of([*dict.fromkeys(card for card in group if card != JOKER)]) + (
        JOKER,
    ) * group.count(JOKER)


def substitutions(group):
    """The group with its jokers replaced by other cards in every way (ruling 5)."""
    suited = [card for card in group if card != JOKER]
    others = [card for card in PACK_52 if card not in suited]
    for stand_ins in itertools.combinations(others, group.count(JOKER)):
        yield set_of([*suited, *stand_ins])


def test_a_jokered_set_is_the_best_of_all_that_it_can_be():
    draw = random.Random(6)
    fitting = 0
    for _ in range(700):
        group = random_group(draw, most=5)
        pure = [one for one in substitutions(group) if is_set(one)]
        assert is_set(group) == bool(pure)
        for spectrum in Spectrum:
            strengths = [strength_of(one, spectrum) for one in pure]
            best = max((item for item in strengths if item is not None), default=None)
            assert strength_of(group, spectrum) == best, (group, spectrum)
        if pure:
            assert points_of(group) == max(map(points_of, pure)), group
            fitting += JOKER in group
    assert fitting > 50


def test_a_hand_makes_the_sets_that_its_subsets_are():
    draw = random.Random(7)
    deck = pack(jokers=2)
    for _ in range(60):
        hand = set_of(draw.sample(deck, 9))
        subsets = {
            group
            for size in range(1, len(hand) + 1)
            for group in itertools.combinations(hand, size)
        }
        for spectrum in Spectrum:
            result = [
                one
                for jokers in range(hand.count(JOKER) + 1)
                for one in sets_within(spectrum, hand, jokers)
            ]
            assert len(result) == len(set(result))
            assert set(result) == {group for group in subsets if spectrum in spectra_of(group)}


def test_the_whole_pack_makes_6673_readings_of_sets():
    result = [
        sets_within(spectrum, PACK_52, jokers) for spectrum in Spectrum for jokers in range(3)
    ]
    assert sum(len(list(item)) for item in result) == 6_673


def test_what_joins_a_set_or_replaces_a_joker_leaves_a_set():
    draw = random.Random(16)
    grown = swapped = 0
    for _ in range(400):
        group = random_group(draw)
        if not is_set(group):
            continue
        absent = [card for card in PACK_52 if card not in group]
        fits = {card for card in (*absent, JOKER) if is_set(set_of((*group, card)))}
        assert additions_to(group) == fits
        rest = group[:-1]
        swaps = {card for card in absent if JOKER in group and is_set(set_of((*rest, card)))}
        assert joker_swaps_of(group) == swaps
        grown, swapped = grown + len(fits), swapped + len(swaps)
    assert grown > 100
    assert swapped > 100


# fmt: off
SCORES = [
    # set                points  why
    ("Ks Qs",               8, "a suited king and queen, not a run of two"),
    ("Ks Qs Js",            4, "adding the jack makes a run of it, and costs four"),
    ("Ks Qh",               2, "an unsuited king and queen"),
    ("Qs Jh",               1, "an unsuited queen and jack"),
    ("2h Jk",               2, "no couple: the two of hearts couples alone, here it is a pair"),
    ("Jk",                  2, "a lone joker is the two of hearts rather than an ace"),
    ("Jk Jk",               8, "two jokers are king and queen of spades"),
    ("As Ah Jk Jk",         8, "four aces"),
]
DEFAULTS = [
    # cards      read as     why
    ("As Ah",    ACES,      "aces before multiples"),
    ("Kd Qd",    COUPLES,   "couples before runs"),
    ("Jk Jk",    ACES,      "two jokers fit everything"),
    ("Qs Jk",    MULTIPLES, "multiples before couples and runs"),
    ("7s 8h",    None,      "what fits nothing stays unnamed and is illegal"),
]
TRICKS = [
    # cards in order   taken by   why
    ("9h Kh As",          1, "the highest of the suit led"),
    ("Jk As Jk",          0, "a joker led takes, even from another joker"),
    ("2c Jk 9d",          0, "a joker that follows never takes"),
    ("Ts",                0, "alone in the trick the leader takes it"),
]
# fmt: on


@pytest.mark.parametrize(("text", "points", "why"), SCORES, ids=[row[2] for row in SCORES])
def test_a_set_scores_its_best_reading(text, points, why):
    assert points_of(cards(text)) == points


@pytest.mark.parametrize(("text", "spectrum", "why"), DEFAULTS, ids=[row[2] for row in DEFAULTS])
def test_an_unnamed_set_is_read_in_the_first_spectrum_it_fits(text, spectrum, why):
    move = LeadSet(parse_cards(text), None)
    assert move.spectrum == spectrum
    if spectrum is not None:
        assert move == LeadSet(cards(text), spectrum)


@pytest.mark.parametrize(("text", "taker", "why"), TRICKS, ids=[row[2] for row in TRICKS])
def test_a_trick_is_taken(text, taker, why):
    assert rules.taking_card(parse_cards(text)) == taker


def at_lead(*hands, tables=None, lead=0):
    """A state in a match of one hand, so that scoring ends it."""
    seats = len(hands)
    tables = tables or [[] for _ in hands]
    layout = Layout(
        tuple(cards(hand) for hand in hands),
        ((),) * seats,
        tuple(table_of(map(cards, table)) for table in tables),
        (),
        0,
    )
    match = Match(Options(hands=1), 0, (0,) * seats, ())
    return State(match, layout, rules.new_turn(Phase.LEAD, lead))


def played(state, *chosen):
    for seat, move in chosen:
        state, _ = arlington.step(state, ((seat, move),), DEALS)
    return state


def test_the_order_of_cards_in_a_move_does_not_matter():
    assert LeadSet(("Jk", "7s", "7h"), MULTIPLES) == LeadSet(("7s", "7h", "Jk"), MULTIPLES)
    assert hash(Overplay(("Qs", "Ks"))) == hash(Overplay(("Ks", "Qs")))
    state = at_lead("7s 7h Jk 3c", "4c")
    offered = arlington.moves(state, 0).offered
    assert LeadSet(("Jk", "7s", "7h"), None) in offered
    after = played(state, (0, LeadSet(("Jk", "7h", "7s"), MULTIPLES)))
    assert after.layout.tables[0].sets == (cards("7s 7h Jk"),)


def test_a_typed_move_of_the_wire_is_the_move_offered():
    codec = codec_of(game_by_id("arlington"))
    moves = arlington.moves(at_lead("7s 7h Jk 3c", "4c"), 0)
    typed = ArlingtonMove(verb=ARLINGTON_VERB_LEAD_SET, cards=["Jk", "7s", "7h"])
    move = codec.read_move(GameMove(arlington=typed))
    assert move in moves.offered
    assert move.spectrum is MULTIPLES


# fmt: off
ILLEGAL = [
    # move at a lead with 7s, Jk, 2c to tables {Qd Jk}, {As}        why
    (LeadCard("7h"),                         "a card that is not held"),
    (LeadCard("Zz"),                         "a word that is no card"),
    (LeadSet(("Zz", "7s"), MULTIPLES),       "a set with a word that is no card"),
    (LeadSet((), None),                      "no cards at all"),
    (LeadSet((), RUNS),                      "no cards, named"),
    (LeadSet(("Jk", "Jk"), None),            "two jokers, of one in the hand"),
    (LeadSet(("7s", "7s"), None),            "the same card twice"),
    (LeadSet(("7s", "7h"), None),            "a set of which one card is not held"),
    (LeadSet(("7s", "Jk"), COUPLES),         "a spectrum that the cards do not fit"),
    (PlayS2(0, 0),                           "the two of spades is not held"),
    (Add(0, 1, "7s"),                        "a place with no set"),
    (Add(2, 0, "7s"),                        "a seat with no table"),
    (Add(1, 0, "Ah"),                        "a card that the set has use for, but not held"),
    (Add(0, 0, "7s"),                        "a card that the set has no use for"),
    (TakeJoker(0, 0, "Jk"),                  "a joker for a joker changes nothing (ruling 3)"),
    (TakeJoker(1, 0, "7s"),                  "a set without a joker"),
    (PlayCard("7s"),                         "a card to a trick that nobody led"),
    (Pass(),                                 "a pass: the lead must be used"),
    (Kill(),                                 "a kill with nothing to kill"),
]
# fmt: on


@pytest.mark.parametrize(("move", "why"), ILLEGAL, ids=[row[1] for row in ILLEGAL])
def test_at_the_lead_is_refused(move, why):
    state = at_lead("7s Jk 2c", "4c", tables=[["Qd Jk"], ["As"]])
    assert move not in arlington.moves(state, 0)
    with pytest.raises(IllegalMove):
        arlington.step(state, ((0, move),), DEALS)


def test_tables_and_sets_are_counted_from_0():
    """A place before the first is none, though a list of Python would count it from its end."""
    moves = arlington.moves(at_lead("As Jk 2c", "4c", tables=[["Ah"], ["Ad"]]), 0)
    onto = [move for move in moves.offered if isinstance(move, Add)]
    assert onto
    for move in onto:
        assert replace(move, index=move.index - 1) not in moves
        assert replace(move, seat=move.seat - 2) not in moves


@pytest.mark.parametrize(("more", "complete"), [(0, True), (-1, False)], ids=["just", "one less"])
def test_a_list_that_just_holds_all_moves_is_complete(monkeypatch, more, complete):
    allowed = AtLead(cards("7s 7h 2c"), (table_of([]),)).count()
    monkeypatch.setattr("arena.games.arlington.legal_moves.MAX_OFFERED", allowed + more)
    moves = AtLead(cards("7s 7h 2c"), (table_of([]),))
    assert len(moves.offered) == allowed + more
    assert moves.complete is complete


def test_a_hand_of_forty_cards_offers_512_moves_and_allows_the_others():
    draw = random.Random(40)
    deck = [card for card in PACK_52 if card != "2s"]
    hand = set_of([*draw.sample(deck, 38), JOKER, JOKER])
    moves = AtLead(hand, (table_of([cards("2s 3s")]), table_of([])))
    assert len(moves.offered) == MAX_OFFERED
    assert not moves.complete
    assert moves.count() == len(set(moves.each())) > 2 * MAX_OFFERED
    assert set(moves.offered) == set(itertools.islice(moves.each(), MAX_OFFERED))
    unlisted = set(moves.each()) - set(moves.offered)
    assert all(move in moves for move in unlisted)
    assert all(JOKER in move.cards for move in unlisted)  # sets without jokers are never cut
    assert {moves.sample(lambda n: n - 1), moves.sample(lambda n: 0)} <= set(moves.each())


def test_a_large_hand_answers_from_a_cut_list_too():
    hand = set_of([*(card for card in PACK_52 if card[1] != "c"), JOKER, JOKER])
    moves = InAnswer(hand, cards("2c 3c"), RUNS)
    assert len(moves.offered) == MAX_OFFERED
    assert not moves.complete
    last = list(moves.each())[-1]
    assert last in moves
    assert last not in moves.offered


def test_two_jokers_are_one_move():
    assert InTrick(cards("9d Jk Jk")).offered == (PlayCard("9d"), PlayCard(JOKER))


def test_the_only_seat_with_cards_leads_and_loses_a_card():
    state = played(at_lead("9d 3c", "", ""), (0, LeadCard("9d")))
    assert state.layout.hands[0] == ("3c",)
    assert arlington.view(state, None).buried == ("9d",)
    assert arlington.to_act(state) == (0,)


def test_the_lead_without_cards_ends_the_hand_at_once():
    state = at_lead("7s 7h", "2s", "9d 9c", tables=[["Ks Qs"], [], ["As"]])
    led = LeadSet(cards("7s 7h"), MULTIPLES)
    over = played(state, (0, led), (1, Kill()))
    assert arlington.to_act(over) == ()
    assert arlington.result(over).scores == (8, 0, 1)


def test_who_overplays_is_not_beaten_by_seats_that_answered_before():
    state = at_lead("7s 7h 3c", "9s 9h", "8s 8h 4c")
    led = LeadSet(cards("7s 7h"), MULTIPLES)
    state = played(state, (0, led), (1, Pass()), (2, Overplay(cards("8s 8h"))))
    assert state.turn.phase is Phase.LEAD
    assert arlington.to_act(state) == (2,)
    assert state.layout.tables[2].sets == (cards("8s 8h"),)


def test_an_overplay_lies_after_the_sets_there_were():
    state = at_lead("7s 7h 3c", "9s 9h 4c", "2s 5c", tables=[[], ["As"], []])
    led = LeadSet(cards("7s 7h"), MULTIPLES)
    state = played(state, (0, led), (1, Overplay(cards("9s 9h"))))
    refused = Overplay(cards("Ts Th"))  # higher, but not held
    assert refused not in arlington.moves(state, 2)
    state = played(state, (2, Kill()))
    assert state.layout.tables[1].sets == (("As",),)
    assert arlington.view(state, None).buried == ("7h", "7s", "9h", "9s", "2s")


def test_what_was_shown_is_known_until_it_is_played():
    state = at_lead("9h Jk 3c", "Kh 4c", tables=[["Qd Jk"], []])
    state = played(state, (0, LeadCard("9h")), (1, PlayCard("Kh")))
    assert arlington.view(state, None).known == ((), ("9h",))
    state = played(state, (1, LeadCard("9h")), (0, PlayCard("3c")))
    assert arlington.view(state, None).known == ((), ("3c",))
    assert arlington.view(state, None).buried == ("Kh", "9h")


def test_a_joker_taken_is_known_to_be_held_and_another_is_not():
    state = at_lead("Kd Jk 3c", "4c", tables=[["Qd Jk"], []])
    state = played(state, (0, TakeJoker(0, 0, "Kd")))
    assert state.layout.hands[0] == ("3c", JOKER, JOKER)
    assert arlington.view(state, None).known == ((JOKER,), ())
    assert state.layout.tables[0].points == (8,)
    state = played(state, (0, LeadSet((JOKER,), COUPLES)))
    assert arlington.view(state, None).known == ((), ())


# fmt: off
ENDINGS = [
    # hands option  played  totals     over   why
    (0,  3, (31, 31),  False, "nobody has 32"),
    (0,  3, (32, 32),  True,  "a tie at the top does not go on"),
    (0, 60, (0, 0),    True,  "sixty hands without 32 points are enough"),
    (0, 59, (0, 0),    False, "fifty-nine are not"),
    (4,  3, (50, 60),  False, "a match of fixed length has no target"),
    (4,  4, (0, 0),    True,  "and ends after its hands"),
]
# fmt: on


@pytest.mark.parametrize(
    ("hands", "done", "totals", "over", "why"), ENDINGS, ids=[row[4] for row in ENDINGS]
)
def test_a_match_ends(hands, done, totals, over, why):
    assert rules.is_over(Options(hands=hands), done, totals) is over


def everything(state):
    """All cards that a hand's layout and trick show, wherever they are."""
    layout = state.layout
    placed = itertools.chain.from_iterable(table.sets for table in layout.tables)
    yield from itertools.chain(*layout.hands, *placed, layout.buried, state.turn.trick_cards)


def potential(state):
    """What every lead action lowers, so that hands end (ruling 2)."""
    held = list(itertools.chain(*state.layout.hands))
    return 2 * len(held) - held.count(JOKER)


@pytest.mark.parametrize("seats", range(2, 7))
def test_random_play_keeps_the_cards_and_ends_within_the_bounds(seats):
    draw, deals = random.Random(seats), SeededDeals(f"arlington {seats}")
    state, _ = arlington.start(Options(hands=2 * seats), seats, deals)
    pack_of_54 = Counter(pack(jokers=2))
    decisions, lead_actions, scored = 0, 0, 0
    before = dealt = potential(state)
    while acting := arlington.to_act(state):
        (seat,) = acting
        at_the_lead = state.turn.phase is Phase.LEAD
        shown = Counter(everything(state))
        assert shown <= pack_of_54
        assert shown.total() + state.layout.undealt == 54
        for hand, known in zip(state.layout.hands, state.layout.known, strict=True):
            assert Counter(known) <= Counter(hand)
        moves = arlington.moves(state, seat)
        assert moves.complete
        assert len(set(moves.offered)) == len(moves.offered) == moves.count()
        assert arlington.fallback(state, seat) in moves.offered
        move = moves.sample(draw.randrange)
        assert move in moves
        state, events = arlington.step(state, ((seat, move),), deals)
        decisions, lead_actions = decisions + 1, lead_actions + at_the_lead
        ended = [event for event, _ in events if isinstance(event, Scored)]
        if ended:
            scored += 1
            assert lead_actions <= 16 * seats
            assert decisions <= 8 * seats * (seats + 1)
            decisions = lead_actions = 0
            before = dealt
        elif state.turn.phase is Phase.LEAD:
            assert potential(state) < before
            before = potential(state)
    assert scored == 2 * seats
    result = arlington.result(state)
    assert [sum(item) for item in zip(*result.hand_scores, strict=True)] == list(result.scores)


def test_every_seat_deals_equally_often():
    with pytest.raises(BadOptions, match="not a multiple"):
        arlington.start(Options(hands=4), 3, DEALS)


@pytest.mark.parametrize("seats", [1, 7])
def test_it_is_for_two_to_six(seats):
    with pytest.raises(BadOptions, match="2 to 6 seats"):
        arlington.start(Options(), seats, DEALS)


@pytest.mark.parametrize(
    ("text", "spectrum", "why"),
    [
        ("Kh Qh", Spectrum.COUPLES, "a suited couple scores 8, the run 2"),
        ("Ah Jk", Spectrum.ACES, "two aces score as much as a run of two, and come first"),
        ("4c 5c 6c", Spectrum.RUNS, "three in a row are nothing else"),
        ("2h", Spectrum.COUPLES, "the two of hearts stands for a couple"),
    ],
)
def test_a_set_is_read_where_it_scores_most(text, spectrum, why):
    assert reading_of(cards(text)) == spectrum, why

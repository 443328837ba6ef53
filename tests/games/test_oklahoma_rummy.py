"""Oklahoma Rummy: what would surprise, that lists agree with the rules, and that cards are kept."""

import random
from collections import Counter
from itertools import combinations, permutations

import pytest

from arena.games.cards import pack
from arena.games.contract import MAX_OFFERED, BadOptions
from arena.games.oklahoma_rummy import rules as oklahoma_rummy
from arena.games.oklahoma_rummy.legal_moves import AtDraw, AtPlay, holds
from arena.games.oklahoma_rummy.melds import (
    OUT_POINTS,
    End,
    MeldKind,
    extended,
    melds_within,
    read_meld,
)
from arena.games.oklahoma_rummy.messages import (
    Discard,
    Extend,
    Meld,
    NoDiscard,
    Options,
    Phase,
    Scored,
    StockRebuilt,
    Table,
    TakePile,
)
from arena.games.oklahoma_rummy.rules import (
    DECK,
    MAX_REBUILDS,
    Deal,
    Match,
    Piles,
    State,
    hand_size,
    is_over,
)
from arena.referee.deal import KeyedDeals
from arena.testing.deals import SeededDeals

SET, RUN = MeldKind.SET, MeldKind.RUN


def cards(text):
    return tuple(text.split())


# fmt: off
MELDS = [
    # kind cards             points, or None if it is no meld
    (RUN, "Js 2c Ks",        70, "a 2 may stand for the queen of spades and counts 50 (R2)"),
    (RUN, "Ts Js 2c 2d",   None, "but not beside another 2"),
    (RUN, "2d Js 2c",      None, "nor beside another 2 at the other end"),
    (RUN, "Jh 2c 2d",        30, "other queens take a 2 beside another"),
    (SET, "Qs Qh 2c",        70, "a 2 in a set of queens is a plain queen"),
    (SET, "2c 2d 2h",        75, "three 2s are a set, of 25 each"),
    (SET, "2c 2c 2h 2h",    100, "twins of 2s too"),
    (RUN, "2c 2d 4h",        15, "the place of the two is filled by a 2, which counts 5 (R4)"),
    (RUN, "Ah 2c 2d",        30, "an ace in front is low"),
    (RUN, "2c 2d Ah",        40, "an ace behind is high"),
    (RUN, "2c Ah 2d",      None, "and stands nowhere else"),
    (RUN, "2s 2c As",      None, "two 2s under the ace of spades would stand for king and queen"),
    (RUN, "Kh 2c 2d",      None, "nothing comes above the ace"),
    (RUN, "2c 2d 3h",        30, "2s may stand for ace and two"),
    (RUN, "2c 2d 2h 3h",   None, "nothing comes below the ace"),
    (SET, "7c 7c 7h 7h",     20, "a set may have the same face twice (R3)"),
    (RUN, "7c 7c 8c",      None, "a run may not"),
]
# fmt: on


@pytest.mark.parametrize(("kind", "text", "points", "why"), MELDS, ids=[row[3] for row in MELDS])
def test_what_is_a_meld(kind, text, points, why):
    meld = read_meld(kind, cards(text))
    assert (meld and meld.points) == points


# fmt: off
EXTENSIONS = [
    (RUN, "Js 2c Ks", "As", End.HIGH, True,  "a natural card beside the 2 that is the queen of spades"),
    (RUN, "Js 2c Ks", "2d", End.HIGH, False, "no second 2 there"),
    (RUN, "2c Ks As", "2d", End.LOW,  False, "where the 2 is the queen, no 2 below it"),
    (RUN, "9s Ts Js", "2c", End.HIGH, True,  "the only 2 may become the queen of spades"),
    (RUN, "9s 2d Js", "2c", End.HIGH, False, "a second 2 may not"),
    (RUN, "Ah 2c 3h", "2d", End.LOW,  False, "nothing goes below a low ace"),
    (RUN, "Qh Kh Ah", "2d", End.HIGH, False, "nothing goes above a high one"),
    (RUN, "3h 4h 5h", "2d", End.LOW,  True,  "any 2 fills the place of the two"),
    (RUN, "3h 4h 5h", "6h", None,     False, "a run has to be told the end"),
    (SET, "7h 7c 7d", "7h", None,     True,  "a set takes a twin"),
    (SET, "7h 7c 7d", "7h", End.LOW,  False, "a set has no end"),
    (SET, "2c 2d 2h", "7h", None,     False, "a set of 2s takes 2s only (R3)"),
]
# fmt: on


@pytest.mark.parametrize(
    ("kind", "text", "card", "end", "fits", "why"), EXTENSIONS, ids=[row[5] for row in EXTENSIONS]
)
def test_what_extends_a_meld(kind, text, card, end, fits, why):
    meld = read_meld(kind, cards(text))
    hand = (card, "3c", "Jd")
    assert (extended(meld, card, end) is not None) == fits
    choice = AtPlay(hand, (meld,))
    assert (Extend(0, card, end) in choice) == fits
    assert (Extend(0, card, end) in choice.offered) == fits


def test_equal_melds_are_equal_moves():
    assert len({Meld(SET, order) for order in permutations(("7c", "2h", "7h", "2c"))}) == 1
    assert Meld(RUN, ("7c", "2h", "2c")) == Meld(RUN, ("7c", "2c", "2h"))
    assert Meld(RUN, ("7c", "2c", "9c")) != Meld(RUN, ("2c", "7c", "9c"))
    assert TakePile(SET, ("7c", "2h", "7h")) == TakePile(SET, ("7h", "7c", "2h"))


def all_melds(hand, sizes=(3, 4)):
    """Every meld of a hand, by trying all orders of all its cards."""
    result = set()
    for size in sizes:
        for chosen in set(combinations(sorted(hand), size)):
            if read_meld(SET, chosen):
                result.add(Meld(SET, chosen))
            result |= {
                Meld(RUN, item) for item in set(permutations(chosen)) if read_meld(RUN, item)
            }
    return result


def small_hands(count, size, seed):
    """Hands of few faces, so that twins, 2s and melds come often."""
    draw = random.Random(seed)
    few = [card for card in DECK if card[0] in "A23JQK" and card[1] in "sh"]
    return [tuple(sorted(draw.sample(few, size), key=DECK.index)) for _ in range(count)]


def tried(choice, candidates):
    """The candidates that the choice accepts."""
    return {move for move in candidates if move in choice}


def reached(choice):
    """All moves that a choice counts, by drawing each number once."""
    return [choice.sample(lambda below, at=at: at) for at in range(choice.count())]


@pytest.mark.parametrize("hand", small_hands(25, 7, seed=1), ids=" ".join)
def test_melds_are_listed_counted_and_drawn_as_the_rules_have_them(hand):
    choice, melds = AtPlay(hand, ()), all_melds(hand)
    drawn = reached(choice)
    assert len(set(drawn)) == len(drawn) == choice.count()
    assert {move for move in drawn if isinstance(move, Meld)} == melds == tried(choice, melds)
    assert set(choice.offered) <= set(drawn)
    assert choice.complete == (len(choice.offered) == len(drawn))


@pytest.mark.parametrize("hand", small_hands(25, 7, seed=2), ids=" ".join)
def test_takes_are_listed_counted_and_drawn_as_the_rules_have_them(hand):
    *hand, top = random.Random("".join(hand)).sample(hand, len(hand))
    hand = tuple(sorted(hand, key=DECK.index))
    choice = AtDraw(hand, top, can_draw=True)
    takes = set()
    for meld in all_melds((*hand, top), sizes=(3,)):
        if top in meld.cards:
            rest = list(meld.cards)
            rest.remove(top)
            if holds(hand, rest):
                takes.add(TakePile(meld.kind, meld.cards))
    drawn = reached(choice)
    assert len(set(drawn)) == len(drawn)
    assert {move for move in drawn if isinstance(move, TakePile)} == takes == tried(choice, takes)
    assert set(choice.offered) <= set(drawn)


def test_a_face_held_once_is_not_melded_twice():
    hand = ("Kd", "Kh", "Ac")
    twice = ("Kd", "Kh", "Kh")
    assert Meld(SET, twice) not in AtPlay(hand, ())
    assert Meld(SET, twice) in AtPlay((*hand, "Kh"), ())
    assert TakePile(SET, twice) in AtDraw(hand, "Kh", can_draw=True)
    assert TakePile(SET, twice) not in AtDraw(("Ac", "Kd"), "Kh", can_draw=True)


def test_a_large_hand_is_offered_in_part_and_judged_whole():
    hand = tuple(card for card in DECK if card[0] in "2789TJQ")
    hand = tuple(sorted(hand, key=DECK.index))
    choice = AtPlay(hand, ())
    assert len(hand) == 56
    assert len(choice.offered) == MAX_OFFERED < choice.count()
    assert not choice.complete
    drawn = [choice.sample(lambda below, at=at: at) for at in range(0, choice.count(), 97)]
    assert len(set(drawn)) == len(drawn)
    assert all(move in choice for move in drawn)
    # Melds without 2s are not left out, and come before those with them.
    plain = [Meld(kind, meld) for kind, meld in melds_within(hand, ())[0]]
    offered = [move for move in choice.offered if isinstance(move, Meld)]
    assert offered[: len(plain)] == plain


def state_of(phase, hands, *, pile=(), stock=("3c", "3d"), rebuilds=0, melds=(), drawn=None):
    tables = (Table(tuple(melds)), Table(()))
    piles = Piles(tuple(stock), tuple(pile), rebuilds)
    deal = Deal(phase, 0, tuple(hands), ((),) * len(hands), tables, piles, drawn)
    return State(Match(Options(), 0, (0,) * len(hands), ()), deal)


def test_queens_of_spades_are_kept_but_melding_them_stays_legal():
    meld = read_meld(SET, ("Qc", "Qd", "Qh"))
    state = state_of(Phase.PLAY, (("Qs", "Qs"), ("3h",)), melds=[meld])
    choice = oklahoma_rummy.moves(state, 0)
    assert choice.offered == (NoDiscard(), Extend(0, "Qs", None))
    after, _ = oklahoma_rummy.step(state, ((0, NoDiscard()),), KeyedDeals(bytes(32)))
    assert oklahoma_rummy.to_act(after) == (1,)
    assert after.deal.piles.pile == ()


FALLBACKS = [
    ("9c Kd Ah", "9c", "9c", "the card drawn"),
    ("9c Kd Qs", "Qs", "Kd", "a queen of spades cannot go, nor does what is not held"),
    ("9c Kd", "5h", "Kd", "the card drawn is gone: what costs most, the king before the rest"),
    ("Ac 2h 2s Kd", None, "2h", "of aces and 2s the 2, of suits the lowest"),
    ("Kh Kd Qc", None, "Kd", "equal kings by suit"),
]


@pytest.mark.parametrize(
    ("hand", "drawn", "discard", "why"), FALLBACKS, ids=[row[3] for row in FALLBACKS]
)
def test_what_is_discarded_for_a_seat_that_does_not_answer(hand, drawn, discard, why):
    held = tuple(sorted(cards(hand), key=DECK.index))
    state = state_of(Phase.PLAY, (held, ("3h",)), drawn=drawn)
    assert oklahoma_rummy.fallback(state, 0) == Discard(discard)


def test_cards_of_a_taken_pile_are_known_until_they_are_played():
    state = state_of(Phase.DRAW, (("9c", "9h", "5d", "Kc"), ("3h",)), pile=("4c", "5d", "9d"))
    deals = KeyedDeals(bytes(32))
    state, _ = oklahoma_rummy.step(state, ((0, TakePile(SET, ("9c", "9d", "9h"))),), deals)
    assert state.deal.hands[0] == ("4c", "5d", "5d", "Kc")
    assert state.deal.known[0] == ("4c", "5d")
    state, _ = oklahoma_rummy.step(state, ((0, Discard("5d")),), deals)
    # Which of the twins went is not known: one may be left, but is no more than that.
    assert state.deal.known[0] == ("4c",)


def cards_of(state):
    deal = state.deal
    for hand, table in zip(deal.hands, deal.tables, strict=True):
        yield from hand
        for meld in table.melds:
            yield from meld.cards
    yield from (*deal.piles.stock, *deal.piles.pile)


@pytest.mark.parametrize("seats", range(2, 9))
def test_random_play_keeps_all_cards_and_ends_within_four_stocks(seats):
    draw, deals = random.Random(seats), SeededDeals(f"oklahoma {seats}")
    state, _ = oklahoma_rummy.start(Options(hands=seats), seats, deals)
    begun = hand_size(seats)
    assert {len(hand) for hand in state.deal.hands} == {begun}
    pack_of_two = Counter(pack(packs=2))
    draws = rebuilds = 0
    while acting := oklahoma_rummy.to_act(state):
        if state.deal.phase is Phase.DRAW:
            draws += 1
        move = oklahoma_rummy.moves(state, acting[0]).sample(draw.randrange)
        before = state.match.hand
        state, events = oklahoma_rummy.step(state, ((acting[0], move),), deals)
        rebuilds += sum(isinstance(event, StockRebuilt) for event, _ in events)
        for event, _ in events:
            if isinstance(event, Scored):
                went = [OUT_POINTS * (seat == event.out) for seat in range(seats)]
                parts = zip(event.melded, event.lost, went, strict=True)
                assert event.points == tuple(won - lost + bonus for won, lost, bonus in parts)
        assert Counter(cards_of(state)) == pack_of_two
        assert all(holds(h, k) for h, k in zip(state.deal.hands, state.deal.known, strict=True))
        if state.match.hand != before:
            assert rebuilds <= MAX_REBUILDS
            draws = rebuilds = 0
        assert draws <= 4 * len(DECK)
    assert len(oklahoma_rummy.result(state).hand_scores) == seats


def test_a_race_ends_with_one_leader_at_the_target_or_after_fifteen_hands():
    race = Options()
    assert not is_over(race, 3, (1100, 1100))
    assert is_over(race, 3, (1100, 1105))
    assert not is_over(race, 14, (995, 0))
    assert is_over(race, 15, (995, 995))
    assert not is_over(Options(hands=4), 3, (2000, 0))
    assert is_over(Options(hands=4), 4, (0, 0))


@pytest.mark.parametrize(
    ("seats", "hands", "says"), [(1, 0, "2 to 8"), (9, 0, "2 to 8"), (4, 6, "not a multiple")]
)
def test_options_that_do_not_suit_the_table_are_refused(seats, hands, says):
    with pytest.raises(BadOptions, match=says):
        oklahoma_rummy.start(Options(hands=hands), seats, KeyedDeals(bytes(32)))

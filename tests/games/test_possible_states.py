"""States that a seat cannot tell from the real one, in every game and whatever was played."""

import importlib.util
import random
from dataclasses import replace
from pathlib import Path

import pytest

from arena.games.cards import hands_of
from arena.games.catalogue import GAMES
from arena.games.klaberjass.scoring import best_sequence
from arena.house import policies
from arena.house.search import RandomDeals
from tests.games.random_play import moments
from tests.rows import RULES, slow_unless_of_each_kind


def has_states(family):
    return importlib.util.find_spec(f"arena.games.{family}.possible_states") is not None


SAMPLED = [game for game in GAMES if has_states(game.family)]


def test_every_family_that_the_house_plays_has_them():
    folder = Path(policies.__file__).parent
    assert {path.stem for path in folder.glob("[a-z]*.py")} <= {game.family for game in SAMPLED}


@pytest.mark.parametrize("game", slow_unless_of_each_kind(SAMPLED, RULES), ids=lambda game: game.id)
def test_a_seat_cannot_tell_a_sampled_state_from_the_real_one(game):
    rules = game.rules
    for seats in {game.seats[0], game.seats[-1]}:
        options = game.options({"hands": 2 * seats}, seats)
        for number, moment in enumerate(moments(game, options, seats, 1)):
            if number > 40 and number % (3 if number < 200 else 40):
                continue
            for seat in moment.acting:
                view, real = rules.view(moment.state, seat), rules.moves(moment.state, seat)
                draw = random.Random(number).randrange
                sampled = game.sample_state(view, options, seat, draw)
                assert rules.view(sampled, seat) == view
                assert rules.to_act(sampled) == moment.acting
                assert rules.moves(sampled, seat).offered == real.offered
                assert rules.hand_number(sampled) == rules.hand_number(moment.state)
                again = game.sample_state(view, options, seat, random.Random(number).randrange)
                assert again == sampled, "it follows from the view and the draws alone"


POKER = [
    # game                     seats  options                                     why
    ("soko",                   3,     {"format": "freezeout", "start_stack": 12}, "seats are out and all-in"),
    ("soko",                   2,     {"structure": "nolimit"},                   "any size"),
    ("pineapple",              4,     {"format": "freezeout", "start_stack": 12}, "seats are out and all-in"),
    ("pineapple",              2,     {"big_blind": 0, "small_blind": 0, "ante": 1}, "no blinds"),
    ("crazy_pineapple",        3,     {"stacks": "9,30,60"},                      "side pots"),
    ("crazy_pineapple_hi_lo",  3,     {"structure": "nolimit"},                   "any size"),
]  # fmt: skip


@pytest.mark.parametrize(("game_id", "seats", "given", "why"), POKER, ids=str)
def test_the_betting_of_a_sampled_state_is_the_real_one(game_id, seats, given, why):
    (game,) = (game for game in GAMES if game.id == game_id)
    options = game.options({"hands": 4 * seats, **given}, seats)
    for number, moment in enumerate(moments(game, options, seats, 3)):
        seat = moment.acting[0]
        view = game.rules.view(moment.state, seat)
        sampled = game.sample_state(view, options, seat, random.Random(number).randrange)
        assert sampled.betting == moment.state.betting, "also what a view does not tell"
        assert game.rules.view(sampled, seat) == view


@pytest.mark.parametrize(("game_id", "seats", "given", "why"), POKER, ids=str)
def test_the_hand_so_far_is_the_hand_that_was_played(game_id, seats, given, why):
    """From the state alone, of a sampled one too: what spectators saw before each move, and the cards of the state."""
    (game,) = (game for game in GAMES if game.id == game_id)
    hand_so_far = importlib.import_module(f"arena.games.{game.family}.possible_states").hand_so_far
    rules, options = game.rules, game.options({"hands": 4 * seats, **given}, seats)
    seen, hand = [], -1
    for number, moment in enumerate(moments(game, options, seats, 3)):
        if rules.hand_number(moment.state) != hand:
            seen, hand = [], rules.hand_number(moment.state)
        view = rules.view(moment.state, moment.acting[0])
        draw = random.Random(number).randrange
        sampled = game.sample_state(view, options, moment.acting[0], draw)
        for state in (moment.state, sampled):
            past = list(hand_so_far(state))
            assert all(seat in rules.to_act(before) for before, seat, _ in past)
            assert all(move in rules.moves(before, seat) for before, seat, move in past)
            shown = [replace(rules.view(before, None), totals=()) for before, _, _ in past]
            assert list(dict.fromkeys(shown)) == seen
            assert all(dealt_to(before, seat) <= dealt_to(state, seat) for before, seat, _ in past)
        seen.append(replace(rules.view(moment.state, None), totals=()))


def dealt_to(state, seat):
    """All cards that a seat was dealt in the hand of a state, shown, hidden or given up."""
    deal = state.hand.deal
    if hasattr(deal, "upcards"):
        return {deal.holes[seat], *deal.upcards[seat]}
    return {*deal.holes[seat], deal.given_up[seat]} - {None}


@pytest.mark.parametrize("there", [(True, False), (True, True), (True, False, False)], ids=str)
def test_hands_in_fantasyland_are_sampled(there):
    (game,) = (game for game in GAMES if game.id == "open_face_chinese_poker")
    draw, seats = random.Random(4), len(there)
    rules, options, deals = (
        game.rules,
        game.options({"hands": seats}, seats),
        RandomDeals(draw.randrange(2**32)),
    )
    state = rules.start(options, seats, deals).state
    state = rules.deal_hand(replace(state.match, fantasyland=there), deals).state
    while state.match.fantasyland == there:
        acting = rules.to_act(state)
        for seat in acting:
            view = rules.view(state, seat)
            sampled = game.sample_state(view, options, seat, draw.randrange)
            assert rules.view(sampled, seat) == view
            assert rules.to_act(sampled) == acting
            assert rules.moves(sampled, seat).offered == rules.moves(state, seat).offered
        chosen = tuple((seat, rules.fallback(state, seat)) for seat in acting)
        state = rules.step(state, chosen, deals).state


@pytest.mark.parametrize("game", slow_unless_of_each_kind(SAMPLED, RULES), ids=lambda game: game.id)
def test_from_a_sampled_state_a_match_is_played_to_its_end(game):
    seats = game.seats[0]
    options = game.options({"hands": 2 * seats}, seats)
    draw = random.Random(2)
    for number, moment in enumerate(moments(game, options, seats, 2)):
        if number % (50 if game.family == "eleusis" else 5) == 0:
            seat = moment.acting[0]
            view = game.rules.view(moment.state, seat)
            sampled = game.sample_state(view, options, seat, draw.randrange)
            results = played_out(game, sampled, draw)
            assert len(results.hand_scores) == 2 * seats


def played_out(game, state, draw):
    rules, deals = game.rules, RandomDeals(draw.randrange(2**32))
    while acting := rules.to_act(state):
        chosen = tuple((seat, draw.choice(rules.moves(state, seat).offered)) for seat in acting)
        state = rules.step(state, chosen, deals).state
    return rules.result(state)


def test_hands_of_unseen_cards_are_uniform():
    draw, counts = random.Random(5), {}
    for _ in range(6_000):
        one, other = hands_of("dcba", (2, 2), draw.randrange)
        counts[one + other] = counts.get(one + other, 0) + 1
    assert len(counts) == 24
    assert max(counts.values()) < 250 * 1.35
    assert min(counts.values()) > 250 * 0.65


def test_hands_follow_from_the_set_of_cards_and_not_from_its_order():
    assert hands_of("abcd", (1, 3), random.Random(1).randrange) == hands_of(
        "dbca", (1, 3), random.Random(1).randrange
    )


def test_hands_take_all_unseen_cards():
    with pytest.raises(ValueError, match="4 unseen cards"):
        hands_of("abcd", (1, 2), random.Random(1).randrange)


@pytest.mark.parametrize(("name", "seats"), [("klaberjass", 2), ("loo", 5)])
def test_a_sampled_hand_lacks_the_suits_that_its_seat_did_not_follow(name, seats):
    game = next(game for game in GAMES if game.id == name)
    options = game.options({"hands": 8 * seats}, seats)
    lacking, unfit, count, draw = set(), 0, 0, random.Random(3)
    for moment in moments(game, options, seats, 3):
        deal, (seat, move) = moment.state.deal, moment.chosen[0]
        if not deal.tricks.winners and deal.phase == "lead":
            lacking = set()
        view = game.rules.view(moment.state, seat)
        sampled = game.sample_state(view, options, seat, draw.randrange).deal
        hands = [side.hand for side in sampled.sides] if seats == 2 else sampled.cards.hands
        for other, suit in lacking if deal.phase in ("lead", "follow") else ():
            if other != seat:
                count += 1
                unfit += any(card[1] == suit and card != "Jc" for card in hands[other])
        if deal.phase == "follow":
            led = deal.tricks.led if seats == 2 else deal.tricks.cards[0]
            if move.card[1] != led[1] and "Jc" not in (led, move.card):
                lacking.add((seat, led[1]))
    assert count > 100
    assert unfit <= 0.02 * count, "but for those that no try fits"


def test_a_sampled_hand_of_klaberjass_has_the_sequence_that_it_announced():
    game = next(game for game in GAMES if game.id == "klaberjass")
    options = game.options({"hands": 60}, 2)
    count, unfit, draw = 0, 0, random.Random(3)
    for moment in moments(game, options, 2, 3):
        (seat,) = moment.acting
        view = game.rules.view(moment.state, seat)
        if view.contest.announcer == 1 - seat:
            count += 1
            deal = game.sample_state(view, options, seat, draw.randrange).deal
            cards = (*deal.sides[1 - seat].hand, *view.played[1 - seat])
            best = best_sequence(cards, view.auction.trump)
            unfit += best is None or best.value != view.contest.value
    assert count > 100
    assert unfit <= 0.02 * count, "but for those that no try fits"

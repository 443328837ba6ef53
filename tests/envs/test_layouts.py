"""Views become numbers from which they can be read back, and actions stand for legal moves.

The numbers of a seat say no more than its view (the leak gate, on numbers), and no less (the inverse).
"""

import random

import pytest

from arena import envs
from arena.envs.encoders import layout_of
from arena.envs.stepped_match import SteppedMatch
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import IllegalMove
from arena.testing.deals import SeededDeals
from tests.leaks.worlds import Emissions, gate
from tests.rows import fewest_seats, slow_unless, slow_unless_of_each_kind
from tests.walks import SITTINGS, Walk

RESEARCH = pytest.mark.deep("research")
SHORTENED = {"arlington", "eleusis", "oklahoma_rummy"}
"""Families with lists or texts that have no limit: of a part only a digest is written."""
EVERY_TABLE = pytest.mark.parametrize(
    ("game", "seats"),
    slow_unless(
        lambda game, seats: (
            fewest_seats(game.id, seats) and game.family not in {"eleusis", "oklahoma_rummy"}
        ),
        SITTINGS,
        RESEARCH,
    ),
)
"""Every game with the fewest seats and the most; the quick run has the fewest, without the games whose views are long."""
EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, RESEARCH), ids=lambda g: g.id
)


def looks(game, seats, seed=1):
    """Each state of a match of random moves, with a seat that looks: those to act, and one more."""
    draw = random.Random(seed)
    for turn in Walk(game, seats, seed):
        for seat in {*turn.acting, draw.randrange(seats)}:
            yield turn.after, seat


@EVERY_TABLE
def test_a_view_is_read_back_from_its_numbers(game, seats):
    layout = layout_of(game, Walk(game, seats, 1).options, seats)
    short = 0
    for state, seat in looks(game, seats):
        view = game.rules.view(state, seat)
        numbers = layout.numbers(view, seat)
        assert all(
            low - 1e-6 <= number <= high + 1e-6
            for low, number, high in zip(layout.view.low, numbers, layout.view.high, strict=True)
        )
        try:
            assert layout.read(numbers, seat) == view
        except envs.Shortened:
            short += 1
    assert not short or game.family in SHORTENED


@EVERY_TABLE
def test_views_that_differ_have_numbers_that_differ(game, seats):
    layout = layout_of(game, Walk(game, seats, 1).options, seats)
    known = {}
    for seed in range(1, 6):
        for state, seat in looks(game, seats, seed):
            view = game.rules.view(state, seat)
            assert known.setdefault((seat, bytes(layout.numbers(view, seat))), view) == view
    assert len(known) > 10


@EVERY_TABLE
def test_the_parts_are_all_numbers_in_order(game, seats):
    layout = layout_of(game, Walk(game, seats, 1).options, seats)
    at = 0
    for part in layout.parts():
        assert part.start == at
        assert part.meaning
        at += part.size
    assert at == layout.view.size == len(layout.view.low) == len(layout.view.high)
    names = [part.name for part in layout.parts()]
    assert len(set(names)) == len(names)


class Numbered(Emissions):
    """What a seat sees as numbers, with its action mask, in place of what is sent to it."""

    def of(self, state, told, seat):
        if seat is None:
            return None
        self.match.resume(state, "none")
        numbers, mask = self.match.observed(seat)
        emission = (numbers.tobytes(), mask.tobytes())
        return self._plant(emission, state) if self._plant else emission


def numbered(game, options, seats, plant=None):
    emissions = Numbered(game, plant)
    emissions.match = SteppedMatch(game.id, options, seats)
    return emissions


@EVERY_GAME
def test_states_that_a_seat_cannot_tell_apart_have_the_same_numbers(game):
    seats = game.seats[0]
    options = game.options({"hands": seats}, seats)
    emissions = numbered(game, {"hands": seats}, seats)
    tally = gate(game, options, seats, pairs=6, worlds=3, emissions=emissions)
    assert not tally.differences, tally.differences[0]


def test_the_gate_sees_a_number_of_a_hidden_card():
    game = game_by_id("sixty_six")
    plant = lambda seen, state: (*seen, state.deal.sides[0].hand)  # noqa: E731
    emissions = numbered(game, {"hands": 2}, 2, plant)
    options = game.options({"hands": 2}, 2)
    assert gate(game, options, 2, pairs=6, worlds=2, emissions=emissions).differences


# Actions.


@EVERY_TABLE
def test_actions_stand_for_legal_moves_and_for_all_that_are_offered(game, seats):
    layout = layout_of(game, Walk(game, seats, 1).options, seats)
    for turn in Walk(game, seats, 1):
        for seat in turn.acting:
            moves = game.rules.moves(turn.after, seat)
            legal = layout.actions.legal(game.rules.view(turn.after, seat), moves)
            assert legal
            assert all(0 <= action < layout.actions.size for action in legal)
            assert all(move in moves for move in legal.values())
            if moves.complete:
                assert set(moves.offered) == set(legal.values())


# fmt: off
SIZES = [
    # options                                            wagers   why
    ({},                                                  19,     "a spread of 4 to 10: each total, also of doubled bets"),
    ({"max_bet": 100, "start_stack": 1000},                8,     "a wide spread: shares of the pot"),
    ({"structure": "pot"},                                 8,     "pot limit: shares of the pot"),
]
# fmt: on


@pytest.mark.parametrize(("options", "wagers", "why"), SIZES, ids=[row[-1] for row in SIZES])
def test_bets_are_each_total_or_shares_of_the_pot(options, wagers, why):
    layout = envs.layout("soko", options=options)
    assert layout.actions.groups[-1].size == wagers
    match = SteppedMatch("soko", options)
    for seed in range(3):
        match.begin(seed)
        draw = random.Random(seed)
        while match.acting:
            seat = match.acting[0]
            moves = match.game.rules.moves(match.state, seat)
            legal = match.legal(seat)
            assert {moves.offered[0], moves.offered[-1]} <= set(legal.values())
            assert len(set(legal.values())) == len(legal)
            match.act(draw.choice(list(legal)))


# A match of which all seats are asked.


@EVERY_GAME
def test_rewards_sum_up_to_zero_and_to_the_final_lead(game):
    match = SteppedMatch(game.id, {"hands": game.seats[0]})
    match.begin(3)
    draw, sums = random.Random(3), [0.0] * match.seats
    for _ in range(3000):
        if match.is_over:
            break
        before = match.scores
        assert match.act(draw.choice(list(match.legal(match.acting[0]))))
        rewards = match.rewards(before)
        assert sum(rewards) == pytest.approx(0)
        sums = [one + more for one, more in zip(sums, rewards, strict=True)]
    if match.is_over:
        scores = match.game.rules.result(match.state).scores
        others = [(sum(scores) - score) / (len(scores) - 1) for score in scores]
        leads = [score - other for score, other in zip(scores, others, strict=True)]
        assert sums == pytest.approx(leads)


def test_a_seat_that_chooses_at_the_same_time_sees_nothing_of_what_was_chosen():
    match = SteppedMatch("democracy")
    match.begin(1)
    first = match.observed(1)
    match.act(next(iter(match.legal(0))))
    assert match.acting == (1,)
    assert (match.observed(1).numbers == first.numbers).all()
    assert (match.observed(1).mask == first.mask).all()
    assert not match.observed(0).mask.any()


def test_an_illegal_action_plays_the_fallback_move():
    match, other = SteppedMatch("sixty_six"), SteppedMatch("sixty_six")
    match.begin(1)
    other.begin(1)
    illegal = next(n for n in range(31) if n not in match.legal(match.acting[0]))
    assert not match.act(illegal)
    other.play(other.game.rules.fallback(other.state, other.acting[0]))
    assert match.state == other.state


def test_a_seed_has_the_deals_of_a_match_of_the_arena():
    match = SteppedMatch("jam")
    match.begin("seven")
    start = match.game.rules.start(match.options, 2, SeededDeals("seven"))
    assert match.state == start.state


def test_an_illegal_move_of_the_rules_is_refused():
    match = SteppedMatch("sixty_six")
    match.begin(1)
    with pytest.raises(IllegalMove):
        match.play("no move")


@pytest.mark.parametrize(
    ("game", "options", "seats", "text"),
    [
        ("chess", {}, None, "there is no game 'chess'"),
        ("jam", {"speed": 1}, None, "there is no option 'speed'"),
        ("jam", {}, 3, "jam is played by 2 seats, not 3"),
        ("soko", {"ante": 300}, None, "ante=300 leaves nothing"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(game, options, seats, text):
    with pytest.raises((LookupError, ValueError), match=text):
        SteppedMatch(game, options, seats)

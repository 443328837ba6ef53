"""What holds in every game of the catalogue, whatever is played."""

import itertools
import random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from arena.games.catalogue import GAMES
from arena.games.contract import MAX_OFFERED, BadOptions
from arena.games.notation import Notation
from arena.referee.wire.games import codec_of
from arena.testing.deals import SeededDeals
from cardarena.v1 import game_pb2
from tests.games.random_play import moments, with_effect
from tests.rows import RULES, slow_unless_of_each_kind

EXAMPLES = {"eleusis": 2, "eleusis_express": 2}
"""Fewer matches where one takes seconds; others get the default."""
DEFAULT_EXAMPLES = 12
LONGEST = {"hands": 12, "target": 60, "start_stack": 400}
"""Options that are kept small only because matches would take long."""


@st.composite
def tables(draw, game):
    """Any number of seats with any options that suit it, in a match that is not too long."""
    seats = draw(st.sampled_from(game.seats))
    given = {}
    for setting in game.settings:
        if setting.choices:
            given[setting.name] = draw(st.sampled_from(setting.choices))
        elif isinstance(setting.default, bool):
            given[setting.name] = draw(st.booleans())
        elif setting.name == "hands":
            given[setting.name] = draw(st.sampled_from((seats, 2 * seats)))
        elif isinstance(setting.default, str):
            number = st.integers(setting.minimum, LONGEST["start_stack"])
            several = draw(st.lists(number, min_size=seats, max_size=seats) | st.just([]))
            given[setting.name] = ",".join(map(str, several))
        else:
            most = min(setting.maximum, max(setting.default, LONGEST.get(setting.name, 20)))
            low = st.integers(setting.minimum, most)
            given[setting.name] = draw(st.one_of(st.just(setting.default), low))
    options = game.options(with_effect(game, given), seats)
    try:
        game.rules.start(options, seats, SeededDeals("try"))
    except BadOptions:
        assume(False)  # the options do not go together; the rules said so
    return seats, options


def examples(game):
    return settings(
        max_examples=EXAMPLES.get(game.id, DEFAULT_EXAMPLES),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


every_game = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, RULES), ids=lambda game: game.id
)


@every_game
def test_random_play_keeps_to_the_contract(game):
    rules, codec = game.rules, codec_of(game)
    write_move, write_event = Notation(game.messages.Move), Notation(game.messages.Event)

    @examples(game)
    @given(table=tables(game), seed=st.integers(0, 1_000))
    def play(table, seed):
        seats, options = table
        draw = random.Random(seed)
        hand = 0
        for moment in moments(game, options, seats, seed):
            state = moment.state
            assert rules.result(state) is None, "a result while somebody is to act"
            assert moment.acting == tuple(sorted(set(moment.acting)))
            assert rules.hand_number(state) >= hand
            hand = rules.hand_number(state)
            for seat, move in moment.chosen:
                legal = rules.moves(state, seat)
                assert move in legal
                assert write_move.read(write_move.write(move)) == move
                sent = game_pb2.GameMove.FromString(codec.game_move(move))
                assert codec.read_move(sent) == move
                if draw.random() < 0.2:
                    check_moves(legal, rules.fallback(state, seat))
            for event, audience in moment.told:
                assert write_event.read(write_event.write(event)) == event
                sent = game_pb2.GameEvent.FromString(codec.game_event(event))
                assert codec.read_event(getattr(sent, game.family)) == event
                assert audience is None or set(audience) <= set(range(seats))
            last = moment.after
        check_result(rules.result(last), seats)
        assert rules.to_act(last) == ()

    play()


def check_moves(legal, fallback):
    offered = legal.offered
    assert fallback in legal
    assert 1 <= len(offered) <= MAX_OFFERED
    assert len(set(offered)) == len(offered), "a move is offered twice"
    assert all(move in legal for move in offered)
    assert legal.count() >= len(offered)
    if legal.complete:
        assert legal.count() == len(offered)


def check_result(result, seats):
    assert len(result.scores) == len(result.places) == seats
    assert all(len(scores) == seats for scores in result.hand_scores)
    ranked = sorted(zip(result.scores, result.places, strict=True), reverse=True)
    for (score, place), (next_score, next_place) in itertools.pairwise(ranked):
        assert (score == next_score) == (place == next_place)
        assert place <= next_place

"""The games as games of OpenSpiel: its own tests, its search and its solvers run on them."""

import importlib.util
import random

import numpy as np
import pytest

from arena.games.catalogue import GAMES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.deep("research"),
    pytest.mark.skipif(
        importlib.util.find_spec("pyspiel") is None, reason="needs cardarena-engine[research]"
    ),
]
EVERY_GAME = pytest.mark.parametrize("name", [game.id for game in GAMES])
SHORT = {"eleusis": ",max_turns=2", "eleusis_express": ",max_turns=2"}


def load(name, more=""):
    import pyspiel

    import arena.envs.openspiel  # noqa: F401 - registers the games

    return pyspiel.load_game(f"cardarena_{name}(hands=1{SHORT.get(name, '')}{more})")


def dealt(game, seed):
    """A state of the game after the deals were drawn."""
    state, chance = game.new_initial_state(), random.Random(seed)
    while state.is_chance_node():
        state.apply_action(chance.randrange(len(state.chance_outcomes())))
    return state


def decisions(game, seed, most):
    """Some states of a match of random actions in which a seat is to act."""
    state, chance = dealt(game, seed), random.Random(seed)
    for _ in range(most):
        if state.is_terminal():
            return
        yield state
        state.apply_action(chance.choice(state.legal_actions()))


@EVERY_GAME
def test_openspiel_finds_it_sound(name):
    import pyspiel

    pyspiel.random_sim_test(load(name), num_sims=1, serialize=True, verbose=False)


@EVERY_GAME
def test_shimmy_wraps_it_for_pettingzoo(name):
    from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

    table = OpenSpielCompatibilityV0(load(name), render_mode=None)
    table.reset(seed=1)
    chance = random.Random(name)
    for _ in range(20_000):
        if not table.agents:
            break
        _, _, ended, _, info = table.last()
        table.step(None if ended else chance.choice(info["action_mask"].nonzero()[0].tolist()))
    assert not table.agents, "the match is over"


@EVERY_GAME
def test_a_search_over_information_states_plays_it(name):
    from open_spiel.python.algorithms import ismcts, mcts

    game, chance = load(name), np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, chance)
    bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 3, -1, random_state=chance)
    state = dealt(game, 1)
    for _ in range(2):
        if not state.is_terminal():
            action = bot.step(state)
            assert action in state.legal_actions()
            state.apply_action(action)


@EVERY_GAME
def test_a_player_cannot_tell_a_drawn_state_from_the_real_one(name):
    for state in decisions(load(name), seed=2, most=12):
        player = state.current_player()
        drawn = state.resample_from_infostate(player, random.Random(3).random)
        assert drawn.current_player() == player
        assert drawn.legal_actions() == state.legal_actions()
        assert drawn.information_state_string(player) == state.information_state_string(player)
        assert drawn.information_state_tensor(player) == state.information_state_tensor(player)
        assert drawn.observation_string(player) == state.observation_string(player)


def test_a_drawn_state_has_other_hidden_cards():
    state = next(decisions(load("klaberjass"), seed=1, most=1))
    chance = random.Random(1)
    other = 1 - state.current_player()
    hands = {
        state.resample_from_infostate(1 - other, chance.random).match.view(other).held
        for _ in range(5)
    }
    assert len(hands) > 1


def test_information_states_are_recalled_perfectly():
    """A later information state begins with the earlier one, and texts differ where the numbers do."""
    earlier, texts = {}, {}
    for seed in range(4):
        for state in decisions(load("klaberjass"), seed, most=40):
            player = state.current_player()
            text = state.information_state_string(player)
            assert text.startswith(earlier.get((seed, player), ""))
            earlier[seed, player] = text
            assert texts.setdefault(tuple(state.information_state_tensor(player)), text) == text


def test_a_playthrough_is_the_same_again():
    from open_spiel.python.algorithms import generate_playthrough

    import arena.envs.openspiel  # noqa: F401 - registers the games

    name = "cardarena_sixty_six(hands=1)"
    text = generate_playthrough.playthrough(name, None, seed=1)
    assert "information_state_string" in text.lower() or "InformationStateString" in text
    assert text == generate_playthrough.playthrough(name, None, seed=1)


def test_counterfactual_regret_lowers_exploitability_in_a_small_game():
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability, external_sampling_mccfr

    game = load("chinese_poker", ",deals=2")
    np.random.seed(1)  # noqa: NPY002 - where this solver draws from
    before = exploitability.exploitability(game, policy.UniformRandomPolicy(game))
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(40):
        solver.iteration()
    after = exploitability.exploitability(game, solver.average_policy())
    assert after < before / 2

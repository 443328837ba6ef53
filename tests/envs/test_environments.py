"""The conformance tests of PettingZoo and Gymnasium, for every game; and what they do not test."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import numpy as np
import pytest

import cardarena
from arena import envs
from arena.games.catalogue import GAMES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.deep("research"),
    pytest.mark.skipif(
        importlib.util.find_spec("pettingzoo") is None, reason="needs cardarena-engine[research]"
    ),
    # They warn of observations that are a dictionary with an action mask, which is PettingZoo's own way.
    pytest.mark.filterwarnings("ignore:.*:UserWarning"),
]
DOCS = Path(__file__).resolve().parents[2] / "docs"
EVERY_GAME = pytest.mark.parametrize("game", [game.id for game in GAMES])


@EVERY_GAME
def test_pettingzoo_finds_one_agent_after_the_other_sound(game):
    from pettingzoo.test import api_test, seed_test

    api_test(envs.pettingzoo(game), num_cycles=200)
    seed_test(lambda: envs.pettingzoo(game), num_cycles=100)


@EVERY_GAME
def test_pettingzoo_finds_all_agents_at_once_sound(game):
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(envs.parallel(game), num_cycles=100)
    parallel_seed_test(lambda: envs.parallel(game), num_cycles=50)


@EVERY_GAME
def test_gymnasium_finds_one_seat_sound(game):
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    made = gymnasium.make(envs.environment_id(game), opponent="house:sample")
    check_env(made.unwrapped, skip_render_check=True)


class First(cardarena.Bot):
    """Plays the first offered move."""

    def move(self, ask):
        return ask.moves[0]


class FirstOfAll(cardarena.BatchBot):
    """Plays the first offered move, of several asks at once."""

    def moves(self, asks):
        return [ask.moves[0] for ask in asks]


class Awaits(cardarena.Bot):
    async def move(self, ask):
        return ask.moves[0]


class PlaysLoo(First):
    games = ("loo",)


OPPONENTS = [
    ("house:random", "a level of the house bot"),
    ("house:sample", "the house bot's policy"),
    (First, "a class of bots"),
    (First(), "a bot"),
    (FirstOfAll, "a bot that takes several asks"),
    (lambda seen: int(np.flatnonzero(seen["action_mask"])[-1]), "a policy"),
]


@pytest.mark.parametrize(
    "opponent", [row[0] for row in OPPONENTS], ids=[row[1] for row in OPPONENTS]
)
def test_one_seat_plays_against(opponent):
    import gymnasium

    env = gymnasium.make("CardArena/SixtySix-v0", opponent=opponent, options={"hands": 2})
    assert lead(env, seed=5) == lead(env, seed=5)


def lead(env, seed):
    """The sum of the rewards of a match of the first legal actions, which is the final lead."""
    seen, info = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        seen, reward, over, _, info = env.step(int(np.flatnonzero(seen["action_mask"])[0]))
        assert not info["illegal"]
        total += reward
    scores = env.unwrapped.match.scores
    assert total == scores[info["seat"]] - scores[1 - info["seat"]]
    return total, info["seat"]


@pytest.mark.parametrize(
    ("opponent", "text"),
    [
        ("house:best", "the house bots are: house:random, house:sample"),
        ("sample", "there is no opponent 'sample'"),
        (Awaits, "Awaits awaits in `move`"),
        (PlaysLoo, "PlaysLoo plays loo, and not jam"),
        (["house:random"] * 3, "1 opponents are needed, not 3"),
    ],
)
def test_an_opponent_that_there_is_not_is_refused_in_a_sentence(opponent, text):
    import gymnasium

    with pytest.raises(ValueError, match=text):
        gymnasium.make("CardArena/Jam-v0", opponent=opponent)


class KeepsSeats(First):
    """Plays the first offered move, and keeps its seats."""

    def __init__(self):
        self.seats = set()

    def move(self, ask):
        self.seats.add(ask.seat)
        return super().move(ask)


def test_opponents_sit_from_the_left_of_the_chosen_seat_on():
    import gymnasium

    bots = [KeepsSeats() for _ in range(4)]
    env = gymnasium.make("CardArena/Loo-v0", opponent=bots, seat=3, options={"hands": 5})
    _, info = env.reset(seed=1)
    over = False
    while not over:
        action = int(np.flatnonzero(env.unwrapped.action_masks())[0])
        _, _, over, _, info = env.step(action)
        assert (info["seat"], info["illegal"]) == (3, False)
    assert [bot.seats for bot in bots] == [{4}, {0}, {1}, {2}]


def test_the_info_names_an_illegal_action():
    import gymnasium

    env = gymnasium.make("CardArena/SixtySix-v0", opponent="house:random")
    seen, _ = env.reset(seed=1)
    *_, info = env.step(int(np.flatnonzero(seen["action_mask"] == 0)[0]))
    assert info["illegal"]
    in_turn = envs.pettingzoo("sixty_six")
    in_turn.reset(seed=1)
    agent = in_turn.agent_selection
    in_turn.step(int(np.flatnonzero(in_turn.observe(agent)["action_mask"] == 0)[0]))
    while (other := in_turn.agent_selection) != agent:
        assert not in_turn.infos[other]["illegal"]
        in_turn.step(int(np.flatnonzero(in_turn.observe(other)["action_mask"])[0]))
    assert in_turn.infos[agent]["illegal"]


def test_infos_are_empty_if_a_learner_wants_none():
    in_turn = envs.pettingzoo("sixty_six", infos=False)
    in_turn.reset(seed=1)
    _, at_once = envs.parallel("sixty_six", infos=False).reset(seed=1)
    assert in_turn.infos == at_once == {"seat_0": {}, "seat_1": {}}


def test_the_mask_of_an_idle_agent_allows_the_last_action_alone():
    env = envs.parallel("sixty_six")
    seen, _ = env.reset(seed=1)
    (acting,) = env.match.acting
    for seat, agent in enumerate(env.agents):
        mask = seen[agent]["action_mask"]
        assert mask[-1] == (seat != acting)
        assert mask[:-1].any() == (seat == acting)


def test_several_environments_step_together():
    import gymnasium

    several = gymnasium.make_vec("CardArena/Jam-v0", num_envs=3, opponent="house:random")
    seen, _ = several.reset(seed=1)
    assert seen["observation"].shape == (3, envs.layout("jam").view.size)
    for _ in range(20):
        chosen = np.array([np.flatnonzero(mask)[0] for mask in seen["action_mask"]])
        seen, *_ = several.step(chosen)


def test_without_the_packages_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(envs, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'cardarena\[research\]'"):
        envs.pettingzoo("jam")


def test_the_sdk_hands_them_on():
    import cardarena.envs

    assert cardarena.envs.pettingzoo is envs.pettingzoo
    assert set(cardarena.envs.__all__) == {*envs.__all__, "TrainedBot"}


@pytest.mark.parametrize(("page", "count"), [("environments.md", 4), ("training.md", 1)])
def test_a_page_prints_what_it_says(page, count):
    text, names = (DOCS / page).read_text("utf-8"), {}
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```\n", text, re.DOTALL)
    assert len(examples) == text.count("```python") == count
    for code, printed in examples:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, names)
        assert output.getvalue() == printed

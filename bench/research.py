"""Environments for learners: random play with observations and action masks, beside games of like length of other libraries."""

import importlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from arena.games.catalogue import game_by_id
from bench import rules

Rate = Callable[[float], float]
"""Plays for a number of seconds, of processor time if not of the clock; returns steps a second of it."""

OURS: Final = ("jam", "sixty_six", "klaberjass", "loo", "pineapple", "soko", "oklahoma_rummy")
ROWS: Final = 64
PROCESSES: Final = 2
CLASSIC: Final = ("leduc_holdem_v4", "texas_holdem_v4", "texas_holdem_no_limit_v6")
RLCARD: Final = ("leduc-holdem", "limit-holdem", "gin-rummy")
OPEN_SPIEL: Final = ("leduc_poker", "gin_rummy", "euchre", "oh_hell", "python_liars_poker")


def rates(progress: Callable[[str], None]) -> Iterator[tuple[str, Rate]]:
    """Yield a rate for each game that is installed; says which are not."""
    for kind in (_rules, _batches, _pettingzoo, _classic, _rlcard, _open_spiel):
        try:
            yield from kind()
        except ImportError as error:
            progress(f"left out: {error}")


def _timed(play: Callable[[], int], now_s: Callable[[], float] = time.process_time) -> Rate:
    """Take a function that plays a match and returns its steps."""

    def rate(seconds: float) -> float:
        steps, begin_s = 0, now_s()
        while now_s() - begin_s < seconds:
            steps += play()
        return steps / (now_s() - begin_s)

    return rate


def _rules() -> Iterator[tuple[str, Rate]]:
    """Yield what no environment can exceed: the rules without views, numbers and masks."""
    for name in OURS:
        rate = rules.rate_of(game_by_id(name), time.process_time, views=False)
        yield f"Card Arena, rules alone: {name}", rate


def _batches() -> Iterator[tuple[str, Rate]]:
    from arena import envs

    for game in OURS:
        yield f"Card Arena, batch of {ROWS}: {game}", _batch(envs.batch(game, ROWS))
    for game in OURS:
        several = envs.batch(game, ROWS, processes=PROCESSES)
        name = f"Card Arena, batch of {ROWS} in {PROCESSES} processes, by the clock: {game}"
        yield name, _batch(several, time.perf_counter)


def _batch(matches: Any, now_s: Callable[[], float] = time.process_time) -> Rate:
    chance = np.random.default_rng(1)

    def play() -> int:
        masks = matches.masks[matches.rows]
        drawn = chance.random(masks.shape, np.float32)
        matches.step(np.where(masks, drawn, -1).argmax(axis=1))
        return len(masks)

    return _timed(play, now_s)


def _pettingzoo() -> Iterator[tuple[str, Rate]]:
    from arena import envs

    for game in OURS:
        yield f"Card Arena, PettingZoo: {game}", _aec(envs.pettingzoo(game))


def _classic() -> Iterator[tuple[str, Rate]]:
    for game in CLASSIC:
        module = importlib.import_module(f"pettingzoo.classic.{game}")
        yield f"PettingZoo: {game}", _aec(module.env())


def _aec(env: Any) -> Rate:
    chance, seeds = np.random.default_rng(1), iter(range(1 << 30))

    def play() -> int:
        env.reset(seed=next(seeds))
        steps = 0
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else chance.choice(np.flatnonzero(seen["action_mask"])))
            steps += not over
        return steps

    return _timed(play)


def _rlcard() -> Iterator[tuple[str, Rate]]:
    import rlcard

    for game in RLCARD:
        env = rlcard.make(game, config={"seed": 1})
        yield f"RLCard: {game}", _timed(lambda env=env: _play_rlcard(env, random.Random(1)))


def _play_rlcard(env: Any, chance: random.Random) -> int:
    state, _ = env.reset()
    steps = 0
    while not env.is_over():
        state, _ = env.step(chance.choice(list(state["legal_actions"])))
        steps += 1
    return steps


def _open_spiel() -> Iterator[tuple[str, Rate]]:
    import open_spiel.python.games  # noqa: F401 - registers the games in Python
    import pyspiel

    import arena.envs.openspiel  # noqa: F401 - registers ours

    chance = random.Random(1)
    for prefix, names in (("Card Arena, OpenSpiel: ", OURS), ("OpenSpiel: ", OPEN_SPIEL)):
        for name in names:
            full = f"cardarena_{name}" if names is OURS else name
            game = pyspiel.load_game(full)
            yield f"{prefix}{name}", _timed(lambda game=game: _play_open_spiel(game, chance))


def _play_open_spiel(game: Any, chance: random.Random) -> int:
    state, steps = game.new_initial_state(), 0
    kind = type(state)
    has_observation = game.get_type().provides_observation_tensor
    seen = kind.observation_tensor if has_observation else kind.information_state_tensor
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(chance.choices(outcomes, weights)[0])
            continue
        player = state.current_player()
        seen(state, player)
        state.apply_action(chance.choice(state.legal_actions()))
        steps += 1
    return steps

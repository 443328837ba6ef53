"""Self-play: a network plays all seats, and learns from what each of its actions has led to."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.envs.network import Floats, Network
from arena.envs.stepped_batch import Batch

ROWS = 64
"""Matches that are stepped together."""


class Task(NamedTuple):
    """Matches to play."""

    game: str
    options: Mapping[str, Any]
    seats: int
    matches: int
    seed: str
    """Fixes the deals and the exploration."""
    exploration: float
    """The share of decisions that are drawn from the legal actions."""


class Experience(NamedTuple):
    """Decisions, with what they have led to."""

    observations: NDArray[np.float16]
    actions: NDArray[np.intp]
    returns: Floats
    """How the lead of the seat changed in the rest of the hand."""


def play(task: Task, network: Network, ignored: NDArray[np.intp]) -> Experience:
    """Play matches of a network against itself; `ignored` inputs are 0."""
    seeds = (f"{task.seed}/{number}" for number in range(task.matches))
    batch = Batch(task.game, ROWS, options=task.options, seats=task.seats, seeds=seeds)
    chance = np.random.default_rng(list(task.seed.encode()))
    observations, actions, owners = [], [], []
    hands = np.arange(ROWS)
    """The number of the hand of each row: hands are numbered as they begin."""
    begun = ROWS
    ended: dict[int, Floats] = {}
    while len(batch.rows):
        rows = batch.rows
        seen = batch.observations[rows]
        seen[:, ignored] = 0
        masks = batch.masks[rows]
        chosen = chosen_actions(network.values(seen), masks)
        explores = chance.random(len(rows)) < task.exploration
        if explores.any():
            chosen[explores] = chosen_actions(
                chance.random((int(explores.sum()), masks.shape[1]), np.float32), masks[explores]
            )
        observations.append(seen.astype(np.float16))
        actions.append(chosen)
        owners.append(np.stack([hands[rows], batch.seats[rows]], axis=1))
        stepped = batch.step(chosen)
        for place in np.flatnonzero(stepped.hand_ended).tolist():
            row = rows[place]
            ended[int(hands[row])] = stepped.rewards[place]
            hands[row] = begun
            begun += 1
    owner = np.concatenate(owners)
    gained = np.stack([ended[hand] for hand in sorted(ended)])
    number = np.searchsorted(sorted(ended), owner[:, 0])
    return Experience(
        np.concatenate(observations), np.concatenate(actions), gained[number, owner[:, 1]]
    )


def chosen_actions(values: Floats, masks: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return for each row the legal action of the largest value."""
    chosen: NDArray[np.intp] = np.where(masks, values, -np.inf).argmax(axis=1)
    return chosen

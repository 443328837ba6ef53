"""Training by self-play: Deep Monte Carlo, which learns for each action what its hand came to.

The network values the actions at an observation. It plays all seats, the best legal action or sometimes any other, and
its value of each action that was chosen is moved towards the change of the lead until the end of the hand (Zha et al., 2021).
What is exported is a mean of the latest networks.

A training follows from its seed. It goes in rounds, and is kept after each of them: a training that was stopped and
goes on comes to the same weights.
"""

import json
import math
import statistics
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arena.envs.encoders import layout_of
from arena.envs.network import Adam, Floats, Network
from arena.envs.self_play import Experience, Task, play
from arena.envs.trained_bot import TrainedBot, ignored_inputs, layout_digest
from arena.games.catalogue import game_by_id
from arena.house.bot import HouseBot
from arena.local.engines import Engine
from arena.local.many import play_many
from arena.results import student_t

if TYPE_CHECKING:
    from arena.local.place import AnyBot

POLICY: Final = "policy.npz"
"""The file of a bot folder that has the weights."""
KEPT: Final = ".training.npz"
"""The file that a training goes on from. It is hidden, so it is not submitted."""
HIDDEN: Final = (256, 128)
"""Units of the layers between observations and values."""
RATE: Final = 1e-3
EXPLORATION: Final = 0.05
TASKS: Final = 2
"""Tasks of an iteration; their number is fixed, so that results do not depend on the number of processes."""
MATCHES: Final = 128
"""Matches of a task."""
ITERATIONS: Final = 16
"""Iterations of a round."""
PASSES: Final = 2
"""How often each decision is learned from: play costs several times as much as learning."""
MINIBATCH: Final = 256
MEAN_OF: Final = 0.1
"""The share of all steps, of the latest ones, that the exported weights are a mean of, about."""


class CannotTrain(Exception):
    """A training cannot begin or go on. The text says why."""


@dataclass(frozen=True, slots=True)
class TrainingTerms:
    """What a training follows from."""

    game: str
    seats: int
    options: Mapping[str, Any]
    seed: str


class HousePolicy(HouseBot):
    """The house bot without a search, which policies are measured against."""

    level = "sample"


class Lead(NamedTuple):
    """How much a policy is ahead of the house bot's, in points a match."""

    points: float
    half_width_95: float
    deal_sets: int


class Training:
    """A training of one policy."""

    def __init__(self, terms: TrainingTerms) -> None:
        self.terms = terms
        game = game_by_id(terms.game)
        self.layout = layout_of(game, game.options(terms.options, terms.seats), terms.seats)
        self._ignored = np.array(ignored_inputs(self.layout), np.intp)
        sizes = (self.layout.view.size, *HIDDEN, self.layout.actions.size)
        self.network = Network.drawn(sizes, self._chance("weights"))
        self.mean = self.network.copy()
        self._adam = Adam(self.network, RATE)
        self.rounds = 0
        self.decisions = 0
        self.scale = 0.0
        """The standard deviation of the returns of the first iteration, in points: values are in this unit."""

    def round(self, engine: Engine) -> float:
        """Play and learn for one round; return the mean squared error in it, in squares of the scale.

        While it learns from one iteration, the next one is played, so play is one iteration behind.
        """
        errors = []
        first = self.rounds * ITERATIONS
        played = self._begin(engine, first)
        for iteration in range(first, first + ITERATIONS):
            experience = [future.result() for future in played]
            if iteration + 1 < first + ITERATIONS:
                played = self._begin(engine, iteration + 1)
            errors.append(self._learn(iteration, experience))
        self.rounds += 1
        return float(np.mean(errors))

    def _begin(self, engine: Engine, iteration: int) -> list[Future[Experience]]:
        """Have the matches of an iteration played by the network as it is now."""
        terms, network = self.terms, self.network.copy()
        return [
            engine.submit(
                play,
                Task(
                    terms.game,
                    terms.options,
                    terms.seats,
                    MATCHES,
                    f"{terms.seed}/{iteration}/{number}",
                    EXPLORATION,
                ),
                network,
                self._ignored,
            )
            for number in range(TASKS)
        ]

    def _learn(self, iteration: int, experience: list[Experience]) -> float:
        observations, actions, returns = (
            np.concatenate(values) for values in zip(*experience, strict=True)
        )
        self.scale = self.scale or float(returns.std()) or 1.0
        returns = returns / np.float32(self.scale)
        chance = self._chance(f"order {iteration}")
        order = np.concatenate([chance.permutation(len(actions)) for _ in range(PASSES)])
        errors = []
        for start in range(0, len(order), MINIBATCH):
            rows = order[start : start + MINIBATCH]
            error, gradient = self.network.gradient(
                observations[rows].astype(np.float32), actions[rows], returns[rows]
            )
            self._adam.step(gradient)
            errors.append(error)
            self.mean.approach(self.network, 1 / (1 + MEAN_OF * self._adam.steps))
        self.decisions += len(actions)
        return float(np.mean(errors))

    def _chance(self, label: str) -> np.random.Generator:
        return np.random.default_rng(list(f"{self.terms.seed}/{label}".encode()))

    def export(self, file: Path) -> None:
        """Write the policy to a file that `TrainedBot` reads. Raises `OSError` if it cannot be written."""
        parameters = list(self.mean.parameters)
        _save(file, self._about(), [np.atleast_2d(values) for values in parameters])

    def keep(self, file: Path) -> None:
        """Write all that the training goes on from. Raises `OSError` if it cannot be written."""
        _save(file, self._about(), self._arrays())

    @classmethod
    def kept(cls, file: Path, terms: TrainingTerms) -> "Training":
        """Return the training of a file.

        Raises:
          OSError: if it cannot be read.
          CannotTrain: if it is the training of other terms, or of another version of the game.
        """
        training = cls(terms)
        with np.load(file) as arrays:
            about = json.loads(arrays["about"].tobytes())
            for name in ("game", "seats", "options", "seed", "layout"):
                if about[name] != training._about()[name]:
                    raise CannotTrain(
                        f"{file} is a training with {name} {about[name]}, not {training._about()[name]}; "
                        "choose another folder"
                    )
            training._adam = Adam(training.network, RATE, about["steps"])
            for at, values in enumerate(training._arrays()):
                values[...] = arrays[f"a{at:02}"]
        training.rounds, training.decisions = about["rounds"], about["decisions"]
        training.scale = about["scale"]
        return training

    @staticmethod
    def seed_of(file: Path) -> str:
        """Return the seed of a kept training. Raises `OSError` if it cannot be read."""
        with np.load(file) as arrays:
            return str(json.loads(arrays["about"].tobytes())["seed"])

    def _arrays(self) -> list[Floats]:
        adam = self._adam
        return [*self.network.parameters, *self.mean.parameters, *adam.means, *adam.squares]

    def _about(self) -> dict[str, Any]:
        return asdict(self.terms) | {
            "layout": layout_digest(self.layout),
            "scale": self.scale,
            "rounds": self.rounds,
            "decisions": self.decisions,
            "steps": self._adam.steps,
        }


def lead_of(policy: Path, terms: TrainingTerms, deal_sets: int, engine: Engine) -> Lead:
    """Play a policy against the policy of the house bot at all other seats, in complete deal-sets.

    Raises `OSError` if the policy cannot be read.
    """
    table: list[AnyBot] = [TrainedBot(policy), *[HousePolicy] * (terms.seats - 1)]
    leads = []
    for result in play_many(
        terms.game,
        [table],
        deal_sets=deal_sets,
        seed=f"{terms.seed}/measure",
        options=terms.options,
        client=engine,
    ):
        trained, *others = (score / terms.seats for score in result.scores)
        leads.append(trained - statistics.fmean(others))
    error = statistics.stdev(leads) / math.sqrt(deal_sets)
    return Lead(
        statistics.fmean(leads), student_t.quantile(0.975, deal_sets - 1) * error, deal_sets
    )


def _save(file: Path, about: Mapping[str, Any], arrays: list[Floats]) -> None:
    """Write arrays and their description as a file of numpy, which is there as a whole or not at all."""
    described = np.frombuffer(json.dumps(about).encode(), np.uint8)
    partial = file.with_name(f".{file.name}.partial")
    with partial.open("wb") as written:
        named: dict[str, Any] = {f"a{at:02}": one for at, one in enumerate(arrays)}
        np.savez(written, about=described, **named)
    partial.replace(file)

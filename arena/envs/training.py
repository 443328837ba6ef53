"""Training by self-play: policy iteration, in which the network learns the results of each action.

The network values the actions at an observation by how much better they are than the others. It learns from trials
(`arena.envs.self_play`): first of the house bot's policy, then of the network itself. A policy that plays the best
action by the values of another policy is better than the other (Tesauro and Galperin, 1996). Each decision is used in
several renamings of its suits. The exported policy is a mean of the latest networks.

The seed determines a training. It consists of rounds, and is saved after each of them: a training that is stopped and
continued gives the same weights.
"""

import json
import math
import statistics
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.envs.encoders import layout_of
from arena.envs.network import Adam, Floats, Network
from arena.envs.self_play import Experience, Task, Values, play
from arena.envs.suits import renamings
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
"""The file from which a training continues. It is hidden, so it is not submitted."""
HIDDEN: Final = (512, 128)
"""The numbers of units of the layers between observations and values."""
RATE: Final = 1e-3
EXPLORATION: Final = 0.1
MARGINS: Final = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""The candidate margins by which the value of a move must be larger than that of the house bot's, in units of the scale."""
HOUSE_ROUNDS: Final = 4
"""The number of rounds in which the house bot's policy plays; the network plays all later ones."""
TASKS: Final = 2
"""The number of tasks of an iteration. It is fixed, so that results do not depend on the number of processes."""
DECISIONS: Final = 2048
"""The approximate number of decisions of a task."""
ITERATIONS: Final = 8
"""The number of iterations of a round."""
PASSES: Final = 12
"""The approximate number of uses of each decision, in renamings of its suits: play costs much more than learning."""
FEWEST_PASSES: Final = 3
"""The approximate number of uses where luck is most of each gain: a network that learns such gains by heart predicts nothing."""
MINIBATCH: Final = 256
MEAN_OF: Final = 0.1
"""The approximate share of the latest steps over which the exported weights are a mean."""


class CannotTrain(Exception):
    """A training cannot begin or continue. The text says why."""


@dataclass(frozen=True, slots=True)
class TrainingTerms:
    """The terms that determine a training."""

    game: str
    seats: int
    options: Mapping[str, Any]
    seed: str


class HousePolicy(HouseBot):
    """The house bot without a search, against which policies are measured."""

    level = "sample"


class Lead(NamedTuple):
    """The lead of a policy over the house bot's, in points a match."""

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
        self._renamings = renamings(game.family, self.layout)
        self._by_place = self.layout.actions.by_place()
        sizes = (self.layout.view.size, *HIDDEN, self.layout.actions.size)
        self.network = Network.drawn(sizes, self._chance("weights"))
        self.mean = self.network.copy()
        self._adam = Adam(self.network, RATE)
        self.rounds = 0
        self.decisions = 0
        self.margin = MARGINS[-1]
        """Of `MARGINS` the one for the next round; see `margin_of`."""
        self.scale = 0.0
        """The standard deviation of the gains of the first iteration, in points: values are in this unit."""
        self.passes = PASSES
        """Halved after an iteration that was not foreseen at all, down to `FEWEST_PASSES`."""
        self.trust = 0.0
        """The slope of gains over values in the latest round, of decisions that had not been learned from; 0 to 1."""

    def round(
        self, engine: Engine, on_progress: Callable[[int, int], object] = lambda *_: None
    ) -> float:
        """Play and learn for one round; return the share of the squares of gains that the network did not predict.

        While it learns from one iteration, the next one is played, so play is one iteration behind. It learns from all
        iterations of the round so far. `on_progress` is called after each iteration with their number so far and in all.
        """
        errors, squares, products, of_values = 0.0, 0.0, 0.0, 0.0
        gained: list[Floats] = []
        played_so_far: list[Experience] = []
        first = self.rounds * ITERATIONS
        played = self._begin(engine, first)
        for iteration in range(first, first + ITERATIONS):
            experience = [future.result() for future in played]
            if iteration + 1 < first + ITERATIONS:
                played = self._begin(engine, iteration + 1)
            latest = self._scaled(experience)
            gained.append(self._gained(latest))
            values = self.mean.values(latest.observations.astype(np.float32))
            values[np.isnan(latest.gains)] = np.nan
            values -= np.nanmean(values, axis=1, keepdims=True)
            error = float(np.nansum((values - latest.gains) ** 2))
            square = float(np.nansum(latest.gains**2))
            if iteration and error >= square:  # before the first one nothing was learned
                self.passes = max(FEWEST_PASSES, self.passes // 2)
            errors += error
            squares += square
            products += float(np.nansum(values * latest.gains))
            of_values += float(np.nansum(values**2))
            played_so_far.append(latest)
            self._learn(iteration, played_so_far)
            on_progress(iteration + 1 - first, ITERATIONS)
        self.rounds += 1
        # Moves of a network whose predictions are worse than none gain one by one, and lose together.
        self.margin = margin_of(np.concatenate(gained)) if errors < squares else math.inf
        self.trust = min(1.0, max(0.0, products / of_values))
        return errors / squares

    def _begin(self, engine: Engine, iteration: int) -> list[Future[Experience]]:
        """Begin the matches of an iteration with the present network."""
        terms, values = self.terms, None
        if self.rounds >= HOUSE_ROUNDS:
            values = Values(self.mean.copy(), self.margin)
        return [
            engine.submit(
                play,
                Task(
                    terms.game,
                    terms.options,
                    terms.seats,
                    DECISIONS,
                    f"{terms.seed}/{iteration}/{number}",
                    EXPLORATION,
                ),
                values,
                self._ignored,
            )
            for number in range(TASKS)
        ]

    def _scaled(self, experience: list[Experience]) -> Experience:
        observations, gains, usual = map(np.concatenate, zip(*experience, strict=True))
        self.scale = self.scale or float(np.nanstd(gains)) or 1.0
        self.decisions += len(gains)
        return Experience(observations, np.divide(gains, self.scale, dtype=np.float32), usual)

    def _gained(self, latest: Experience) -> Floats:
        """Return for each decision and margin what the network's move would have gained over the house bot's."""
        rows = np.flatnonzero(latest.usual >= 0)
        usual, gains = latest.usual[rows], latest.gains[rows]
        values = self.mean.values(latest.observations[rows].astype(np.float32))
        best = np.where(np.isnan(gains), -np.inf, values).argmax(axis=1)
        each = np.arange(len(rows))
        ahead = values[each, best] - values[each, usual]
        gain = gains[each, best] - gains[each, usual]
        return np.where(ahead[:, None] > np.array(MARGINS), gain[:, None], np.float32(0))

    def _learn(self, iteration: int, played: list[Experience]) -> None:
        """Learn from all decisions so far, as many times as the number of new ones requires."""
        observations, gains, _ = map(np.concatenate, zip(*played, strict=True))
        chance = self._chance(f"order {iteration}")
        for _ in range(self.passes * len(played[-1].gains) // MINIBATCH):
            rows = chance.integers(len(gains), size=MINIBATCH)
            renamed = self._renamed(observations[rows], gains[rows], chance)
            self._adam.step(self.network.gradient(*renamed)[1])
            self.mean.approach(self.network, 1 / (1 + MEAN_OF * self._adam.steps))

    def _renamed(
        self, observations: NDArray[np.float16], gains: Floats, chance: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Rename the suits of each decision at random, unless an action is numbered by the order of cards."""
        seen, gains = observations.astype(np.float32), gains.copy()
        which = chance.integers(len(self._renamings), size=len(gains))
        which[~np.isnan(gains[:, self._by_place]).all(axis=1)] = 0
        for number, (inputs, actions) in enumerate(self._renamings):
            rows = np.flatnonzero(which == number)
            seen[rows] = seen[rows[:, None], inputs]
            gains[rows] = gains[rows[:, None], actions]
        return seen, gains

    def _chance(self, label: str) -> np.random.Generator:
        return np.random.default_rng(list(f"{self.terms.seed}/{label}".encode()))

    def export(self, file: Path) -> None:
        """Write the policy to a file that `TrainedBot` reads. Raises `OSError` if it cannot be written."""
        parameters = list(self.mean.parameters)
        _save(file, self._about(), [np.atleast_2d(values) for values in parameters])

    def keep(self, file: Path) -> None:
        """Write all data from which the training continues. Raises `OSError` if it cannot be written."""
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
        training.scale, training.margin = about["scale"], about["margin"]
        training.trust, training.passes = about["trust"], about.get("passes", PASSES)
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
            "margin": self.margin,
            "trust": self.trust,
            "passes": self.passes,
            "rounds": self.rounds,
            "decisions": self.decisions,
            "steps": self._adam.steps,
        }


def margin_of(gained: Floats) -> float:
    """Return the largest of `MARGINS` that is not worse than the best one by a standard error.

    The gains (decisions by margins) are those of one move. A match continues in states that the network's moves lead
    to, and there its values are less certain.
    """
    best = int(gained.sum(axis=0, dtype=np.float64).argmax())
    behind = gained[:, [best]] - gained
    error = behind.std(axis=0, dtype=np.float64) / math.sqrt(len(gained))
    near = behind.mean(axis=0, dtype=np.float64) <= error
    return max(margin for margin, is_near in zip(MARGINS, near, strict=True) if is_near)


def lead_of(
    policy: Path,
    terms: TrainingTerms,
    deal_sets: int,
    engine: Engine,
    on_progress: Callable[[int, int], object] = lambda *_: None,
) -> Lead:
    """Play a policy against the policy of the house bot at all other seats, in complete deal-sets.

    `on_progress` is called after each deal-set with their number so far and in all.

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
        on_progress=on_progress,
    ):
        trained, *others = (score / terms.seats for score in result.scores)
        leads.append(trained - statistics.fmean(others))
    error = statistics.stdev(leads) / math.sqrt(deal_sets)
    return Lead(
        statistics.fmean(leads), student_t.quantile(0.975, deal_sets - 1) * error, deal_sets
    )


def _save(file: Path, about: Mapping[str, Any], arrays: list[Floats]) -> None:
    """Write arrays and their description as a file of numpy, atomically."""
    described = np.frombuffer(json.dumps(about).encode(), np.uint8)
    partial = file.with_name(f".{file.name}.partial")
    with partial.open("wb") as written:
        named: dict[str, Any] = {f"a{at:02}": one for at, one in enumerate(arrays)}
        np.savez(written, about=described, **named)
    partial.replace(file)

"""A perceptron that values actions, and its training: it uses only numpy, with explicit derivatives."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]


class Network:
    """Layers of weights and biases with rectified units between them: observations in, a value for each action out."""

    def __init__(self, parameters: Sequence[Floats]) -> None:
        """Take the weights of the first layer (inputs by outputs), its biases, those of the second layer and so on."""
        self.parameters = list(parameters)

    @classmethod
    def drawn(cls, sizes: Sequence[int], chance: np.random.Generator) -> "Network":
        """Return a network with layers of these sizes; its values are small at first."""
        parameters: list[Floats] = []
        for inputs, outputs in pairwise(sizes):
            weights = chance.standard_normal((inputs, outputs), np.float32) * (2 / inputs) ** 0.5
            parameters += [weights.astype(np.float32), np.zeros(outputs, np.float32)]
        parameters[-2] *= np.float32(0.1)
        return cls(parameters)

    def copy(self) -> "Network":
        """Return a copy of the network with separate parameters."""
        return Network([values.copy() for values in self.parameters])

    def approach(self, other: "Network", share: float) -> None:
        """Move the parameters by a share of the way to those of another network."""
        for at, values in enumerate(other.parameters):
            self.parameters[at] += (values - self.parameters[at]) * np.float32(share)

    def values(self, observations: Floats) -> Floats:
        """Return the value of each action (columns) at each observation (rows)."""
        return self._layers(observations)[-1]

    def gradient(self, observations: Floats, gains: Floats) -> tuple[float, list[Floats]]:
        """Compare values with gains, which are NaN for actions that were not tried; both are taken from their means.

        Returns the squared error of an observation, and half its derivatives by the parameters.
        """
        *inputs, values = self._layers(observations)
        tried = ~np.isnan(gains)
        mean = np.sum(values * tried, axis=1, keepdims=True) / tried.sum(axis=1, keepdims=True)
        errors = np.where(tried, values - mean - gains, np.float32(0))
        slope: Floats = np.asarray(errors / len(values), values.dtype)
        gradient: list[Floats] = []
        for layer in range(len(inputs) - 1, -1, -1):
            gradient[:0] = [inputs[layer].T @ slope, slope.sum(axis=0)]
            if layer:
                slope = (slope @ self.parameters[2 * layer].T) * (inputs[layer] > 0)
        return float(np.sum(errors * errors)) / len(values), gradient

    def _layers(self, observations: Floats) -> list[Floats]:
        layers = [observations]
        last = len(self.parameters) - 2
        for at in range(0, len(self.parameters), 2):
            sums = layers[-1] @ self.parameters[at] + self.parameters[at + 1]
            layers.append(sums if at == last else np.maximum(sums, 0, out=sums))
        return layers


class Adam:
    """Moves the parameters of a network against their gradients (Kingma and Ba, 2015)."""

    _DECAY = 0.9
    _DECAY_OF_SQUARES = 0.999

    def __init__(self, network: Network, rate: float, steps: int = 0) -> None:
        """Begin after `steps` steps; the caller then has to set the means of these steps."""
        self._network = network
        self._rate = rate
        self.steps = steps
        self.means = [np.zeros_like(values) for values in network.parameters]
        self.squares = [np.zeros_like(values) for values in network.parameters]

    def step(self, gradient: Sequence[Floats]) -> None:
        self.steps += 1
        decay, of_squares = self._DECAY, self._DECAY_OF_SQUARES
        rate = self._rate * (1 - of_squares**self.steps) ** 0.5 / (1 - decay**self.steps)
        for at, slope in enumerate(gradient):
            self.means[at] += (slope - self.means[at]) * np.float32(1 - decay)
            self.squares[at] += (slope * slope - self.squares[at]) * np.float32(1 - of_squares)
            size = np.sqrt(self.squares[at]) + np.float32(1e-7)
            self._network.parameters[at] -= np.float32(rate) * self.means[at] / size

"""Several matches that are stepped together: arrays with a row for each."""

from array import array
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.envs.stepped_match import SteppedMatch


class Stepped(NamedTuple):
    """The result of a step of all rows, by row."""

    rewards: NDArray[np.float32]
    """For each row and seat the change of its lead."""
    hand_ended: NDArray[np.bool_]
    """Whether the step ended a hand, as the last step of a match does."""


class Batch:
    """Matches of a game whose seats choose by actions; a match that has ended is followed by the next one.

    At each step one seat of each match chooses, as in `AgentsInTurn`. It needs only numpy.
    """

    rows: NDArray[np.intp]
    """The rows with a match: all rows until there are no further seeds."""
    observations: NDArray[np.float32]
    """For each row the observation of its seat to act. The next step overwrites it."""
    masks: NDArray[np.bool_]
    """For each row the legal actions. The next step overwrites it."""
    seats: NDArray[np.intp]
    """For each row the seat to act."""

    def __init__(
        self,
        game: str,
        size: int,
        *,
        options: Mapping[str, Any] | None = None,
        seats: int | None = None,
        seeds: Iterable[object] | None = None,
    ) -> None:
        """Begin `size` matches with the first of the seeds, which are those of `arena play --seed`; by default 0, 1, ….

        Raises:
          LookupError: if there is no such game.
          ValueError: if the game cannot be played with these seats or options.
        """
        first = SteppedMatch(game, options, seats)
        self.layout = first.layout
        self._view, self._width = first.layout.view, first.layout.view.size
        self._matches = [first, *(SteppedMatch(game, options, seats) for _ in range(1, size))]
        self._seeds = iter(count() if seeds is None else seeds)
        self._numbers = array("f", bytes(4 * size * self._width))
        self.observations = np.frombuffer(self._numbers, np.float32).reshape(size, self._width)
        self.masks = np.zeros((size, first.layout.actions.size), np.bool_)
        self.seats = np.zeros(size, np.intp)
        self.rows = np.array([row for row in range(size) if self._begin(row)], np.intp)
        self._write(self.rows)

    def step(self, actions: NDArray[np.intp]) -> Stepped:
        """Choose a legal action for each of `rows`; an illegal one plays the fallback move."""
        rows = self.rows
        rewards = np.zeros((len(rows), self._matches[0].seats), np.float32)
        hand_ended = np.zeros(len(rows), np.bool_)
        ended = []
        self.masks[rows] = False
        self.observations[rows] = 0
        for place, (row, action) in enumerate(zip(rows.tolist(), actions.tolist(), strict=True)):
            match = self._matches[row]
            before, hand = match.scores, match.hand
            match.act(action)
            if match.is_over or match.hand != hand:
                hand_ended[place] = True
                rewards[place] = match.rewards(before)
                if match.is_over and not self._begin(row):
                    ended.append(place)
        self.rows = np.delete(rows, ended) if ended else rows
        self._write(self.rows)
        return Stepped(rewards, hand_ended)

    def _begin(self, row: int) -> bool:
        """Begin the next match of a row; return whether there was a seed for it."""
        for seed in self._seeds:
            self._matches[row].begin(seed)
            if not self._matches[row].is_over:
                return True
        return False

    def _write(self, rows: NDArray[np.intp]) -> None:
        for row in rows.tolist():
            match = self._matches[row]
            seat = match.acting[0]
            self.seats[row] = seat
            self._view.write(match.view(seat), seat, self._numbers, row * self._width)
            self.masks[row, list(match.legal(seat))] = True

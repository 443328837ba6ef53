"""Several matches that are stepped together: arrays with a row for each."""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.envs.actions import Legal
from arena.envs.stepped_match import SteppedMatch, rewards_of, scores_of
from arena.envs.writers import rows_of, zeros
from arena.games.contract import Move, Seat, State
from arena.referee.deal import KeyedDeals, seeded_key


class Stepped(NamedTuple):
    """The result of a step of all rows, by row."""

    rewards: NDArray[np.float32]
    """For each row and seat the change of its lead."""
    hand_ended: NDArray[np.bool_]
    """Whether the step ended a hand, as the last step of a match does."""


class _Row:
    """A match. It has less than a `SteppedMatch`, with which a step of a batch takes a fifth longer."""

    __slots__ = ("acting", "chosen", "deals", "hand", "legal", "scores", "state")

    deals: KeyedDeals
    state: State
    acting: tuple[Seat, ...]
    chosen: tuple[tuple[Seat, Move], ...]
    """Of the first of `acting`, which are asked one after the other."""
    legal: Legal
    hand: int
    scores: tuple[int, ...]


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
    table_size: int
    """The number of seats of a match."""

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
        self._rules, self._options, self.table_size = first.game.rules, first.options, first.seats
        width = first.layout.view.size
        self._matches = [_Row() for _ in range(size)]
        self._seeds = iter(count() if seeds is None else seeds)
        numbers = zeros(size * width)
        self._numbers = rows_of(numbers, width)
        self.observations = np.frombuffer(numbers, np.float32).reshape(size, width)
        self.masks = np.zeros((size, first.layout.actions.size), np.bool_)
        self.seats = np.zeros(size, np.intp)
        self.rows = np.array(
            [row for row, match in enumerate(self._matches) if self._begin(match)], np.intp
        )
        self._write(self.rows.tolist())

    def step(self, actions: NDArray[np.intp]) -> Stepped:
        """Choose a legal action for each of `rows`; an illegal one plays the fallback move."""
        rows, rules = self.rows, self._rules
        rewards = np.zeros((len(rows), self.table_size), np.float32)
        hand_ended = np.zeros(len(rows), np.bool_)
        ended = []
        self.masks.fill(0)
        self.observations.fill(0)
        numbers = rows.tolist()
        for place, (row, action) in enumerate(zip(numbers, actions.tolist(), strict=True)):
            match = self._matches[row]
            seat = match.acting[len(match.chosen)]
            move = match.legal.get(action)
            if move is None:
                move = rules.fallback(match.state, seat)
            match.chosen = (*match.chosen, (seat, move))
            if len(match.chosen) < len(match.acting):
                continue
            state = rules.step(match.state, match.chosen, match.deals).state
            match.state, match.acting, match.chosen = state, rules.to_act(state), ()
            hand = rules.hand_number(state)
            if not match.acting or hand != match.hand:
                before, match.hand = match.scores, hand
                match.scores = scores_of(rules, state, match.acting)
                hand_ended[place] = True
                rewards[place] = rewards_of(before, match.scores)
                if not match.acting and not self._begin(match):
                    ended.append(place)
        self.rows = np.delete(rows, ended) if ended else rows
        self._write(self.rows.tolist() if ended else numbers)
        return Stepped(rewards, hand_ended)

    def _begin(self, match: _Row) -> bool:
        """Begin the next match of a row; return whether there was a seed for it."""
        for seed in self._seeds:
            match.deals = KeyedDeals(seeded_key(str(seed)))
            match.state = self._rules.start(self._options, self.table_size, match.deals).state
            match.acting, match.chosen = self._rules.to_act(match.state), ()
            match.hand = self._rules.hand_number(match.state)
            match.scores = (0,) * self.table_size
            if match.acting:
                return True
        return False

    def _write(self, rows: list[int]) -> None:
        view_of, moves_of = self._rules.view, self._rules.moves
        write, legal_of = self.layout.view.writer, self.layout.actions.legal_in_any_order
        seats: list[int] = []
        allowed: list[int] = []
        counts: list[int] = []
        for row in rows:
            match = self._matches[row]
            seat, state = match.acting[len(match.chosen)], match.state
            view = view_of(state, seat)
            write(view, seat, self._numbers[row])
            match.legal = legal = legal_of(view, moves_of(state, seat))
            seats.append(seat)
            allowed += legal
            counts.append(len(legal))
        self.seats[self.rows] = seats
        self.masks[np.repeat(self.rows, counts), np.array(allowed, np.intp)] = True

"""A match of one process whose seats are asked one after the other. All adapters use it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.envs.actions import Legal
from arena.envs.encoders import Layout, layout_of
from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Rules, Seat, SentEvent, State, View
from arena.local.turns import Turn, first_turn, next_turn
from arena.referee.deal import KeyedDeals, seeded_key


class Observation(NamedTuple):
    """The observation of a seat, as numbers."""

    numbers: NDArray[np.float32]
    mask: NDArray[np.int8]
    """1 for each legal action; zeros for a seat that is not to act."""

    def as_dict(self) -> dict[str, NDArray[Any]]:
        """Return the observation in the form of PettingZoo and Gymnasium."""
        return {"observation": self.numbers, "action_mask": self.mask}


class SteppedMatch:
    """A match whose seats choose by actions; several matches may follow one another.

    Seats that choose at the same time are asked in seat order, and none sees the choices of the others.
    """

    def __init__(
        self, game: str, options: Mapping[str, Any] | None = None, seats: int | None = None
    ) -> None:
        """Take the id of a game, its options, and the number of seats, by default the fewest.

        Raises:
          LookupError: if there is no such game.
          ValueError: if the game cannot be played with these seats or options.
        """
        self.game = game_by_id(game)
        self.seats = self.game.seats[0] if seats is None else seats
        self.options = self.game.options(options or {}, self.seats)
        self.layout: Layout = layout_of(self.game, self.options, self.seats)
        self._deals: KeyedDeals
        self._turn: Turn
        self._chosen: list[tuple[Seat, Move]]
        self._legal: dict[Seat, Legal]
        self._views: dict[int, View]
        self.scores = (0,) * self.seats

    def begin(self, seed: object) -> None:
        """Begin a match with the deals of a seed, which are those of `arena play --seed`."""
        self.begin_with(seeded_key(str(seed)))

    def begin_with(self, key: bytes) -> None:
        """Begin a match with the deals of a key, such as that of a replay."""
        self._deals = KeyedDeals(key)
        self.scores = (0,) * self.seats
        self._took_place(first_turn(self.game.rules, self.options, self.seats, self._deals))

    def resume(self, state: State, seed: object) -> None:
        """Continue from a state, such as one of `Game.sample_state`; its later deals follow from a seed."""
        self._deals = KeyedDeals(seeded_key(str(seed)))
        self._took_place(Turn(None, (), (), state, self.game.rules.to_act(state)))

    def copy(self) -> "SteppedMatch":
        """Return a copy of the match, which is independent of this one."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._chosen = list(self._chosen)
        other._legal, other._views = dict(self._legal), dict(self._views)
        return other

    def __getstate__(self) -> dict[str, Any]:
        kept = vars(self) | {"game": self.game.id, "_legal": {}, "_views": {}}
        del kept["layout"]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.game = game_by_id(kept["game"])
        self.layout = layout_of(self.game, self.options, self.seats)

    @property
    def events(self) -> tuple[SentEvent, ...]:
        """The events of the last step, which followed when all had chosen; none if some have chosen since."""
        return () if self._chosen else self._turn.events

    @property
    def state(self) -> State:
        """The state with all hidden data, for a critic or a search, not for a player."""
        return self._turn.after

    @property
    def acting(self) -> tuple[Seat, ...]:
        """The seats that have not chosen yet, in order; empty at the end of the match."""
        return self._turn.acting[len(self._chosen) :]

    @property
    def hand(self) -> int:
        """The number of the hand, from 0."""
        return self.game.rules.hand_number(self.state)

    @property
    def is_over(self) -> bool:
        return not self._turn.acting

    def view(self, seat: int) -> View:
        view = self._views.get(seat)
        if view is None:
            view = self._views[seat] = self.game.rules.view(self.state, Seat(seat))
        return view

    def spectated(self) -> View:
        return self.game.rules.view(self.state, None)

    def legal(self, seat: int) -> Legal:
        """Return the legal moves of a seat by their actions; none if it is not to act."""
        if seat not in self.acting:
            return {}
        legal = self._legal.get(Seat(seat))
        if legal is None:
            moves = self.game.rules.moves(self.state, Seat(seat))
            legal = self._legal[Seat(seat)] = self.layout.actions.legal(self.view(seat), moves)
        return legal

    def observed(self, seat: int) -> Observation:
        numbers = self.layout.numbers(self.view(seat), seat)
        mask = np.zeros(self.layout.actions.size, np.int8)
        mask[list(self.legal(seat))] = 1
        return Observation(np.frombuffer(numbers, np.float32), mask)

    def act(self, action: int) -> bool:
        """Choose for the first of `acting`; return whether the action is legal.

        For an illegal action the fallback move is played, as at an arena.
        """
        seat = self.acting[0]
        move = self.legal(seat).get(action)
        self.play(self.game.rules.fallback(self.state, seat) if move is None else move)
        return move is not None

    def play(self, move: Move) -> None:
        """Choose a move of the rules for the first of `acting`. Raises `IllegalMove` if it is illegal."""
        self._chosen.append((self.acting[0], move))
        if len(self._chosen) == len(self._turn.acting):
            chosen = tuple(self._chosen)
            self._took_place(next_turn(self.game.rules, self._turn, chosen, self._deals))

    def rewards(self, before: tuple[int, ...]) -> list[float]:
        """Return by seat how its lead has changed since these scores (`rewards_of`)."""
        return rewards_of(before, self.scores)

    def _took_place(self, turn: Turn) -> None:
        self._turn = turn
        self._chosen = []
        self._legal = {}
        self._views = {}
        rules = self.game.rules
        self.scores = scores_of(rules, turn.after, turn.acting) or self.scores


def scores_of(rules: Rules, state: State, acting: tuple[Seat, ...]) -> tuple[int, ...]:
    """Return the scores of all completed hands by seat, with what counts at the end of a match; () before the first."""
    result = None if acting else rules.result(state)
    if result is not None:
        return result.scores
    return tuple(map(sum, zip(*rules.hand_scores(state), strict=True)))


def rewards_of(before: tuple[int, ...], after: tuple[int, ...]) -> list[float]:
    """Return by seat how its lead has changed between scores.

    The lead is the score less the mean score of the others, so rewards sum up to zero, and over a match to the
    final lead; of two seats it is the difference of their scores.
    """
    gained = [now - then for now, then in zip(after, before, strict=True)]
    together = sum(gained)
    return [one - (together - one) / (len(gained) - 1) for one in gained]

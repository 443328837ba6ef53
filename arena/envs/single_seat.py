"""The games as environments of Gymnasium: one seat, against given opponents."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from arena.envs.agents import spaces_of
from arena.envs.opponents import Opponent, chooser_of
from arena.envs.stepped_match import SteppedMatch


class SingleSeat(gymnasium.Env[dict[str, Any], Any]):
    """A match from one seat; the opponents play between its actions.

    The reward of a step is the change of the seat's lead until it is asked again; that of the first step includes
    earlier changes. Matches that end before the seat is asked are left out. `info` has the typed view, the seat, and
    whether the last action was illegal, so that the fallback move was played, as at an arena.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        game: str,
        opponent: Opponent | Sequence[Opponent] = "house:sample",
        *,
        options: Mapping[str, Any] | None = None,
        seats: int | None = None,
        seat: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Take a game, and an opponent for all other seats or one for each of them, clockwise from the left of the seat.

        `seat` is the seat of the agent; by default each match draws it.

        Raises:
          LookupError: if there is no such game.
          ValueError: if the game cannot be played with these seats or options, or there is no such opponent.
        """
        self.match = SteppedMatch(game, options, seats)
        self.render_mode = render_mode
        self.observation_space, self.action_space = spaces_of(self.match)
        others = self.match.seats - 1
        if isinstance(opponent, str) or not isinstance(opponent, Sequence):
            opponent = [opponent] * others
        if len(opponent) != others:
            raise ValueError(f"{others} opponents are needed, not {len(opponent)}")
        self._choosers = [chooser_of(one, game, options or {}) for one in opponent]
        if seat is not None and not 0 <= seat < self.match.seats:
            raise ValueError(f"there is no seat {seat}: the match has {self.match.seats}, from 0")
        self._wanted_seat = seat
        self._seat = 0
        self._rewarded: tuple[int, ...] = ()
        """The scores of which the rewards were given."""
        self._chance = random.Random()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._chance = random.Random(int(self.np_random.integers(1 << 62)))
        count = self.match.seats
        drawn = self._chance.randrange(count)
        self._seat = drawn if self._wanted_seat is None else self._wanted_seat
        self.match.begin(self._chance.getrandbits(62))
        self._play_others()
        while self.match.is_over:  # without a decision of the seat
            self.match.begin(self._chance.getrandbits(62))
            self._play_others()
        self._rewarded = (0,) * count
        return self._observed(), self._info(illegal=False)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        match = self.match
        illegal = not match.act(int(action))
        self._play_others()
        reward = match.rewards(self._rewarded)[self._seat]
        self._rewarded = match.scores
        return self._observed(), reward, match.is_over, False, self._info(illegal=illegal)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, in the form that MaskablePPO of sb3-contrib needs."""
        return self.match.observed(self._seat).mask.astype(bool)

    def render(self) -> Any:
        return str(self.match.view(self._seat)) if self.render_mode else None

    def _play_others(self) -> None:
        match = self.match
        while (acting := match.acting) and acting[0] != self._seat:
            place = (acting[0] - self._seat - 1) % match.seats
            match.play(self._choosers[place](match, acting[0], self._chance))

    def _observed(self) -> dict[str, Any]:
        return self.match.observed(self._seat).as_dict()

    def _info(self, *, illegal: bool) -> dict[str, Any]:
        view = self.match.view(self._seat)
        return {"view": view, "seat": self._seat, "illegal": illegal}

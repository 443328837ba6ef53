"""The games as environments of PettingZoo: one agent after the other, or all at once."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv, ParallelEnv

from arena.envs.stepped_match import Observation, SteppedMatch


def spaces_of(match: SteppedMatch, *, idle: int = 0) -> tuple[spaces.Dict, spaces.Discrete[Any]]:
    """Return the spaces of observations and actions, with `idle` further actions."""
    code, actions = match.layout
    low, high = (np.array(bounds, np.float32) for bounds in (code.low, code.high))
    count = actions.size + idle
    observations = {
        "observation": spaces.Box(low, high, dtype=np.float32),
        "action_mask": spaces.Box(0, 1, (count,), np.int8),
    }
    return spaces.Dict(observations), spaces.Discrete(count)


class _Agents:
    def __init__(self, match: SteppedMatch, *, infos: bool, idle: int = 0) -> None:
        super().__init__()
        self.match = match
        self._has_infos = infos
        self.possible_agents = [f"seat_{seat}" for seat in range(match.seats)]
        self.agents: list[str] = []
        spaces_by_agent = {agent: spaces_of(match, idle=idle) for agent in self.possible_agents}
        self.observation_spaces = {agent: pair[0] for agent, pair in spaces_by_agent.items()}
        self.action_spaces = {agent: pair[1] for agent, pair in spaces_by_agent.items()}
        self._random, _ = seeding.np_random()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        self.match.begin(self._random.integers(1 << 62))
        self.agents = list(self.possible_agents)
        self._illegal = dict.fromkeys(self.agents, False)

    def _info(self, agent: str) -> dict[str, Any]:
        if not self._has_infos:
            return {}
        view = self.match.view(self.possible_agents.index(agent))
        return {"view": view, "illegal": self._illegal[agent]}


class AgentsInTurn(_Agents, AECEnv[str, Any, Any]):
    """A match of any game, one agent after the other.

    The reward of a step is the change of the lead (`SteppedMatch.rewards`). `infos` of the agent to act have its typed
    view, and whether its last action was illegal, so that the fallback move was played.
    """

    def __init__(
        self, match: SteppedMatch, render_mode: str | None = None, *, infos: bool = True
    ) -> None:
        super().__init__(match, infos=infos)
        self.render_mode = render_mode
        self.metadata = {"name": match.game.id, "render_modes": ["ansi"]}
        self.agent_selection = ""
        self.infos: dict[str, dict[str, Any]] = {}

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        self._begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._choose_agent()

    def observe(self, agent: str) -> Any:
        return self.match.observed(self.possible_agents.index(agent)).as_dict()

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        before = self.match.scores
        self._illegal[agent] = not self.match.act(int(action))
        gained = self.match.rewards(before)
        self.rewards = dict(zip(self.possible_agents, gained, strict=True))
        self._accumulate_rewards()
        if self.match.is_over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.infos = {agent: self._info(agent) for agent in self.agents}
            self._skip_agent_selection = None
            self.agent_selection = self.agents[0]
        else:
            self._choose_agent()

    def render(self) -> str | None:
        """Return the view of the seat to act, or of a spectator at the end."""
        if self.render_mode is None:
            return None
        acting = self.match.acting
        view = self.match.view(acting[0]) if acting else self.match.spectated()
        return str(view)

    def close(self) -> None:
        """Do nothing, because the environment has no resources."""

    def _choose_agent(self) -> None:
        agent = self.possible_agents[self.match.acting[0]]
        self.agent_selection = agent
        self.infos = {other: {} for other in self.agents}
        self.infos[agent] = self._info(agent)


class AgentsAtOnce(_Agents, ParallelEnv[str, Any, Any]):
    """A match of any game in which all agents act at each step; those that are not to act choose the last action.

    It suits games in which seats choose at the same time. Rewards and `infos` are those of `AgentsInTurn`.
    """

    def __init__(self, match: SteppedMatch, *, infos: bool = True) -> None:
        super().__init__(match, infos=infos, idle=1)
        self.render_mode = None
        self.metadata = {"name": match.game.id, "render_modes": []}

    def reset(
        self,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self._begin(seed)
        return self._observed(), self._infos()

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        match, agents = self.match, self.agents
        before = match.scores
        self._illegal = dict.fromkeys(agents, False)
        for seat in match.acting:
            agent = agents[seat]
            self._illegal[agent] = not match.act(int(actions[agent]))
        over = dict.fromkeys(agents, match.is_over)
        rewards = dict(zip(agents, match.rewards(before), strict=True))
        returned = self._observed(), rewards, over, dict.fromkeys(agents, False)
        infos = self._infos()
        if match.is_over:
            self.agents = []
        return (*returned, infos)

    def _observed(self) -> dict[str, Any]:
        observed = {}
        for seat, agent in enumerate(self.agents):
            numbers, mask = self.match.observed(seat)
            is_idle = np.int8(seat not in self.match.acting)
            observed[agent] = Observation(numbers, np.append(mask, is_idle)).as_dict()
        return observed

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._info(agent) for agent in self.agents}

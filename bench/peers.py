"""Other people's engines under the same random play, where they are installed."""

import random
import time
from collections.abc import Callable
from typing import Any, Final

from bench.rules import Rate


def _timed(play: Callable[[], int]) -> Rate:
    """`play` plays one hand and gives its decisions."""

    def rate(seconds: float) -> float:
        decisions = 0
        begin_s = time.perf_counter()
        while time.perf_counter() - begin_s < seconds:
            decisions += play()
        return decisions / (time.perf_counter() - begin_s)

    return rate


def _pokerkit() -> Rate:
    from pokerkit import Automation, FixedLimitTexasHoldem

    drawn = random.Random(1)

    def play() -> int:
        state: Any = FixedLimitTexasHoldem.create_state(
            tuple(Automation),
            ante_trimming_status=True,
            raw_antes=0,
            raw_blinds_or_straddles=(1, 2),
            small_bet=2,
            big_bet=4,
            raw_starting_stacks=(200, 200),
            player_count=2,
        )
        decisions = 0
        while state.status:
            moves = []
            if state.can_fold():
                moves.append(state.fold)
            if state.can_check_or_call():
                moves.append(state.check_or_call)
            if state.can_complete_bet_or_raise_to():
                moves.append(state.complete_bet_or_raise_to)
            moves[int(drawn.random() * len(moves))]()
            decisions += 1
        return decisions

    return _timed(play)


def _rlcard(name: str) -> Rate:
    import rlcard

    env: Any = rlcard.make(name, config={"seed": 1})
    drawn = random.Random(1)

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            moves = list(state["legal_actions"])
            state, _ = env.step(moves[int(drawn.random() * len(moves))])
            decisions += 1
        return decisions

    return _timed(play)


def _pettingzoo() -> Rate:
    """RLCard's limit hold'em again, through the agent-environment cycle of PettingZoo."""
    import pettingzoo

    env: Any = pettingzoo.make("aec", "classic/texas_holdem-v4", num_players=2)
    env.reset(seed=1)
    drawn = random.Random(1)

    def play() -> int:
        env.reset()
        decisions = 0
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)  # takes the agent out, and is no decision
                continue
            moves = seen["action_mask"].nonzero()[0]
            env.step(int(moves[int(drawn.random() * len(moves))]))
            decisions += 1
        return decisions

    return _timed(play)


def _openspiel() -> Rate:
    import pyspiel

    game: Any = pyspiel.load_game("hearts")
    drawn = random.Random(1)

    def play() -> int:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            moves = state.legal_actions()
            if not state.is_chance_node():
                state.information_state_tensor(state.current_player())
                decisions += 1
            state.apply_action(moves[int(drawn.random() * len(moves))])
        return decisions

    return _timed(play)


PEERS: Final[dict[str, Callable[[], Rate]]] = {
    "pokerkit_fixed_limit_holdem": _pokerkit,
    "rlcard_limit_holdem": lambda: _rlcard("limit-holdem"),
    "rlcard_gin_rummy": lambda: _rlcard("gin-rummy"),
    "pettingzoo_texas_holdem": _pettingzoo,
    "openspiel_hearts": _openspiel,
}
"""By name, what makes each ready; ImportError if it is not installed."""

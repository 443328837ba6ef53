"""The order of poker hands alone: values of seven cards a second, ours and others'."""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from arena import poker
from arena.cards import PACK_52, Card
from bench.rules import Rate

HANDS: Final = 1_000
"""Different ones, taken again and again."""

Evaluate = Callable[[Sequence[Card]], Any]


def _arena() -> Evaluate:
    return poker.standard


def _pokerkit() -> Evaluate:
    from pokerkit import StandardHighHand

    return lambda cards: StandardHighHand.from_game("".join(cards))


def _phevaluator() -> Evaluate:
    from phevaluator import evaluate_cards

    return lambda cards: evaluate_cards(*cards)


EVALUATORS: Final[dict[str, Callable[[], Evaluate]]] = {
    "arena": _arena,
    "pokerkit": _pokerkit,
    "phevaluator": _phevaluator,
}
"""By name, what makes each ready; ImportError if it is not installed."""


def rate_of(evaluate: Evaluate, now_s: Callable[[], float] = time.perf_counter) -> Rate:
    """Hands a second, each of seven cards as text; all take the same hands."""
    drawn = random.Random(1)
    hands = [tuple(drawn.sample(PACK_52, 7)) for _ in range(HANDS)]

    def rate(seconds: float) -> float:
        valued, begin_s = 0, now_s()
        while now_s() - begin_s < seconds:
            evaluate(hands[valued % HANDS])
            valued += 1
        return valued / (now_s() - begin_s)

    return rate

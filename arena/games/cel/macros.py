"""The macros `all`, `exists`, `exists_one`, `filter` and `map` over a list.

Each charges the cost of its body before every iteration, so that no loop exceeds the cost limit.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from arena.games.cel.operators import Run, truth
from arena.games.cel.values import (
    ERROR_COST,
    MAX_COST,
    SPENT,
    CostExceeded,
    Env,
    EvaluationFailed,
    build,
    type_name,
)


def _elements(value: object, macro: str, at: int) -> list[Any]:
    if isinstance(value, list):
        return value
    raise EvaluationFailed(f".{macro}() needs a list, not {type_name(value)}", at)


def _deciding(
    macro: str, decisive: bool, target: Run, place: int, body: Run, cost: int, at: int
) -> Run:
    """Return `decisive` if the body gives it for one element, whatever fails for others (R2)."""
    sign = f".{macro}()"

    def run(env: Env) -> bool:
        failed = None
        for item in _elements(target(env), macro, at):
            env[SPENT] += cost
            if env[SPENT] > MAX_COST:
                raise CostExceeded
            env[place] = item
            try:
                if truth(body(env), sign, at) is decisive:
                    return decisive
            except EvaluationFailed as failure:
                failed = failure
                env[SPENT] += ERROR_COST
        if failed is not None:
            raise failed
        return not decisive

    return run


def _chosen(
    target: Run, place: int, body: Run, cost: int, macro: str, at: int
) -> Callable[[Env], list[Any]]:
    def run(env: Env) -> list[Any]:
        kept = []
        for item in _elements(target(env), macro, at):
            env[SPENT] += cost
            if env[SPENT] > MAX_COST:
                raise CostExceeded
            env[place] = item
            if truth(body(env), f".{macro}()", at):
                kept.append(item)
        return kept

    return run


def _exists_one(target: Run, place: int, body: Run, cost: int, at: int) -> Run:
    """Return true if the body is true for exactly one element; every error counts, as in CEL."""
    chosen = _chosen(target, place, body, cost, "exists_one", at)
    return lambda env: len(chosen(env)) == 1


def _filter(target: Run, place: int, body: Run, cost: int, at: int) -> Run:
    chosen = _chosen(target, place, body, cost, "filter", at)

    def run(env: Env) -> list[Any]:
        kept = chosen(env)
        build(env, len(kept), at)
        return kept

    return run


def _map(target: Run, place: int, body: Run, cost: int, at: int) -> Run:
    def run(env: Env) -> list[Any]:
        made = []
        for item in _elements(target(env), "map", at):
            env[SPENT] += cost
            if env[SPENT] > MAX_COST:
                raise CostExceeded
            env[place] = item
            made.append(body(env))
        build(env, len(made), at)
        return made

    return run


MACROS: Final[dict[str, Callable[[Run, int, Run, int, int], Run]]] = {
    "all": partial(_deciding, "all", False),  # noqa: FBT003
    "exists": partial(_deciding, "exists", True),  # noqa: FBT003
    "exists_one": _exists_one,
    "filter": _filter,
    "map": _map,
}

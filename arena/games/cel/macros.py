"""`all`, `exists`, `exists_one`, `filter` and `map` over a list.

Each pays for the body before every turn of its loop, so that no list is
walked further than a card may cost.
"""

from collections.abc import Callable
from typing import Any, Final

from arena.games.cel.errors import CostExceeded, EvaluationFailed
from arena.games.cel.operators import Run, truth
from arena.games.cel.values import MAX_COST, SPENT, Env, build, type_name


def _elements(value: object, macro: str, at: int) -> list[Any]:
    if isinstance(value, list):
        return value
    raise EvaluationFailed(f".{macro}() needs a list, not {type_name(value)}", at)


def _all(target: Run, place: int, body: Run, cost: int, at: int) -> Run:
    """False for one element decides, whatever goes wrong for others (R2)."""

    def run(env: Env) -> bool:
        failed = None
        for item in _elements(target(env), "all", at):
            env[SPENT] += cost
            if env[SPENT] > MAX_COST:
                raise CostExceeded
            env[place] = item
            try:
                if not truth(body(env), ".all()", at):
                    return False
            except EvaluationFailed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return True

    return run


def _exists(target: Run, place: int, body: Run, cost: int, at: int) -> Run:
    """True for one element decides, whatever goes wrong for others (R2)."""

    def run(env: Env) -> bool:
        failed = None
        for item in _elements(target(env), "exists", at):
            env[SPENT] += cost
            if env[SPENT] > MAX_COST:
                raise CostExceeded
            env[place] = item
            try:
                if truth(body(env), ".exists()", at):
                    return True
            except EvaluationFailed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return False

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
    """Exactly one; here every error counts, as in CEL."""
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


MACROS: Final = {
    "all": _all,
    "exists": _exists,
    "exists_one": _exists_one,
    "filter": _filter,
    "map": _map,
}

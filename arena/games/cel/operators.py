"""The operators of a rule. Each function returns a closure, or is called by one."""

import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from arena.games.cel.values import (
    ERROR_COST,
    MAX_INT,
    MIN_INT,
    SPENT,
    CardFace,
    Env,
    EvaluationFailed,
    build,
    equal,
    fit,
    type_name,
)

Run: TypeAlias = Callable[[Env], Any]

_COMPARED: Final = (int, str, bool, CardFace)
"""Types whose values Python compares as rules do, if both sides have the same type."""


def truth(value: object, sign: str, at: int) -> bool:
    """Return a value that must be true or false."""
    if value is True or value is False:
        return value
    raise EvaluationFailed(f"{sign} needs true or false, not {type_name(value)}", at)


def deciding(sign: str, left: Run, right: Run, right_cost: int, at: int) -> Run:
    """`||` and `&&`: true, or false, on one side decides, whatever fails on the other (R2)."""
    decisive = sign == "||"

    def run(env: Env) -> bool:
        failed = None
        try:
            first: object = left(env)
            if first is decisive:
                return decisive
            truth(first, sign, at)
        except EvaluationFailed as failure:
            failed = failure
            env[SPENT] += ERROR_COST
        env[SPENT] += right_cost
        if truth(right(env), sign, at) is decisive:
            return decisive
        if failed is not None:
            raise failed
        return not decisive

    return run


def equality(sign: str, left: Run, right: Run, same: type | None, at: int) -> Run:
    """`==` and `!=`, where `same` is the type of both sides if that is known."""
    if same in _COMPARED:
        if sign == "==":
            return lambda env: left(env) == right(env)
        return lambda env: left(env) != right(env)
    wanted = sign == "=="

    def run(env: Env) -> bool:
        a, b = left(env), right(env)
        same_value = equal(env, a, b)
        if same_value is None:
            raise EvaluationFailed(f"{sign} between {_two_types(a, b)}", at)
        return same_value is wanted

    return run


def _two_types(a: object, b: object) -> str:
    if type(a) is type(b):
        return f"{type_name(a)} and another with elements of other types"
    return f"{type_name(a)} and {type_name(b)}"


def order(sign: str, left: Run, right: Run, same: type | None, at: int) -> Run:
    """`<`, `<=`, `>` and `>=`, where `same` is the type of both sides if that is known."""
    if same is int:
        return _ORDERED_INTS[sign](left, right)
    compare = ORDER[sign]

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        if type(a) is not type(b) or type(a) not in (int, str, bool):
            raise EvaluationFailed(f"{sign} between {_two_types(a, b)}", at)
        return compare(a, b)

    return run


ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Without a call of a function, as most rules compare numbers.
_ORDERED_INTS: Final[dict[str, Callable[[Run, Run], Run]]] = {
    "<": lambda left, right: lambda env: left(env) < right(env),
    "<=": lambda left, right: lambda env: left(env) <= right(env),
    ">": lambda left, right: lambda env: left(env) > right(env),
    ">=": lambda left, right: lambda env: left(env) >= right(env),
}


def _numbers(a: object, b: object, sign: str, at: int) -> None:
    if type(a) is not int or type(b) is not int:
        raise EvaluationFailed(f"{sign} between {_two_types(a, b)}", at)


def _sum(left: Run, right: Run, same: type | None, at: int) -> Run:
    if same is int:

        def added(env: Env) -> int:
            number: int = left(env) + right(env)
            return number if MIN_INT <= number <= MAX_INT else fit(number, at)

        return added

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        if type(a) is not type(b) or type(a) not in (int, str, list):
            raise EvaluationFailed(f"+ between {_two_types(a, b)}", at)
        if type(a) is int:
            return fit(a + b, at)
        build(env, len(a) + len(b), at)
        return a + b

    return run


def _difference(left: Run, right: Run, same: type | None, at: int) -> Run:
    def run(env: Env) -> int:
        a, b = left(env), right(env)
        if same is not int:
            _numbers(a, b, "-", at)
        number: int = a - b
        return number if MIN_INT <= number <= MAX_INT else fit(number, at)

    return run


def _product(left: Run, right: Run, same: type | None, at: int) -> Run:
    def run(env: Env) -> int:
        a, b = left(env), right(env)
        if same is not int:
            _numbers(a, b, "*", at)
        return fit(a * b, at)

    return run


def _quotient(left: Run, right: Run, same: type | None, at: int) -> Run:
    """`/`, which truncates towards zero, unlike Python's `//` (R2)."""

    def run(env: Env) -> int:
        a, b = left(env), right(env)
        if same is not int:
            _numbers(a, b, "/", at)
        if b == 0:
            raise EvaluationFailed("division by 0", at)
        number = abs(a) // abs(b)
        return fit(number if (a < 0) == (b < 0) else -number, at)

    return run


def _remainder(left: Run, right: Run, same: type | None, at: int) -> Run:
    """`%`, whose result has the sign of the dividend, unlike Python's (R2)."""

    def run(env: Env) -> int:
        a, b = left(env), right(env)
        if same is not int:
            _numbers(a, b, "%", at)
        if b == 0:
            raise EvaluationFailed("remainder of a division by 0", at)
        number: int = abs(a) % abs(b)
        return -number if a < 0 else number

    return run


ARITHMETIC: Final = {"+": _sum, "-": _difference, "*": _product, "/": _quotient, "%": _remainder}


def negated(value: object, at: int) -> int:
    """`-value`."""
    if type(value) is not int:
        raise EvaluationFailed(f"- needs a number, not {type_name(value)}", at)
    return fit(-value, at)


def absolute(value: object, at: int) -> int:
    """`abs(value)`."""
    if type(value) is not int:
        raise EvaluationFailed(f"abs needs a number, not {type_name(value)}", at)
    return fit(abs(value), at)


def size(value: object, at: int) -> int:
    """`size(value)`: elements of a list or map, characters of a string."""
    if isinstance(value, list | dict | str):
        return len(value)
    raise EvaluationFailed(f"{type_name(value)} has no size", at)

"""What the signs of a rule do. Each function here makes one closure, or is called by one."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from arena.games.cel.errors import EvaluationFailed
from arena.games.cel.faces import Face
from arena.games.cel.values import MAX_INT, MIN_INT, SPENT, Env, build, equal, fit, type_name

Run: TypeAlias = Callable[[Env], Any]

_COMPARED: Final = (int, str, bool, Face)
"""Types whose values Python compares as rules do, once both sides are known to have the same."""


def truth(value: object, sign: str, at: int) -> bool:
    """A value that has to be true or false."""
    if value is True or value is False:
        return value
    raise EvaluationFailed(f"{sign} needs true or false, not {type_name(value)}", at)


def either(left: Run, right: Run, right_cost: int, at: int) -> Run:
    """`||`: true on either side decides, whatever goes wrong on the other (R2)."""

    def run(env: Env) -> bool:
        failed = None
        try:
            first = left(env)
            if first is True:
                return True
            truth(first, "||", at)
        except EvaluationFailed as failure:
            failed = failure
        env[SPENT] += right_cost
        if truth(right(env), "||", at):
            return True
        if failed is not None:
            raise failed
        return False

    return run


def both(left: Run, right: Run, right_cost: int, at: int) -> Run:
    """`&&`: false on either side decides, whatever goes wrong on the other (R2)."""

    def run(env: Env) -> bool:
        failed = None
        try:
            first = left(env)
            if first is False:
                return False
            truth(first, "&&", at)
        except EvaluationFailed as failure:
            failed = failure
        env[SPENT] += right_cost
        if not truth(right(env), "&&", at):
            return False
        if failed is not None:
            raise failed
        return True

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
        found = equal(env, a, b)
        if found is None:
            raise EvaluationFailed(f"{sign} between {_two_types(a, b)}", at)
        return found is wanted

    return run


def _two_types(a: object, b: object) -> str:
    if type(a) is type(b):
        return f"{type_name(a)} and another with elements of other types"
    return f"{type_name(a)} and {type_name(b)}"


def _ordered(a: object, b: object, sign: str, at: int) -> None:
    if type(a) is not type(b) or type(a) not in (int, str, bool):
        raise EvaluationFailed(f"{sign} between {_two_types(a, b)}", at)


def _less(left: Run, right: Run, same: type | None, at: int) -> Run:
    if same is int:
        return lambda env: left(env) < right(env)

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        _ordered(a, b, "<", at)
        return a < b

    return run


def _at_most(left: Run, right: Run, same: type | None, at: int) -> Run:
    if same is int:
        return lambda env: left(env) <= right(env)

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        _ordered(a, b, "<=", at)
        return a <= b

    return run


def _greater(left: Run, right: Run, same: type | None, at: int) -> Run:
    if same is int:
        return lambda env: left(env) > right(env)

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        _ordered(a, b, ">", at)
        return a > b

    return run


def _at_least(left: Run, right: Run, same: type | None, at: int) -> Run:
    if same is int:
        return lambda env: left(env) >= right(env)

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        _ordered(a, b, ">=", at)
        return a >= b

    return run


ORDER: Final = {"<": _less, "<=": _at_most, ">": _greater, ">=": _at_least}


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
    """Division truncates towards zero, where Python's rounds down (R2)."""

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
    """The remainder has the sign of the dividend, where Python's has the divisor's (R2)."""

    def run(env: Env) -> int:
        a, b = left(env), right(env)
        if same is not int:
            _numbers(a, b, "%", at)
        if b == 0:
            raise EvaluationFailed("remainder of a division by 0", at)
        number: int = abs(a) % abs(b)
        return -number if a < 0 else number

    return run


ARITHMETIC: Final = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "/": _quotient,
    "%": _remainder,
}


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

"""Values while a rule is evaluated, and what they may cost.

A value is an `int`, `bool`, `str`, `Face`, `list` or `dict` of Python. Types
match exactly, so `type(value)` decides everywhere: to Python, but not to a
rule, True equals 1. Values are never changed once they are made, so they may
share parts.

A rule pays one for each node evaluated and one for each element or character
of each list, map or string built (R3). Looking through a container is paid as
well, at one for eight elements, and comparing lists or maps at one for each
element: containers share parts, so that what is cheap to build may be
endlessly long to walk through.
"""

from typing import Any, Final, TypeAlias

from arena.games.cel.errors import CostExceeded, EvaluationFailed
from arena.games.cel.faces import Face

MAX_COST: Final = 20_000
"""What a rule may spend on one card."""
MAX_LENGTH: Final = 1_000
"""Elements of a list or map, or characters of a string, that a rule may build."""
MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -MAX_INT - 1

Env: TypeAlias = list[Any]
"""The card, the last card, the line, what was spent, then the variables of macros."""
CARD: Final = 0
LAST: Final = 1
LINE: Final = 2
SPENT: Final = 3
FIRST_VARIABLE: Final = 4

_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a number",
    str: "a string",
    list: "a list",
    dict: "a map",
    Face: "a card",
}


def type_name(value: object) -> str:
    """A value's type in the words of an error."""
    return _TYPE_NAMES[type(value)]


def charge(env: Env, cost: int) -> None:
    """Spend.

    Raises:
      CostExceeded: if it is more than a card may cost.
    """
    env[SPENT] += cost
    if env[SPENT] > MAX_COST:
        raise CostExceeded


def build(env: Env, length: int, at: int) -> None:
    """Pay for a list, map or string of this length.

    Raises:
      EvaluationFailed: if it is too long.
      CostExceeded: if it is too dear.
    """
    if length > MAX_LENGTH:
        raise EvaluationFailed(f"no value may be longer than {MAX_LENGTH}", at)
    charge(env, length)


def fit(number: int, at: int) -> int:
    """A result of arithmetic.

    Raises:
      EvaluationFailed: if it does not fit into 64 bits.
    """
    if MIN_INT <= number <= MAX_INT:
        return number
    raise EvaluationFailed("the result does not fit into 64 bits", at)


def key_of(value: object) -> object:
    """A value as the key of a Python dict, where true and 1 must differ; None if it is no key."""
    kind = type(value)
    if kind is int or kind is str:
        return value
    return (value,) if kind is bool else None


def equal(env: Env, a: object, b: object) -> bool | None:
    """Whether two values are equal; None if they, or two of their parts, differ in type."""
    kind = type(a)
    if kind is not type(b):
        return None
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        charge(env, len(a))
        for one, other in zip(a, b, strict=True):
            same = equal(env, one, other)
            if not same:
                return same
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return False
        charge(env, len(a))
        for key, one in a.items():
            same = equal(env, one, b[key])
            if not same:
                return same
        return True
    return a == b


def contains(env: Env, container: object, value: object, at: int) -> bool:
    """Whether a list has the element or a map the key; a value of another type never matches."""
    if isinstance(container, dict):
        key = key_of(value)
        return key is not None and key in container
    if not isinstance(container, list):
        raise EvaluationFailed(f"in needs a list or a map, not {type_name(container)}", at)
    charge(env, len(container) // 8)
    return any(equal(env, item, value) for item in container)


def element(container: object, key: object, at: int) -> Any:
    """An element of a list by its place from 0, or of a map by its key."""
    if isinstance(container, list):
        if type(key) is not int:
            raise EvaluationFailed(f"a place in a list is a number, not {type_name(key)}", at)
        if not 0 <= key < len(container):
            raise EvaluationFailed(f"there is no [{key}] in a list of {len(container)}", at)
        return container[key]
    if isinstance(container, dict):
        try:
            return container[key_of(key)]
        except KeyError:
            shown = key if type(key) is int else type_name(key)
            raise EvaluationFailed(f"the map has no such key: {shown}", at) from None
    raise EvaluationFailed(f"{type_name(container)} has no elements", at)


def field(target: object, name: str, at: int) -> Any:
    """A field of a card, or the element of a map with that name as its key."""
    if isinstance(target, Face) and name in FACE_FIELDS:
        return getattr(target, name)
    if isinstance(target, dict) and name in target:
        return target[name]
    raise EvaluationFailed(f"{type_name(target)} has no field {name}", at)


FACE_FIELDS: Final[dict[str, type]] = {
    "rank": int,
    "suit": str,
    "color": str,
    "parity": int,
    "face": bool,
}
"""The fields of a card and their types."""

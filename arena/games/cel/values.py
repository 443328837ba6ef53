"""Values of rules, and the cost of operations on them.

A value is an `int`, `bool`, `str`, `CardFace`, `list` or `dict` of Python. Types must match exactly, so
they are compared with `type(value)`: in Python `True == 1`, but not in a rule. Values are immutable and
may share parts.

The cost of a rule is one for each node that is evaluated and one for each element or character of each
list, map or string that is built (R3). Searching a list and comparing lists or maps cost three for each
element, and an error that does not matter costs `ERROR_COST`: without these, rules of equal cost would take
very different times.
"""

from typing import Any, Final, TypeAlias

from arena.games.cards import Card


class RuleError(ValueError):
    """The text is not a rule. The message names the error and its position, counted from 1."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(f"character {at + 1}: {what}")
        self.position = at + 1
        """The position of the error, counted from 1; after the end if something is missing."""


class RuleFailed(Exception):
    """The rule has no result for a card. In play such a card is wrong (R3)."""


class EvaluationFailed(RuleFailed):
    """A value has the wrong type, is out of range or does not exist."""

    # Most of these errors are caught by `||` and never shown, so the text is formatted on demand.
    def __init__(self, what: str, at: int) -> None:
        self.args = (what, at)

    def __str__(self) -> str:
        what, at = self.args
        return f"character {at + 1}: {what}"


class CostExceeded(RuleFailed):
    """The rule exceeds the cost limit for one card."""

    def __init__(self) -> None:
        super().__init__("the rule takes too many steps for one card")


SUIT_ORDER: Final = "shdc"
RANK_ORDER: Final = "A23456789TJQK"
COLORS: Final = {"s": "B", "h": "R", "d": "R", "c": "B"}


class CardFace:
    """One of the 52 faces, with the fields that a rule may use (R1).

    There is one object for each face, so faces are compared by identity.
    """

    __slots__ = ("card", "color", "face", "parity", "rank", "suit")

    def __init__(self, card: Card) -> None:
        self.card = card
        self.rank = 1 + RANK_ORDER.index(card[0])
        """From 1 for an ace to 13 for a king."""
        self.suit = card[1]
        self.color = COLORS[card[1]]
        self.parity = self.rank % 2
        self.face = self.rank >= 11

    def __reduce__(self) -> tuple[type, tuple[()]]:
        raise TypeError("a face is not to be copied: keep the card")


DECK_ORDER: Final[tuple[Card, ...]] = tuple(
    rank + suit for suit in SUIT_ORDER for rank in RANK_ORDER
)
"""The order of cards in Eleusis: spades, hearts, diamonds, clubs, each from ace to king."""

FACES: Final[dict[Card, CardFace]] = {card: CardFace(card) for card in DECK_ORDER}

ALL_FACES: Final[tuple[CardFace, ...]] = tuple(FACES.values())


MAX_COST: Final = 20_000
"""The cost limit of a rule for one card."""
ERROR_COST: Final = 20
"""The cost of an error that `&&`, `||`, `all` or `exists` ignores."""
COMPARED_COST: Final = 3
"""The cost of comparing an element of a list or map."""
MAX_LENGTH: Final = 1_000
"""The maximal number of elements of a list or map, or characters of a string."""
MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -MAX_INT - 1

Env: TypeAlias = list[Any]
"""The card, the last card, the line, the cost so far, and the variables of macros."""
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
    CardFace: "a card",
}


def type_name(value: object) -> str:
    """Return the type of a value as error messages name it."""
    return _TYPE_NAMES[type(value)]


def charge(env: Env, cost: int) -> None:
    """Add to the cost. Raises `CostExceeded` if the cost exceeds the limit for one card."""
    env[SPENT] += cost
    if env[SPENT] > MAX_COST:
        raise CostExceeded


def build(env: Env, length: int, at: int) -> None:
    """Charge the cost of a list, map or string of this length.

    Raises `EvaluationFailed` if it is too long, and `CostExceeded` if the cost exceeds the limit for one card.
    """
    if length > MAX_LENGTH:
        raise EvaluationFailed(f"no value may be longer than {MAX_LENGTH}", at)
    charge(env, length)


def fit(number: int, at: int) -> int:
    """Return a result of arithmetic. Raises `EvaluationFailed` if it does not fit into 64 bits."""
    if MIN_INT <= number <= MAX_INT:
        return number
    raise EvaluationFailed("the result does not fit into 64 bits", at)


def key_of(value: object) -> object:
    """Return the key of a Python dict for a value, as True and 1 must differ; None if it is no key."""
    kind = type(value)
    if kind is int or kind is str:
        return value
    return (value,) if kind is bool else None


def equal(env: Env, a: object, b: object) -> bool | None:
    """Return whether two values are equal; None if the types of values or elements differ."""
    kind = type(a)
    if kind is not type(b):
        return None
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        charge(env, COMPARED_COST * len(a))
        for one, other in zip(a, b, strict=True):
            same = equal(env, one, other)
            if not same:
                return same
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return False
        charge(env, COMPARED_COST * len(a))
        for key, one in a.items():
            same = equal(env, one, b[key])
            if not same:
                return same
        return True
    return a == b


def contains(env: Env, container: object, value: object, at: int) -> bool:
    """Return whether a list has an element or a map a key; values of another type never match."""
    if isinstance(container, dict):
        key = key_of(value)
        return key is not None and key in container
    if not isinstance(container, list):
        raise EvaluationFailed(f"in needs a list or a map, not {type_name(container)}", at)
    charge(env, COMPARED_COST * len(container))
    return any(equal(env, item, value) for item in container)


def element(container: object, key: object, at: int) -> Any:
    """Return an element of a list by index, or of a map by key."""
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
    """Return a field of a card, or the element of a map with this name as its key."""
    if isinstance(target, CardFace) and name in FACE_FIELDS:
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

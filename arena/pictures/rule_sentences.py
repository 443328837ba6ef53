"""The rule of Eleusis in English words, from its tree."""

from functools import lru_cache
from typing import Final

from arena.games.cel.parser import parse
from arena.games.cel.tree import (
    Binary,
    Conditional,
    FieldAccess,
    FunctionCall,
    Index,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Node,
    Unary,
    Variable,
)
from arena.games.cel.values import RuleError

LONGEST: Final = 400
"""The maximal number of characters of the words; a longer sentence is harder to read than the rule itself."""

_VARIABLES: Final = {"card": "the card", "last": "the last card", "line": "the line"}
_FIELDS: Final = {"color": "colour"}
_VALUES: Final[dict[str, dict[int | str | bool, str]]] = {
    "color": {"R": "red", "B": "black"},
    "parity": {0: "even", 1: "odd"},
    "rank": {1: "1 (ace)", 11: "11 (jack)", 12: "12 (queen)", 13: "13 (king)"},
    "suit": {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"},
}
_LOGIC: Final = {"&&": "and", "||": "or"}
_COMPARED: Final = {
    "==": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "in": "is one of",
}
_NUMBERS: Final = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_MACROS: Final = {
    "all": "for every {0} of {1}: {2}",
    "exists": "for some {0} of {1}: {2}",
    "exists_one": "for exactly one {0} of {1}: {2}",
    "filter": "every {0} of {1} with: {2}",
    "map": "for each {0} of {1} its value: {2}",
}


@lru_cache(256)
def rule_words(text: str) -> str:
    """Return when a card is right, as the continuation of `a card is right if`.

    Empty if the text is no rule, or if the words would be longer than `LONGEST`.
    """
    try:
        words = _words(parse(text))
    except RuleError:
        return ""
    return words if len(words) <= LONGEST else ""


def _words(node: Node, field: str = "") -> str:
    """Return the words for a node; `field` is the field of a card that its literals are values of."""
    match node:
        case Literal(value):
            return _VALUES.get(field, {}).get(value, str(value).lower())
        case Variable(name):
            return _VARIABLES.get(name, name)
        case FieldAccess(target, name):
            return _field(target, name)
        case Index(target, key):
            return _entry(target, key, field)
        case ListOf(items):
            return ", ".join(_words(item, field) for item in items) or "nothing"
        case MapOf():
            return _pairs(node, "", field)
        case FunctionCall(function, argument):
            return _called(function, argument)
        case Unary(sign, operand):
            return f"not ({_words(operand)})" if sign == "!" else f"minus {_inner(operand)}"
        case Conditional(test, then, otherwise):
            parts = _inner(test), _inner(then), _inner(otherwise)
            return "if {}, then {}, otherwise {}".format(*parts)
        case Macro(macro, target, variable, body):
            return _MACROS[macro].format(variable, _inner(target), _words(body))
        case Binary():
            return _binary(node)


def _field(target: Node, name: str) -> str:
    whose = _words(target)
    if name == "face":
        return f"{whose} is a face card"
    called = _FIELDS.get(name, name)
    return f"{whose}'s {called}" if isinstance(target, Variable) else f"the {called} of {whose}"


def _called(function: str, argument: Node) -> str:
    if function == "size" and argument == Variable("line", 0):
        return "the number of cards in the line"
    what = "number of elements" if function == "size" else "absolute value"
    return f"the {what} of {_inner(argument)}"


def _pairs(node: MapOf, key_field: str, field: str) -> str:
    pairs = zip(node.keys, node.values, strict=True)
    return ", ".join(f"{_words(value, field)} for {_words(key, key_field)}" for key, value in pairs)


def _entry(target: Node, key: Node, field: str) -> str:
    match target, key:
        case MapOf(), _:
            key_field = key.name if isinstance(key, FieldAccess) else ""
            return f"the one for {_inner(key)} ({_pairs(target, key_field, field)})"
        case Variable("line"), Literal(int(number)):
            return "the first card of the line" if not number else f"card {number + 1} of the line"
    return f"element {_inner(key)}, from 0, of {_inner(target)}"


def _binary(node: Binary) -> str:
    sign = node.sign
    if sign == "%":
        return f"the remainder of {_inner(node.left)} divided by {_inner(node.right)}"
    if sign in _COMPARED:
        return _comparison(node)
    left, right = (_operand(side, sign) for side in (node.left, node.right))
    return f"{left} {(_LOGIC | _NUMBERS)[sign]} {right}"


def _comparison(node: Binary) -> str:
    if node.sign in ("==", "!=") and _is_true_or_false(node.left):
        left, right = _inner(node.left), _inner(node.right)
        same = "both or neither" if node.sign == "==" else "one and not the other"
        return f"{same} of: {left}; {right}"
    fields = (
        side.name if isinstance(side, FieldAccess) else "" for side in (node.right, node.left)
    )
    left, right = (
        _operand(side, node.sign, field)
        for side, field in zip((node.left, node.right), fields, strict=True)
    )
    return f"{left} {_COMPARED[node.sign]} {right}"


def _is_true_or_false(node: Node) -> bool:
    match node:
        case Binary(sign) | Unary(sign):
            return sign in (*_COMPARED, *_LOGIC, "!")
        case FieldAccess(_, name):
            return name == "face"
    return isinstance(node, Macro) and node.macro in ("all", "exists", "exists_one")


def _operand(node: Node, sign: str, field: str = "") -> str:
    """Return the words for an operand; in parentheses if they could be read with the other one."""
    inside = _level(node)
    if inside is not None and (inside > _BINDING[sign] or _same(node, sign)):
        return _words(node, field)
    return _words(node, field) if inside is None else f"({_words(node, field)})"


def _same(node: Node, sign: str) -> bool:
    return isinstance(node, Binary) and node.sign == sign and sign in ("&&", "||", "+")


def _inner(node: Node) -> str:
    """Return the words for a part of a phrase, in parentheses if they are a phrase themselves."""
    return _words(node) if _level(node) is None else f"({_words(node)})"


_BINDING: Final = {
    **dict.fromkeys(_LOGIC, 0),
    **dict.fromkeys(_COMPARED, 1),
    **dict.fromkeys((*_NUMBERS, "%"), 2),
}


def _level(node: Node) -> int | None:
    """Return how tightly the words of a node are bound; None for words that stand alone."""
    match node:
        case Binary(sign):
            return _BINDING[sign]
        case Conditional() | Macro():
            return -1
    return None

"""Compute an upper bound of the cost of a rule from its tree, without evaluating it.

This is abstract interpretation (Cousot and Cousot, 1977) of the lengths of values. Every list that a
rule can make is as long as the line, as a list in its text, or as a sum of such lists, so each loop
has a bound. The bound counts the same units as `arena.games.cel.values`.
"""

from typing import Final, NamedTuple, assert_never

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
from arena.games.cel.values import COMPARED_COST, ERROR_COST, MAX_COST, MAX_LENGTH

MOST_OF_A_FACE: Final = MAX_COST + MAX_LENGTH + 500
"""The highest possible cost of one card: the last value may exceed the limit."""


class _Shape(NamedTuple):
    length: int = 0
    """The number of elements or characters."""
    item: "_Shape | None" = None
    """The bound of each element."""

    @property
    def compared(self) -> int:
        if self.item is None:
            return self.length
        return min(MOST_OF_A_FACE, self.length * (COMPARED_COST + self.item.compared))


class _Bound(NamedTuple):
    cost: int
    shape: "_Shape"


_SCALAR: Final = _Shape()
_LETTER: Final = _Shape(1)


def bound_of(tree: Node, line: int) -> int:
    """Return the highest cost of a rule for one card after a line of this length."""
    names = {"card": _SCALAR, "last": _SCALAR, "line": _Shape(line, _SCALAR)}
    return min(_bound(tree, names).cost, MOST_OF_A_FACE)


def _bound(node: Node, names: dict[str, _Shape]) -> _Bound:
    match node:
        case Literal():
            length = len(node.value) if isinstance(node.value, str) else 0
            return _Bound(1, _Shape(length))
        case Variable():
            return _Bound(1, names[node.name])
        case Unary():
            return _Bound(1 + _bound(node.operand, names).cost, _SCALAR)
        case Binary():
            return _of_two(node.sign, _bound(node.left, names), _bound(node.right, names))
        case Conditional():
            test, then = _bound(node.test, names), _bound(node.then, names)
            otherwise = _bound(node.otherwise, names)
            cost = 1 + test.cost + max(then.cost, otherwise.cost)
            return _Bound(cost, _either(then.shape, otherwise.shape))
        case ListOf():
            return _built([_bound(item, names) for item in node.items], len(node.items))
        case MapOf():
            parts = [_bound(part, names) for part in (*node.values, *node.keys)]
            return _built(parts, len(node.keys))
        case FieldAccess():
            target = _bound(node.target, names)
            return _Bound(1 + target.cost, _either(_LETTER, target.shape.item or _LETTER))
        case Index():
            target, key = _bound(node.target, names), _bound(node.key, names)
            return _Bound(1 + target.cost + key.cost, target.shape.item or _SCALAR)
        case FunctionCall():
            return _Bound(1 + _bound(node.argument, names).cost, _SCALAR)
        case Macro():
            return _of_loop(node, names)
        case _:
            assert_never(node)


def _of_two(sign: str, left: _Bound, right: _Bound) -> _Bound:
    cost, one, other = 1 + left.cost + right.cost, left.shape, right.shape
    if sign in ("==", "!="):
        return _Bound(cost + min(one.compared, other.compared), _SCALAR)
    if sign == "in":
        return _Bound(cost + other.length * (COMPARED_COST + one.compared), _SCALAR)
    if sign in ("&&", "||"):
        return _Bound(cost + ERROR_COST, _SCALAR)
    if sign == "+":
        length = one.length + other.length
        item = _either(one.item, other.item) if one.item and other.item else one.item or other.item
        return _Bound(cost + length, _Shape(min(length, MAX_LENGTH), item))
    return _Bound(cost, _SCALAR)


def _of_loop(node: Macro, names: dict[str, _Shape]) -> _Bound:
    target = _bound(node.target, names)
    length, item = target.shape.length, target.shape.item or _SCALAR
    body = _bound(node.body, {**names, node.variable: item})
    cost = 1 + target.cost + length * body.cost
    if node.macro == "filter":
        return _Bound(cost + length, target.shape)
    if node.macro == "map":
        return _Bound(cost + length, _Shape(length, body.shape))
    ignored = ERROR_COST if node.macro in ("all", "exists") else 0
    return _Bound(cost + length * ignored, _SCALAR)


def _built(parts: list[_Bound], length: int) -> _Bound:
    item = _SCALAR
    for part in parts:
        item = _either(item, part.shape)
    return _Bound(1 + length + sum(part.cost for part in parts), _Shape(length, item))


def _either(one: _Shape, other: _Shape) -> _Shape:
    item = _either(one.item, other.item) if one.item and other.item else one.item or other.item
    return _Shape(max(one.length, other.length), item)

"""The most that a rule may cost, known from its tree before it is evaluated.

Abstract interpretation (Cousot, Cousot, 1977) over the lengths of values: every list
that a rule can make is as long as the line, as what is written in it, or as a sum of
such, so each loop has a bound. The bound counts what `arena.games.cel.values` counts.
"""

from typing import Final, NamedTuple, assert_never

from arena.games.cel.tree import (
    Binary,
    Call,
    Conditional,
    Field,
    Index,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Name,
    Node,
    Unary,
)
from arena.games.cel.values import MAX_COST, MAX_LENGTH

MOST_OF_A_FACE: Final = MAX_COST + MAX_LENGTH + 500
"""No card costs more: what is spent last may go beyond the limit by one value."""


class _Shape(NamedTuple):
    """The most that a value may hold."""

    length: int = 0
    """Elements or characters."""
    item: "_Shape | None" = None
    """Of any element."""

    @property
    def compared(self) -> int:
        """What it may cost to compare it with another value."""
        if self.item is None:
            return self.length
        return min(MOST_OF_A_FACE, self.length * (1 + self.item.compared))


class _Bound(NamedTuple):
    cost: int
    shape: "_Shape"


_SCALAR: Final = _Shape()
_LETTER: Final = _Shape(1)


def bound_of(tree: Node, line: int) -> int:
    """The most that a rule may spend on one card after a line of this length."""
    names = {"card": _SCALAR, "last": _SCALAR, "line": _Shape(line, _SCALAR)}
    return min(_bound(tree, names).cost, MOST_OF_A_FACE)


def _bound(node: Node, names: dict[str, _Shape]) -> _Bound:
    match node:
        case Literal():
            length = len(node.value) if isinstance(node.value, str) else 0
            return _Bound(1, _Shape(length))
        case Name():
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
            parts = [_bound(each, names) for each in (*node.values, *node.keys)]
            return _built(parts, len(node.keys))
        case Field():
            target = _bound(node.target, names)
            return _Bound(1 + target.cost, _either(_LETTER, target.shape.item or _LETTER))
        case Index():
            target, key = _bound(node.target, names), _bound(node.key, names)
            return _Bound(1 + target.cost + key.cost, target.shape.item or _SCALAR)
        case Call():
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
        return _Bound(cost + other.length // 8 + other.length * one.compared, _SCALAR)
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
    return _Bound(cost, _SCALAR)


def _built(parts: list[_Bound], length: int) -> _Bound:
    item = _SCALAR
    for part in parts:
        item = _either(item, part.shape)
    return _Bound(1 + length + sum(part.cost for part in parts), _Shape(length, item))


def _either(one: _Shape, other: _Shape) -> _Shape:
    """A shape that has room for both."""
    item = _either(one.item, other.item) if one.item and other.item else one.item or other.item
    return _Shape(max(one.length, other.length), item)

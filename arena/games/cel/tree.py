"""The tree of a rule. Nodes are compared without their positions in the text (`at`)."""

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a string, `true` or `false`."""

    value: int | str | bool
    at: int = field(compare=False)
    kind: type = field(init=False, repr=False)
    """The type of the value, as in Python `True == 1`, but not in a rule."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value))


@dataclass(frozen=True, slots=True)
class Variable:
    """`card`, `last`, `line` or the variable of an enclosing macro."""

    name: str
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`!operand` or `-operand`."""

    sign: str
    operand: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`left sign right`, as `a + b` or `a in b`."""

    sign: str
    left: "Node"
    right: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? then : otherwise`."""

    test: "Node"
    then: "Node"
    otherwise: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list, as `[a, b]`."""

    items: tuple["Node", ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map, as `{key: value}`."""

    keys: tuple["Node", ...]
    values: tuple["Node", ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """`target.name`, as `card.rank`."""

    target: "Node"
    name: str
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """`target[key]`."""

    target: "Node"
    key: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`size` or `abs`; `x.size()` is the same as `size(x)`."""

    function: str
    argument: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Macro:
    """`target.all(variable, body)`, `exists`, `exists_one`, `filter` or `map`."""

    macro: str
    target: "Node"
    variable: str
    body: "Node"
    at: int = field(compare=False)


Node: TypeAlias = (
    Literal
    | Variable
    | Unary
    | Binary
    | Conditional
    | ListOf
    | MapOf
    | FieldAccess
    | Index
    | FunctionCall
    | Macro
)


def children(node: Node) -> tuple[Node, ...]:
    """Return the children of a node."""
    match node:
        case Literal() | Variable():
            return ()
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.left, node.right)
        case Conditional():
            return (node.test, node.then, node.otherwise)
        case ListOf():
            return node.items
        case MapOf():
            return node.keys + node.values
        case FieldAccess():
            return (node.target,)
        case Index():
            return (node.target, node.key)
        case FunctionCall():
            return (node.argument,)
        case Macro():
            return (node.target, node.body)

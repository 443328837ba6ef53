"""A rule as a tree. Nodes compare by what they say, not by where they stand in the text."""

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    value: int | str | bool
    at: int = field(compare=False)
    kind: type = field(init=False, repr=False)
    """The value's type: to Python, but not to a rule, true equals 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value))


@dataclass(frozen=True, slots=True)
class Name:
    """`card`, `last`, `line` or the variable of a macro around."""

    name: str
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    sign: str
    operand: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    sign: str
    left: "Node"
    right: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    test: "Node"
    then: "Node"
    otherwise: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple["Node", ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class MapOf:
    keys: tuple["Node", ...]
    values: tuple["Node", ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    target: "Node"
    name: str
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    target: "Node"
    key: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`size` or `abs`; `x.size()` is the same as `size(x)`."""

    function: str
    argument: "Node"
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Macro:
    """`target.all(variable, body)` and its like."""

    macro: str
    target: "Node"
    variable: str
    body: "Node"
    at: int = field(compare=False)


Node: TypeAlias = (
    Literal | Name | Unary | Binary | Conditional | ListOf | MapOf | Field | Index | Call | Macro
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below a node."""
    match node:
        case Literal() | Name():
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
        case Field():
            return (node.target,)
        case Index():
            return (node.target, node.key)
        case Call():
            return (node.argument,)
        case Macro():
            return (node.target, node.body)

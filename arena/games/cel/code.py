"""Compile the tree of a rule to closures: each node becomes a function of the environment.

The cost of the parts that are always evaluated is known when a rule is compiled, and is charged once.
Only the right side of `&&` and `||`, the branches of `?:`, the bodies of macros and values that are
built are charged during evaluation. Types that are known when a rule is compiled are not tested again
for each card.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from arena.games.cel.macros import MACROS
from arena.games.cel.operators import (
    ARITHMETIC,
    ORDER,
    Run,
    absolute,
    deciding,
    equality,
    negated,
    order,
    size,
    truth,
)
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
from arena.games.cel.values import (
    CARD,
    FACE_FIELDS,
    FIRST_VARIABLE,
    LAST,
    LINE,
    SPENT,
    CardFace,
    Env,
    EvaluationFailed,
    contains,
    element,
    field,
    key_of,
    type_name,
)


class Code(NamedTuple):
    """A compiled part of a rule."""

    run: Run
    cost: int
    """The cost of running it, which its caller charges."""
    kind: type | None = None
    """The type of its value, if it is known."""
    item: type | None = None
    """The type of a list's elements, if it is known."""


class Compiled(NamedTuple):
    """A compiled rule."""

    run: Run
    cost: int
    variables: int
    """The number of macro variables in its environment."""


def compile_tree(tree: Node) -> Compiled:
    """Compile the tree of a rule."""
    compiler = _Compiler()
    code = compiler.code(tree, _GLOBALS)
    return Compiled(code.run, code.cost, compiler.variables)


_Scope: TypeAlias = dict[str, Code]

_GLOBALS: Final[_Scope] = {
    "card": Code(lambda env: env[CARD], 1, CardFace),
    "last": Code(lambda env: env[LAST], 1, CardFace),
    "line": Code(lambda env: env[LINE], 1, list, CardFace),
}


class _Compiler:
    def __init__(self) -> None:
        self.variables = 0

    def code(self, node: Node, scope: _Scope) -> Code:
        match node:
            case Literal():
                return _constant(node.value, 1)
            case Variable():
                return scope[node.name]
            case Unary():
                return self._unary(node, scope)
            case Binary():
                return self._binary(node, scope)
            case Conditional():
                return self._conditional(node, scope)
            case ListOf():
                return self._list(node, scope)
            case MapOf():
                return self._map(node, scope)
            case FieldAccess():
                return self._field(node, scope)
            case Index():
                return self._index(node, scope)
            case FunctionCall():
                return self._call(node, scope)
            case Macro():
                return self._macro(node, scope)

    def _unary(self, node: Unary, scope: _Scope) -> Code:
        code, at = self.code(node.operand, scope), node.at
        run = code.run
        if node.sign == "-":
            return Code(lambda env: negated(run(env), at), 1 + code.cost, int)
        if code.kind is bool:
            return Code(lambda env: not run(env), 1 + code.cost, bool)

        def inverted(env: Env) -> bool:
            return not truth(run(env), "!", at)

        return Code(inverted, 1 + code.cost, bool)

    def _binary(self, node: Binary, scope: _Scope) -> Code:
        left, right = self.code(node.left, scope), self.code(node.right, scope)
        sign, at = node.sign, node.at
        one, other = left.run, right.run
        if sign in ("&&", "||"):
            return Code(deciding(sign, one, other, right.cost, at), 1 + left.cost, bool)
        cost = 1 + left.cost + right.cost
        same = left.kind if left.kind is right.kind else None
        if sign in ("==", "!="):
            return Code(equality(sign, one, other, same, at), cost, bool)
        if sign == "in":
            return Code(lambda env: _within(env, one(env), other(env), at), cost, bool)
        if sign in ORDER:
            return Code(order(sign, one, other, same, at), cost, bool)
        kind = int if sign != "+" else same
        return Code(ARITHMETIC[sign](one, other, same, at), cost, kind, _shared_item(left, right))

    def _conditional(self, node: Conditional, scope: _Scope) -> Code:
        test = self.code(node.test, scope)
        then, otherwise = self.code(node.then, scope), self.code(node.otherwise, scope)
        run, at = test.run, node.at
        yes, no, yes_cost, no_cost = then.run, otherwise.run, then.cost, otherwise.cost

        def chosen(env: Env) -> Any:
            if truth(run(env), "?", at):
                env[SPENT] += yes_cost
                return yes(env)
            env[SPENT] += no_cost
            return no(env)

        kind = then.kind if then.kind is otherwise.kind else None
        return Code(chosen, 1 + test.cost, kind, _shared_item(then, otherwise))

    def _list(self, node: ListOf, scope: _Scope) -> Code:
        codes = [self.code(item, scope) for item in node.items]
        # The elements of a list cost one each, in addition to their nodes.
        cost = 1 + len(codes) + sum(code.cost for code in codes)
        kinds = {code.kind for code in codes}
        item = kinds.pop() if len(kinds) == 1 else None
        if all(isinstance(item, Literal) for item in node.items):
            values = [item.value for item in node.items if isinstance(item, Literal)]
            return _constant(values, cost, item)
        runs = [code.run for code in codes]
        return Code(lambda env: [run(env) for run in runs], cost, list, item)

    def _map(self, node: MapOf, scope: _Scope) -> Code:
        keys = [self.code(key, scope) for key in node.keys]
        values = [self.code(value, scope) for value in node.values]
        cost = 1 + len(keys) + sum(code.cost for code in (*keys, *values))
        pairs = [(key.run, value.run) for key, value in zip(keys, values, strict=True)]
        run = _map_of(pairs, node.at)
        if all(isinstance(part, Literal) for part in (*node.keys, *node.values)):
            try:
                return _constant(run([]), cost)
            except EvaluationFailed:
                pass  # a duplicate key is an error when it is evaluated
        return Code(run, cost, dict)

    def _field(self, node: FieldAccess, scope: _Scope) -> Code:
        target, name, at = self.code(node.target, scope), node.name, node.at
        run, cost = target.run, 1 + target.cost
        if target.kind is CardFace and name in FACE_FIELDS:
            return Code(_FIELD_GETTERS[name](run), cost, FACE_FIELDS[name])
        return Code(lambda env: field(run(env), name, at), cost)

    def _index(self, node: Index, scope: _Scope) -> Code:
        target, key, at = self.code(node.target, scope), self.code(node.key, scope), node.at
        run, key_run = target.run, key.run
        cost = 1 + target.cost + key.cost
        return Code(lambda env: element(run(env), key_run(env), at), cost, target.item)

    def _call(self, node: FunctionCall, scope: _Scope) -> Code:
        code, at = self.code(node.argument, scope), node.at
        run = code.run
        if node.function == "abs":
            return Code(lambda env: absolute(run(env), at), 1 + code.cost, int)
        if code.kind is list:
            return Code(lambda env: len(run(env)), 1 + code.cost, int)
        return Code(lambda env: size(run(env), at), 1 + code.cost, int)

    def _macro(self, node: Macro, scope: _Scope) -> Code:
        target = self.code(node.target, scope)
        place = FIRST_VARIABLE + self.variables
        self.variables += 1
        inside = {**scope, node.variable: Code(_loaded(place), 1, target.item)}
        body = self.code(node.body, inside)
        run = MACROS[node.macro](target.run, place, body.run, body.cost, node.at)
        if node.macro == "filter":
            return Code(run, 1 + target.cost, list, target.item)
        if node.macro == "map":
            return Code(run, 1 + target.cost, list, body.kind)
        return Code(run, 1 + target.cost, bool)


def _constant(value: Any, cost: int, item: type | None = None) -> Code:
    return Code(lambda _: value, cost, type(value), item)


def _loaded(place: int) -> Run:
    return lambda env: env[place]


def _shared_item(a: Code, b: Code) -> type | None:
    return a.item if a.item is b.item else None


def _within(env: Env, value: object, container: object, at: int) -> bool:
    return contains(env, container, value, at)


def _map_of(pairs: Sequence[tuple[Run, Run]], at: int) -> Run:
    def made(env: Env) -> dict[object, Any]:
        built: dict[object, Any] = {}
        for key_run, value_run in pairs:
            value = key_run(env)
            key = key_of(value)
            if key is None:
                raise EvaluationFailed(f"{type_name(value)} is no key of a map", at)
            if key in built:
                raise EvaluationFailed("a key of this map stands twice", at)
            built[key] = value_run(env)
        return built

    return made


# Without `getattr`, as most of the work of most rules is to read fields of cards.
_FIELD_GETTERS: Final[dict[str, Callable[[Run], Run]]] = {
    "rank": lambda run: lambda env: run(env).rank,
    "suit": lambda run: lambda env: run(env).suit,
    "color": lambda run: lambda env: run(env).color,
    "parity": lambda run: lambda env: run(env).parity,
    "face": lambda run: lambda env: run(env).face,
}

"""Planting: the small faults that can be put into a source file, one at a time.

Each operator makes one kind of fault, as `FAULTS` lists them. What no test
could or should notice is left as it is: annotations, decorators, docstrings,
the texts of f-strings, the arguments of a raise, asserts and imports.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

FAULTS = {
    "boundary": "a comparison takes in its bound, or leaves it out",
    "comparison": "a comparison says the opposite",
    "condition": "a condition is turned round",
    "logic": "`and` for `or`, `or` for `and`",
    "operand": "one side of `and` or `or` is missing",
    "arithmetic": "+ for -, * for //, & for |, and so on",
    "number": "a number is one more or one less",
    "truth": "True for False, False for True",
    "order": "the first two characters of a text of ranks or suits change places",
    "extreme": "min for max, any for all, and the other way",
    "unsorted": "sorted, reversed or abs is left out",
    "sorted": "a list or tuple that a function of the rules returns is sorted",
    "element": "an element of a list or tuple is left out",
    "one": "1 is added in place of a name",
    "enum": "the next member of the same enum",
    "absence": "a part of an `x or y` value, or a sign, is dropped",
    "seat": "the place before in a list, or the own seat for the other",
    "arguments": "two arguments change places",
    "update": "a field is left out of a replace",
    "filter": "the condition of a comprehension is dropped",
    "slice": "a bound of a slice is dropped",
    "statement": "a call, an assignment or an early exit is dropped",
}
"""Every operator, and the fault it plants."""

_BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_OPPOSITE = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.Pow: ast.Mult,
}
_EXTREMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_ORDERLESS = frozenset(
    {"sorted", "set", "frozenset", "len", "sum", "min", "max", "any", "all", "Counter"}
)
"""Functions to which the order of their argument means nothing."""
_IN_ORDER = frozenset({"to_act"})
"""Functions whose results are sorted already: seats to act are in seat order by the contract of rules."""
_RANKS_AND_SUITS = frozenset("23456789TJQKAcdhs")
_SETTINGS = frozenset({"setting", "hands_setting", "target_setting", "max_hands_setting"})
"""Calls whose texts are told to people; their numbers are limits, and stay in play."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted fault: the bytes from `start` to `end` of a file become `after`."""

    path: str
    line: int
    function: str
    """The function or class it stands in, with those around it; empty in a module's own lines."""
    operator: str
    start: int
    end: int
    before: str
    after: str
    text: str
    """The line it begins in, without the blanks around it."""
    at: int
    """Where in that text it begins."""

    @property
    def key(self) -> str:
        """Name of the mutant within one version of its file."""
        return f"{self.path}:{self.start}-{self.end}:{self.operator}:{self.after}"

    @property
    def place(self) -> tuple[str, str, str, int, str, str]:
        """Name that outlives changes elsewhere in the file: what survivors are listed by."""
        return (self.path, self.function, self.text, self.at, self.operator, self.after)

    def plant(self, source: str) -> str:
        """The file with the fault in it."""
        data = source.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()

    def __str__(self) -> str:
        short = " ".join(self.before.split())
        return f"{self.path}:{self.line}: {self.operator}: {short} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Names:
    """What the sources of all rules say of names that any of them may use."""

    enums: Mapping[str, tuple[str, ...]]
    """The members of each enum class, in order."""
    sequences: Mapping[str, str]
    """`list` or `tuple` for each function that returns one of any length."""


NO_NAMES = Names({}, {})


def names_of(sources: Mapping[str, str]) -> Names:
    """The enum classes and the functions returning sequences of some sources."""
    enums, sequences = {}, {}
    for source in sources.values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and any(
                ast.unparse(each).endswith("Enum") for each in node.bases
            ):
                enums[node.name] = tuple(
                    ast.unparse(each.targets[0])
                    for each in node.body
                    if isinstance(each, ast.Assign)
                )
            elif isinstance(node, ast.FunctionDef) and node.returns is not None:
                returns = ast.unparse(node.returns)
                if returns.startswith("list["):
                    sequences[node.name] = "list"
                elif returns.startswith("tuple[") and returns.endswith(", ...]"):
                    sequences[node.name] = "tuple"
    return Names(enums, sequences)


def mutants_of(path: str, source: str, names: Names = NO_NAMES) -> list[Mutant]:
    """Every fault that can be planted in a source, in the order of the text; no two are alike."""
    planter = _Planter(path, source, names)
    planter.visit(ast.parse(source))
    found = {mutant.key: mutant for mutant in planter.mutants}
    return sorted(found.values(), key=lambda mutant: (mutant.start, mutant.end, mutant.key))


class _Planter(ast.NodeVisitor):
    """Walks a module and notes what can be planted."""

    def __init__(self, path: str, source: str, names: Names) -> None:
        self.mutants: list[Mutant] = []
        self._path, self._data, self._names = path, source.encode(), names
        self._lines = source.splitlines()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._within: list[str] = []
        self._bound: set[str] = set()
        """Names that have a value already, so that a later assignment can be left out."""
        self._foreign: set[str] = set()
        """Names that do not come from the rules, such as `combinations` of itertools."""
        self._kept: set[ast.expr] = set()
        """Displays and calls whose length or order another part of the line needs or ignores."""

    # What is noted.

    def _add(self, operator: str, node: ast.AST, after: str) -> None:
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        before = self._data[start:end].decode()
        if after in {before, f"({before})"}:
            return
        line = self._lines[node.lineno - 1]
        self.mutants.append(
            Mutant(
                self._path,
                node.lineno,
                ".".join(self._within),
                operator,
                start,
                end,
                before,
                after,
                line.strip(),
                node.col_offset - len(line) + len(line.lstrip()),
            )
        )

    def _swap(self, operator: str, node: ast.expr, after: ast.expr) -> None:
        self._add(operator, node, f"({ast.unparse(after)})")

    # What is left alone.

    def visit_Import(self, node: ast.Import) -> None: ...

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if not (node.module or "").startswith("arena."):
            self._foreign |= {each.asname or each.name for each in node.names}

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_Assert(self, node: ast.Assert) -> None: ...

    def visit_arg(self, node: ast.arg) -> None: ...

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add("statement", node, "pass")

    # Definitions.

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self._bound = self._bound, {each.arg for each in _arguments(node)}
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self._body(node)
        self._bound = outer

    def _body(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        self._within.append(node.name)
        last = node.body[-1]
        for statement in node.body:
            if isinstance(statement, ast.Return) and statement is last:
                self.generic_visit(statement)
            else:
                self.visit(statement)
        self._within.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self.visit(node.value)
        self._bind(node.target)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {each.id for target in node.targets for each in _stored(target)}
        if not names or (self._within and names <= self._bound):
            self._add("statement", node, "pass")
        if any(isinstance(target, ast.Tuple) for target in node.targets):
            self._kept.add(node.value)  # another number of elements fails at once
        if ast.unparse(node.targets[0]) not in ("__all__", "__slots__"):
            self.visit(node.value)
            for target in node.targets:
                if not isinstance(target, ast.Name):
                    self.visit(target)
        for target in node.targets:
            self._bind(target)

    def _bind(self, target: ast.expr) -> None:
        self._bound |= {each.id for each in _stored(target)}

    # Statements.

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add("statement", node, "pass")
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add("statement", node, "pass")
        other = _ARITHMETIC.get(type(node.op))
        if other is not None:
            changed = ast.AugAssign(node.target, other(), node.value)
            self._add("arithmetic", node, ast.unparse(changed))
        if isinstance(node.op, ast.Add):
            self._one(node.value)
        self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if self._within:
            self._add("statement", node, "pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("statement", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._add("statement", node, "pass")

    def visit_For(self, node: ast.For) -> None:
        self._bind(node.target)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._condition(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            self._condition(node.guard)
        self.generic_visit(node)

    def _condition(self, test: ast.expr) -> None:
        """Turned round, unless that is what another operator makes of it."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return
        turned = (
            test.operand
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
            else ast.UnaryOp(ast.Not(), test)
        )
        self._swap("condition", test, turned)

    # Expressions.

    def visit_Compare(self, node: ast.Compare) -> None:
        for at, op in enumerate(node.ops):
            for operator, table in (("boundary", _BOUNDARY), ("comparison", _OPPOSITE)):
                if type(op) in table:
                    words = [_operand(node.left)]
                    for place, (each, right) in enumerate(
                        zip(node.ops, node.comparators, strict=True)
                    ):
                        sign = table[type(op)] if place == at else _SIGNS[type(each)]
                        words += [sign, _operand(right)]
                    self._add(operator, node, f"({' '.join(words)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self._swap("logic", node, ast.BoolOp(other, node.values))
        for at in range(len(node.values)):
            rest = node.values[:at] + node.values[at + 1 :]
            self._swap("operand", node, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.operand, ast.Constant) or isinstance(node.op, ast.USub):
            self._swap("absence", node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _ARITHMETIC.get(type(node.op))
        if other is not None and not _is_text(node.left):
            self._swap("arithmetic", node, ast.BinOp(node.left, other(), node.right))
        if isinstance(node.op, ast.Add):
            self._one(node.left)
            self._one(node.right)
        if isinstance(node.op, ast.Sub) and _is_number(node.left, 1):
            self._swap("seat", node, node.right)
        self.generic_visit(node)

    def _one(self, part: ast.expr) -> None:
        if isinstance(part, ast.Name | ast.Attribute):
            self._add("one", part, "1")

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self._display(node)

    def visit_List(self, node: ast.List) -> None:
        self._display(node)

    def _display(self, node: ast.Tuple | ast.List) -> None:
        if isinstance(node.ctx, ast.Load) and len(node.elts) > 1 and node not in self._kept:
            for at in range(len(node.elts)):
                rest = node.elts[:at] + node.elts[at + 1 :]
                self._swap("element", node, type(node)(rest, node.ctx))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add("truth", node, str(not value))
        elif isinstance(value, int):
            self._add("number", node, f"({value + 1})")
            self._add("number", node, f"({value - 1})")
        elif isinstance(value, str) and len(value) > 2 and _RANKS_AND_SUITS.issuperset(value):
            self._add("order", node, repr(value[1] + value[0] + value[2:]))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            members = self._names.enums.get(node.value.id, ())
            if node.attr in members and len(members) > 1:
                following = members[(members.index(node.attr) + 1) % len(members)]
                self._add("enum", node, f"{node.value.id}.{following}")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        index = node.slice
        table = isinstance(node.value, ast.Name) and node.value.id.isupper()
        if isinstance(index, ast.Name | ast.Attribute | ast.Call) and not table:
            changed = ast.BinOp(index, ast.Sub(), ast.Constant(1))
            self._add("seat", index, f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for name in ("lower", "upper", "step"):
            if getattr(node, name) is not None:
                bounds = {each: getattr(node, each) for each in ("lower", "upper", "step")}
                self._add("slice", node, ast.unparse(ast.Slice(**{**bounds, name: None})))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._add("filter", test, "True")
            self._condition(test)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name in _EXTREMES:
            self._add("extreme", node.func, _EXTREMES[name])
        if name in ("sorted", "reversed", "abs") and node.args:
            kept = node.args[0]
            after = kept if name == "abs" else ast.Call(ast.Name("list"), [kept], [])
            self._swap("unsorted", node, after)
        if name in _ORDERLESS:
            self._kept.update(node.args)
        called = name.rsplit(".", 1)[-1]
        kind = self._names.sequences.get(called)
        known = kind is not None and called not in _IN_ORDER and called not in self._foreign
        if known and node not in self._kept:
            in_order = ast.Call(ast.Name("sorted"), [node], [])
            after = in_order if kind == "list" else ast.Call(ast.Name("tuple"), [in_order], [])
            self._swap("sorted", node, after)
        if name.lstrip("_").startswith("other") and len(node.args) == 1:
            self._swap("seat", node, node.args[0])
        if name in ("replace", "dataclasses.replace"):
            for at in range(len(node.keywords)):
                rest = node.keywords[:at] + node.keywords[at + 1 :]
                self._swap("update", node, ast.Call(node.func, node.args, rest))
        for at in range(len(node.args) - 1):
            one, two = node.args[at : at + 2]
            if isinstance(one, _NAMED) and isinstance(two, _NAMED) and name not in _SETTINGS:
                args = [*node.args[:at], two, one, *node.args[at + 2 :]]
                self._swap("arguments", node, ast.Call(node.func, args, node.keywords))
                break
        self.generic_visit(node)


_NAMED = (ast.Name, ast.Attribute, ast.Subscript)
_SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def _operand(node: ast.expr) -> str:
    """The operand of a comparison so that it stays one when it is written out."""
    text = ast.unparse(node)
    loose = ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr | ast.UnaryOp
    return f"({text})" if isinstance(node, loose) else text


def _arguments(node: ast.FunctionDef) -> Iterator[ast.arg]:
    yield from (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)


def _stored(target: ast.expr) -> Iterator[ast.Name]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node


def _is_number(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )

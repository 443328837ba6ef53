"""Finds where a module assigns an attribute of an object that is not its own.

An object is a module's own if it is `self`, if it was made in the same function, or if its class
is defined in the module. Messages of the protocol are values: any module may fill one.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

MESSAGE = "(a message of the protocol)"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Assignment:
    """One assignment to an attribute."""

    line: int
    text: str
    """The target as it is written: `arena.on_version`."""

    @property
    def attribute(self) -> str:
        """The name of the attribute."""
        return self.text.rpartition(".")[2]


@dataclass
class Names:
    """What is known of the names of one function."""

    classes: dict[str, str] = field(default_factory=dict)
    """The class of each name, as far as it can be seen."""
    made: set[str] = field(default_factory=set)
    """Names of objects that are made in the function."""


def foreign_assignments(source: str) -> list[Assignment]:
    """All assignments of a module to attributes of objects that are not its own."""
    tree = ast.parse(source)
    finder = _Finder(tree)
    finder.visit(tree)
    return sorted(set(finder.found), key=lambda each: (each.line, each.text))


class _Finder(ast.NodeVisitor):
    def __init__(self, tree: ast.Module) -> None:
        self.found: list[Assignment] = []
        nodes = list(ast.walk(tree))
        classes = [each for each in nodes if isinstance(each, ast.ClassDef)]
        self._own_classes = {each.name for each in classes}
        self._own_attributes = {name for each in classes for name in _attributes(each)}
        self._messages = {
            name.asname or name.name
            for each in nodes
            if isinstance(each, ast.ImportFrom) and (each.module or "").endswith("_pb2")
            for name in each.names
        }
        functions = [each for each in nodes if isinstance(each, Function)]
        self._returns = {each.name: self._named(each.returns) for each in functions}
        self._instance: list[dict[str, str]] = [{}]
        self._function = [Names()]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        attributes: dict[str, str] = {}
        self._instance.append(attributes)
        for each in ast.walk(node):
            if isinstance(each, Function):
                given = self._arguments(each)
                for target, value, annotation in _bindings(each):
                    if _is_of_self(target):
                        attributes[target.attr] = self._named(annotation) or self._class(
                            value, given
                        )
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                attributes[each.target.id] = self._named(each.annotation)
        self.generic_visit(node)
        self._instance.pop()

    def visit_FunctionDef(self, node: Function) -> None:
        outer = self._function[-1]
        names = Names(outer.classes | self._arguments(node), set(outer.made))
        for target, value, annotation in _bindings(node):
            if isinstance(target, ast.Name):
                found = self._named(annotation) or self._class(value, names.classes)
                if found:
                    names.classes[target.id] = found
                if isinstance(value, ast.Call) and self._named(value.func):
                    names.made.add(target.id)
        self._function.append(names)
        self.generic_visit(node)
        self._function.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del) and not self._is_own(node):
            self.found.append(Assignment(node.lineno, ast.unparse(node)))
        self.generic_visit(node)

    def _is_own(self, node: ast.Attribute) -> bool:
        base, names = node.value, self._function[-1]
        if isinstance(base, ast.Name) and base.id in names.made | {"self", "cls"}:
            return True
        found = self._class(base, names.classes)
        if found:
            return found == MESSAGE or found in self._own_classes
        return node.attr in self._own_attributes

    def _class(self, value: ast.expr | None, names: dict[str, str]) -> str:
        """The class of a value, as far as it can be seen; empty if it cannot."""
        if isinstance(value, ast.Await):
            return self._class(value.value, names)
        if isinstance(value, ast.IfExp):
            return self._class(value.body, names)
        if isinstance(value, ast.Name):
            return names.get(value.id, "")
        if isinstance(value, ast.Call):
            function = value.func
            called = function.attr if _is_of_self(function) else getattr(function, "id", "")
            return self._returns.get(called, "") or self._named(function)
        if isinstance(value, ast.Attribute):
            if _is_of_self(value):
                return self._instance[-1].get(value.attr, "")
            return MESSAGE if self._class(value.value, names) == MESSAGE else ""
        return ""

    def _named(self, node: ast.expr | None) -> str:
        """The class that an annotation or the function of a call names; empty if it names none."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        if isinstance(node, ast.BinOp):  # `Class | None`
            return self._named(node.left)
        names = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        names.append(node.id)
        if node.id.endswith("_pb2") or node.id in self._messages:
            return MESSAGE
        return next((each for each in names if each.lstrip("_")[:1].isupper()), "")

    def _arguments(self, node: Function) -> dict[str, str]:
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        return {each.arg: found for each in given if (found := self._named(each.annotation))}


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None, ast.expr | None]]:
    """What the statements of a function bind: targets, values and annotations."""
    for each in ast.walk(node):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                yield from ((one, value, None) for one, value in _pairs(target, each.value))
        elif isinstance(each, ast.AnnAssign):
            yield each.target, each.value, each.annotation
        elif isinstance(each, ast.With | ast.AsyncWith):
            for item in each.items:
                if item.optional_vars is not None:
                    yield item.optional_vars, item.context_expr, None
        elif isinstance(each, ast.For | ast.AsyncFor):
            # What is taken of a part of a message is a part of it.
            source = each.iter
            if isinstance(source, ast.Call) and getattr(source.func, "id", "") == "zip":
                source = ast.Tuple(source.args, ast.Load())
            yield from ((one, value, None) for one, value in _pairs(each.target, source))


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=False)
    else:
        yield target, value


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """The attributes that a class declares, or gives its instances."""
    for each in ast.walk(node):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id
        elif _is_of_self(each) and isinstance(each.ctx, ast.Store):
            yield each.attr


def _is_of_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )

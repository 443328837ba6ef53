"""`docs/architecture.md` and docstrings name paths, modules, methods and classes that exist."""

import ast
import re
from pathlib import Path

import pytest

from tests.assignments import foreign_assignments

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PATTERNS = {"bot.toml"}
STANDS_FOR_OTHERS = re.compile("FAMILY|GAME|LANGUAGE|/X/")


def paths():
    """The paths that the page names, but for those that stand for several, and for a file of a bot."""
    named = re.findall(r"`([\w<>./-]+(?:/|\.py|\.proto|\.md|\.toml))`", PAGE)
    return sorted(path for path in {*named} - PATTERNS if not STANDS_FOR_OTHERS.search(path))


@pytest.mark.parametrize("path", paths())
def test_a_path_is_there(path):
    places = [ROOT, ROOT / "arena", ROOT / "proto" / "cardarena" / "v1"]
    assert any((place / path).exists() for place in places)


@pytest.mark.parametrize("word", sorted(set(re.findall(r"`((?:[A-Z]\w+|rules)\.\w+)`", PAGE))))
def test_a_method_is_there(word):
    name = word.split(".")[1]
    found = [
        path
        for path in (ROOT / "arena").rglob("*.py")
        if re.search(rf"def {name}\(", path.read_text("utf-8"))
    ]
    assert found, word


@pytest.mark.parametrize("word", sorted(set(re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`s?", PAGE))))
def test_a_class_is_there(word):
    messages = (ROOT / "proto").rglob("*.proto")
    modules = (ROOT / "arena").rglob("*.py")
    assert any(
        re.search(rf"^(?:class|message) {word}\b", path.read_text("utf-8"), re.MULTILINE)
        for path in (*modules, *messages)
    )


# Docstrings name modules that exist.

DOTTED = re.compile(r"`((?:arena|cardarena)(?:\.\w+)+)`")
BARE = re.compile(r"`([a-z_]\w+)(?:\.\w+)*`")


def is_there(dotted):
    """Whether a dotted name is that of a package or a module, or of something in it."""
    parts, place = dotted.split("."), ROOT / "clients" / "python"
    place = place if parts[0] == "cardarena" else ROOT
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    if not parts:
        return True
    files = [place / "__init__.py"]
    if place.name == "v1":
        files = (ROOT / "proto" / "cardarena" / "v1").glob("*.proto")
    elif (place / f"{parts[0]}.py").exists():
        files = [place / f"{parts.pop(0)}.py"]
    text = "\n".join(file.read_text("utf-8") for file in files)
    return all(re.search(rf"\b{part}\b", text) for part in parts)


def without_docstrings(source, tree):
    lines = source.splitlines()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines[node.lineno - 1 : node.end_lineno] = [""] * (
                    node.end_lineno - node.lineno + 1
                )
    return "\n".join(lines)


@pytest.mark.slow
def test_docstrings_name_what_is_there():
    """Dotted names in all texts; in docstrings of modules also names alone, as of a module beside it."""
    paths = [*(ROOT / "arena").rglob("*.py"), *(ROOT / "clients" / "python").rglob("*.py")]
    known, named, gone = set(), set(), []
    for path in paths:
        if path.stem.endswith(("_pb2", "_pb2_grpc")):
            continue
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        known |= {
            path.stem,
            path.parent.name,
            *re.findall(r"\w+", without_docstrings(source, tree)),
        }
        at = path.relative_to(ROOT).as_posix()
        named |= {(at, name) for name in BARE.findall(ast.get_docstring(tree) or "")}
        gone += [(at, name) for name in sorted({*DOTTED.findall(source)}) if not is_there(name)]
    gone += [(at, name) for at, name in sorted(named) if name not in known]
    assert gone == []


# No module assigns attributes of another's objects.

FOREIGN_BY_DESIGN = {
    # where                              attribute            why that is how it is done
    ("cli/options.py",                   "raiseExceptions"):  "a setting of the module logging",
    ("cli/logs.py",                      "levelname"):        "filters of logging change records",
    ("cli/logs.py",                      "levelno"):          "filters of logging change records",
    ("cli/arena_client.py",              "page_token"):       "a message of the protocol, of any type",
    ("cli/terminal/plain.py",            "message"):          "click prints the message of its errors",
    ("house/best_response.py",           "start"):            "a bot reads there which match it plays",
    ("local/place.py",                   "start"):            "a bot reads there which match it plays",
    ("referee/timers.py",                "deadline"):         "trio moves a deadline by its attribute",
    ("contests/workers/processes.py",    "deadline"):         "trio moves a deadline by its attribute",
    ("store/database.py",                "isolation_level"):  "a setting of sqlite3's connections",
    ("web/acting/arena_calls.py",        "page_size"):        "a message of the protocol, of any type",
    ("web/acting/arena_calls.py",        "page_token"):       "a message of the protocol, of any type",
    ("web/markdown.py",                  "tag"):              "markdown-it's tokens are changed in place",
    ("web/serve.py",                     "should_exit"):      "uvicorn's servers are stopped by this attribute",
}  # fmt: skip


@pytest.mark.slow
def test_no_module_assigns_attributes_of_objects_that_are_not_its_own():
    found = {
        (
            path.relative_to(ROOT / "arena").as_posix(),
            each.attribute,
        ): f"{path}:{each.line}: {each.text}"
        for path in sorted((ROOT / "arena").rglob("*.py"))
        for each in foreign_assignments(path.read_text("utf-8"))
    }
    assert {at: text for at, text in found.items() if at not in FOREIGN_BY_DESIGN} == {}
    assert found.keys() == FOREIGN_BY_DESIGN.keys(), "what is not found any more needs no exception"


# fmt: off
ASSIGNMENTS = [
    # what a module does                                                    finds             why
    ("def run(arena: Arena): arena.workers = 1",                            ["arena.workers"], "an argument of another module's class"),
    ("def run(arena): arena.workers = 1",                                   ["arena.workers"], "an argument of no known class"),
    ("class A:\n def f(self): self._b.c += 1",                              ["self._b.c"],     "a part whose class is not known"),
    ("class A:\n def f(self, b: B): self._b = b; self.c = self._b.c = 1",     ["self._b.c"],     "a part of another class with the same attribute"),
    ("def run(each):\n for b in each: b.c = 1",                             ["b.c"],           "one of many"),
    ("def run(a, b): a.c, b.d = 1, 2",                                      ["a.c", "b.d"],    "several at once"),
    ("def run(a): del a.c",                                                 ["a.c"],           "an attribute that is removed"),
    ("import logging\nlogging.raiseExceptions = False",                     ["logging.raiseExceptions"], "a module"),
    ("class A:\n def f(self): self.b = 1",                                  [],                "the object itself"),
    ("def run():\n b = B()\n b.c = 1",                                      [],                "an object that is made here"),
    ("class B:\n c: int = 0\ndef run(b: B): b.c = 1",                       [],                "a record of the module"),
    ("class B:\n c: int = 0\ndef run(b): b.c = 1",                          [],                "a record of the module, as its attribute says"),
    ("def run(hello: play_pb2.Hello): hello.token = ''",                    [],                "a message that was given"),
    ("def run(w: play_pb2.Welcome):\n a = w.limits\n a.b = 1",              [],                "a part of a message"),
    ("from a_pb2 import A\ndef f() -> A: ...\ndef g():\n a = f()\n a.b = 1", [],                "a message that another function makes"),
]
# fmt: on


@pytest.mark.parametrize(
    ("source", "finds", "why"), ASSIGNMENTS, ids=[row[-1] for row in ASSIGNMENTS]
)
def test_what_counts_as_an_object_of_another_module(source, finds, why):
    assert [each.text for each in foreign_assignments(source)] == finds

"""Public names use the words of docs/glossary.md, and no two public classes share a name."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BANNED = frozenset(
    [
        "apart",
        "desk",
        "elsewhere",
        "eye",
        "eyes",
        "gallery",
        "hall",
        "inquiry",
        "jail",
        "jailer",
        "notebook",
        "office",
        "owning",
        "reckoning",
        "tape",
        "walkover",
        "wall",
    ]
)
"""Words of the glossary's last column that are one word and have no other meaning here."""


def modules():
    """The modules of the arena that are written by hand, games apart, which have words of their own."""
    for path in sorted((ROOT / "arena").rglob("*.py")):
        if "games" not in path.relative_to(ROOT).parts:
            yield path


def words(name):
    """The words of a name in snake case or camel case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def public_names(tree):
    """Names of public classes and functions, with their parameters and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
            yield from (
                each.target.id
                for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            )
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
            "_"
        ):
            yield node.name
            yield from (each.arg for each in [*node.args.args, *node.args.kwonlyargs])


def wrong_names(path, source):
    """Names with a word that the glossary replaces, each with the file."""
    names = [path.stem, *public_names(ast.parse(source))]
    return sorted({f"{path.name}: {name}" for name in names if words(name) & BANNED})


def test_every_banned_word_stands_in_the_glossary():
    rows = re.findall(
        r"^\|[^|]*\|[^|]*\|([^|]*)\|$", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE
    )
    assert set.union(*map(words, rows)) >= BANNED


def test_public_names_use_the_words_of_the_glossary():
    found = [name for path in modules() for name in wrong_names(path, path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class Hall: ...", id="a-class"),
        pytest.param("def open(desk): ...", id="a-parameter"),
        pytest.param("class A:\n    tape: int", id="a-field"),
    ],
)
def test_a_word_that_the_glossary_replaces_is_found(source):
    assert wrong_names(Path("planted.py"), source)


def test_no_two_public_classes_share_a_name():
    places = defaultdict(list)
    for path in modules():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}

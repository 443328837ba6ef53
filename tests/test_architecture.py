"""The page that leads through the house: what it names is there, and where it says."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PICTURE = PAGE.split("```")[1]

NOT_BUILT = {"clients/<language>/"}
"""Rooms that the page names before they are there."""


def paths():
    """All paths that the page names, as written there."""
    named = re.findall(r"`([\w<>./-]+(?:/|\.py|\.proto|\.md|\.toml))`", PAGE)
    return sorted(set(named) - NOT_BUILT)


@pytest.mark.parametrize("path", paths())
def test_a_path_is_there(path):
    places = [ROOT, ROOT / "arena", ROOT / "arena" / "server", ROOT / "proto" / "cardarena" / "v1"]
    assert any((place / path).exists() for place in places)


@pytest.mark.parametrize("path", sorted(NOT_BUILT))
def test_a_room_that_was_built_is_no_longer_left_out_here(path):
    assert not (ROOT / path).exists()


def floors_of_the_picture():
    return [
        frozenset(line[1:24].strip().split(" · "))
        for line in PICTURE.splitlines()
        if line[1:2] > " "
    ]


def test_the_floors_are_those_that_imports_are_held_to():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    floors = [frozenset(re.sub(r"[()]", "", layer).split(" | ")) for layer in contract["layers"]]
    built = [floor & set(rooms("arena")) for floor in floors]
    assert floors_of_the_picture() == [floor for floor in built if floor]


def test_the_rooms_of_the_server_are_those_of_the_picture():
    named = {line[24:].split()[0] for line in PICTURE.splitlines() if re.match(r" {24}\w", line)}
    folders = {each.parent.name for each in (ROOT / "arena" / "server").glob("*/__init__.py")}
    assert folders <= named


def rooms(folder):
    """The modules and packages of a folder."""
    there = (ROOT / folder).iterdir()
    return [each.stem for each in there if each.suffix == ".py" or (each / "__init__.py").exists()]


def test_the_page_has_five_journeys_and_ten_changes():
    assert len(re.findall(r"^## The journey of an? \w+$", PAGE, re.MULTILINE)) == 5
    changes = PAGE.split("## Where do I put …")[1]
    assert len(re.findall(r"^\| (?!change|---)", changes, re.MULTILINE)) >= 10


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

"""The examples of docs/testing-against-the-arena.md run as they stand, and its table names all doubles."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import arena.testing

PAGE = Path(__file__).parents[2] / "docs" / "testing-against-the-arena.md"
TEXT = PAGE.read_text("utf-8")
EXAMPLES = list(re.finditer(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
NOT_DOUBLES = {
    "RecordedAsk",
    "Closed",
    "SeatEnded",
    "Reply",
    "NotStacked",
    "Shuffle",
    "plays_first_move",
}
"""What doubles are told, say and raise."""


@pytest.mark.parametrize("example", EXAMPLES, ids=["a bot under test", "a game with given cards"])
def test_an_example_runs(example):
    above = "\n" * TEXT.count(
        "\n", 0, example.start(1)
    )  # so that a failure names the line of the page
    exec(compile(above + example[1], str(PAGE), "exec"), {"__name__": "example"})


def doubles():
    for module in pkgutil.iter_modules(arena.testing.__path__, "arena.testing."):
        for name, found in vars(importlib.import_module(module.name)).items():
            own = getattr(found, "__module__", "") == module.name
            if (
                own
                and not name.startswith("_")
                and (inspect.isclass(found) or inspect.isfunction(found))
            ):
                yield module.name.rpartition(".")[2], name


def test_the_table_names_every_double_and_its_module():
    listed, module = set(), ""
    for of, names in re.findall(r"^\|([^|]*)\|([^|]*)\|", TEXT, re.MULTILINE):
        module = of.strip("` |") or module
        listed |= {(module, name) for name in re.findall(r"`(\w+)`", names.partition(":")[0])}
    assert listed == {each for each in doubles() if each[1] not in NOT_DOUBLES}

"""Every conformance vector of every game.

The vectors stand in `tests/vectors`, or in the folder that `ARENA_VECTORS`
names. Each file of the folder is run whole: a game or a kind that no adapter
knows fails by name, so that nothing is passed over.
"""

import json
import os
from pathlib import Path

import pytest

from tests.vector_adapters import ADAPTERS

FOLDER = Path(os.environ.get("ARENA_VECTORS") or Path(__file__).parent / "vectors")


def vectors():
    for file in sorted(FOLDER.glob("*.json")):
        for vector in json.loads(file.read_text())["vectors"]:
            yield pytest.param(vector, id=f"{vector['id']}: {vector['title']}")


def test_there_are_vectors():
    assert any(FOLDER.glob("*.json")), f"no vector files in {FOLDER}"


@pytest.mark.parametrize("vector", list(vectors()))
def test_vector(vector):
    kinds = ADAPTERS.get(vector["game"])
    assert kinds is not None, f"no adapter for the game {vector['game']!r}"
    check = kinds.get(vector["kind"])
    assert check is not None, f"{vector['game']} has no adapter for the kind {vector['kind']!r}"
    check(vector)

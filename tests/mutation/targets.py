"""What is mutated, and what should notice: a family's files, its games and its tests."""

import importlib
import json
import pkgutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULES = ROOT / "arena" / "games"
USED_BY = {
    "betting": ("pineapple", "soko"),
    "chinese": ("chinese_poker", "open_face_chinese_poker"),
    "cel": ("eleusis",),
}
"""Packages that several families share, or that are worth a row of their own."""
NO_RULES = frozenset({"__init__.py", "likely_rules.py", "possible_states.py"})
"""What a game is called, what a language exports, and what the house bot assumes, which `tests/house` holds."""
COMMON = frozenset(
    {
        "cards",
        "catalogue",
        "contract",
        "frozen",
        "game",
        "notation",
        "options",
        "poker",
        "two_seats",
    }
)
"""What all games share: no rules, and tested elsewhere."""


@dataclass(frozen=True)
class Target:
    """One family of games, or a package that families share."""

    name: str

    @property
    def families(self):
        return USED_BY.get(self.name, (self.name,))

    @cached_property
    def files(self):
        """The files that are mutated, below the root, in order."""
        return [
            path.relative_to(ROOT).as_posix()
            for path in sorted((RULES / self.name).glob("*.py"))
            if path.name not in NO_RULES
        ]

    @cached_property
    def tests(self):
        """The test files of the families and of the package itself."""
        names = {self.name, *self.families}
        found = {path for name in names for path in (ROOT / "tests/games").glob(f"test_{name}*.py")}
        found |= set((ROOT / "tests/games" / self.name).glob("test_*.py"))
        return sorted(path.relative_to(ROOT).as_posix() for path in found)

    def games(self):
        """The games whose goldens are played."""
        from arena.games.catalogue import GAMES

        return [game for game in GAMES if game.family in self.families]

    def vectors(self):
        """The conformance vectors of the games, each with the function that checks it."""
        from tests.vector_adapters import ADAPTERS

        for family in self.families:
            adapter = importlib.import_module(f"tests.vector_adapters.{family}")
            for file in sorted((ROOT / "tests/vectors").glob("*.json")):
                for vector in json.loads(file.read_text("utf-8"))["vectors"]:
                    if vector["game"] in adapter.GAMES:
                        yield vector, ADAPTERS[vector["game"]][vector["kind"]]

    def preload(self):
        """Import what no mutant of this target changes, so that a trial need not."""
        for module in ("arena.testing.deals", "google.protobuf.message", "hypothesis", "pytest"):
            importlib.import_module(module)
        for module in pkgutil.iter_modules([str(RULES)]):
            own = {self.name, *self.families, *USED_BY} | COMMON
            if module.name not in own and not self._needs(module.name):
                importlib.import_module(f"arena.games.{module.name}")

    def _needs(self, family):
        return any(family in USED_BY.get(name, ()) for name in (self.name, *self.families))


def sources():
    """The text of every file with rules, by its path: enums of one are used in others."""
    return {str(path): path.read_text("utf-8") for path in sorted(RULES.rglob("*.py"))}


def targets():
    """Every target there is, by name."""
    families = [module.name for module in pkgutil.iter_modules([str(RULES)])]
    return {name: Target(name) for name in sorted({*families} - COMMON)}

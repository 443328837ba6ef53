"""What type checkers, and so editors, know of a bot: mypy and pyright read bots good and bad.

A line that a checker must refuse ends in `# wrong`; every other line must pass.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cardarena import _games
from tests.programs import require

pytestmark = pytest.mark.deep("the SDK for Python")  # runs two type checkers

ROOT = Path(__file__).resolve().parent.parent.parent
WRONG = "# wrong"
STRICTLY = """
# mypy: disallow-any-generics, disallow-subclassing-any, disallow-untyped-defs, warn-return-any
# pyright: strict, reportUnusedImport=false
"""

HEAD = """
import random
from collections.abc import Sequence
from typing import Any, assert_type

import cardarena
from cardarena import abstrac, democracy, jam
"""

ASKED = """
class MyBot(democracy.Bot):
    def move(self, ask: democracy.Ask) -> democracy.Move:
        {}
        return ask.moves[0]
"""

ENDED = """
class MyBot(democracy.Bot):
    def ended(self, end: cardarena.End[democracy.Event]) -> None:
        {}
"""

ANSWERED = """
class MyBot(democracy.Bot):
    def move(self, ask: democracy.Ask) -> democracy.Choice:
        {}
"""

# fmt: off
SNIPPETS = [
    (ASKED, "assert_type(ask.view, democracy.View)",             "a view is of the game's own type"),
    (ASKED, "assert_type(ask.moves[0], democracy.Move)",         "so is a move"),
    (ASKED, "assert_type(ask.events[0], democracy.Event)",       "and an event"),
    (ASKED, "assert_type(random.choice(ask.moves).card, str)",   "a field of a move has its type"),
    (ASKED, "assert_type(ask.view.island.upcards[0], str)",      "and one of a message within the view"),
    (ASKED, "print(ask.view.upcart)  # wrong",                   "a field that views do not have"),
    (ASKED, "print(ask.view.island.upcart)  # wrong",            "a field that a message within the view does not have"),
    (ASKED, "print(ask.moves[0].cart)  # wrong",                 "a field that moves do not have"),
    (ASKED, "print([event.seet for event in ask.events])  # wrong", "a field that events do not have"),
    (ASKED, "print(ask.vue)  # wrong",                           "a part that asks do not have"),
    (ASKED, "print(ask.view.upcard + 1)  # wrong",               "a field of another type"),
    (ASKED, "print(ask.clock.move_sec)  # wrong",                "a field that clocks do not have"),
    (ASKED, "print(self.start.terms.gane)  # wrong",             "a field that terms do not have"),
    (ASKED, "print(democracy.PLAY_KARD)  # wrong",               "a verb that the game does not have"),
    (ENDED, "assert_type(end.events[0], democracy.Event)",       "the last events are of the game's own type"),
    (ENDED, "print(end.skores)  # wrong",                        "a part that ends do not have"),
    (ANSWERED, "return 0",                                       "an index is a choice"),
    (ANSWERED, "return ask.moves[-1]",                           "an offered move is a choice"),
    (ANSWERED, "return democracy.Move(verb=democracy.PLAY_CARD, card='Ks')", "a move of one's own is a choice"),
    (ANSWERED, "return cardarena.Noted(ask.moves[0], 'why')",    "a choice may be noted"),
    (ANSWERED, "return democracy.Move(kard='Ks')  # wrong",      "a move with a field that it does not have"),
    (ANSWERED, "return abstrac.Move()  # wrong",                 "a move of another game"),
    (ANSWERED, "return democracy.moves.play_card('Ks')",         "what a constructor makes is a choice"),
    (ANSWERED, "return democracy.moves.play_card(1)  # wrong",   "a constructor that is given another type"),
    (ANSWERED, "return democracy.moves.play_kard('Ks')  # wrong", "a verb that has no constructor"),
    (ASKED, "print(jam.moves.draw(0))  # wrong",                 "a number where a name of the game is wanted"),
    (ANSWERED, "return 'Ks'  # wrong",                           "a card is no choice"),
    (ANSWERED, "return None  # wrong",                           "nothing is no choice"),
    ("""
class MyBot(democracy.Bot):
    def move(self, ask: jam.Ask) -> democracy.Move:  # wrong
        return democracy.Move()
""", "",                                                         "asks of another game than the bot's"),
    ("""
class MyBot(democracy.BatchBot):
    def moves(self, asks: Sequence[democracy.Ask]) -> Sequence[democracy.Choice]:
        print(asks[0].view.upcart)  # wrong
        return [ask.moves[0] for ask in asks]
""", "",                                                         "a bot for batches is typed alike"),
    ("""
class MyBot(cardarena.Bot):
    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        assert_type(ask.view, Any)
        print(ask.vue)  # wrong
        return random.choice(ask.moves)
""", "",                                                         "a bot for every game knows the parts of an ask"),
    ("""
class MyBot(jam.Bot):
    pass
cardarena.run(MyBot)
cardarena.run(int)  # wrong
""", "",                                                         "only a bot can be run"),
]
# fmt: on

EVERY_GAME = """
from typing import assert_type

from cardarena import {0}


class MyBot({0}.Bot):
    def move(self, ask: {0}.Ask) -> {0}.Choice:
        assert_type(ask.view, {0}.View)
        assert_type(ask.moves[0], {0}.Move)
        assert_type(ask.events[0], {0}.Event)
        print(ask.view.no_such_field)  # wrong
        return ask.moves[0]
"""


def readme_bot():
    """The first Python example of the README."""
    readme = (ROOT / "README.md").read_text("utf-8")
    return re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]


STRICT = {f"row_{at}": HEAD + code.format(line) for at, (code, line, _) in enumerate(SNIPPETS)}
STRICT |= {f"of_{family}": EVERY_GAME.format(family) for family in _games.FAMILIES}
STRICT["readme"] = readme_bot()
STRICT["readme_wrong"] = readme_bot().replace(
    "        return", "        print(ask.view.handd)  # wrong\n        return"
)
SAMPLES = {path.stem: path for path in sorted((ROOT / "sample_bots").glob("*.py"))}


def by_mypy(folder):
    """The lines that mypy refuses, by file."""
    paths = sorted(map(str, folder.glob("*/*.py")))
    command = [sys.executable, "-m", "mypy", "--config-file=", "--output=json", *paths]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode < 2, done
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [(Path(each["file"]).stem, each["line"], each["message"]) for each in said]


def by_pyright(folder):
    """The lines that pyright refuses, by file."""
    require("node")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "strict", "samples"], cwd=folder, check=False, capture_output=True
    )
    assert done.returncode < 2, done
    said = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (Path(each["file"]).stem, each["range"]["start"]["line"] + 1, each["message"])
        for each in said
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bots")
    for kind in ("strict", "samples"):
        (folder / kind).mkdir()
    for name, code in STRICT.items():
        (folder / "strict" / f"{name}.py").write_text(code + STRICTLY)
    for name, path in SAMPLES.items():
        shutil.copy(path, folder / "samples" / f"{name}.py")
    return folder


CHECKERS = [
    pytest.param(by_mypy, id="mypy"),
    pytest.param(by_pyright, id="pyright"),
]


@pytest.fixture(scope="module", params=CHECKERS)
def refused(request, folder):
    found = {}
    for name, line, message in request.param(folder):
        found.setdefault(name, {})[line] = message
    return found


def wrong_lines(code):
    return [at for at, line in enumerate(code.split("\n"), 1) if line.endswith(WRONG)]


NAMES = {**{f"row_{at}": why for at, (*_, why) in enumerate(SNIPPETS)}}


@pytest.mark.parametrize("name", STRICT, ids=lambda name: NAMES.get(name, name))
def test_a_checker_refuses_what_is_wrong_and_nothing_else(refused, name):
    said = refused.get(name, {})
    assert sorted(said) == wrong_lines(STRICT[name]), said


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_bot_satisfies_the_checkers(refused, name):
    assert name not in refused

"""Values of the rules are frozen for type checkers, and compare, hash and travel as frozen ones do."""

import pickle
import subprocess
import sys

import pytest

from arena.games.contract import Seat
from arena.games.sixty_six.messages import Marriage, Play, Played

PROGRAM = """
from arena.games.contract import Seat
from arena.games.sixty_six.messages import Played

def spoil(event: Played) -> None:
    {line}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param('event.card = "9s"', 'Property "card" defined in "Played" is read-only', id="a field is given another value"),
        pytest.param("Played(Seat(0), 9)", "incompatible type", id="a field is made of another type"),
        pytest.param("print(event.card)", "Success", id="a field is read"),
    ],
)  # fmt: skip
def test_type_checkers_hold_them_frozen(line, said, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(line=line), "utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", str(program)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert said in done.stdout, done.stderr


def test_they_are_equal_and_hash_as_their_fields():
    assert Played(Seat(0), "9s") == Played(Seat(0), "9s") != Played(Seat(1), "9s")
    assert Play("9s") != Marriage("9s")
    assert len({Played(Seat(0), "9s"), Played(Seat(0), "9s"), Played(Seat(1), "9s")}) == 2


def test_they_have_the_fields_that_are_declared_and_no_others():
    with pytest.raises(AttributeError):
        Played(Seat(0), "9s").suit = "s"


def test_they_travel_to_workers():
    event = Played(Seat(0), "9s")
    assert pickle.loads(pickle.dumps(event)) == event

"""`arena doctor`: its exit code."""

import json

import pytest
from click.testing import CliRunner

from arena.cli import main
from tests.doubles.ports import taken_port


@pytest.fixture
def taken():
    with taken_port() as port:
        yield port


# fmt: off
EXITS = [
    (["pages"],                 0, "what is weak can be used"),
    (["pages", "--web-port"],   1, "what is lacking cannot"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "code", "why"), EXITS, ids=[row[-1] for row in EXITS])
def test_the_exit_code_says_whether_something_is_lacking(
    arguments, code, why, taken, tmp_path, monkeypatch
):
    monkeypatch.setattr("arena.app.doctor._fonts_with_suits", lambda: 0)
    ports = [str(taken)] if code else ["--web-port", "0"]
    command = ["doctor", *arguments, *ports, "--json", "--data", str(tmp_path / "data")]
    done = CliRunner().invoke(main, command)
    states = {finding["state"] for finding in json.loads(done.output)["findings"]}
    assert (done.exit_code, "lacks" in states, "weak" in states) == (code, bool(code), True)
    assert not (tmp_path / "data").exists(), "it changes nothing"

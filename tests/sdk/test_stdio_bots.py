"""The sample bots that speak JSON lines: of any language, in forty lines, for every game.

A bot is skipped where its compiler or interpreter is not installed.
"""

import functools
import subprocess
from pathlib import Path

import pytest

import cardarena
from arena.games.catalogue import GAMES
from cardarena import _json_lines, local
from tests.programs import is_missing, reason

FOLDER = Path(__file__).resolve().parents[2] / "sample_bots" / "stdio"
PATIENCE_S = 300
ASKS = 12
"""Asks of each game that a bot is given."""

# fmt: off
BOTS = [
    # file         needs                built by                                                      run by
    ("random.sh",  (),                  (),                                                           ("{source}",)),
    ("random.c",   ("cc",),             ("cc", "-Wall", "-Wextra", "-Werror", "-o", "random", "{source}"), ("./random",)),
    ("random.lua", ("lua5.4",),         (),                                                           ("lua5.4", "{source}")),
    ("random.rb",  ("ruby",),           (),                                                           ("ruby", "{source}")),
    ("random.cs",  ("mcs", "mono"),     ("mcs", "-out:random.exe", "{source}"),                       ("mono", "random.exe")),
    ("random.kt",  ("kotlinc", "java"), ("kotlinc", "{source}", "-include-runtime", "-d", "random.jar"), ("java", "-jar", "random.jar")),
]
# fmt: on
EACH_BOT = pytest.mark.parametrize(
    ("file", "needed", "build", "run"), BOTS, ids=[row[0] for row in BOTS]
)


@functools.cache
def asked():
    """Real asks of every game, as lines, and of each its id and the number of its moves."""
    lines, expected = [], []

    class Recorder(cardarena.Bot):
        auto = False
        want_text = True
        count = 0

        def move(self, ask):
            self.count += 1
            if self.count <= ASKS:
                # Asks of a match in this process are numbered from 1 in each match.
                ask.message.ask_id = len(expected) + 2**40
                expected.append((ask.message.ask_id, len(ask.moves)))
                lines.append(_json_lines.ask_line(ask))
            return 0

    for game in GAMES:
        seats = game.seats[0]
        local.play(game.id, [Recorder] * seats, seed=7, options={"hands": seats})
    return b"".join(lines), expected


@EACH_BOT
def test_every_file_is_tried_and_has_forty_lines(file, needed, build, run):
    assert {row[0] for row in BOTS} == {path.name for path in FOLDER.iterdir()}
    assert len((FOLDER / file).read_text("utf-8").splitlines()) <= 40


@pytest.mark.slow
@EACH_BOT
def test_a_bot_answers_every_ask_of_every_game(file, needed, build, run, tmp_path):
    for program in needed:
        if is_missing(program):
            pytest.skip(reason(program))

    def called(words, lines=b""):
        command = [word.format(source=FOLDER / file) for word in words]
        done = subprocess.run(
            command, cwd=tmp_path, input=lines, capture_output=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    if build:
        called(build)
    lines, expected = asked()
    answers = [_json_lines.answer_of(line) for line in called(run, lines).splitlines()]
    assert [answer.ask_id for answer in answers] == [ask_id for ask_id, _ in expected]
    assert all(answer.WhichOneof("choice") == "index" for answer in answers)
    past = [
        answer
        for answer, (_, moves) in zip(answers, expected, strict=True)
        if answer.index >= moves
    ]
    assert not past
    assert len({answer.index for answer in answers}) > 1, "it does not play the first move alone"

"""Competitions are killed in the midst, and end in the tables of a twin that was not."""

import json

import pytest

from tests.cli.killed_competitions import MOST_SPOILT, PLANS, main, twins


def table(score=1.0, faults=(), forfeited=0.0):
    row = {"bot": "ann", "score": score, "faults": dict.fromkeys(faults, 1), "forfeited": forfeited}
    return json.dumps({"games": [{"rows": [row]}]}).encode()


# fmt: off
TRIALS = [
    # alone                       killed            code   what is said                        why
    (table(),                     table(),          0,     "6 kills counted, 0 tables differ", "the same table each time"),
    (table(),                     table(2.0),       1,     "ANOTHER TABLE",                    "a table that differs is told"),
    (table(faults=["timeout"]),   table(2.0),       1,     "TOO FEW: 6 kills were asked for",  "where all are spoilt nothing was shown"),
    (table(faults=["timeout"]),   table(),          1,     "SPOILT",                           "a spoilt one that agrees shows nothing either"),
    (table(forfeited=0.5),             table(forfeited=0.5),  1,     "SPOILT",                           "a bot that never came spoils it as well"),
    (table(),                     table(forfeited=0.5),  1,     "ANOTHER TABLE",                    "a kill must cost no bot its seat"),
]
# fmt: on


@pytest.mark.parametrize(
    ("alone", "killed", "code", "said", "why"), TRIALS, ids=[row[4] for row in TRIALS]
)
def test_what_trials_come_to(alone, killed, code, said, why, capsys):
    def trial(kind, kills, seed, folder, told, processes):
        told("kill 1")
        return alone, killed, kills

    assert main(["--kills", "6", "--only", "swiss"], trial) == code
    told = capsys.readouterr()
    assert said in told.out
    assert "seed 1 swiss: kill 1" in told.err


def test_spoilt_trials_are_played_again(capsys):
    looks = iter([table(faults=["timeout"]), table(), table(faults=["gone"]), table()])

    def trial(kind, kills, seed, folder, told, processes):
        return next(looks), table(), kills

    assert main(["--kills", "6", "--only", "ladder"], trial) == 0
    told = capsys.readouterr().out
    assert "seed 4 ladder: 3 kills, the same table (6 of 6 after" in told
    assert "6 kills more were in trials that a busy machine spoilt" in told
    assert MOST_SPOILT > 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({*PLANS} - {"ladder"}))
def test_a_competition_that_was_killed_has_the_table_of_its_twin(kind, tmp_path):
    """A ladder: below, with workers. More kills of all: python -m tests.cli.killed_competitions."""
    alone, killed, times = twins(kind, 2, 7, tmp_path)
    assert times >= 2
    assert alone == killed


@pytest.mark.slow
def test_nor_does_it_matter_who_plays_it_and_which_of_them_is_killed(tmp_path):
    alone, killed, times = twins("ladder", 3, 11, tmp_path, workers=3)
    assert times >= 3
    assert alone == killed

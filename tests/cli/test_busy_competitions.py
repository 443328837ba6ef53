"""The trial on a busy machine fails if standings blame a bot."""

import pytest

from tests.cli.busy_competitions import main

FINE = {"bot": "ann", "matches": 4, "faults": {}, "forfeited": 0.0}

# fmt: off
ROWS = [
    # row                                          exits with   why
    (FINE,                                         0,           "no bot is blamed"),
    (FINE | {"faults": {"late": 1}},               1,           "a fault"),
    (FINE | {"forfeited": 0.25},                   1,           "a forfeited seat"),
]
# fmt: on


@pytest.mark.parametrize(("row", "code", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_a_bot_that_is_blamed_fails_the_trial(row, code, why):
    assert main(["--processes", "0", "--only", "swiss"], lambda *_: [row]) == code


def test_a_trial_that_played_too_little_counts_for_nothing():
    with pytest.raises(AssertionError, match="played too little to be ranked"):
        main(["--processes", "0", "--only", "ladder"], lambda *_: [FINE | {"forfeited": None}])

"""Options that several commands share."""

import click
import pytest
from click.testing import CliRunner

from arena.cli.options import terms_options

# fmt: off
TIMES = [
    # arguments                            move, bank, increment in ms  why
    ([],                                   (10_000, 60_000, 0),         "the standard class"),
    (["--time", "slow"],                   (120_000, 600_000, 0),       "another class"),
    (["--time", "slow", "--bank", "60"],   (120_000, 60_000, 0),        "another class but for its bank, even where that is the standard's"),
    (["--move", "2", "--increment", "1"],  (2_000, 60_000, 1_000),      "the standard class but for two times"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "times", "why"), TIMES, ids=[row[-1] for row in TIMES])
def test_times_are_those_of_the_class_unless_they_are_given(arguments, times, why):
    @click.command()
    @terms_options
    def command(chosen):
        control = chosen.time_control
        click.echo((control.move_ms, control.bank_ms, control.increment_ms))

    result = CliRunner().invoke(command, arguments)
    assert result.output.strip() == str(times)

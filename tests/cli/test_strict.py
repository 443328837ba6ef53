"""`--strict`: a code of its own where any bot had a fault."""

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.errors import exits
from tests.cli.test_play import HEAD, TAIL

FAULTY, SOUND = "return None if self.asked == 2 else 0", "pass"
COMMANDS = {
    "climb": ("climb", "--game", "abstrac", "--deal-sets", "1", "--in-process"),
    "compare": ("compare", "--game", "abstrac", "--each-other", "--deal-sets", "1", "--in-process"),
    "play": ("play", "abstrac", "--seed", "1"),
    "tournament": ("tournament", "abstrac", "--deal-sets", "1", "--seed", "1"),
}
# fmt: off
ROWS = [
    # line of the bot, options,                  its exit codes,                              why
    (FAULTY, ("--strict",),          {"climb": 5, "compare": 5, "play": 5, "tournament": 5}, "a bot had a fault"),
    (FAULTY, (),                     {"climb": 0, "compare": 4, "play": 3, "tournament": 0}, "a bot had a fault, and nothing was said"),
    (SOUND,  ("--strict",),          {"climb": 0, "compare": 4, "play": 0, "tournament": 0}, "no bot had a fault"),
    (FAULTY, ("--strict", "--json"), {"climb": 5, "compare": 5, "play": 5, "tournament": 5}, "the JSON is printed first"),
]
CASES = [(command, *row) for command in COMMANDS for row in ROWS]
# fmt: on


@pytest.mark.parametrize(
    ("command", "line", "options", "codes", "why"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (case[0] in ("play", "tournament")))
        for case in CASES
    ],
    ids=[f"{case[0]}: {case[-1]}" for case in CASES],
)
def test_a_fault_has_an_exit_code_of_its_own(command, line, options, codes, why, tmp_path):
    bots = []
    for name, own in (("mine", line), ("other", SOUND)):
        path = tmp_path / name / "bot.py"
        path.parent.mkdir()
        path.write_text(HEAD + f"        {own}" + TAIL)
        bots.append(str(path))
    seated = bots[:1] if command == "climb" else bots
    given = [*COMMANDS[command], *seated, *options, "--data", str(tmp_path / "data")]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == codes[command], done.output
    assert ("faults, with --strict: mine " in done.stderr) == (done.exit_code == exits.FAULTED)
    assert "--json" not in options or done.stdout.startswith("{")

"""How scripts/test --all runs its rounds, and how it ends: with a program in the place of Python that fails on demand."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "test"
PYTHON = """#!/usr/bin/env bash
[[ $2 != tests.deep ]] || exit 0
echo "$*" >>ran
for round in computing waiting alone last-failed; do
    [[ $* != *"$round"* ]] || exit "$(cat "$round" 2>/dev/null || echo 0)"
done
"""

# fmt: off
ENDS = [
    # how rounds end                          code   run again   why
    ({},                                      0,     False,      "all tests pass"),
    ({"computing": 1},                        1,     False,      "what only computes fails again if it is run again"),
    ({"waiting": 1},                          0,     True,       "what fails beside others and passes alone has passed"),
    ({"alone": 1, "last-failed": 1},          1,     True,       "what fails again has failed"),
    ({"waiting": 3},                          1,     False,      "an error of pytest is not a neighbour's"),
    ({"computing": 5, "alone": 5},            0,     False,      "a round without tests"),
]
# fmt: on


@pytest.fixture
def checkout(tmp_path):
    for name, text in (("scripts/setup", "#!/usr/bin/env bash\n"), (".venv/bin/python", PYTHON)):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    (tmp_path / "scripts" / "test").symlink_to(SCRIPT)
    return tmp_path


@pytest.mark.parametrize(("ends", "code", "again", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_all_rounds_run_and_end_as_they_should(checkout, ends, code, again, why):
    for name, status in ends.items():
        (checkout / name).write_text(str(status))
    done = subprocess.run(
        ["bash", "scripts/test", "--all"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    ran = (checkout / "ran").read_text()
    assert [name in ran for name in ("computing", "waiting", "alone")] == [True] * 3
    assert ("last-failed" in ran) == again

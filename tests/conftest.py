"""Settings of all tests."""

from collections import Counter

import pytest
from hypothesis import settings

# Neither the machine's speed nor chance decides whether a test passes.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

LEFT_OUT = pytest.StashKey[Counter]()
"""How many slow tests of each file were left out."""


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config, items):
    """Leave the slow tests out of a run of everything; what is named is run whole."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    chosen = config.getoption("keyword") or config.getoption("markexpr")
    if named or chosen or config.getoption("all"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.stash[LEFT_OUT] = Counter(item.location[0] for item in slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)


def pytest_terminal_summary(terminalreporter, config):
    """Say what was left out, and how to run it."""
    left_out = config.stash.get(LEFT_OUT, None)
    if not left_out:
        return
    terminalreporter.section("left out")
    for path, count in sorted(left_out.items()):
        terminalreporter.write_line(f"{count:4d} slow in {path}")
    terminalreporter.write_line(
        f"{left_out.total()} slow tests were left out. All of them: scripts/test --all; "
        "those of one file: scripts/test FILE."
    )

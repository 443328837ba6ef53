"""A plugin of pytest that writes down how each test failed, and stops at the first assertion.

An import that fails, or a call that a fault breaks in the middle, shows only that the code was
run. What counts is a test that says what should have been.
"""

import json
import os
from pathlib import Path

import pytest

REPORT = "WITNESS_REPORT"
"""The environment variable that names the file."""
ASSERTION, ERROR, PASSED = "assertion", "error", "passed"


def said_so(error):
    """Whether it is a test's own word that something is not as it should be."""
    if isinstance(error, BaseExceptionGroup):
        return any(said_so(each) for each in error.exceptions)
    return isinstance(error, AssertionError | pytest.fail.Exception)


def write(**line):
    with Path(os.environ[REPORT]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and call.excinfo is not None:
        error = call.excinfo.value
        how = ASSERTION if said_so(error) else ERROR
        lines = str(error).strip().splitlines() or [""]
        write(how=how, test=item.nodeid, what=f"{type(error).__name__}: {lines[0][:160]}")
        if how == ASSERTION:
            item.session.shouldstop = "a test has noticed"
    elif call.when == "call" and report.passed:
        write(how=PASSED, test=item.nodeid, s=round(call.duration, 2))
    return report


def pytest_collectreport(report):
    if report.failed:
        write(how=ERROR, test=report.nodeid, what="cannot be collected")

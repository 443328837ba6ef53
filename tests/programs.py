"""Programs that some tests run: which are missing, and what skips the tests that need them."""

import os
import shutil
from pathlib import Path

import pytest

PACKAGES = {
    "bubblewrap": "bubblewrap",
    "cargo": "cargo",
    "cc": "gcc libc6-dev",
    "chromium": "chromium",
    "cmake": "cmake g++ pkg-config libgrpc++-dev protobuf-compiler-grpc libssl-dev doctest-dev",
    "go": "golang-go",
    "java": "default-jre-headless",
    "kotlinc": "kotlin",
    "lua5.4": "lua5.4",
    "mcs": "mono-mcs",
    "mono": "mono-runtime",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "podman": "podman runc",
    "prometheus": "prometheus prometheus-alertmanager",
    "postgresql": "postgresql",
    "promtool": "prometheus",
    "ruby": "ruby",
    "systemd-analyze": "systemd",
    "valgrind": "valgrind",
}
"""Of each program the package of Debian and Ubuntu that has it."""
_COMMANDS = {"bubblewrap": "bwrap"}
_PREFIX = "needs "


def is_missing(program):
    """Whether a program of `PACKAGES` is not installed."""
    if program == "postgresql":
        return shutil.which("initdb") is None and not [*server_programs()]
    return shutil.which(_COMMANDS.get(program, program)) is None


def server_programs():
    """The folders of PostgreSQL's servers, which Debian keeps out of PATH."""
    return (each.parent for each in Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def reason(program):
    """Why a test is skipped that needs this program."""
    return f"{_PREFIX}{program}: apt-get install {PACKAGES[program]}"


def needs(program):
    """The mark of tests that run a program: it skips them where that is missing, except in CI."""
    return pytest.mark.skipif(
        is_missing(program) and not os.environ.get("CI"), reason=reason(program)
    )


def require(program):
    """Skip the test, or all tests of a fixture, where a program is missing; in CI they fail."""
    if is_missing(program):
        if os.environ.get("CI"):
            pytest.fail(f"{reason(program)}; continuous integration must run this test")
        pytest.skip(reason(program))


def missing_program(reason):
    """The program for want of which a test was skipped, or None if it was for another reason."""
    program = reason.removeprefix(_PREFIX).partition(":")[0]
    return program if reason.startswith(_PREFIX) and program in PACKAGES else None


def counted(reasons):
    """One line on skipped tests, given the reason of each."""
    missing, others = {}, 0
    for reason in reasons:
        program = missing_program(reason)
        if program is None:
            others += 1
        else:
            missing[program] = missing.get(program, 0) + 1
    parts = [
        f"{program} {count} (apt-get install {PACKAGES[program]})"
        for program, count in sorted(missing.items(), key=lambda item: (-item[1], item[0]))
    ]
    if others:
        parts.append(f"other reasons {others} (listed by -rs)")
    total = sum(missing.values()) + others
    return f"{total} test{'s' if total != 1 else ''} skipped: {', '.join(parts)}"

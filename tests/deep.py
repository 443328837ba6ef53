"""Deep tests plant faults, remove defences, kill many times, build twice or simulate; each group guards some files.

`scripts/test --deep` runs all of them, `scripts/test --all` those that guard a file that changed.
"""

import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import click

CHECKOUT = Path(__file__).resolve().parents[1]
COMMITS = 20
"""How many commits are looked at where there is no tag."""

_KIT = (
    "arena/testing/conformance/*",
    "clients/conformance/*",
    "proto/cardarena/games/*",
    "proto/cardarena/v1/game.proto",
    "proto/cardarena/v1/play.proto",
    "scripts/generate_*",
    "tests/sdk/kit.py",
    "tests/sdk/languages.py",
    "tests/sdk/planted.py",
    "tests/sdk/test_exit.py",
    "tests/sdk/test_gathering.py",
    "tests/sdk/test_languages.py",
    "tests/sdk/test_sdk_cuts.py",
    "tests/sdk/test_sdk_games.py",
)
_PLAY = (
    "arena/live/arena.py",
    "arena/live/host.py",
    "arena/live/matches/*",
    "arena/live/session/*",
    "tests/chaos/*",
)

GUARDED = {
    "the SDK for Python": (
        "clients/python/*",
        "tests/sdk/test_types.py",
        "tests/sdk/test_ways.py",
        "tests/testing/conformance/*",
        *_KIT,
    ),
    "the SDK for Go": ("clients/go/*", "sample_bots/go/*", *_KIT),
    "the SDK for Rust": ("clients/rust/*", "sample_bots/rust/*", *_KIT),
    "the SDK for TypeScript": ("clients/typescript/*", "sample_bots/typescript/*", *_KIT),
    "the SDK for Java": ("clients/java/*", "sample_bots/java/*", *_KIT),
    "the SDK for C++": ("clients/cpp/*", "sample_bots/cpp/*", *_KIT),
    "chaos": (
        "arena/app/*",
        "arena/durable_files.py",
        "arena/records/journal/*",
        "arena/store/*",
        "tests/live/test_streams_go_on.py",
        *_PLAY,
    ),
    "defences": ("arena/*", "tests/defences/*"),
    "packages": (
        "clients/cpp/CMakeLists.txt",
        "clients/go/go.mod",
        "clients/java/pom.xml",
        "clients/python/*",
        "clients/rust/Cargo.toml",
        "clients/typescript/package.json",
        "pyproject.toml",
        "scripts/release*",
        "scripts/setup",
        "tests/test_install.py",
        "tests/test_release.py",
    ),
    "each game": (
        "arena/games/*",
        "arena/house/*",
        "arena/local/*",
        "arena/pictures/*",
        "clients/python/*",
        "proto/cardarena/games/*",
        "tests/rows.py",
    ),
    "rules": (
        "arena/games/*",
        "arena/local/turns.py",
        "arena/referee/wire/*",
        "arena/testing/deals.py",
        "proto/cardarena/games/*",
        "requirements/dev.lock",
        "tests/games/*",
        "tests/referee/wire/*",
        "tests/rows.py",
        "tests/walks.py",
    ),
    "vectors": (
        "tests/test_vector_adapters.py",
        "tests/vector_adapters/*",
        "tests/vectors/*",
    ),
    "pictures": ("arena/games/*", "arena/pictures/*", "tests/pictures/*"),
    "sample bots": (
        "arena/games/*",
        "clients/python/*",
        "sample_bots/*.py",
        "tests/test_sample_bots.py",
    ),
    "shuffles": ("arena/referee/deal/*", "tests/referee/deal/*"),
    "new games": (
        "arena/games/catalogue.py",
        "arena/games/contract.py",
        "arena/games/notation.py",
        "arena/games/options.py",
        "scripts/generate_*",
        "scripts/new_game.py",
        "tests/newgame/*",
        "tests/vector_adapters/*",
    ),
    "cost gate": (
        "bench/__main__.py",
        "bench/callgrind_marks.c",
        "bench/cost.py",
        "tests/planted_cost.py",
        "tests/test_cost_gate.py",
    ),
    "spawner": ("arena/sandbox/*", "requirements/run.lock", "tests/sandbox/test_process.py"),
    "tools for tests": ("tests/defences/*.py", "tests/mutation/*"),
    "choice of tests": (
        "tests/conftest.py",
        "tests/deep.py",
        "tests/test_house.py",
    ),
    "scaffolds": (
        "arena/cli/new.py",
        "arena/cli/templates/*",
        "clients/*",
        "tests/cli/test_new.py",
    ),
    "backups": (
        "arena/app/backup*",
        "arena/bots/blobs.py",
        "arena/records/journal/*",
        "arena/store/*",
        "tests/cli/test_backup.py",
    ),
    "statistics": (
        "arena/contests/*",
        "arena/results/*",
        "tests/contests/test_pairing.py",
        "tests/results/*",
    ),
    "engines": (
        "arena/app/comparison_tasks.py",
        "arena/app/placement/*",
        "arena/contests/workers/*",
        "arena/local/*",
        "deploy/slurm/*",
        "requirements/engines.lock",
        "tests/app/placement/*",
        "tests/local/*",
    ),
    "tuning": (
        "arena/app/tuning.py",
        "arena/results/tuning.py",
        "tests/app/test_tuning.py",
    ),
    "research": (
        "arena/envs/*",
        "arena/games/*",
        "arena/local/turns.py",
        "requirements/research.lock",
        "tests/envs/*",
    ),
    "house": (
        "arena/games/eleusis/*",
        "arena/house/policies/eleusis.py",
        "tests/house/test_eleusis.py",
    ),
    "whole matches": (
        "arena/pictures/*",
        "arena/web/play/*",
        "arena/web/static/play.js",
        "arena/web/templates/play*",
        "tests/web/test_seat_browser.py",
    ),
    "bench": ("arena/live/*", "arena/referee/*", "bench/*"),
    "attacks": (
        "arena/api/admission/*",
        "arena/api/play.py",
        "arena/api/transport.py",
        "arena/live/limits.py",
        "arena/live/self_probe.py",
        "tests/attack/*",
        *_PLAY,
    ),
}
"""What a group guards: `*` is any part of a path. A test is of a group by its mark, `pytest.mark.deep(GROUP)`."""

UNKNOWN = """\
test: deep tests are left out: git knows no commit before this one here, so what changed is unknown; \
scripts/test --deep runs all of them"""


def group_of(item):
    """The group of a deep test, or None of another."""
    mark = item.get_closest_marker("deep")
    return mark and mark.args[0]


def git(checkout, *arguments):
    """What git prints, or nothing where it fails."""
    command = ["git", "-C", checkout, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def start_of(checkout):
    """The commit that changes are counted from, as git calls it; None if no earlier commit can be read."""
    # A commit with a tag is compared with the tag before it. The tag is an ancestor, and so the merge base.
    if tag := git(checkout, "describe", "--tags", "--abbrev=0", "HEAD^"):
        return tag
    commits = git(checkout, "rev-list", "--first-parent", f"--max-count={COMMITS + 1}", "HEAD")
    earlier = len(commits.split()) - 1
    return f"HEAD~{earlier}" if earlier > 0 else None


def changed_since(checkout, start):
    """The files that differ between a commit and the work tree, a renamed file by both names."""
    return git(checkout, "diff", "--name-only", "--no-renames", "-z", start).split("\0")[:-1]


def chosen(changed):
    """The groups that guard a changed file, each with the first such file."""
    reasons = {}
    for group, globs in GUARDED.items():
        guarded = [file for file in changed if any(fnmatchcase(file, glob) for glob in globs)]
        if guarded:
            reasons[group] = guarded[0]
    return reasons


def main():
    """Print the groups that are to run, one a line, and on standard error why these."""
    start = start_of(CHECKOUT)
    if start is None:
        click.echo(UNKNOWN, err=True)
        return
    reasons = chosen(changed_since(CHECKOUT, start))
    for group, file in reasons.items():
        click.echo(group)
        click.echo(f"test: deep tests of {group} run, as {file} changed since {start}", err=True)
    left_out = ", ".join(group for group in GUARDED if group not in reasons)
    if left_out:
        click.echo(f"test: no file that these guard changed since {start}: {left_out}", err=True)


if __name__ == "__main__":
    main()

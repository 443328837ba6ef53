"""Writes requirements/*.lock with uv: see scripts/lock."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"

# The sets of scripts/setup as extras of cardarena-engine: run is in dev, and dev in the two others.
RUN = ["server", "web"]
DEV = [*RUN, "previews", "sign-in", "test", "dev"]
SETS = {
    "run": RUN,
    "dev": DEV,
    "engines": [*DEV, "dask", "ray", "kubernetes", "mcp"],
    "research": [*DEV, "research", "examples"],
}

HEADER = "# Written by scripts/lock: do not edit. `scripts/setup {name}` installs it.\n"


def wanted(extras: list[str]) -> str:
    """Return the requirements of both distributions: to build, to run, and of `extras`."""
    engine, sdk = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))
        for folder in (".", "clients/python")
    )
    lines = {*engine["build-system"]["requires"], *sdk["build-system"]["requires"]}
    lines |= {*engine["project"]["dependencies"], *sdk["project"]["dependencies"]}
    for extra in extras:
        lines |= {*engine["project"]["optional-dependencies"][extra]}
    # The two distributions are installed from this checkout.
    return "\n".join(sorted(line for line in lines if not re.match(r"cardarena\b", line))) + "\n"


def compile_lock(uv: str, name: str, *options: str) -> None:
    out = REQUIREMENTS / f"{name}.lock"
    subprocess.run(
        [
            *(uv, "pip", "compile", "-", "--quiet", "--no-config", "--universal"),
            *("--python-version", "3.11", "--generate-hashes"),
            *("--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
            *("--fork-strategy", "fewest"),  # one version for all Pythons, if possible
            *("--constraint", str(REQUIREMENTS / "constraints.txt")),
            *("--output-file", str(out), *options),
        ],
        input=wanted(SETS[name]),
        text=True,
        check=True,
        cwd=ROOT,
        # Other machines may not have the indexes of this one.
        env={
            key: value for key, value in os.environ.items() if not key.startswith(("UV_", "PIP_"))
        },
    )
    out.write_text(HEADER.format(name=name) + out.read_text("utf-8"), encoding="utf-8")


def main() -> None:
    uv, *options = sys.argv[1:]
    # A large set first: the others choose from its versions, so that all agree.
    compile_lock(uv, "engines", *options)
    for larger, name in (("engines", "research"), ("engines", "dev"), ("dev", "run")):
        (REQUIREMENTS / f"{name}.lock").unlink(missing_ok=True)
        compile_lock(uv, name, "--constraint", str(REQUIREMENTS / f"{larger}.lock"))


if __name__ == "__main__":
    main()

"""Writes requirements/*.lock with uv: see scripts/lock."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"

# The sets of scripts/setup, each holding the one before, as extras of cardarena-engine.
SETS = {"run": ["server", "web"], "dev": ["server", "web", "test", "dev"]}
SETS["bench"] = [*SETS["dev"], "bench"]

HEADER = "# Written by scripts/lock: do not edit. `scripts/setup {name}` installs it.\n"


def wanted(extras: list[str]) -> str:
    """Lists what both distributions need: to build, to run, and for `extras`."""
    engine, sdk = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))
        for folder in (".", "clients/python")
    )
    lines = {*engine["build-system"]["requires"], *sdk["build-system"]["requires"]}
    lines |= {*engine["project"]["dependencies"], *sdk["project"]["dependencies"]}
    for extra in extras:
        lines |= {*engine["project"]["optional-dependencies"][extra]}
    # The two distributions themselves are installed from this checkout.
    return "\n".join(sorted(line for line in lines if not re.match(r"cardarena\b", line))) + "\n"


def compile_lock(uv: str, name: str, *options: str) -> None:
    out = REQUIREMENTS / f"{name}.lock"
    subprocess.run(
        [
            *(uv, "pip", "compile", "-", "--quiet", "--no-config", "--universal"),
            *("--python-version", "3.11", "--generate-hashes"),
            *("--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
            *("--fork-strategy", "fewest"),  # one version for every Python, where one serves
            *("--constraint", str(REQUIREMENTS / "constraints.txt")),
            *("--output-file", str(out), *options),
        ],
        input=wanted(SETS[name]),
        text=True,
        check=True,
        cwd=ROOT,
        # This machine's own indexes would give hashes that nobody else can find.
        env={
            key: value for key, value in os.environ.items() if not key.startswith(("UV_", "PIP_"))
        },
    )
    out.write_text(HEADER.format(name=name) + out.read_text("utf-8"), encoding="utf-8")


def main() -> None:
    uv, *options = sys.argv[1:]
    # The largest set first; the others may only choose from its versions, so no two sets disagree.
    compile_lock(uv, "bench", *options)
    for name in ("dev", "run"):
        (REQUIREMENTS / f"{name}.lock").unlink(missing_ok=True)
        compile_lock(uv, name, "--constraint", str(REQUIREMENTS / "bench.lock"))


if __name__ == "__main__":
    main()

"""Runs every generator: see scripts/proto.

    generate_all.py [--python]

With --python, only what Python's tools can write is written.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATORS = (
    # program                  writes to            needs
    ("generate_protos.py", "proto", None),
    ("generate_stubs.py", "clients/python", None),
    ("generate_python.py", "clients/python", None),
    ("generate_lists.py", ".", None),
    ("reference_pages.py", "docs", None),
    ("generate_java.py", "clients/java", None),  # its build generates the messages
    ("generate_cpp.py", "clients/cpp", None),  # its build generates the messages
    ("generate_go.py", "clients/go", "go"),
    ("generate_rust.py", "clients/rust/src", "cargo"),
    ("generate_typescript.py", "clients/typescript", "npm"),
)


def python(*arguments: str) -> None:
    """Run a Python program of this checkout; its output goes to stderr."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "clients" / "python")))
    environment = {**os.environ, "PYTHONPATH": path}
    subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, check=True, env=environment, stdout=sys.stderr
    )


def generate_all(*, only_python: bool) -> None:
    """Run all generators."""
    for program, target, tool in GENERATORS:
        if tool is None or (not only_python and shutil.which(tool)):
            python(f"scripts/{program}", target)
        else:
            why = "as was asked" if only_python else f"{tool} is missing"
            print(f"left out: {target} was not written, {why}", file=sys.stderr)


if __name__ == "__main__":
    try:
        generate_all(only_python="--python" in sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)

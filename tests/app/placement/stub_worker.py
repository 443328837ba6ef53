"""Stands in for `arena worker`: notes its start and its end in a folder, and runs until it is drained."""

import os
import sys
from pathlib import Path


def main():
    """Note the start, wait for the end of standard input, and note it."""
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    folder = Path(options["--server"])
    token = Path(options["--token-file"])
    assert token.stat().st_mode & 0o077 == 0, "others can read the token"
    started = folder / f"started-{os.getpid()}"
    started.write_text(f"{token.read_text()} {sys.argv[-1]}")
    sys.stdout.write("it plays\n")
    sys.stdout.flush()
    sys.stdin.read()
    (folder / f"drained-{os.getpid()}").touch()


if __name__ == "__main__":
    main()

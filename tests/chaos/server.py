"""The `arena` command as a person would start it, tied to the process that tests it.

    python -m tests.chaos.server serve --data FOLDER --port PORT

With FAILING_DISK set to `FOLDER NTH DEED`, writes into that folder fail.
"""

import os
import sys

from arena.cli import main
from tests.chaos.failing_disk import FailingDisk
from tests.chaos.processes import FAILING_DISK, die_with_parent

if __name__ == "__main__":
    die_with_parent()
    if FAILING_DISK in os.environ:
        folder, nth, deed = os.environ.pop(FAILING_DISK).rsplit(" ", 2)
        FailingDisk(folder, int(nth), deed).install()
    main(sys.argv[1:], prog_name="arena")

"""The `arena` command as a person would start it, tied to the process that tests it.

python -m tests.chaos.server serve --data FOLDER --port PORT
"""

import sys

from arena.cli import main
from tests.chaos.processes import die_with_parent

if __name__ == "__main__":
    die_with_parent()
    main(sys.argv[1:], prog_name="arena")

"""The process in which an arena qualifies one archive.

    python -m arena.qualification ARCHIVE WORK REPORT AGAIN SEED DATA RUNTIME

WORK is a folder that does not exist yet. REPORT is the file of the report, in JSON, which is written
atomically. DATA has the runtimes and installed wheels; RUNTIME is the hash of the bot's runtime, or
empty. The process exits with an error if there is no sandbox, or if the sandbox's spawner ends. It has
a low priority, so that it does not delay matches in play.
"""

import json
import os
import sys
from pathlib import Path

from arena.qualification.run import QualificationRequest, Shelves, qualify
from arena.sandbox import NO_SPAWNER, BadCommand, NoSandbox, SandboxDemand, raise_sandbox
from arena.server.submissions.installed_wheels import INSTALLED

NICENESS = 10


def main() -> None:
    """Qualify, and write the report."""
    archive, work, target, again, seed, data, runtime_sha256 = sys.argv[1:]
    os.nice(NICENESS)
    try:
        sandbox = raise_sandbox(SandboxDemand.REQUIRE, data=Path(work).absolute() / "data")
    except NoSandbox as error:
        sys.exit(str(error))
    assert sandbox is not None
    shelves = Shelves(Path(data), runtime_sha256, Path(data) / INSTALLED)
    wanted = QualificationRequest(again=again, seed=seed)
    try:
        with sandbox:
            report = qualify(Path(archive), Path(work), wanted, sandbox=sandbox, shelves=shelves)
            if sandbox.has_ended:
                sys.exit(NO_SPAWNER)  # the bot is not charged for what failed then
    except BadCommand as error:
        sys.exit(str(error))
    partial = Path(f"{target}.partial")
    partial.write_text(json.dumps(report.as_json()), "utf-8")
    partial.replace(target)


if __name__ == "__main__":
    main()

"""Qualifies one archive in a process of its own, as an arena does: `python -m arena.qualification`.

    python -m arena.qualification ARCHIVE WORK REPORT AGAIN SEED DATA RUNTIME

WORK is a folder that is not there yet; REPORT is written whole, as JSON. DATA has the runtimes, of which
RUNTIME is the hash of the bot's, or empty; and what is installed of its wheels. The bot is jailed, or not
started at all. The process gives way to matches in play.
"""

import json
import os
import sys
from pathlib import Path

from arena.jail import BadCommand, Demand, NoWall, raise_wall
from arena.qualification.run import Shelves, Wanted, qualify
from arena.server.submissions.installed import INSTALLED

NICENESS = 10


def main() -> None:
    """Qualify, and write the report."""
    archive, work, target, again, seed, data, runtime_sha256 = sys.argv[1:]
    os.nice(NICENESS)
    try:
        wall = raise_wall(Demand.REQUIRE, data=Path(work).absolute() / "data")
    except NoWall as error:
        sys.exit(str(error))
    assert wall is not None
    shelves = Shelves(Path(data), runtime_sha256, Path(data) / INSTALLED)
    wanted = Wanted(again=again, seed=seed)
    try:
        with wall:
            report = qualify(Path(archive), Path(work), wanted, wall=wall, shelves=shelves)
    except BadCommand as error:
        sys.exit(str(error))
    partial = Path(f"{target}.partial")
    partial.write_text(json.dumps(report.as_json()), "utf-8")
    partial.replace(target)


if __name__ == "__main__":
    main()

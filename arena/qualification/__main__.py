"""Qualifies one archive in a process of its own, as an arena does: `python -m arena.qualification`.

    python -m arena.qualification ARCHIVE WORK REPORT AGAIN SEED

WORK is a folder that is not there yet; REPORT is written whole, as JSON. The bot is jailed, or not
started at all. The process gives way to matches in play.
"""

import json
import os
import sys
from pathlib import Path

from arena.jail import Demand, NoWall, raise_wall
from arena.qualification.run import Wanted, qualify

NICENESS = 10


def main() -> None:
    """Qualify, and write the report."""
    archive, work, target, again, seed = sys.argv[1:]
    os.nice(NICENESS)
    try:
        wall = raise_wall(Demand.REQUIRE, data=Path(work).absolute() / "data")
    except NoWall as error:
        sys.exit(str(error))
    assert wall is not None
    with wall:
        report = qualify(Path(archive), Path(work), Wanted(again=again, seed=seed), wall=wall)
    partial = Path(f"{target}.partial")
    partial.write_text(json.dumps(report.as_json()), "utf-8")
    partial.replace(target)


if __name__ == "__main__":
    main()

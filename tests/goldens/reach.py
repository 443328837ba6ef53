"""What the golden matches alone reach: `python -m tests.goldens.reach [GAME...]`.

For every file of the rules: the lines of its functions that ran, the branches
from one line to another that were taken both ways, and the lines that never ran.
"""

import dis
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from types import CodeType

from arena.games.catalogue import GAMES, game_by_id
from tests.goldens.choose import Branches, folders_of
from tests.goldens.matches import Played, plans

ROOT = Path(__file__).parents[2]
COMMON = ("catalogue.py", "contract.py", "notation.py", "options.py")
"""What all games share, and other tests hold."""


def functions_of(code):
    """The code of every function in a module's code, at any depth."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_flags & 1:  # CO_OPTIMIZED: a function, and no class's body
                yield const
            yield from functions_of(const)


def lines_of(code):
    first = code.co_firstlineno
    return {line for _, _, line in code.co_lines() if line is not None and line != first}


def branches_of(code):
    """Pairs of lines between which a condition of this function decides."""
    steps = list(dis.get_instructions(code))
    at_offset, line, lines = {step.offset: step for step in steps}, None, {}
    for step in steps:
        line = step.starts_line or line
        lines[step.offset] = line
    for step, following in pairwise(steps):
        if "JUMP" in step.opname and "IF" in step.opname:
            ends = {lines[following.offset], lines[at_offset[step.argval].offset]}
            if len(ends) == 2 and lines[step.offset] not in ends:
                yield from ((lines[step.offset], end) for end in ends)


def reached(games):
    taken = set()
    for game in games:
        with Branches(folders_of(game)) as branches:
            for plan in plans()[game.id]:
                for _ in Played(game, plan):
                    pass
        taken |= branches.taken
    return taken


def main():
    games = [game_by_id(name) for name in sys.argv[1:]] or GAMES
    ran, pairs = defaultdict(set), defaultdict(set)
    for path, before, line in reached(games):
        ran[path] |= {before, line}
        pairs[path].add((before, line))
    known = [path for path in sorted(ran) if Path(path).name not in COMMON]
    totals = [0, 0, 0, 0]
    for path in known:
        codes = list(functions_of(compile(Path(path).read_text("utf-8"), path, "exec")))
        lines = set().union(*map(lines_of, codes)) if codes else set()
        branches = {pair for code in codes for pair in branches_of(code)}
        row = (len(lines & ran[path]), len(lines), len(branches & pairs[path]), len(branches))
        totals = [before + more for before, more in zip(totals, row, strict=True)]
        missed = ", ".join(map(str, sorted(lines - ran[path])))
        print(
            f"{Path(path).relative_to(ROOT)}: {_said(row)}{'; never: ' + missed if missed else ''}"
        )
    print(f"all: {_said(totals)}")


def _said(row):
    return f"lines {row[0]} of {row[1]}, branches {row[2]} of {row[3]}"


if __name__ == "__main__":
    main()

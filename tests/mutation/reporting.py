"""What the mutation runs share: which faults are tried, how far they are, and the report."""

import json
import random
import time
from pathlib import Path


def sampled(found, count, seed):
    """So many of them in their order, always the same; all if there are no more."""
    if count is None or count >= len(found):
        return found
    chosen = random.Random(seed).sample(range(len(found)), count)
    return [found[at] for at in sorted(chosen)]


class Progress:
    """How many of some trials are done, and how long the others will take."""

    def __init__(self, of):
        self._of = of
        self._done = 0
        self._began_s = time.monotonic()

    def done(self):
        """Count one; says how far it is."""
        self._done += 1
        pace_s = (time.monotonic() - self._began_s) / self._done
        to_go_min = pace_s * (self._of - self._done) / 60
        return f"{pace_s:.1f} s each, {to_go_min:.0f} min to go"

    @property
    def at(self):
        return f"{self._done} of {self._of}"


def markdown(head, rule, rows):
    """The lines of a table; `rule` says of each column how it is set, as `---` or `---:`."""
    for cells in (head, None, *rows):
        yield f"|{'|'.join(rule)}|" if cells is None else f"| {' | '.join(map(str, cells))} |"


def write_json(report, where):
    """Write a report for programs to a file, or to standard output if that is `-`."""
    text = json.dumps(report, indent=2) + "\n"
    if where == "-":
        print(text, end="")
    else:
        Path(where).write_text(text, "utf-8")

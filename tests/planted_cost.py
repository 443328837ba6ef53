"""`bench.cost` with more to do at each ask: `PLANTED_TURNS` of a loop that does nothing."""

import os
import sys
from dataclasses import replace

from bench import cost

TURNS = int(os.environ.get("PLANTED_TURNS", "0"))


def slower(made):
    """What a case handles, with more to do each time."""

    def begin():
        build = made()

        def build_slowly():
            for _ in range(TURNS):
                pass
            return build()

        return build_slowly

    return begin


if __name__ == "__main__":
    cost.CASES = tuple(
        [
            replace(case, made=slower(case.made))
            for case in cost.CASES
            if isinstance(case, cost.AskCase)
        ]
    )
    cost.play(sys.argv[1], sys.argv[2])

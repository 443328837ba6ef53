"""`bench.cost` with more to do at each ask: `PLANTED_TURNS` of a loop that does nothing."""

import os
import sys

from bench import cost, encode

TURNS = int(os.environ.get("PLANTED_TURNS", "0"))
ask_60_moves = encode.ask_60_moves


def slower():
    build = ask_60_moves()

    def build_slowly():
        for _ in range(TURNS):
            pass
        return build()

    return build_slowly


if __name__ == "__main__":
    encode.ask_60_moves = slower
    cost.play(sys.argv[1], sys.argv[2])

"""A bot whose moves follow from what it sees, by a taste of its own: `any_move.py [TASTE]`."""

import hashlib
import sys

import cardarena


class AnyMove(cardarena.Bot):
    max_matches = 64

    def move(self, ask):
        seen = f"{sys.argv[-1]} {ask.view}"
        return ask.moves[int(hashlib.sha256(seen.encode()).hexdigest(), 16) % len(ask.moves)]


if __name__ == "__main__":
    cardarena.run(AnyMove, argv=[])

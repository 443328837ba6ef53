"""The arena's own bot: it fills the seats that nobody has, and plays any move.

What it plays follows from what it sees, so that the same boards against the same bots go the same way.
"""

import random

import cardarena


class House(cardarena.Bot):
    """Any of the moves offered, drawn from what it sees."""

    max_matches = 64

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        return random.Random(str(ask.view)).choice(ask.moves)


if __name__ == "__main__":
    cardarena.run(House)

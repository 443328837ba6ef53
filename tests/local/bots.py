"""Bots for tests of many deal-sets. Processes import them."""

import os
from pathlib import Path

import cardarena


class Drawing(cardarena.Bot):
    """Draws its moves from its dice."""

    def move(self, ask):
        return ask.random.choice(ask.moves)


class Counting(cardarena.Bot):
    """Plays by the number of its asks in all matches of the object, so that a copy that is used twice shows."""

    def __init__(self):
        self.asks = 0

    def move(self, ask):
        self.asks += 1
        return ask.moves[self.asks % len(ask.moves)]


class Dying(Drawing):
    """Ends its process as long as `times` files can be made in a folder."""

    def __init__(self, folder, times):
        self.folder, self.times = Path(folder), times

    def move(self, ask):
        for time in range(self.times):
            if not (self.folder / str(time)).exists():
                (self.folder / str(time)).touch()
                os._exit(1)
        return super().move(ask)


class Raising(cardarena.Bot):
    """Raises an error."""

    def move(self, ask):
        raise RuntimeError("no move")

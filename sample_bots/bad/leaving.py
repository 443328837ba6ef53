"""Exits in the middle of its third move."""

import os

import cardarena


class Leaving(cardarena.Bot):
    asked = 0

    def move(self, ask):
        self.asked += 1
        if self.asked == 3:
            os._exit(1)
        return ask.moves[0]


if __name__ == "__main__":
    cardarena.run(Leaving)

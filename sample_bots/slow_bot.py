"""Takes a second for each move, as a bot that asks another machine would, and thinks of 32 matches at once."""

import time

import cardarena


class SlowBot(cardarena.Bot):
    workers = 32
    max_matches = 64  # twice as many: their asks wait at the arena, where no clock runs
    auto = False

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        time.sleep(1)
        return ask.moves[0]


if __name__ == "__main__":
    cardarena.run(SlowBot)

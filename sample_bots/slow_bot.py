"""Takes a second for each move, like a bot that asks another machine, and decides 32 matches at once."""

import time

import cardarena


class SlowBot(cardarena.Bot):
    workers = 32
    max_matches = 64  # twice as many, because asks that wait at the arena use no time
    auto = False

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        time.sleep(1)
        return ask.moves[0]


if __name__ == "__main__":
    cardarena.run(SlowBot)

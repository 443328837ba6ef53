"""Plays every game by a random offered move."""

import cardarena


class RandomBot(cardarena.Bot):
    max_matches = max_open_asks = 64

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        return ask.random.choice(ask.moves)


if __name__ == "__main__":
    cardarena.run(RandomBot)

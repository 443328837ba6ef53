"""Plays every game by the first offered move. It is easy to beat."""

import cardarena


class FirstBot(cardarena.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        return ask.moves[0]


if __name__ == "__main__":
    cardarena.run(FirstBot)

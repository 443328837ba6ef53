"""Plays every game at random, with the same moves in the same match, for repeated checks."""

from random import Random

import cardarena


class RandomOpponent(cardarena.Bot):
    """Picks one of the offered moves, by a hash of match, seat and decision."""

    max_matches = max_open_asks = 64

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        lot = Random(f"{self.start.match_id}/{self.seat}/{ask.message.decision}")
        return lot.choice(ask.moves)


if __name__ == "__main__":
    cardarena.run(RandomOpponent)

"""Plays every game at random, and the same again at the same match: a qualification can be repeated."""

from random import Random

import cardarena


class RandomOpponent(cardarena.Bot):
    """Picks any of the offered moves; which one follows from match, seat and decision."""

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        """Pick one."""
        lot = Random(f"{self.start.match_id}/{self.seat}/{ask.message.decision}")
        return lot.choice(ask.moves)


if __name__ == "__main__":
    cardarena.run(RandomOpponent)

"""Plays every game by random moves, while eight threads of it compute without a pause."""

import hashlib
import threading

import cardarena

THREADS = 8
_BLOCK = bytes(1 << 22)


def _burn() -> None:
    while True:
        hashlib.sha256(_BLOCK)  # lets go of the interpreter, so that each thread takes a processor


class BurningBot(cardarena.Bot):
    max_matches = max_open_asks = 64

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        return ask.random.choice(ask.moves)


if __name__ == "__main__":
    for _ in range(THREADS):
        threading.Thread(target=_burn, daemon=True).start()
    cardarena.run(BurningBot)

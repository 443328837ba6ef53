"""The fixed bots of the conformance kit, as a client of the Python SDK.

`clients/conformance/README.md` says what they do, the same in every language.
"""

import argparse
import time

import cardarena
from cardarena.v1.game_pb2 import Ending

RAISES_AT = 999
"""An ask with a number that ends so finds the bot's mistake."""
PAD = "\N{PLAYING CARD ACE OF SPADES}"


def fixed_bot(sleep_s: float) -> type[cardarena.Bot]:
    """The bot that plays move `ask_id mod moves`, and thinks for so long."""

    class FixedBot(cardarena.Bot):
        auto = False
        version = "kit"
        asked = 0

        def started(self) -> None:
            print(f"started {self.start.match}", flush=True)

        def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
            self.asked += 1
            time.sleep(sleep_s)
            if ask.ask_id % 1000 == RAISES_AT:
                raise RuntimeError("the fixed bot's mistake")
            note = f"{self.asked}{PAD * (ask.ask_id // 1000)}"
            return cardarena.Noted(ask.ask_id % len(ask.moves), note)

        def ended(self, end: cardarena.End) -> None:
            how = "missed" if end.missed else Ending.Name(end.ending)
            print(f"ended {end.match} {how.removeprefix('ENDING_').lower()}", flush=True)

    return FixedBot


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sleep-ms", type=int, default=0)
    given, rest = parser.parse_known_args()
    cardarena.run(fixed_bot(given.sleep_ms / 1000), argv=rest)

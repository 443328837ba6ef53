"""The fixed bots of the conformance kit, as a client of the Python SDK.

`clients/conformance/README.md` says what they do, the same in every language.
"""

import argparse
import asyncio
import sys
import time

import cardarena
from cardarena.v1.game_pb2 import Ending

RAISES_AT = 999
"""An ask with a number that ends so finds the bot's mistake."""
SEED_AT = 998
"""At an ask with a number that ends so its note is the beginning of the decision's seed."""
PAD = "\N{PLAYING CARD ACE OF SPADES}"


def options() -> tuple[argparse.Namespace, list[str]]:
    """The kit's options, and the others."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sleep-ms", type=int, default=0)
    parser.add_argument("--way", choices=WAYS, default="plain")
    return parser.parse_known_args()


def say(line: str) -> None:
    """Print a line at once: matches end in several threads, and `print` writes the end of a line apart."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class FixedBot(cardarena.Bot):
    """The bot that plays move `ask_id mod moves`, and thinks for so long as it is told."""

    auto = False
    max_open_asks = 64  # the kit asks whatever it likes
    version = "kit"
    asked = 0
    sleep_s = 0.0

    @classmethod
    def load(cls) -> None:
        cls.sleep_s = options()[0].sleep_ms / 1000

    def started(self) -> None:
        say(f"started {self.start.match}")

    def choose(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        """The move by the number of the ask, or the mistake."""
        self.asked += 1
        if ask.ask_id % 1000 == RAISES_AT:
            raise RuntimeError("the fixed bot's mistake")
        note = f"{self.asked}{PAD * (ask.ask_id // 1000)}"
        if ask.ask_id % 1000 == SEED_AT:
            note = ask.seed[:4].hex()
        return cardarena.Noted(ask.ask_id % len(ask.moves), note)

    def ended(self, end: cardarena.End) -> None:
        how = "missed" if end.missed else Ending.Name(end.ending)
        say(f"ended {end.match} {how.removeprefix('ENDING_').lower()}")


class OnMainThread(FixedBot):
    """Thinks where `run` was called."""

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        time.sleep(self.sleep_s)
        return self.choose(ask)


class OnThreads(OnMainThread):
    """Thinks on threads."""

    workers = 4


class InProcesses(OnMainThread):
    """Thinks in processes."""

    processes = 2


class OnAsyncio(FixedBot):
    """Thinks on an event loop of asyncio."""

    async def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        await asyncio.sleep(self.sleep_s)
        return self.choose(ask)


class OnTrio(FixedBot):
    """Thinks on an event loop of trio."""

    event_loop = "trio"

    async def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        import trio

        await trio.sleep(self.sleep_s)
        return self.choose(ask)


WAYS: dict[str, type[FixedBot]] = {
    "plain": OnMainThread,
    "threads": OnThreads,
    "processes": InProcesses,
    "asyncio": OnAsyncio,
    "trio": OnTrio,
}
"""Ways of thinking, by the name of the option."""

if __name__ == "__main__":
    given, rest = options()
    cardarena.run(WAYS[given.way], argv=rest)

"""`python -m bench.sleeping`: how long the matches of a bot take that sleeps a second over each move.

`sample_bots/slow_bot.py` plays 64 matches on 32 threads against the bot of first moves, at an arena
as it is served. All matches have the same cards, so that no last one stands alone. The sleeps
divided by the threads are the goal; more than a tenth beyond it exits with 1.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import trio

import cardarena
from arena.server.admission.tokens import Tokens
from arena.server.app import ServerSettings, serve
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.terms import TimeControl
from arena.testing.orders import match_order
from cardarena import local

BOTS: Final = Path(__file__).resolve().parent.parent / "sample_bots"
GAME: Final = "abstrac"
OPTIONS: Final = {"hands": 2}
SEED: Final = "7"
MATCHES: Final = 64
WORKERS: Final = 32
SLEEP_S: Final = 1.0
MOST_BEYOND: Final = 0.1
CONTROL: Final = TimeControl(move_ms=2_000, bank_ms=0)
"""A second that an ask waits in the bot's own queue is a fault."""


def _moves() -> int:
    """The moves of one match that the slow bot makes, as the arena deals the cards."""
    asked = 0

    class First(cardarena.Bot):
        auto = False

        def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
            nonlocal asked
            asked += ask.seat == 0
            return 0

    local.play(GAME, [First, First], seed=SEED, options=OPTIONS)
    return asked


async def _measure(arena: Arena) -> None:
    names = [BotId("SlowBot"), BotId("FirstBot")]
    faults = 0

    async def play(number: int) -> None:
        nonlocal faults
        order = match_order(
            GAME, names, OPTIONS, seed=SEED, match_id=f"{number:016x}", time_control=CONTROL
        )
        outcome = await arena.matches.lease(order, order.deal_set)
        faults += sum(outcome.faults[0].values())

    environment = os.environ | {"CARDARENA_ADDRESS": arena.address, "CARDARENA_ONCE": "1"}
    bots = [
        await trio.lowlevel.open_process(
            [sys.executable, str(BOTS / f"{name}_bot.py")], env=environment
        )
        for name in ("slow", "first")
    ]
    try:
        await arena.sessions.arrived(names)
        began_s = time.monotonic()
        async with trio.open_nursery() as nursery:
            for number in range(MATCHES):
                nursery.start_soon(play, number)
        took_s = time.monotonic() - began_s
    finally:
        for bot in bots:
            bot.send_signal(signal.SIGTERM)
            await bot.wait()
    moves = MATCHES * _moves()
    goal_s = moves * SLEEP_S / WORKERS
    beyond = took_s / goal_s - 1
    print(
        f"{MATCHES} matches, {moves} moves of {SLEEP_S:g} s, {WORKERS} workers: {took_s:.1f} s; "
        f"the sleeps divide to {goal_s:.1f} s: {beyond:+.1%}; {faults} faults"
    )
    if faults or abs(beyond) > MOST_BEYOND:
        raise SystemExit(1)


def main() -> None:
    """Measure, and print it."""
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as data:
        serve(ServerSettings(Path(data)), Tokens(guests=True), _measure)


if __name__ == "__main__":
    main()

"""Matches of 100 hands beside a dealer in C that speaks the protocol of the Annual Computer Poker Competition, in one run.

The competition plays heads-up limit Texas hold'em: a dealer and two players by TCP, a match at a time. Its dealer is not
here; `bench/dealer.c` is one of our own. The nearest game of the arena is Soko with bets of one size: a limit game of four
rounds for two seats. All players check or call, so a hand of both has eight decisions. The dealer's players are programs
in C. The arena has its journal, results and replays, and bots as in `bench.wire`.

Run it as a program: `python -m bench.dealer --help`.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import click

from bench import arena_server, wire

SOURCE: Final = Path(__file__).with_suffix(".c")
DECISIONS: Final = 8
"""Of a hand in which all check and call: two in each of four rounds."""
LIMIT: Final[dict[str, object]] = {"min_bet": 10, "max_bet": 10, "start_stack": 1000}
"""Options of Soko with bets of one size and stacks for all of them."""


@click.command()
@click.option("--hands", multiple=True, default=(12, 100, 1000), show_default=True)
@click.option("--rounds", default=5, show_default=True, help="Rounds of each length.")
@click.option("--seconds", default=1.5, show_default=True, help="Duration of a round of one side.")
def main(hands: tuple[int, ...], rounds: int, seconds: float) -> None:
    """Print decisions a second of both, and the ratio, by the hands of a match."""
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        dealer = str(Path(folder) / "dealer")
        subprocess.run(["cc", "-O2", "-o", dealer, str(SOURCE)], check=True)
        click.echo(json.dumps([_compared(dealer, of, rounds, seconds) for of in hands], indent=2))


def _compared(dealer: str, hands: int, rounds: int, seconds: float) -> dict[str, Any]:
    options = LIMIT | {"hands": hands}
    job = arena_server.Job("soko", wire.STREAMS, 2, wire.MATCHES, options)
    ours, theirs = [], []
    with wire.arena_side(job, calls=True) as arena:
        arena.measure(seconds)
        for at in range(rounds):
            theirs.append(_dealt(dealer, hands, seconds, at))
            ours.append(arena.measure(seconds))
    ratios = [mine.per_s / per_s for mine, (per_s, _) in zip(ours, theirs, strict=True)]
    return {
        "hands": hands,
        "arena_per_s": round(statistics.median(mine.per_s for mine in ours)),
        "dealer_per_s": round(statistics.median(per_s for per_s, _ in theirs)),
        "ratio": round(statistics.median(ratios), 2),
        "low": round(min(ratios), 2),
        "high": round(max(ratios), 2),
        "arena_cpu_us": round(statistics.median(mine.cpu_us for mine in ours), 1),
        "dealer_cpu_us": round(statistics.median(cpu_us for _, cpu_us in theirs), 1),
    }


def _dealt(dealer: str, hands: int, seconds: float, seed: int) -> tuple[float, float]:
    """Play matches one after the other.

    Returns decisions a second, with the start of the programs, and the dealer's processor time for one in microseconds.
    """
    began_s, matches, used_s = time.perf_counter(), 0, 0.0
    while (lasted_s := time.perf_counter() - began_s) < seconds:
        matches += 1
        with subprocess.Popen(
            [dealer, str(hands), str(seed + matches)], stdout=subprocess.PIPE, text=True
        ) as table:
            assert table.stdout is not None
            ports = table.stdout.readline().split()
            players = [subprocess.Popen([dealer, str(hands), port, "plays"]) for port in ports]
            table.stdout.read()
            _, _, used = os.wait4(table.pid, 0)
            used_s += used.ru_utime + used.ru_stime
        for player in players:
            player.wait()
    decisions = matches * hands * DECISIONS
    return decisions / lasted_s, used_s * 1e6 / decisions


if __name__ == "__main__":
    main()

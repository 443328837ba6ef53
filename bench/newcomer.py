"""A bot that dials in to a ladder of launched bots: how busy its seat is, and how soon it has a place.

    python -m bench.newcomer --minutes 30
    python -m bench.newcomer --minutes 30 --sandbox off

Five launched bots with random moves, and a plain Python bot that plays one match at a time (`max_matches` 1), are on a
ladder of `arena serve`. A match has twelve hands, and the newcomer thinks 200 ms over each move. Its seat is busy from
`started` to `ended` of a match, as the bot sees it. The command exits with 1 if the seat was busy for less than 80 %
of the time, or the bot has no place at the end.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

import cardarena
from arena.contests.official_standings import latest_standings
from arena.results.deal_sets import bot_of
from arena.store import open_store
from arena.store.data_folder import read_notice, store_path
from bench.competitions import LADDER, NAME, RANDOM_BOT, begin
from bench.processes import served

BOTS: Final = 5
NEWCOMER: Final = "newcomer"
_THINK_MS: Final = "BENCH_THINK_MS"
"""The variable that has the newcomer's time for a move."""
HANDS: Final = 12
LOOK_S: Final = 30.0
LEAST_BUSY: Final = 0.8
_PLAYS: Final = "import cardarena, bench.newcomer; cardarena.run(bench.newcomer.Newcomer)"


class Newcomer(cardarena.Bot[Any, Any, Any]):
    """Plays the first move, and prints when its matches begin and end, in seconds of the monotonic clock."""

    def started(self) -> None:
        print("started", time.monotonic(), flush=True)

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice[Any]:  # noqa: ARG002 - any move will do
        time.sleep(float(os.environ[_THINK_MS]) / 1000)
        return 0

    def ended(self, end: cardarena.End[Any]) -> None:  # noqa: ARG002 - any end will do
        print("ended", time.monotonic(), flush=True)


def busy_s(lines: Iterable[str], now_s: float) -> float:
    """Seconds of matches until now, by what the newcomer printed."""
    total_s, since_s = 0.0, None
    for word, _, at in (line.partition(" ") for line in lines):
        if word == "started":
            since_s = float(at)
        elif since_s is not None:
            total_s += float(at) - since_s
            since_s = None
    return total_s + (0.0 if since_s is None else now_s - since_s)


def _prepare(data: Path, game: str) -> str:
    """Make and start the ladder; returns the newcomer's token."""
    words = ["keys", "new", "bot", NEWCOMER, "--owner", "ann", "--data", str(data)]
    token = subprocess.check_output([sys.executable, "-m", "arena", *words], text=True).strip()
    launched = dict.fromkeys((f"bot{number}" for number in range(BOTS)), RANDOM_BOT)
    begin(data, LADDER.format(game=game, hands=HANDS), launched, remote=[NEWCOMER])
    return token


@contextlib.contextmanager
def _connected(data: Path, token: str, out: Path, think_ms: float) -> Iterator[None]:
    notice = read_notice(data)
    assert notice is not None
    environment = dict(os.environ) | {
        "CARDARENA_TOKEN": token,
        "CARDARENA_ADDRESS": notice.address,
        _THINK_MS: str(think_ms),
    }
    with out.open("w") as written:
        process = subprocess.Popen([sys.executable, "-c", _PLAYS], stdout=written, env=environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _rows(data: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the standings, by bot."""
    with open_store(store_path(data)) as store:
        game = latest_standings(store.competitions(), NAME)["games"][0]
    return {bot_of(row["bot"]): row for row in reversed(game["rows"])}


def measure(minutes: float, game: str, think_ms: float, serve_words: tuple[str, ...]) -> bool:
    """Play, and print a line each half a minute; returns whether the newcomer's seat was busy and it has a place."""
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data, out = Path(folder) / "arena", Path(folder) / NEWCOMER
        data.mkdir()
        token = _prepare(data, game)
        with (
            served("-m", "arena", "serve", "--data", str(data), *serve_words),
            _connected(data, token, out, think_ms),
        ):
            share, placed_min = 0.0, None
            began_s = time.monotonic()
            end_s = began_s + 60 * minutes
            while (left_s := end_s - time.monotonic()) > 0:
                time.sleep(min(LOOK_S, left_s))
                rows = _rows(data)
                now_s = time.monotonic()
                lines = out.read_text().splitlines()
                share = busy_s(lines, now_s) / (now_s - began_s)
                if placed_min is None and rows[NEWCOMER]["place"] is not None:
                    placed_min = (now_s - began_s) / 60
                ended = sum(line.startswith("ended") for line in lines)
                deal_sets = " ".join(str(rows[bot]["deal_sets"]) for bot in sorted(rows))
                note = rows[NEWCOMER]["note"] or "no place"
                place = note if placed_min is None else f"a place after {placed_min:.1f} min"
                print(
                    f"{(now_s - began_s) / 60:5.1f} min: busy {share:.0%}, {ended} matches, deal-sets {deal_sets} "
                    f"(the last is the newcomer's), {place}, load {os.getloadavg()[0]:.1f}",
                    flush=True,
                )
    return share >= LEAST_BUSY and placed_min is not None


@click.command()
@click.option("--minutes", default=30.0)
@click.option("--game", default="sixty_six")
@click.option("--think-ms", default=200.0, help="The newcomer's time for a move.")
@click.option("--sandbox", help="As of `arena serve`.")
@click.option("--workers", default=0, help="As of `arena serve`.")
def main(minutes: float, game: str, think_ms: float, sandbox: str | None, workers: int) -> None:
    """Measure, and print it."""
    words = ("--workers", str(workers)) if workers else ()
    if not measure(minutes, game, think_ms, (*words, *(("--sandbox", sandbox) if sandbox else ()))):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

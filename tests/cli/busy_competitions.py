"""A ladder and a Swiss on a machine that other work keeps busy: no bot is blamed for it.

`python -m tests.cli.busy_competitions --processes 6` keeps the machine busy with six spinning processes. The bots
answer at once with a legal move, so each fault and each forfeited seat is a defect of the arena: standings blame a
bot for a machine that was late. Time controls are the defaults of plans, and starts have their ordinary limit.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.contests.competition_service import CompetitionService
from arena.contests.standings import live_standings
from arena.records.signing import arena_key
from arena.results.states import Action
from arena.store import open_store
from arena.store.data_folder import store_path
from tests.cli.killed_competitions import (
    BOTS,
    HEAD,
    PLANS,
    ROOT,
    complete,
    is_finished,
)

KINDS = ("swiss", "ladder")
LIMIT_S = 600.0
"""Longest that one competition is played."""
SPIN = "while True: pass"


@contextlib.contextmanager
def busy(processes):
    """The machine with so many processes that spin."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def arena(data, *words):
    return [sys.executable, "-m", "arena", *words, "--data", str(data)]


def played(kind, data, deal_sets, limit_s=LIMIT_S):
    """Play a competition to its end, a ladder for so many deal-sets; the rows of its standings."""
    data.mkdir()
    head = HEAD.format(name=kind, kind="ladder" if kind == "ladder" else "tournament")
    head = "".join(line for line in head.splitlines(True) if "time_control" not in line)
    (data / "plan.toml").write_text(head + PLANS[kind] + BOTS, "utf-8")
    new = arena(data, "competition", "new", str(data / "plan.toml"))
    subprocess.run(new, check=True, stdout=subprocess.DEVNULL)
    start = arena(data, "competition", "start", kind)
    if kind == "ladder":
        with open_store(store_path(data)) as store:
            service = CompetitionService(store.competitions(), arena_key(data))
            service.control(kind, Action.START, who="organiser")
        start = arena(data, "serve", "--port", "0", "--no-metrics")
    log = data / "log"
    with log.open("wb") as out, subprocess.Popen(start, stdout=out, stderr=out) as process:
        end = time.monotonic() + limit_s
        try:
            while process.poll() is None and (kind != "ladder" or complete(kind, data) < deal_sets):
                assert time.monotonic() < end, f"{kind} took too long: {log.read_text()[-2_000:]}"
                time.sleep(0.2)
        finally:
            process.kill()
    assert kind == "ladder" or is_finished(kind, data), log.read_text()[-2_000:]
    with open_store(store_path(data)) as store:
        (game,) = live_standings(store.competitions().record(kind))["games"]
    return game["rows"]


def blamed(rows):
    """The rows of bots with a fault or a forfeited seat."""
    return [row for row in rows if row["faults"] or row["forfeited"]]


def main(argv=None, play=played):
    parser = argparse.ArgumentParser(
        prog="python -m tests.cli.busy_competitions",
        description="Play competitions on a busy machine; standings blame no bot.",
        epilog="It ends with 1 if a bot has a fault or a forfeited seat.",
    )
    parser.add_argument("--processes", type=int, default=6, help="that spin meanwhile")
    parser.add_argument("--deal-sets", type=int, default=24, help="of the ladder")
    parser.add_argument("--only", choices=KINDS, help="one kind; both if left out")
    given = parser.parse_args(argv)
    found = 0
    for kind in [given.only] if given.only else KINDS:
        with tempfile.TemporaryDirectory() as folder, busy(given.processes):
            rows = play(kind, Path(folder) / kind, given.deal_sets)
        for row in rows:
            faults, forfeited = row["faults"], row["forfeited"]
            sys.stdout.write(f"{kind} {row['bot']}: {row['matches']} matches, {faults} {forfeited}\n")  # fmt: skip
        found += len(blamed(rows))
        ranked = all(row["forfeited"] is not None for row in rows)
        assert ranked, f"a bot of the {kind} played too little to be ranked"
    sys.stdout.write(f"{found} bots are blamed\n")
    return int(found > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())

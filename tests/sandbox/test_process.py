"""How bots and workers are started in a process that runs gRPC, whose threads a fork would lose."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from arena.bots.tokens import Tokens
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.process import launch
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import Level
from tests.live.running import running

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os
import sys
from pathlib import Path

import trio

from arena.games.catalogue import game_by_id
from arena.sandbox.command import BotCommand
from arena.sandbox.process import launch
from arena.sandbox.sandbox import Sandbox
from arena.referee.step_processes import StepProcesses
from arena.testing.deals import SeededDeals

async def main():
    command = BotCommand("ann", (sys.executable, "-c", ""))
    process = await launch(command, Path(sys.argv[1]) / "ann", {})
    await process.watch()
    print("a bot", process.returncode)
    with Sandbox(data=Path(sys.argv[1])) as sandbox:
        process = await launch(command, Path(sys.argv[1]) / "bob", {}, sandbox=sandbox if sandbox.level != "S0" else None)
        await process.watch()
    print("a sandboxed bot", process.returncode)
    game = game_by_id("abstrac")
    deals = SeededDeals("s")
    state = game.rules.start(game.options({"hands": 2}, 2), 2, deals).state
    (seat,) = game.rules.to_act(state)
    move = game.rules.moves(state, seat).offered[0]
    workers = StepProcesses(1)
    step = await workers.step("abstrac", state, ((seat, move),), deals)
    print("a worker", step == game.rules.step(state, ((seat, move),), deals))
    workers.close()

if __name__ == "__main__":
    os.register_at_fork(before=lambda: print("forked", flush=True))
    trio.run(main)
"""


def test_nothing_of_ours_runs_in_a_process_that_was_forked(tmp_path):
    """Between fork and exec: where Python code runs there, Python tells of the fork."""
    script = tmp_path / "starts_both.py"
    script.write_text(PROGRAM, "utf-8")
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["a bot 0", "a sandboxed bot 0", "a worker True"], (
        done.stderr
    )


@pytest.mark.deep("spawner")
def test_a_thousand_bots_start_and_end_beside_grpc_and_none_hangs(tmp_path):
    ended = []
    with running(tmp_path / "arena", Tokens()), Sandbox(data=tmp_path) as sandbox:
        if sandbox.level is Level.S0:
            pytest.skip(sandbox.why_not_better)

        async def one(number, at_a_time):
            async with at_a_time:
                command = BotCommand("bot", ("/bin/true",))
                process = await launch(
                    command, tmp_path / "bots" / str(number), {}, sandbox=sandbox
                )
                await process.watch()
                ended.append(process.returncode)

        async def main():
            at_a_time = trio.CapacityLimiter(64)
            async with trio.open_nursery() as nursery:
                for number in range(1_000):
                    nursery.start_soon(one, number, at_a_time)

        trio.run(main)
    assert ended == [0] * 1_000


def test_a_program_that_is_open_for_writing_starts_when_it_is_closed(tmp_path, monkeypatch):
    """As one that was written while another process was forked, which has the open file until it executes."""
    program, open_process = tmp_path / "bot", trio.lowlevel.open_process
    shutil.copy("/bin/true", program)
    writing = program.open("ab")

    async def refused_once(argv, **how):
        try:
            return await open_process(argv, **how)
        except OSError:
            writing.close()
            raise

    async def main():
        bot = await launch(BotCommand("ann", (str(program),)), tmp_path / "ann", {})
        await bot.watch()
        return bot.returncode

    monkeypatch.setattr(trio.lowlevel, "open_process", refused_once)
    assert trio.run(main) == 0
    assert writing.closed


def test_a_program_that_stays_open_for_writing_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.sandbox.process.BUSY_S", 0.0)
    program = tmp_path / "bot"
    shutil.copy("/bin/true", program)
    with program.open("ab"), pytest.raises(BadCommand, match="does not start: Text file busy"):
        trio.run(launch, BotCommand("ann", (str(program),)), tmp_path / "ann", {})

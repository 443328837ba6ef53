"""A sandboxed bot that floods its play socket: it is cut off and told, gains no time, and costs others nothing."""

import os
import sys

import pytest
import trio

from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.players import Players
from arena.live.runner import run_deal_sets
from arena.live.work import ScheduledWork
from arena.referee.spec import FaultKind
from arena.referee.terms import TimeControl
from arena.results.deal_sets import round_robin
from arena.sandbox.command import BotCommand
from arena.sandbox.output import output_paths, read_output
from arena.sandbox.sandbox import Sandbox
from arena.testing.orders import match_order
from tests.attack.http2 import PREFACE
from tests.attack.machine import use_of
from tests.live.running import in_arena
from tests.programs import require

pytestmark = pytest.mark.slow

MOVE_MS = 1_000
THINKS_S = 3.0
REFUNDED_S = 10.0
"""A busy machine makes an arena late too; floods that nothing stops are refunded 10 to 80 s."""
HONEST = """
import cardarena
from cardarena import abstrac

class Honest(abstrac.Bot):
    def move(self, ask):
        return 0

cardarena.run(Honest)
"""
FLOODER = f"""
import os, socket, subprocess, sys, time
FLOOD = '''
import os, select, socket, struct, time
def frame(kind, body=b"", stream=0, flags=0):
    return struct.pack(">BHBBI", 0, len(body), kind, flags, stream) + body
block = {{block}} * 2000
path = os.environ["CARDARENA_ADDRESS"].removeprefix("unix:")
while True:
    try:
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            wire.setblocking(False)
            wire.send(bytes.fromhex("{PREFACE.hex()}") + frame(4) + frame(4, flags=1))
            while True:
                reads, writes, _ = select.select([wire], [wire], [])
                if writes:
                    wire.send(block)
                if reads and not wire.recv(1 << 16):
                    break
    except OSError:
        time.sleep(0.01)
'''
import cardarena
from cardarena import abstrac

class Flooder(abstrac.Bot):
    floods = ()
    def move(self, ask):
        if not self.floods:
            self.floods = [subprocess.Popen([sys.executable, "-c", FLOOD]) for _ in range(2)]
        time.sleep({THINKS_S})
        return 0

cardarena.run(Flooder)
"""
# fmt: off
FLOODS = [
    # frames                                    id
    ("frame(6, bytes(8))",                      "pings"),
    ("frame(4)",                                "settings"),
    ("frame(2, bytes(5), stream=1)",            "priorities"),
    ("frame(0, stream=1)",                      "empty DATA of no call"),
]
# fmt: on


@pytest.mark.parametrize("block", [row[0] for row in FLOODS], ids=[row[1] for row in FLOODS])
def test_a_bot_that_floods_gains_no_time_and_costs_others_nothing(block, tmp_path):
    require("bubblewrap")
    files = {"flooder": FLOODER.replace("{block}", block), "honest": HONEST}
    for name, code in files.items():
        (tmp_path / "files" / name).mkdir(parents=True)
        (tmp_path / "files" / name / "bot.py").write_text(code)
    control = TimeControl(MOVE_MS, 0)
    terms = match_order("abstrac", tuple(files), {"hands": 2}, time_control=control).terms
    plans = round_robin(list(files), seats=2, deal_sets=1, seed="s", tournament="t")
    data = tmp_path / "data"
    before_kb = use_of(os.getpid()).rss_kb
    with Sandbox(data=data) as sandbox:
        if sandbox.why_not_better:
            pytest.skip(sandbox.why_not_better)

        async def main(arena):
            async with trio.open_nursery() as nursery:
                players = Players(arena, data, tmp_path / "bots", nursery, sandbox=sandbox)
                for name in files:
                    folder = tmp_path / "files" / name
                    argv = (sys.executable, str(folder / "bot.py"))
                    players.add(BotCommand(name, argv))
                player = ArenaPlayer(arena, players, lambda plan: order_of(plan, terms))
                report = await run_deal_sets(ScheduledWork(plans), player, deal_sets=plans)
                await players.send_home()
                nursery.cancel_scope.cancel()
            return report, arena.metrics.counts

        report, counts = in_arena(data, main, play_socket=True, long_s=180.0)
    for plan in plans:
        for match in plan.matches:
            outcome = report.outcomes[match.id]
            faults = dict(zip(match.bots, outcome.faults, strict=True))
            assert faults["flooder"], "what it thinks too long, it pays for"
            assert not faults["honest"]
    assert counts.refunded_s < REFUNDED_S, "a flood buys no time"
    assert set(counts.faults) <= {FaultKind.TIMEOUT, FaultKind.GONE}
    log = [
        line.text
        for path in output_paths(tmp_path / "bots")
        for line in read_output(path)
        if line.by_arena and "flooder" in path.name
    ]
    assert any("its connections were closed" in line for line in log), log
    assert use_of(os.getpid()).rss_kb - before_kb < 150 << 10

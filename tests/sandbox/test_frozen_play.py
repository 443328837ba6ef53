"""At sandbox level S3 a bot that computes in the time of its rival gets next to none: matches over the play socket.

Machines seldom delegate control groups to whom tests run as; `scripts/boot-sandbox` boots one that does.
"""

import re
import sys

import pytest
import trio

from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.players import Players
from arena.live.runner import run_deal_sets
from arena.live.work import ScheduledWork
from arena.referee.terms import TimeControl
from arena.results.deal_sets import round_robin
from arena.sandbox.command import BotCommand
from arena.sandbox.output import output_paths, read_output
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import Level
from arena.testing.orders import match_order
from tests.live.running import in_arena
from tests.programs import require

pytestmark = pytest.mark.slow

PONDERER = """
import threading, time
import cardarena
from cardarena import abstrac

def ponder():
    while True:
        sum(range(1000))

threading.Thread(target=ponder, daemon=True).start()

class Ponderer(abstrac.Bot):
    last = None
    def move(self, ask):
        now = time.monotonic(), time.process_time()
        if self.last:
            print("waited", now[0] - self.last[0], "computed", now[1] - self.last[1], flush=True)
        self.last = time.monotonic(), time.process_time()
        return 0

cardarena.run(Ponderer)
"""
THINKER = """
import time
import cardarena
from cardarena import abstrac

class Thinker(abstrac.Bot):
    thoughts = iter([{first_s}] + [1.0] * 6 + [0.0] * 999)
    def move(self, ask):
        time.sleep(next(self.thoughts))
        return 0

cardarena.run(Thinker)
"""
FIRST_S = 45.0
"""Longer than the arena's pings and their limit together, which a frozen bot must answer."""


@pytest.fixture
def play(tmp_path):
    """Plays a deal-set of a bot that ponders and one that sleeps; returns outcomes, and times in waits of over 0.5 s."""
    require("bubblewrap")

    def played(*, pondering):
        files = {}
        for name, code in (("ponderer", PONDERER), ("thinker", THINKER.format(first_s=FIRST_S))):
            files[name] = tmp_path / "files" / name
            files[name].mkdir(parents=True)
            (files[name] / "bot.py").write_text(code)
        control = TimeControl(60_000, 60_000)
        terms = match_order("abstrac", tuple(files), {"hands": 2}, time_control=control).terms
        plans = round_robin(list(files), seats=2, deal_sets=1, seed="s", tournament="t")
        data = tmp_path / "data"
        with Sandbox(data=data) as sandbox:
            if sandbox.level is not Level.S3:
                pytest.skip(
                    f"no sandbox of S3 here (scripts/boot-sandbox has one): {sandbox.missing[0].why}"
                )

            async def main(arena):
                async with trio.open_nursery() as nursery:
                    players = Players(arena, data, tmp_path / "bots", nursery, sandbox=sandbox)
                    for name, folder in files.items():
                        argv = (sys.executable, str(folder / "bot.py"))
                        players.add(BotCommand(name, argv, files=folder))
                    may_ponder = players.frozen_bots.may_ponder if pondering else None
                    player = ArenaPlayer(
                        arena, players, lambda plan: order_of(plan, terms), may_ponder=may_ponder
                    )
                    report = await run_deal_sets(ScheduledWork(plans), player, deal_sets=plans)
                    await players.send_home()
                    nursery.cancel_scope.cancel()
                return report

            report = in_arena(data, main, play_socket=True, long_s=900.0)
        text = "\n".join(
            line.text for log in output_paths(tmp_path / "bots") for line in read_output(log)
        )
        times = re.findall(r"waited (\S+) computed (\S+)", text)
        waits = [(float(wait_s), float(computed_s)) for wait_s, computed_s in times]
        return report.outcomes.values(), [each for each in waits if each[0] > 0.5]

    return played


@pytest.mark.parametrize("pondering", [False, True], ids=["frozen", "may ponder"])
def test_a_bot_computes_in_its_rivals_time_if_the_plan_says_so(play, pondering):
    outcomes, waits = play(pondering=pondering)
    assert len(outcomes) == 2
    assert not any(any(outcome.faults) for outcome in outcomes)
    assert max(wait for wait, _ in waits) > FIRST_S
    share = sum(computed for _, computed in waits) / sum(wait for wait, _ in waits)
    assert share > 0.3 if pondering else share < 0.1, share

"""Stops an arena at a stage of a deal-set, so that a test can kill what it likes there.

A test writes names of stages to `kill-at` in the data folder, with commas between them. The first thread of the arena
that comes to one removes the file, writes the stage to `reached`, and waits until that is gone.
"""

import functools
import threading
import time
from pathlib import Path

from arena.contests.workers.assigned import AssignedDealSet
from arena.live.deals.deal_sets import DealSets
from arena.live.shared_transactions import StoredWork

STAGES = ("taken", "begun", "fixed", "in play", "reported", "prepared", "signed")
IN_PLAY_S = 0.3
"""Time after the first card at which a deal-set counts as in play."""


def install(data: Path) -> None:
    """Have the arena of this process stop at the stages that a test writes."""

    def reach(stage):
        wanted, reached = data / "kill-at", data / "reached"
        try:
            if stage not in wanted.read_text("utf-8").split(","):
                return
            wanted.unlink()
        except FileNotFoundError:  # nothing is to be killed, or another thread was first
            return
        partial = data / "reached.partial"
        partial.write_text(stage, "utf-8")
        partial.rename(reached)
        while reached.exists():
            time.sleep(0.005)

    def after(owner, name, stage):
        real = getattr(owner, name)

        @functools.wraps(real)
        async def replaced(*given, **named):
            found = await real(*given, **named)
            if found:
                reach(stage)
            return found

        setattr(owner, name, replaced)

    after(StoredWork, "take", "taken")
    after(AssignedDealSet, "hand_out", "begun")
    after(AssignedDealSet, "fix", "fixed")
    after(AssignedDealSet, "_checked", "prepared")
    after(DealSets, "publish", "signed")
    real_fix, real_record = AssignedDealSet.fix, AssignedDealSet.record

    async def fix(self, bots):
        found = await real_fix(self, bots)
        threading.Timer(IN_PLAY_S, reach, ["in play"]).start()
        return found

    async def record(self, *given):
        reach("reported")
        return await real_record(self, *given)

    AssignedDealSet.fix, AssignedDealSet.record = fix, record

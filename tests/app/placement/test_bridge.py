"""The process between an arena and an engine."""

import os

from arena.app.placement import bridge
from arena.contests.workers.processes import Activity


def test_it_is_not_silent_while_a_cluster_starts(monkeypatch):
    monkeypatch.setattr(bridge, "LOOK_S", 0.01)
    reads, writes = os.pipe()
    begins = bridge.dials(writes)
    assert os.read(reads, 2)[:1] == Activity.DIALS
    assert os.read(reads, 1) == Activity.DIALS, "again and again"
    begins()

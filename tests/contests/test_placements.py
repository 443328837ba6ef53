"""What engines run of workers, and how long a worker has a deal-set."""

import pytest

from arena.contests.workers.placements import MOST_CHARS, REMEMBERED, SHOWN_S, Pace, Placements
from cardarena.v1.work_pb2 import ReportPlacementRequest


def test_the_last_report_of_an_engine_is_shown_for_a_minute():
    now = [0.0]
    placements = Placements(lambda: now[0])
    for engine, running in (("dask", 1), ("ray", 2), ("dask", 3)):
        placements.report("m1", ReportPlacementRequest(engine=engine, running=running))
    assert [(row.engine, row.running) for row in placements.status()] == [("dask", 3), ("ray", 2)]
    now[0] = SHOWN_S - 1
    placements.report("m1", ReportPlacementRequest(engine="ray", running=4))
    now[0] = SHOWN_S + 1
    assert [(row.engine, row.running) for row in placements.status()] == [("ray", 4)]


def test_a_report_takes_little_memory():
    now = [0.0]
    placements = Placements(lambda: now[0])
    for number in range(100):
        now[0] += SHOWN_S
        placements.report("m1", ReportPlacementRequest(engine=str(number), problem=10_000 * "x"))
    assert len(placements._reports) == 1
    assert len(placements.status()[0].problem) == MOST_CHARS


def test_the_pace_is_the_time_with_deal_sets_by_their_number():
    pace = Pace()
    assert pace.worker_s == 0
    pace.busy(30)
    assert pace.worker_s == 0, "none was reported yet"
    for _ in range(3):
        pace.reported()
    assert pace.worker_s == 10


def test_the_pace_follows_what_is_played_now():
    pace = Pace()
    for seconds in (100.0, 1.0):
        for _ in range(8 * REMEMBERED):
            pace.busy(seconds)
            pace.reported()
        assert pace.worker_s == pytest.approx(seconds, rel=0.5)

"""How many workers there are."""

import pytest

from arena.app.placement.placement import PlacedWorker
from arena.app.placement.scaling import ArenaAway, Bounds, Scaling, needed
from arena.local.engines import EngineError
from cardarena.v1.work_pb2 import ReportPlacementResponse

BOUNDS = Bounds(least=1, most=20, target_s=600, idle_s=60)


def queue(waiting, in_play=0, worker_s=0.0):
    return ReportPlacementResponse(
        deal_sets_waiting=waiting, deal_sets_in_play=in_play, worker_seconds=worker_s
    )


# fmt: off
NEEDED = [
    # queue                  workers  reason
    (queue(0),               1,       "nothing waits: the least"),
    (queue(50),              1,       "no deal-set was played yet, so their time is not known"),
    (queue(50, 0, 60.0),     5,       "50 minutes of work in 10"),
    (queue(51, 0, 60.0),     6,       "a part of a worker is one"),
    (queue(40, 20, 60.0),    6,       "what is in play has its workers"),
    (queue(9_999, 0, 60.0),  20,      "the most"),
]
# fmt: on


@pytest.mark.parametrize(("queue", "workers", "reason"), NEEDED, ids=[row[-1] for row in NEEDED])
def test_the_number_of_workers(queue, workers, reason):
    assert needed(queue, BOUNDS) == workers


def test_one_is_enough_to_begin_where_the_least_is_none():
    assert needed(queue(0), Bounds(0, 20, 600, 60)) == 0
    assert needed(queue(1), Bounds(0, 20, 600, 60)) == 1


class Engine:
    """An engine with room for three."""

    def __init__(self):
        self.number = 0
        self.error = None

    def scale(self, number):
        if self.error:
            raise EngineError(self.error)
        self.number = number

    def running(self):
        return [PlacedWorker(f"w{at}", "", "m1" * (at < 3)) for at in range(self.number)]


class Arena:
    """Answers with a queue, or does not; keeps the reports."""

    def __init__(self):
        self.queue = queue(0)
        self.reports = []

    def __call__(self, request):
        self.reports.append(request)
        if self.queue is None:
            raise ArenaAway("it is restarting")
        return self.queue


@pytest.fixture
def scaled():
    engine, arena, now = Engine(), Arena(), [0.0]
    scaling = Scaling(engine, arena, BOUNDS, "dask", 2, lambda: now[0])
    return engine, arena, now, scaling


def test_more_are_placed_at_once_and_fewer_after_the_idle_time(scaled):
    engine, arena, now, scaling = scaled
    numbers = []
    for at_s, waiting in ((0, 50), (10, 80), (20, 20), (70, 20), (80, 20), (90, 30)):
        now[0], arena.queue = at_s, queue(waiting, 0, 60.0)
        scaling.step()
        numbers.append(engine.number)
    assert numbers == [5, 8, 8, 8, 2, 3]


def test_a_short_lull_drains_nothing(scaled):
    engine, arena, now, scaling = scaled
    for at_s, waiting in ((0, 50), (10, 0), (50, 50), (60, 0), (110, 0)):
        now[0], arena.queue = at_s, queue(waiting, 0, 60.0)
        scaling.step()
        assert engine.number == 5


def test_the_arena_hears_what_runs_and_what_is_wanted(scaled):
    _, arena, _, scaling = scaled
    arena.queue = queue(50, 0, 60.0)
    scaling.step()
    words = scaling.step()
    report = arena.reports[-1]
    assert (report.engine, report.speed_class, report.wanted) == ("dask", 2, 5)
    assert (report.running, report.pending, report.problem) == (3, 2, "")
    assert words == "3 run, 2 wait for a machine, 5 wanted; 50 deal-sets wait, 0 in play"


def test_while_the_arena_is_away_the_number_stays(scaled):
    engine, arena, now, scaling = scaled
    arena.queue = queue(50, 0, 60.0)
    scaling.step()
    now[0], arena.queue = 1_000, None
    assert scaling.step().endswith("it is restarting")
    assert engine.number == 5


def test_what_the_engine_refuses_is_reported(scaled):
    engine, arena, _, scaling = scaled
    engine.error = "no more room"
    assert "no more room" in scaling.step()
    engine.running = lambda: engine.scale(1)
    scaling.step()
    assert arena.reports[-1].problem == "no more room"

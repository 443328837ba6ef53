"""What a deal-set costs the store in a large competition: counted instructions of SQLite, and no more than in a small one."""

import pytest
from sqlalchemy import event, update

from arena.store import open_store, schema
from arena.store.leases import LeaseBegin, LeaseReport
from tests.store.made import made, plan_of, result

DEAL_SETS = 50
TIMES = 20
MOST = 1.5
"""Times as many instructions in a competition that is `TIMES` as large; the trees of its indices are higher."""


@pytest.fixture
def counted(tmp_path):
    """Runs a call in a competition of a size, nearly all of which is complete; the instructions."""

    def run(deal_sets, call):
        steps = []
        with open_store(tmp_path / f"{deal_sets}.db") as store:
            engine = store._database._engine
            engine.dispose()

            @event.listens_for(engine, "connect")
            def connected(connection, _):
                connection.set_progress_handler(lambda: steps.append(1) and 0, 1)

            made(store, plan=plan_of(deal_sets=deal_sets))
            table = schema.deal_sets
            with store._database.writing() as connection:
                most = table.c.number <= deal_sets - 20
                connection.execute(update(table).where(most).values(state=schema.COMPLETE))
            leases = store.competitions().leases("autumn", 0)
            jobs = leases.lease("w", 8, now_unix_ms=0)
            steps.clear()
            call(store, leases, jobs)
        return len(steps)

    return run


def told(job):
    return {match.id: result(match) for match in job.deal_set.matches}


# fmt: off
CALLS = [
    # what is done                                                                                          its name
    (lambda store, leases, jobs: leases.lease("w", 8, now_unix_ms=1),                                       "lease"),
    (lambda store, leases, jobs: leases.begin_many([LeaseBegin("w", job, "m1") for job in jobs]),           "begin"),
    (lambda store, leases, jobs: leases.report_many([LeaseReport("w", job, told(job)) for job in jobs], now_unix_ms=1), "report"),
    (lambda store, leases, jobs: leases.give_up("w", jobs[0]),                                              "give up"),
    (lambda store, leases, jobs: leases.heartbeat("w", now_unix_ms=1),                                      "heartbeat"),
    (lambda store, leases, jobs: store.matches().outcomes([each.id for each in jobs[0].deal_set.matches]),  "outcomes"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("call", [row[0] for row in CALLS], ids=[row[1] for row in CALLS])
def test_a_deal_set_costs_the_same_in_a_large_competition(call, counted):
    small, large = counted(DEAL_SETS, call), counted(DEAL_SETS * TIMES, call)
    assert 0 < large < MOST * small, f"{small} instructions, and {large} if it is {TIMES} as large"

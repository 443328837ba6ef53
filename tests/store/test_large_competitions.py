"""What a deal-set costs the store in a large competition: counted instructions of SQLite, and no more than in a small one."""

import pytest
from sqlalchemy import event, update

from arena.results.deal_sets import DealSetState
from arena.store import open_store, schema
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
                connection.execute(update(table).where(most).values(state=DealSetState.COMPLETE))
            stored = store.competitions().deal_sets("autumn", 0)
            plans = stored.take(8)
            steps.clear()
            call(store, stored, plans)
        return len(steps)

    return run


def told(plan):
    return {match.id: result(match) for match in plan.matches}


# fmt: off
CALLS = [
    # what is done                                                                                        its name
    (lambda store, stored, plans: stored.take(8),                                                         "take"),
    (lambda store, stored, plans: stored.begin_many([(plan, "m1") for plan in plans]),                    "begin"),
    (lambda store, stored, plans: stored.report_many([(plan, told(plan)) for plan in plans], now_unix_ms=1), "report"),
    (lambda store, stored, plans: stored.give_up(plans[0]),                                               "give up"),
    (lambda store, stored, plans: store.matches().outcomes([match.id for match in plans[0].matches]),     "outcomes"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("call", [row[0] for row in CALLS], ids=[row[1] for row in CALLS])
def test_a_deal_set_costs_the_same_in_a_large_competition(call, counted):
    small, large = counted(DEAL_SETS, call), counted(DEAL_SETS * TIMES, call)
    assert 0 < large < MOST * small, f"{small} instructions, and {large} if it is {TIMES} as large"

"""The measurements of large competitions run, and the simulation follows the laws of queues."""

import pytest

from bench.cluster_simulation import simulate
from bench.scheduling import measure, measure_store

QUIET = lambda _: None  # noqa: E731


@pytest.mark.slow
def test_workers_that_play_nothing_complete_a_tournament():
    found = measure(4, 6, QUIET)
    assert found.deal_sets == 6
    assert found.cpu_ms > 0
    assert found.folder_mb > found.store_mb > 0


def test_the_store_alone_is_measured():
    found = measure_store(4, 30, QUIET)
    assert found.deal_sets == 30
    assert min(found.cpu_ms) > 0


# fmt: off
LAWS = [
    # slots  deal-set, s  verifying  arena, s  verification, s   deal-sets a second   what is the bound
    (8,      3.0,         2,         0.0,      0.0,              8 / 3,               "the slots"),
    (8,      3.0,         2,         0.5,      0.0,              2.0,                 "the arena's process"),
    (8,      3.0,         2,         0.0,      1.0,              2.0,                 "two verifying processes"),
    (8,      3.0,         8,         0.0,      1.0,              2.0,                 "the slots, which wait for their reports"),
]
# fmt: on


@pytest.mark.parametrize(("slots", "deal_set_s", "verifying", "arena_s", "verify_s", "per_s"),
                         [row[:6] for row in LAWS], ids=[row[6] for row in LAWS])  # fmt: skip
def test_the_simulation_saturates_where_arithmetic_says(
    slots, deal_set_s, verifying, arena_s, verify_s, per_s
):
    found = simulate(slots, deal_set_s, verifying=verifying, arena_s=arena_s, verify_s=verify_s)
    assert found.per_s == pytest.approx(per_s, rel=0.1)


def test_a_simulation_is_the_same_again():
    once, again = (simulate(16, 3.0, verifying=2) for _ in range(2))
    assert once == again

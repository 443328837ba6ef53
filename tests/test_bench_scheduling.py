"""The measurement of large competitions runs."""

import pytest

from bench.scheduling import measure


@pytest.mark.slow
def test_workers_that_play_nothing_complete_a_tournament():
    case = measure(4, 6, lambda _: None)
    assert case["deal_sets"] == 6
    assert case["cpu_ms"] > 0
    assert len(case["standings_sha256"]) == 64
    assert case["folder_mb"] > 0
    assert case["per_s"][0] > 0

"""Competitions whose engine, workers, placing program and arena are killed: `killed_engines`, a few kills each."""

import importlib.util
import os
import shutil

import pytest

from arena.sandbox.sandbox import UPLOADS_AT, SandboxDemand, raise_sandbox
from tests.app.placement import killed_engines, real_slurm

pytestmark = [pytest.mark.slow, pytest.mark.deep("engines")]


def missing(engine):
    """Why an engine cannot be tried here; empty if it can."""
    if engine == "slurm":
        return real_slurm.missing()
    if importlib.util.find_spec({"dask": "distributed"}.get(engine, engine)) is None:
        return f"needs cardarena-engine[{engine}]"
    if engine == "dask" and (os.geteuid() or shutil.which("ip") is None):
        return "needs root and ip, for network namespaces"
    return ""


@pytest.mark.parametrize("engine", killed_engines.ENGINES)
def test_standings_are_the_same_whatever_is_killed(engine, tmp_path):
    if why := missing(engine):
        pytest.skip(why)
    with raise_sandbox(SandboxDemand.AUTO, data=tmp_path, read_only=()) as box:
        if box.level not in UPLOADS_AT:
            pytest.skip(f"needs a sandbox of S2 for uploaded bots: {box.why_not_better}")
    said = []
    counted, different, largest = killed_engines.play(engine, 4, 1, said.append, deal_sets=6)
    assert (different, largest > 0) == (0, True), said
    assert {"arena", "placing program"} <= set(counted)

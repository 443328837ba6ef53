"""Health, as whatever watches a server sees it: over a socket, without a token."""

import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena.server.data_folder import read_notice
from cardarena.v1 import lobby_pb2
from tests.doubles.streams import PATIENCE_S, Client
from tests.server.test_metrics import create, seat

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LIMIT_S = 0.1
TRIES = 3
"""The machine may be busy with something else at one of them."""


@contextmanager
def process_in(folder):
    command = [sys.executable, "-m", "tests.server.serving", str(folder)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def until_drained_s(folder):
    """From the order to drain to the news of it, while a match is in play and goes on."""
    with process_in(folder) as (process, address), Client(address) as client:
        health = health_pb2_grpc.HealthStub(client.channel)
        streams = seat(client, "ann", "bob")
        match_id = create(client, "ann", "bob")
        for stream in streams:
            stream.expect("match_start")
        news = iter(health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE_S))
        assert next(news).status == SERVING
        began_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert next(news).status == NOT_SERVING
        took_s = time.monotonic() - began_s
        assert health.Check(health_pb2.HealthCheckRequest()).status == NOT_SERVING
        found = client.lobby.GetMatch(lobby_pb2.GetMatchRequest(match_id=match_id)).match
        assert found.status == lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING
        assert read_notice(folder) is not None
    return took_s


def test_an_arena_that_drains_says_so_within_a_tenth_of_a_second(tmp_path):
    took_s = []
    for at in range(TRIES):
        took_s.append(until_drained_s(tmp_path / str(at)))
        if took_s[-1] <= LIMIT_S:
            return
    pytest.fail(f"it took {took_s} s")

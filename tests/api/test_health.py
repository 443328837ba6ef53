"""Health, as whatever watches a server sees it: over a socket, without a token."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena.store.data_folder import read_notice
from cardarena.v1 import lobby_pb2
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.test_metrics import create, seat

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@contextmanager
def process_in(folder):
    command = [sys.executable, "-m", "tests.live.serving", str(folder)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_an_arena_that_drains_says_so_before_anything_ends(tmp_path):
    """How soon is measured by tests/chaos/scenarios/drained_server.py."""
    with process_in(tmp_path) as (process, address), Client(address) as client:
        health = health_pb2_grpc.HealthStub(client.channel)
        streams = seat(client, "ann", "bob")
        match_id = create(client, "ann", "bob")
        for stream in streams:
            stream.expect("match_start")
        news = iter(health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE_S))
        assert next(news).status == SERVING
        process.send_signal(signal.SIGTERM)
        assert next(news).status == NOT_SERVING
        assert health.Check(health_pb2.HealthCheckRequest()).status == NOT_SERVING
        found = client.lobby.GetMatch(lobby_pb2.GetMatchRequest(match_id=match_id)).match
        assert found.status == lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING
        assert read_notice(tmp_path) is not None

"""The process of the pages: how many connections it takes, and that silent ones keep nobody out."""

import http.client
import socket
from urllib.parse import urlsplit

import pytest

from arena.api.admission.http_connections import HttpLimits
from arena.web.serve import OTHER_DESCRIPTORS, limits
from tests.web import house

FEW = HttpLimits(of_address=2, remote=2, local=3, head_s=60.0, answer_s=60.0)
PATIENCE_S = 20


def status_of(running):
    connection = http.client.HTTPConnection(urlsplit(running.address).netloc, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/matches.html")
        return connection.getresponse().status
    finally:
        connection.close()


def is_cut(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_silent_connections_keep_nobody_out(built):
    with house.Running(built[0], lambda: None, places=FEW) as running:
        where = urlsplit(running.address)
        silent = [
            socket.create_connection((where.hostname, where.port), PATIENCE_S)
            for _ in range(2 * FEW.local)
        ]
        try:
            assert all(map(is_cut, silent[: FEW.local]))
            assert status_of(running) == 200
        finally:
            for each in silent:
                each.close()


DESCRIPTORS = [
    (65_536, 2_000, "a usual limit of the system"),
    (1_024, 358, "the smallest usual one"),
    (256, 51, "an unusually small one"),
]


@pytest.mark.parametrize(
    ("descriptors", "remote", "_why"), DESCRIPTORS, ids=[row[-1] for row in DESCRIPTORS]
)
def test_all_connections_together_leave_descriptors_for_files(descriptors, remote, _why):
    places, feeds = limits(descriptors)
    assert (places.remote, feeds.in_all) == (remote, remote)
    most = places.remote + places.local + feeds.in_all + OTHER_DESCRIPTORS
    assert most <= descriptors
    assert places.of_address * 2 <= places.remote

"""`arena serve` as a person meets it: what it prints, and what it keeps to itself."""

import signal
import socket

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cardarena._dial import Dial
from tests.cli.serving import ended, served
from tests.doubles.certificates import Authority
from tests.doubles.streams import PATIENCE_S, Client
from tests.sdk.test_exit import IGNORING

pytestmark = pytest.mark.slow


def drained(process):
    """What a server that is told to end has printed after its first line."""
    process.send_signal(signal.SIGTERM)
    out, err = ended(process)
    assert process.returncode == 0
    return out, err


def test_over_tls_it_prints_an_address_to_dial_and_nothing_of_who_cannot(tmp_path):
    ca = Authority.make(tmp_path, "ca")
    certificate, key = ca.sign("arena", "IP:127.0.0.1")
    files = ("--tls-cert", certificate, "--tls-key", key)
    with served(tmp_path / "data", "--no-guests", *files) as (address, process):
        assert address.startswith("https://127.0.0.1:")
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as scan:
            scan.settimeout(PATIENCE_S)
            scan.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert scan.recv(1) == b""
        with Dial(address, ca_file=str(ca.file)).channel(address, ()) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            answer = health.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE_S)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        nobody = "There is no key yet: `arena keys new --help` says how to create one.\n"
        assert drained(process) == (f"{nobody}Drained.\n", "")


@pytest.mark.parametrize(
    ("number", "out"), [(signal.SIGINT, "Stopped.\n"), (signal.SIGTERM, "Drained.\n")]
)
def test_it_ends_as_documented_where_interrupts_are_ignored(tmp_path, number, out):
    with served(tmp_path / "data", starter=IGNORING) as (_, process):
        process.send_signal(number)
        assert ended(process) == (out, "")


def test_guests_are_let_in_over_a_socket_file(tmp_path):
    path = tmp_path / "arena.sock"
    with served(tmp_path / "data", "--host", f"unix:{path}") as (address, process):
        assert address == f"unix:{path}"
        with Client(address) as client:
            client.stream("guest:alpha").expect("welcome")
        assert drained(process) == ("Drained.\n", "")

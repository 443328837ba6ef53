"""A port for this machine answers no request in the name of another site."""

import asyncio
import http.client

import pytest
from starlette.responses import PlainTextResponse

from arena.api.admission.own_names import OwnNames
from arena.bots.tokens import Tokens
from tests.live.running import running
from tests.live.test_metrics import notice_of

# fmt: off
HOSTS = [
    # server         Host                       answered   why
    ("127.0.0.1",    "localhost:9464",          200,       "localhost"),
    ("127.0.0.1",    "127.0.0.1:9464",          200,       "the address"),
    ("::1",          "[::1]:9464",              200,       "the address of IPv6"),
    ("127.0.0.1",    "LOCALHOST.",              200,       "localhost as DNS writes it"),
    ("127.0.0.1",    "192.0.2.7",               200,       "another address, which no name leads to"),
    ("127.0.0.1",    "evil.example:9464",       421,       "a name that leads here"),
    ("::1",          "evil.example",            421,       "the same by IPv6"),
    ("127.0.0.1",    "localhost.evil.example",  421,       "a name that begins alike"),
    ("127.0.0.1",    "127.0.0.1.evil.example",  421,       "a name that begins like the address"),
    ("192.0.2.1",    "arena.example:9464",      200,       "a port that others may ask"),
]
# fmt: on


def asked(server, headers):
    """The status and the body of the answer to a request."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/status",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "server": server,
    }
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(OwnNames(PlainTextResponse("secret"))(scope, None, send))
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.mark.parametrize(("server", "host", "status", "why"), HOSTS, ids=[r[-1] for r in HOSTS])
def test_the_host_of_a_request(server, host, status, why):
    found, body = asked((server, 9464), [("host", host)])
    assert found == status
    assert ("secret" in body) == (status == 200)


@pytest.mark.parametrize(
    "server",
    [("127.0.0.1", 9464), ("/run/arena.sock", None), None],
    ids=["no host", "a socket file", "unknown"],
)
def test_a_request_without_a_host_or_by_a_socket_file_is_answered(server):
    assert asked(server, []) == (200, "secret")


def test_the_metrics_port_answers_no_request_in_the_name_of_another_site(tmp_path):
    with running(tmp_path, Tokens(guests=True), metrics_port=0):
        host, _, _ = notice_of(tmp_path).metrics.removeprefix("http://").partition("/")
        for path in ("/status", "/metrics"):
            for named, status in ((host, 200), ("evil.example", 421)):
                connection = http.client.HTTPConnection(host)
                connection.request("GET", path, headers={"Host": named})
                assert connection.getresponse().status == status
                connection.close()

"""Addresses that are blocked cannot connect, and all others can."""

import errno
import functools
import socket

import pytest

from arena.api.admission.blocked_addresses import MAX_BLOCKED, blocker
from arena.api.admission.connections import listening
from arena.live.limits import address_of

PATIENCE_S = 0.3
"""An opening that is dropped is said again only after a second."""


@pytest.fixture(params=["127.0.0.1", "0.0.0.0", "::"], ids=["IPv4", "all of IPv4", "both"])
def listener(request):
    """A socket that listens, with and without IPv6."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.socket(family) as own:
        if family == socket.AF_INET6:
            own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        own.bind((request.param, 0))
        own.listen()
        yield own


@pytest.fixture
def port(listener):
    return listener.getsockname()[1]


@pytest.fixture
def block_addresses(port):
    shut = blocker(functools.partial(listening, port))
    if not shut(["192.0.2.1"]):
        pytest.skip("this system lets this user filter no socket")
    return shut


def is_let_in(source, port):
    host = "::1" if ":" in source else "127.0.0.1"
    try:
        with socket.create_connection((host, port), PATIENCE_S, (source, 0)):
            return True
    except TimeoutError:
        return False


MANY = [f"192.0.{at // 256}.{at % 256}" for at in range(MAX_BLOCKED)]

# fmt: off
SHUT = [
    # blocked                             comes from   let in   why
    ([],                                  "127.0.0.2", True,    "nothing is blocked"),
    (["127.0.0.2"],                       "127.0.0.2", False,   "its address"),
    (["127.0.0.2"],                       "127.0.0.3", True,    "another one's address"),
    (["192.0.2.1", "127.0.0.2"],          "127.0.0.2", False,   "one of two"),
    (["2001:db8::/64"],                   "127.0.0.2", True,    "a network of IPv6"),
    (["2001:db8::/64", "127.0.0.2"],      "127.0.0.2", False,   "an address beside a network of IPv6"),
    ([*MANY, "127.0.0.2"],                "127.0.0.2", False,   "more than fit, and it is the last"),
    (["127.0.0.2", *MANY],                "127.0.0.2", True,    "more than fit, and it is the first"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("shut", "source", "let_in", "why"), SHUT, ids=[row[-1] for row in SHUT])
def test_who_can_connect(block_addresses, port, shut, source, let_in, why):
    assert block_addresses(shut)
    assert is_let_in(source, port) == let_in, why
    assert is_let_in("127.0.0.1", port), "nobody else is blocked"


def test_an_address_that_is_unblocked_can_connect(block_addresses, port):
    block_addresses(["127.0.0.2"])
    block_addresses([])
    assert is_let_in("127.0.0.2", port)


@pytest.mark.parametrize("listener", ["::"], indirect=True, ids=["both"])
@pytest.mark.parametrize(
    ("shut", "let_in"),
    [("2001:db8::/64", True), ("::/64", False), ("0:0:0:1::/64", True)],
    ids=["another network", "its network", "a network whose first half is the same"],
)
def test_a_network_of_ipv6_is_blocked_as_a_whole(block_addresses, port, shut, let_in):
    block_addresses([shut])
    assert is_let_in("::1", port) == let_in


@pytest.mark.parametrize("peer", ["ipv4:192.0.2.1:5000", "ipv6:%5B2001:db8::1%5D:5000"])
def test_addresses_are_named_as_limits_name_them(block_addresses, peer):
    assert block_addresses([address_of(peer)])


def test_who_has_come_before_stays(block_addresses, listener, port):
    with socket.create_connection(("127.0.0.1", port), 5.0, ("127.0.0.2", 0)) as before:
        there, _ = listener.accept()
        with there:
            block_addresses(["127.0.0.2"])
            before.sendall(b"x")
            there.settimeout(5.0)
            assert there.recv(1) == b"x"


def test_a_system_that_does_not_is_no_error(caplog):
    def refused():
        raise PermissionError(errno.EPERM, "Operation not permitted")

    assert not blocker(refused)(["192.0.2.1"])
    assert "cannot block addresses" in caplog.text

"""Who sends too much that is no message loses the connection, and nobody else does."""

import asyncio
import contextlib
import socket
import time
from dataclasses import dataclass, field

import grpc
import pytest

from arena.api.admission.connections import (
    BURST_BYTES,
    BYTES_PER_S,
    CHECK_S,
    COUNT_S,
    FORGIVEN_S,
    QUIET_S,
    SILENT_BURST_BYTES,
    STRIKES,
    ConnectionMonitor,
    of_this_process,
    peer_of,
)
from arena.live.metrics import CALL_BYTES, MESSAGE_BYTES, Traffic
from arena.live.session.limits import MAX_MESSAGE_BYTES
from tests.doubles.clocks import Clock

HERE, THERE, ELSEWHERE = "ipv4:127.0.0.1:5000", "ipv4:192.0.2.1:5000", "ipv4:192.0.2.2:5000"


@dataclass
class Line:
    """A connection that has sent so much."""

    peer: str = THERE
    received_bytes: int = 0
    cut_off: int = field(default=0, init=False)

    def cut(self):
        self.cut_off += 1


class Net:
    """The connections of an arena, and who watches them."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.traffic = Traffic()
        self.now, self.cpu = Clock(100.0), Clock()
        self.looks = 0
        self.blocked, self.can_block = [], True
        """Who was blocked, each time that it changed."""
        self.monitor = ConnectionMonitor(
            self.connections,
            self.traffic,
            block=self.blocks,
            now_s=self.now,
            cpu_s=self.cpu,
        )

    def blocks(self, addresses):
        self.blocked.append(list(addresses))
        return self.can_block

    def flood(self, peer, cuts):
        """So many connections of a peer are cut, one after another."""
        address = peer.rpartition(":")[0]
        for port in range(cuts):
            self.lines = [Line(f"{address}:{port}", 10_000_000)]
            self.monitor.check()
        self.lines = []

    @contextlib.contextmanager
    def connections(self):
        self.looks += 1
        yield iter(self.lines)

    def pass_time(self, seconds, **sends_per_s):
        """Each line sends so many bytes a second, of which so many are messages."""
        for _ in range(round(seconds / CHECK_S)):
            self.now.now += CHECK_S
            for line in self.lines:
                line.received_bytes += int(sends_per_s.get("beside", 0) * CHECK_S)
                said = int(sends_per_s.get("messages", 0) * CHECK_S)
                line.received_bytes += said
                account = self.traffic.account(line.peer)
                account.spoke()
                account.received_bytes += said - CALL_BYTES
            self.monitor.check()


# fmt: off
RATES = [
    # a second                                      cut    why
    ({"beside": 50_000_000},                        True,  "frames as fast as they go"),
    ({"beside": BYTES_PER_S * 2},                   True,  "twice the budget"),
    ({"beside": BYTES_PER_S * 0.9},                 False, "within the budget"),
    ({"messages": 50_000_000},                      False, "messages, which have limits of their own"),
    ({"messages": 9_000_000, "beside": 30_000},     False, "a busy bot and its window updates"),
    ({"messages": 9_000_000, "beside": 9_000_000},  True,  "a flood beside messages"),
    ({},                                            False, "silence, which has a limit elsewhere"),
]
# fmt: on


@pytest.mark.parametrize(("rates", "cut", "why"), RATES, ids=[row[-1] for row in RATES])
def test_a_connection_is_cut_for_what_it_sends_beside_messages(rates, cut, why):
    net = Net(Line())
    net.pass_time(20, **rates)
    assert net.lines[0].cut_off == cut, why


def test_a_burst_is_no_flood_and_a_second_one_right_after_it_is():
    net = Net(Line())
    net.traffic.account(THERE).spoke()
    net.lines[0].received_bytes += CALL_BYTES + BURST_BYTES
    net.monitor.check()
    net.pass_time(2 * BURST_BYTES / BYTES_PER_S)
    net.lines[0].received_bytes += BURST_BYTES
    net.pass_time(1)
    assert not net.lines[0].cut_off
    net.lines[0].received_bytes += BURST_BYTES
    net.monitor.check()
    assert net.lines[0].cut_off


def test_before_its_first_call_a_connection_has_little_to_say():
    net = Net(Line(THERE, SILENT_BURST_BYTES), Line(ELSEWHERE, SILENT_BURST_BYTES + 1))
    net.monitor.check()
    assert [line.cut_off for line in net.lines] == [0, 1]


# fmt: off
CALLS = [
    # a second, of 60 bytes each    cut    why
    (5_000, False,                  True,  "thousands that are given up at once"),
    (100,   False,                  True,  "a hundred that are"),
    (40,    False,                  False, "as many as somebody gives up who is impatient"),
    (5_000, True,                   False, "calls that say something, which have limits of their own"),
]
# fmt: on


@pytest.mark.parametrize(("per_s", "speak", "cut", "why"), CALLS, ids=[row[-1] for row in CALLS])
def test_calls_that_say_nothing_are_few(per_s, speak, cut, why):
    """gRPC keeps some bytes of each call that is given up, for good."""
    net = Net(Line())
    net.traffic.account(THERE).spoke()
    for _ in range(200):
        for _ in range(round(per_s * CHECK_S)):
            account = net.traffic.account(THERE)
            if speak:
                account.spoke()
        net.pass_time(CHECK_S, beside=60 * per_s)
    assert net.lines[0].cut_off == cut, why


@pytest.mark.parametrize("known", [False, True], ids=["its call is not known", "its call is known"])
def test_a_first_message_that_is_long_and_on_its_way_is_no_flood(known):
    net = Net(Line())
    if known:
        net.traffic.account(THERE)
    net.lines[0].received_bytes += CALL_BYTES + MAX_MESSAGE_BYTES
    net.monitor.check()
    assert not net.lines[0].cut_off


def test_bytes_of_messages_are_no_credit_for_a_flood():
    """Each message counts for more than it weighs, so that no honest bot is cut."""
    net = Net(Line())
    net.traffic.account(THERE).received_bytes += 1_000_000 * MESSAGE_BYTES
    net.monitor.check()
    net.pass_time(1, beside=2 * BURST_BYTES)
    assert net.lines[0].cut_off


def test_bytes_that_wait_to_be_read_are_no_flood():
    """The kernel counts a message before the arena has read it, again and again."""
    net = Net(Line())
    account = net.traffic.account(THERE)
    account.spoke()
    for _ in range(600):
        net.now.now += CHECK_S
        net.lines[0].received_bytes += 200_000
        net.monitor.check()
        account.received_bytes += 200_000
        net.monitor.check()
    assert not net.lines[0].cut_off


def test_one_is_cut_and_the_others_are_left_alone():
    net = Net(Line(HERE), Line(THERE), Line(ELSEWHERE))
    net.lines[1].received_bytes = 10_000_000
    net.monitor.check()
    assert [line.cut_off for line in net.lines] == [0, 1, 0]
    assert (net.monitor.open, net.monitor.cut) == (3, 1)


def test_a_connection_is_cut_once():
    net = Net(Line())
    net.pass_time(1, beside=50_000_000)
    assert net.lines[0].cut_off == 1


# Too many.


def test_with_too_many_connections_the_oldest_that_never_made_a_call_are_cut():
    lines = [Line(f"ipv4:192.0.2.{number}:5000") for number in range(6)]
    net = Net(*lines)
    net.monitor.most = 4
    net.traffic.account(lines[0].peer).spoke()
    net.monitor.check()
    assert [line.cut_off for line in lines] == [0, 1, 1, 0, 0, 0]
    assert net.monitor.cut == 2


def test_bots_are_not_cut_for_being_many():
    net = Net(*[Line(f"ipv4:192.0.2.{number}:5000") for number in range(6)])
    net.monitor.most = 4
    for line in net.lines:
        net.traffic.account(line.peer).spoke()
    net.monitor.check()
    assert net.monitor.cut == 0


def test_connections_are_checked_soon_when_descriptors_run_out():
    net = Net()
    net.monitor.most, open_now = 100, [100, 101]
    net.monitor._descriptors = lambda: open_now.pop(0)
    net.monitor.check_if_busy()
    assert net.looks == 0
    net.monitor.check_if_busy()
    assert net.looks == 0, "they were just counted"
    net.now.now += COUNT_S
    net.monitor.check_if_busy()
    assert net.looks == 1


# Who comes again and again.

# fmt: off
RETURNS = [
    # peer   cuts         after_s         cut    why
    (THERE,  STRIKES,     1.0,            True,  "an address that has flooded again and again"),
    (THERE,  STRIKES - 1, 1.0,            False, "an address that has flooded once or twice"),
    (THERE,  STRIKES,     FORGIVEN_S + 1, False, "an address that is forgiven"),
    (HERE,   STRIKES * 5, 1.0,            False, "this machine, where other bots live as well"),
]
# fmt: on


@pytest.mark.parametrize(
    ("peer", "cuts", "after_s", "cut", "why"), RETURNS, ids=[row[-1] for row in RETURNS]
)
def test_a_new_connection_of_those_who_flooded(peer, cuts, after_s, cut, why):
    net = Net()
    net.flood(peer, cuts)
    net.now.now += after_s
    net.lines = [Line(f"{peer.rpartition(':')[0]}:6000")]
    net.monitor.check()
    assert net.lines[0].cut_off == cut, why


# fmt: off
BLOCKED = [
    # who floods, cuts                           blocked, each  time that it changes        why
    ([(THERE, STRIKES - 1)],                     [],                                        "who has flooded once or twice may come again"),
    ([(THERE, STRIKES)],                         [["192.0.2.1"]],                           "who has flooded again and again may not"),
    ([(THERE, STRIKES + 2)],                     [["192.0.2.1"]],                           "it is told once"),
    ([(THERE, STRIKES), (ELSEWHERE, STRIKES)],   [["192.0.2.1"], ["192.0.2.1", "192.0.2.2"]], "one more does not let the others in"),
    ([(HERE, STRIKES * 5)],                      [],                                        "this machine, where other bots live as well"),
]
# fmt: on


@pytest.mark.parametrize(("floods", "blocked", "why"), BLOCKED, ids=[row[-1] for row in BLOCKED])
def test_an_address_that_floods_repeatedly_is_blocked(floods, blocked, why):
    net = Net()
    for peer, cuts in floods:
        net.flood(peer, cuts)
    assert net.blocked == blocked, why


def test_an_address_can_connect_again_after_a_while():
    net = Net()
    net.flood(THERE, STRIKES)
    net.now.now += FORGIVEN_S + 1
    net.monitor.check()
    assert net.blocked == [["192.0.2.1"], []]


def test_a_system_that_cannot_block_is_tried_once_and_connections_are_closed():
    net = Net()
    net.can_block = False
    net.flood(THERE, STRIKES)
    net.flood(ELSEWHERE, STRIKES)
    assert net.blocked == [["192.0.2.1"]]
    assert net.monitor.cut == 2 * STRIKES


def test_bytes_of_an_earlier_connection_of_the_same_port_are_forgotten():
    net = Net(Line())
    net.traffic.account(THERE).received_bytes += 10_000_000
    net.monitor.check()
    net.lines.clear()
    net.monitor.check()
    assert net.traffic.explained_bytes(THERE) == 0
    net.lines.append(Line(received_bytes=1_000_000))
    net.monitor.check()
    assert net.lines[0].cut_off


# When it is looked.


@pytest.mark.parametrize(
    ("cpu_share", "looks", "why"),
    [(0.9, 150, "busy"), (0.1, 1, "not busy"), (0.0, 1, "asleep")],
    ids=["at every moment while busy", "rarely while not busy", "rarely while asleep"],
)
def test_it_is_looked(cpu_share, looks, why):
    net = Net()
    for _ in range(150):
        net.now.now += CHECK_S
        net.cpu.now += CHECK_S * cpu_share
        net.monitor.check_if_busy()
    assert pytest.approx(150 * CHECK_S) == QUIET_S
    assert net.looks == pytest.approx(looks, abs=1), why


# The kernel's own count.

# fmt: off
PEERS = [
    # host               gRPC's name                       why
    ("192.0.2.1",        "ipv4:192.0.2.1:5000",            "IPv4"),
    ("::ffff:192.0.2.1", "ipv4:192.0.2.1:5000",            "IPv4 on a socket for both"),
    ("2001:db8::1",      "ipv6:%5B2001:db8::1%5D:5000",    "IPv6"),
    ("fe80::1%eth0",     "ipv6:%5Bfe80::1%25eth0%5D:5000", "IPv6 with its interface"),
]
# fmt: on


@pytest.mark.parametrize(("host", "peer", "why"), PEERS, ids=[row[-1] for row in PEERS])
def test_a_peer_is_named_as_grpc_names_it(host, peer, why):
    assert peer_of(host, 5000) == peer


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"], ids=["IPv4", "IPv6"])
def test_the_kernel_and_grpc_name_connections_alike_and_closing_one_ends_its_call(host):
    async def main():
        server = grpc.aio.server()
        named = asyncio.get_running_loop().create_future()
        ended = asyncio.Event()

        async def echo(_, context):
            named.set_result(context.peer())
            context.add_done_callback(lambda _: ended.set())
            while (data := await context.read()) is not grpc.aio.EOF:
                yield data

        method = grpc.stream_stream_rpc_method_handler(echo)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("t", {"Echo": method}),)
        )
        port = server.add_insecure_port(f"{host}:0")
        await server.start()
        async with grpc.aio.insecure_channel(f"{host}:{port}") as channel:
            call = channel.stream_stream("/t/Echo")()
            await call.write(b"x" * 10_000)
            assert await call.read() == b"x" * 10_000
            found = 0
            with of_this_process(port)() as connections:
                for connection in connections:
                    # The client's own end of the line is a socket of this process as well.
                    if connection.peer == named.result():
                        assert 10_000 < connection.received_bytes < 20_000
                        connection.cut()
                        found += 1
            assert found == 1
            # Not the client's end: grpcio 1.75 misses one reset in some hundreds, and waits.
            await asyncio.wait_for(ended.wait(), 30)
        await server.stop(0)

    asyncio.run(main())


def test_sockets_that_listen_or_were_closed_are_passed_over():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with of_this_process(port)() as connections:
            assert list(connections) == []


def test_a_thread_checks_until_it_is_stopped():
    net = Net()
    net.now, net.cpu = time.monotonic, time.process_time
    monitor = ConnectionMonitor(net.connections, net.traffic)
    monitor.start()
    monitor.stop()
    assert not monitor._thread.is_alive()

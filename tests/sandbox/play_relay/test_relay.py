"""The relay passes on what bots and arena send, within its bounds."""

import array
import contextlib
import json
import socket

import pytest

from arena.sandbox.play_relay.budget import BURST_BYTES, BYTES_PER_S
from arena.sandbox.play_relay.relay import CHUNK_BYTES, MAX_CONNECTIONS, PlayRelay
from tests.attack.http2 import HEAD_BYTES, PREFACE, Frame, frame

BLOCK = frame(Frame.DATA, stream=1, body=bytes(16_384))
PRIORITIES = frame(Frame.PRIORITY, stream=1, body=bytes(5)) * 1_000


class Bench:
    """A relay with one bot, turned by hand, and an arena of plain sockets."""

    def __init__(self, folder):
        self.now_s = 0.0
        self.closing = contextlib.ExitStack()
        self.requests, theirs = map(
            self.closes, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        )
        self.requests.setblocking(False)
        self.relay = PlayRelay(theirs, lambda: self.now_s)
        self.closing.callback(self.relay.close)
        self.path = str(folder / "bot")
        self.arena = self.closes(listening(folder / "arena"))
        with listening(folder / "bot") as listener:
            rights = array.array("i", [listener.fileno()])
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
            request = json.dumps({"add": 1, "to": str(folder / "arena")})
            self.requests.sendmsg([request.encode()], ancillary)
        self.turn()

    def closes(self, end):
        """A socket that is closed at the end."""
        return self.closing.enter_context(end)

    def turn(self, times=5):
        for _ in range(times):
            self.relay.turn(0.0)

    def dial(self):
        """A connection of the bot."""
        near = self.closes(socket.socket(socket.AF_UNIX))
        near.setblocking(False)
        near.connect(self.path)
        self.turn()
        return near

    def pair(self):
        """Both ends of a relayed connection."""
        near = self.dial()
        far = self.closes(self.arena.accept()[0])
        far.setblocking(False)
        return near, far

    @property
    def reports(self):
        found = []
        while (data := received(self.requests)) is not None:
            found.append(json.loads(data))
        return found


def listening(path):
    found = socket.socket(socket.AF_UNIX)
    found.bind(str(path))
    found.listen(64)
    found.setblocking(False)
    return found


def received(end):
    """What has arrived; None if nothing has."""
    try:
        return end.recv(1 << 20)
    except BlockingIOError:
        return None


def filled(end, block, turn):
    """How many bytes are taken until no more are."""
    taken = 0
    for _ in range(1_000):
        try:
            taken += end.send(block)
        except BlockingIOError:
            before = taken
            turn()
            try:
                taken += end.send(block)
            except BlockingIOError:
                return before
    raise AssertionError("it is taken without end")


def read_all(end, turn):
    data = b""
    for _ in range(1_000):
        turn()
        part = received(end)
        if not part:
            return data
        data += part
    return data


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    with bench.closing:
        yield bench


def test_bytes_pass_unchanged_both_ways(bench):
    near, far = bench.pair()
    near.send(PREFACE + BLOCK)
    far.send(b"any bytes")
    bench.turn()
    assert received(far) == PREFACE + BLOCK
    assert received(near) == b"any bytes"


@pytest.mark.parametrize("side", ["bot", "arena"])
def test_a_side_that_does_not_read_is_waited_for_within_a_bound(bench, side):
    near, far = bench.pair()
    near.send(PREFACE)
    bench.turn()
    received(far)
    sender, reader = (far, near) if side == "bot" else (near, far)
    sent = filled(sender, BLOCK, bench.turn)
    (link,) = bench.relay._bots[1].links
    assert len(link.up) + len(link.down) <= CHUNK_BYTES
    assert len(read_all(reader, bench.turn)) == sent, "nothing is lost"
    sender.send(b"more")
    bench.turn()
    assert received(reader) == b"more"


def test_a_bot_that_does_not_read_is_not_read(bench):
    near, far = bench.pair()
    near.send(PREFACE)
    bench.turn()
    received(far)
    filled(far, BLOCK, bench.turn)
    near.send(frame(Frame.PING, body=bytes(8)))
    bench.turn()
    assert received(far) is None


@pytest.mark.parametrize("ends", ["bot", "arena"])
def test_what_was_sent_before_an_end_arrives_and_then_the_end(bench, ends):
    near, far = bench.pair()
    first, second = (near, far) if ends == "bot" else (far, near)
    first.send(b"the last bytes")
    first.close()
    bench.turn()
    assert received(second) == b"the last bytes"
    assert received(second) == b""
    assert bench.relay._bots[1].links == []


def test_an_end_behind_a_full_connection_is_waited_for_without_a_busy_loop(bench):
    near, far = bench.pair()
    sent = filled(far, BLOCK, bench.turn)
    far.close()
    assert bench.relay._poll.poll(0.0) == []
    assert len(read_all(near, bench.turn)) == sent


def test_a_bot_that_floods_loses_its_connections_is_reported_and_rests(bench):
    (bad, far), (other, _) = bench.pair(), bench.pair()
    bad.send(PREFACE)
    for _ in range(BURST_BYTES // len(PRIORITIES) + 2):
        try:
            bad.send(PRIORITIES)
        except OSError:
            break
        bench.turn()
        received(far)
    assert read_all(other, bench.turn) == b""
    assert bench.relay._bots[1].links == []
    (report,) = bench.reports
    assert report["bot"] == 1
    assert "bytes besides messages" in report["why"]
    assert report["flood_s"] == 0
    waiting = bench.dial()
    assert bench.relay._bots[1].links == []
    bench.now_s += BURST_BYTES / BYTES_PER_S
    bench.turn()
    assert len(bench.relay._bots[1].links) == 1
    waiting.close()


def test_a_frame_that_never_comes_to_its_end_counts_whole(bench):
    near, _ = bench.pair()
    near.send(PREFACE + b"\xff\xff\xff\xf0" + bytes(HEAD_BYTES))
    bench.turn()
    assert [each["bot"] for each in bench.reports] == [1]


def test_a_bot_has_so_many_connections_and_is_told_once_that_more_wait(bench):
    wires = [bench.dial() for _ in range(MAX_CONNECTIONS + 3)]
    bench.turn(20)
    links = bench.relay._bots[1].links
    assert len(links) == MAX_CONNECTIONS
    (report,) = bench.reports
    assert report == {"bot": 1, "why": f"it has {MAX_CONNECTIONS} connections, and more must wait"}
    wires[0].close()
    bench.turn()
    assert len(links) == MAX_CONNECTIONS, "the next one is accepted when one is closed"
    for wire in wires[1:]:
        wire.close()
        bench.turn()
    bench.turn(20)
    assert links == []
    assert bench.reports == []


def test_a_bot_that_connects_without_end_rests(bench):
    for _ in range(200):
        try:
            bench.dial().close()
        except OSError:
            break
        bench.turn()
    assert len(bench.reports) == 1


def test_a_bot_whose_arena_cannot_be_reached_is_tried_again(bench, tmp_path):
    bench.arena.close()
    first = bench.dial()
    assert received(first) == b""
    (tmp_path / "arena").unlink()
    bench.arena = bench.closes(listening(tmp_path / "arena"))
    bench.now_s += 1
    near, far = bench.pair()
    near.send(PREFACE)
    bench.turn()
    assert received(far) == PREFACE


def test_a_bot_that_is_removed_has_no_connections(bench):
    near, far = bench.pair()
    bench.requests.send(json.dumps({"remove": 1}).encode())
    bench.turn()
    assert received(near) == received(far) == b""
    with pytest.raises(ConnectionRefusedError):
        bench.dial()


def test_a_relay_ends_with_its_arena(bench):
    bench.requests.close()
    bench.relay.run()

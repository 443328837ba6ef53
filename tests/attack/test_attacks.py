"""Attacks over real sockets, beside a bot that only wants to play.

Times are measured by `scripts/chaos`; what is asserted of them here is so wide that it does
not depend on the machine.
"""

import asyncio
import gzip
import os
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from arena.api.admission.blocked_addresses import blocker
from arena.api.admission.calls import REQUEST_S
from arena.api.admission.connections import STRIKES, ConnectionMonitor
from arena.api.play import HELLO_S
from arena.bots.tokens import Tokens
from arena.live.limits import OWN_HELLOS
from arena.live.self_probe import SelfProbe
from tests.attack.culprits import BOMB, hello
from tests.attack.day import day
from tests.attack.floods import EXPECTED, Expected, floods, lasting_s
from tests.attack.http2 import PLAY, Frame, Wire, call, frame, said
from tests.attack.idle import Holder
from tests.attack.machine import Peak, use_of
from tests.attack.scenarios import SCENARIOS
from tests.attack.slopes import slope
from tests.attack.soak import _judged
from tests.attack.victim import Victim
from tests.chaos.processes import ROOT, Child, until
from tests.chaos.report import Report
from tests.live.running import running

SEED = 5
FLOOD_S = 3.0
"""An attacker is cut off within a second; some floods last longer, as `EXPECTED` says."""


@pytest.fixture(scope="module")
def flooded(request):
    """The report of an arena that was attacked in every way that a test of this run is about."""
    attacks = [
        item.callspec.params["attack"]
        for item in request.session.items
        if "flooded" in getattr(item, "fixturenames", ())
    ]
    return asyncio.run(floods(SEED, seconds=FLOOD_S, attacks=attacks))


@pytest.mark.deep("attacks")
@pytest.mark.parametrize("attack", EXPECTED)
def test_no_flood_costs_a_bot_a_move_or_much_time(attack, flooded):
    """At its real length: who plays on beside it is blamed for nothing, and is answered."""
    others = EXPECTED.keys() - {attack}
    assert [v for v in flooded.violations if v.where.partition(":")[0] not in others] == []


@pytest.mark.deep("attacks")
def test_a_flood_that_nothing_cuts_off_is_reported(monkeypatch):
    """The positive control."""
    monkeypatch.setitem(EXPECTED, "takeovers", Expected())
    report = asyncio.run(floods(SEED, seconds=0.3, attacks=("takeovers",), settle_s=0.1))
    (found,) = report.violations
    assert found.invariant == "an attacker is cut off"
    assert found.where.startswith("takeovers")


@pytest.mark.deep("attacks")
def test_a_bot_that_waits_is_reported(monkeypatch):
    """The positive control of latency: an arena whose every tenth answer comes late."""
    measured, late_s = Victim.measured, iter([0.0, 0.0, 10.0])

    async def measuring(self, seconds):
        add_s = next(late_s)
        return [
            wait_s + add_s * (at % 10 == 0)
            for at, wait_s in enumerate(await measured(self, seconds))
        ]

    monkeypatch.setattr(Victim, "measured", measuring)
    report = asyncio.run(floods(SEED, seconds=0.3, attacks=("garbage",), settle_s=0.1))
    (found,) = report.violations
    assert found.invariant == "the victim is answered during an attack"


# Frames that are no messages. Either defence alone is enough, and the test of one goes without
# the other; without both, such a flood makes time-outs of answers that were in time.

FRAMES_S = 8.0
"""Without either defence, in so long at least one answer is late more often than not."""
MOVE_MS = 400


async def beside_a_flood(address, tmp_path, move_ms):
    """A bot that has played on beside frames as fast as they go."""
    async with Victim(address, move_ms) as victim:
        await victim.measured(1)
        log = tmp_path / "culprit.log"
        culprit = Child("tests.attack.culprits", "priorities", address, FRAMES_S, log=log)
        try:
            await culprit.says(r"begins")
            assert await victim.measured(FRAMES_S), "it plays on"
        finally:
            culprit.kill()
    return victim


@pytest.mark.deep("attacks")
def test_a_flood_of_frames_costs_no_bot_a_move(tmp_path, monkeypatch):
    """What it holds up is refunded, though nobody cuts it off."""
    monkeypatch.setattr(ConnectionMonitor, "start", lambda _: None)
    with running(tmp_path / "arena", Tokens(guests=True)) as arena:
        victim = asyncio.run(beside_a_flood(arena.address, tmp_path, MOVE_MS))
        assert victim.faults == []


@pytest.mark.deep("attacks")
def test_a_flood_of_frames_is_cut_off_again_and_again(tmp_path, monkeypatch):
    monkeypatch.setattr(SelfProbe, "start", lambda _: None)
    watches, start = [], ConnectionMonitor.start
    monkeypatch.setattr(
        ConnectionMonitor, "start", lambda self: watches.append(self) or start(self)
    )
    with running(tmp_path / "arena", Tokens(guests=True)) as arena:
        asyncio.run(beside_a_flood(arena.address, tmp_path, 5_000))
        assert [watch.cut > 1 for watch in watches] == [True]


UNREAD = 6
"""Clients of this machine, which nothing blocks. Where gRPC counts pings itself, they make it grow by gigabytes."""
UNREAD_S = 5.0
UNREAD_MB = 150


@pytest.mark.deep("attacks")
def test_answers_that_are_not_read_take_little_memory(tmp_path):
    with running(tmp_path / "arena", Tokens(guests=True)) as arena:
        before_kb = use_of(os.getpid()).rss_kb

        async def flooded():
            culprits = [
                Child(
                    "tests.attack.culprits",
                    *("unread-pings", arena.address, UNREAD_S),
                    log=tmp_path / f"{number}.log",
                )
                for number in range(UNREAD)
            ]
            async with Peak(os.getpid()) as peak:
                for culprit in culprits:
                    await culprit.ended()
            return peak.rss_kb

        assert asyncio.run(flooded()) - before_kb < UNREAD_MB << 10


@pytest.mark.deep("attacks")
@pytest.mark.parametrize("attack", ["priorities", "resets"])
def test_a_flood_from_elsewhere_is_shut_out(attack):
    with socket.socket() as own:
        if not blocker(lambda: iter([own]))(["192.0.2.1"]):
            pytest.skip("this system lets this user filter no socket")
    report = asyncio.run(floods(SEED, seconds=FLOOD_S, attacks=(attack,), strangers=1))
    assert report.violations == []
    (attempts,) = (each.value for each in report.figures if each.what == f"{attack}: attempts")
    # One more may have come to the door before it was shut.
    assert STRIKES <= attempts <= STRIKES + 2


# Silence. One arena, and all that wait for a limit wait together.


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with running(tmp_path_factory.mktemp("arena"), Tokens(guests=True)) as arena:
        yield arena


LOBBY = "/cardarena.v1.LobbyService/ListGames"
REPLAYS = "/cardarena.v1.ReplayService/GetReplay"
HEALTH = "/grpc.health.v1.Health/Watch"
HALF = said(1, bytes(1000))[:20]

# fmt: off
SILENCES = [
    # opens                           within     why
    (b"",                             None,      "a connection that says nothing at all"),
    (call(1, PLAY),                   HELLO_S,   "a play stream without hello"),
    (call(1, PLAY) + HALF,            HELLO_S,   "a play stream with half a hello"),
    (call(1, LOBBY),                  REQUEST_S, "a call without its request"),
    (call(1, LOBBY) + HALF,           REQUEST_S, "a call with half a request"),
    (call(1, REPLAYS),                REQUEST_S, "a call that would be answered by a stream"),
    (call(1, HEALTH),                 REQUEST_S, "a call that would be answered without end"),
    (call(1, LOBBY, authorization="Bearer arena_x"), 1.0, "one with a bad token, refused at once"),
]
# fmt: on


@pytest.mark.deep("attacks")
def test_whoever_says_nothing_is_cut_off(arena):
    wires = [Wire(arena.address, silent=not opens) for opens, _, _ in SILENCES]
    for wire, (opens, _, _) in zip(wires, SILENCES, strict=True):
        wire.send(opens)
    end_s = time.monotonic() + 2 * HELLO_S
    for wire, (opens, _, why) in zip(wires, SILENCES, strict=True):
        left_s = end_s - time.monotonic()
        if opens:
            assert wire.wait_for(lambda seen: seen.ends_stream, left_s), why
        else:
            assert wire.wait_closed(left_s), why
        wire.close()
    assert arena.limits.open == (0, 0)


async def none(look, what):
    await until(lambda: not look(), what)


@pytest.mark.deep("attacks")
def test_a_bot_that_does_not_read_is_let_go_though_it_cannot_be_told(arena):
    """Nothing can be sent to it, so its call stays open; nothing is kept behind it."""
    with Wire(arena.address, window=0) as wire:
        wire.send(call(1) + said(1, hello("mute")))
        asyncio.run(until(lambda: connected(arena, "mute"), "its hello"))
        wire.send(said(1, b"\xff\xff") * 30)
        asyncio.run(none(lambda: connected(arena, "mute"), "the end of its session"))
        assert arena.metrics.counts.waiting_bytes == 0
        assert arena.limits.open == (1, 0), "it counts for its address until it has gone"
        assert arena.metrics.counts.streams_closed["TOO_MANY_REFUSALS"] >= 1
    asyncio.run(none(lambda: arena.limits.open[0], "its call's end"))


def test_idle_streams_are_held_and_their_loss_is_noticed(arena):
    holder = Holder(arena.address)
    for number in range(5):
        holder.add(number)
    holder.rest(0.1)
    assert holder.open == 5
    for session in arena.sessions:
        if session.bot.name.startswith("idle"):
            arena.matches._token.run_sync_soon(session.close)
    asyncio.run(none(lambda: arena.limits.open[0], "the streams' end"))
    holder.rest(0.2)
    assert holder.open == 0


def connected(arena, name):
    return any(each.bot.name == name and each.connected for each in arena.sessions)


@pytest.mark.deep("attacks")
def test_a_bot_that_neither_reads_nor_speaks_is_let_go_when_the_arena_closes_it(arena):
    with Wire(arena.address, window=0) as wire:
        wire.send(call(1) + said(1, hello("still")))
        asyncio.run(until(lambda: connected(arena, "still"), "its hello"))
        (session,) = [each for each in arena.sessions if each.bot.name == "still"]
        arena.matches._token.run_sync_soon(session.close)
        asyncio.run(none(lambda: connected(arena, "still"), "the end of its session"))


@pytest.mark.deep("attacks")
def test_what_was_said_to_a_bot_that_reads_again_reaches_it(arena):
    with Wire(arena.address, window=0) as wire:
        wire.send(call(1) + said(1, hello("late reader")))
        asyncio.run(until(lambda: connected(arena, "late reader"), "its hello"))
        wire.send(said(1, b"\xff\xff") * 30)
        asyncio.run(none(lambda: connected(arena, "late reader"), "the end of its session"))
        wire.send(frame(Frame.WINDOW_UPDATE, stream=1, body=(1 << 16).to_bytes(4)))
        assert wire.wait_for(lambda seen: seen.ends_stream, 5.0), "it learns why it was cut off"


def test_a_compressed_message_is_refused_before_it_is_unpacked(arena):
    """Even one that would pass: a bomb is known only when it has gone off."""
    data = gzip.compress(hello("zipped"))
    with Wire(arena.address) as wire:
        wire.send(call(1, **{"grpc-encoding": "gzip"}) + said(1, data, compressed=True))
        first = wire.wait_for(
            lambda seen: seen.stream == 1 and seen.kind in (Frame.DATA, Frame.HEADERS), 5.0
        )
        assert first.ends_stream, "it is refused, not welcomed"
    assert len(BOMB) < 65_536, "a bomb is no larger than a message may be"


def test_one_bot_may_not_say_hello_without_end(arena):
    with Wire(arena.address) as wire:
        for stream in range(1, 300, 2):
            wire.send(call(stream) + said(stream, hello("again")))
            wire.frames(0.0)
        asyncio.run(none(lambda: arena.limits.open[0] > 1, "all but one stream to end"))
    (session,) = [each for each in arena.sessions if each.bot.name == "again"]
    assert OWN_HELLOS <= session.epoch < 150


# Another arena.


@pytest.mark.deep("attacks")
def test_a_second_arena_is_refused_in_one_sentence(tmp_path):
    def start(folder, port):
        return subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.server", "serve", "--data", folder, "--port", port],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    first = start(tmp_path / "one", "0")
    try:
        port = first.stdout.readline().partition("127.0.0.1:")[2].partition(".")[0]
        folder = tmp_path / "one"
        refused = {
            start(folder, "0"): f"another arena is running in the folder {folder}; "
            "give this one its own with --data",
            start(
                tmp_path / "two", port
            ): f"cannot listen on 127.0.0.1:{port}: the port is in use; choose another one",
        }
        for second, sentence in refused.items():
            out, err = second.communicate(timeout=60)
            assert second.returncode == 1
            assert out == ""
            assert " ".join(err.split()) == f"Error: {sentence}"
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()


# How growth is judged.

# fmt: off
GROWTH = [
    # measured                                       slope  grows  why
    ([(x, 2 * x) for x in range(30)],                2.0,   True,  "a clean line"),
    ([(x, 5) for x in range(30)],                    0.0,   False, "nothing changes"),
    ([(x, 5 + x % 2) for x in range(60)],            0.0,   False, "a saw that does not climb"),
    ([(x, x + 3 * (-1) ** x) for x in range(200)],   1.0,   True,  "a saw that climbs"),
    ([(x, (x // 25) % 2) for x in range(100)],       0.0,   False, "waves longer than samples are apart"),
]
# fmt: on


@pytest.mark.parametrize(("points", "per_unit", "grows", "why"), GROWTH, ids=[r[3] for r in GROWTH])
def test_a_slope_is_found_with_its_uncertainty(points, per_unit, grows, why):
    found = slope(points)
    assert found.per_unit == pytest.approx(per_unit, abs=0.02)
    assert (found.low > 0) is grows


@pytest.mark.parametrize("name", EXPECTED)
def test_an_attack_lasts_longer_than_it_may_go_on(name):
    """Also in the quick form, in which each is to last a second."""
    expected = EXPECTED[name]
    assert lasting_s(expected, SCENARIOS["floods"].quick["seconds"]) > (expected.cut_s or 0)


# fmt: off
RUNS = [
    # minutes  MB at each second                        files at each second            violations                 why
    (0.5,      lambda at_s: 100 + at_s,                 lambda at_s: 20 + 2 * at_s,     None,                      "a quick run is all warm-up"),
    (5,        lambda at_s: 100 + at_s,                 lambda at_s: 20,                None,                      "less than so long after it"),
    (10,       lambda at_s: 100 + min(at_s, 190),       lambda at_s: 20,                [],                        "it grows while it warms up"),
    (10,       lambda at_s: 100 + at_s / 60,            lambda at_s: 20,                ["memory does not grow"],  "60 MB an hour"),
    (10,       lambda at_s: 100,                        lambda at_s: 20 + at_s // 10,   ["files stay flat"],       "a file in ten seconds"),
    (60,       lambda at_s: 100 + min(at_s, 1_190) / 9, lambda at_s: 20,                [],                        "of an hour a third is left out"),
]
# fmt: on


@pytest.mark.parametrize(
    ("minutes", "memory_mb", "files", "violations", "why"), RUNS, ids=[row[-1] for row in RUNS]
)
def test_growth_is_judged_after_warm_up_alone(minutes, memory_mb, files, violations, why):
    samples = [
        (at_s, SimpleNamespace(rss_kb=1024 * memory_mb(at_s), fds=files(at_s), threads=9), 30)
        for at_s in range(int(60 * minutes))
    ]
    report = _judged(Report(), samples)
    assert [each.invariant for each in report.violations] == (violations or [])
    named = {figure.what: figure for figure in report.figures}
    assert ("measured after warm-up" in named) is (violations is None), (
        "it says that it cannot tell"
    )
    assert all(figure.met is None for figure in report.figures) is (violations is None)


@pytest.mark.deep("attacks")
def test_an_hour_on_a_mock_clock_breaks_nothing():
    """Half of the bots are faulty; the arena is killed and drained on the way."""
    report = asyncio.run(day(11, hours=1.0))
    assert report.violations == []
    counted = {figure.what: figure.value for figure in report.figures}
    assert counted.get("kills", 0) + counted.get("restarts", 0) >= 2
    assert counted["decisions"] > 1_000

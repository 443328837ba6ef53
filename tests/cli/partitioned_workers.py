"""Cuts the network between an arena and its workers, each in a network namespace of its own: the same standings, to the byte.

`python -m tests.cli.partitioned_workers` needs root. The arena listens with TLS. Its limits are a tenth: it gives up a
worker that is silent for 6 s, and a worker a connection that does not answer for 3 s. So a cut of 2 s is short, and one
of 15 s is long. The twin is played by one process in no namespace.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.records.read import Replay
from tests.cli.killed_competitions import ROOT, arena, is_finished
from tests.cli.killed_workers import DEAL_SETS, plan, started, twin
from tests.cli.test_worker import begun, keyed, made, standings
from tests.doubles.certificates import Authority

SWITCH, ARENA, MACHINES = "ca-switch", "ca-arena", ("ca-m1", "ca-m2")
ADDRESSES = {ARENA: "10.77.0.1", MACHINES[0]: "10.77.0.2", MACHINES[1]: "10.77.0.3"}
PORT = 7654
TENTH = """
from arena.cli import worker_process
from arena.contests.workers import processes, worker as workers
workers.SILENT_S = processes.SILENT_S = 6.0
worker_process._KEEPALIVE = (("grpc.keepalive_time_ms", 2_000), ("grpc.keepalive_timeout_ms", 1_000))
"""
SHORT_S, LONG_S = 2.0, 15.0
LONGEST_S = 300.0


def run(command):
    subprocess.run(command.split(), check=True)


@contextlib.contextmanager
def network(addresses=ADDRESSES):
    """A switch with a machine for each address."""
    namespaces = (SWITCH, *addresses)
    for each in namespaces:
        subprocess.run(["ip", "netns", "del", each], check=False, stderr=subprocess.DEVNULL)
    try:
        for each in namespaces:
            run(f"ip netns add {each}")
            run(f"ip -n {each} link set lo up")
        run(f"ip -n {SWITCH} link add bridge type bridge")
        run(f"ip -n {SWITCH} link set bridge up")
        for each, address in addresses.items():
            run(f"ip link add eth0 netns {each} type veth peer name {each} netns {SWITCH}")
            run(f"ip -n {SWITCH} link set {each} master bridge up")
            run(f"ip -n {each} address add {address}/24 dev eth0")
            run(f"ip -n {each} link set eth0 up")
        yield
    finally:
        for each in namespaces:
            subprocess.run(["ip", "netns", "del", each], check=False)


@contextlib.contextmanager
def cut(machine):
    """Nothing passes between a machine and the others."""
    run(f"ip -n {SWITCH} link set {machine} down")
    try:
        yield
    finally:
        run(f"ip -n {SWITCH} link set {machine} up")


@contextlib.contextmanager
def one_way(sender, receiver):
    """Nothing passes from one machine to another; the other way is open."""
    rule = f"OUTPUT -d {ADDRESSES[receiver]} -j DROP"
    run(f"ip netns exec {sender} iptables -A {rule}")
    try:
        yield
    finally:
        run(f"ip netns exec {sender} iptables -D {rule}")


FIRST, SECOND = MACHINES
# fmt: off
CUTS = [
    # how the network is cut                                       for      what it is
    (lambda: cut(FIRST),                                           SHORT_S, "a worker, for less than the limits"),
    (lambda: cut(FIRST),                                           LONG_S,  "a worker, for more than the limits"),
    (lambda: cut(ARENA),                                           LONG_S,  "the arena from both workers"),
    (lambda: one_way(ARENA, FIRST),                                LONG_S,  "only from the arena to a worker"),
    (lambda: one_way(FIRST, ARENA),                                LONG_S,  "only from a worker to the arena"),
]
# fmt: on


def within(namespace, command):
    """A command whose processes are in a namespace."""
    words = list(command)
    # The processes of workers, which it starts, have the limits, too.
    program = words[2].replace('("-c", ', '("-c", TENTH + ', 1)
    words[2] = f"TENTH = {TENTH!r}\nexec(TENTH)\n{program}"
    return ["ip", "netns", "exec", namespace, *words]


def trial(folder, alone, seed, way, lasts_s):
    """Play a competition, with the network cut on the way; the standings, and the begins of its deal-sets."""
    data = folder / "data"
    made(data, plan(seed, "speed_class = 0\n"))
    keyed(data)
    authority = Authority.make(folder, "authority")
    certificate, key = authority.sign("arena", f"IP:{ADDRESSES[ARENA]}")
    serve = arena(data, "serve", "--host", ADDRESSES[ARENA], "--port", str(PORT), "--no-metrics",
                  "--tls-cert", str(certificate), "--tls-key", str(key))  # fmt: skip
    at = ("--server", f"https://{ADDRESSES[ARENA]}:{PORT}", "--token-file", str(data / "token"),
          "--ca", str(authority.file), "--speed-class", "0")  # fmt: skip
    processes = [started(data, within(ARENA, serve))]
    time.sleep(3)
    for each in MACHINES:
        (folder / each).mkdir()
        processes.append(started(folder / each, within(each, arena(folder / each, "worker", *at))))
    try:
        end_s = time.monotonic() + LONGEST_S

        def until(happened):
            while not happened():
                told = [(each / "told").read_text("utf-8", "replace")[-1500:]
                        for each in (data, *(folder / each for each in MACHINES))]  # fmt: skip
                assert time.monotonic() < end_s, told
                time.sleep(0.05)

        until(lambda: begun(data) >= 8)
        with way():
            time.sleep(lasts_s)
        until(lambda: is_finished("swiss", data))
    finally:
        for each in processes:
            each.kill()
            each.wait()
    workers = {
        Replay.open(path).opened.played_at.worker for path in (data / "replays").glob("*.replay")
    }
    assert workers == {"m1"}, workers
    return standings(data, alone), begun(data)


def main():
    different, began_s = 0, time.monotonic()
    for seed, (way, lasts_s, what) in enumerate(CUTS, 1):
        with network(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            alone, expected = twin(Path(folder), seed)
            found, begins = trial(Path(folder), alone, seed, way, lasts_s)
            different += found != expected
            verdict = "the same standings" if found == expected else "OTHER STANDINGS"
            sys.stdout.write(
                f"{time.monotonic() - began_s:5.0f} s  {what}, {lasts_s:.0f} s: {verdict}; {3 * DEAL_SETS} deal-sets, {begins} begins\n"
            )
            sys.stdout.flush()
    return int(different > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and leave no process behind
    sys.exit(main())

"""`python -m bench.covert_channels`: how many bits a second two sandboxed bots pass by what they share.

The channels are those that a sandbox does not close. Two bots agree on slots of the clock. The
sender does something in the slots of ones and nothing in those of noughts; the receiver measures in
each slot, and learns a threshold in the first half of the slots. The share of errors in the second
half gives the capacity of the channel. A program in C would pass more, and a busy machine passes less.
"""

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from arena.sandbox import BotCommand, Sandbox, launch

RUN_S = 4.0
"""The time of one run of a channel with slots."""
START_S = 2.0
"""The time that both bots have to start."""
PAGES = 4096
"""Bits of the page cache: pages of a file that the sender has read or not."""

BOT = """
import ctypes, json, mmap, os, random, struct, sys, time
shared, count, slot_ns, begin_ns = sys.argv[1], *map(int, sys.argv[2:])
chance = random.Random(7)
bits = [chance.getrandbits(1) for _ in range(count)]
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = os.open(shared, os.O_RDONLY)
now = time.monotonic_ns

def until(end_ns):
    if (left_ns := end_ns - now()) > 200_000:
        time.sleep((left_ns - 100_000) / 1e9)
    while now() < end_ns:
        pass

def page_of(offset):
    at = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(offset))
    ctypes.string_at(at, 1)
    return at

def wrong(values, bits):
    half = len(bits) // 2
    ones = sorted(v for v, b in zip(values[:half], bits) if b)
    zeros = sorted(v for v, b in zip(values[:half], bits) if not b)
    middle = (ones[len(ones) // 2] + zeros[len(zeros) // 2]) / 2
    more = ones[len(ones) // 2] >= zeros[len(zeros) // 2]
    return sum(((v > middle) == more) != bool(b) for v, b in zip(values[half:], bits[half:])) / (
        len(bits) - half
    )

def run_slots(step):
    found = []
    for number, bit in enumerate(bits):
        until(begin_ns + number * slot_ns)
        found.append(step(bit, begin_ns + (number + 1) * slot_ns))
    return found
"""
SENDS = "run_slots(send)"
RECEIVES = "print(json.dumps({'wrong': wrong(run_slots(receive), bits)}))"


@dataclass(frozen=True)
class Slots:
    """A channel by what one bot does while the other one measures."""

    name: str
    send: str
    receive: str
    slots_ms: tuple[float, ...]


CHANNELS = (
    Slots(
        "processor load",
        """
for _ in range(os.cpu_count() - 1):
    if (pid := os.fork()) == 0:
        break
def send(bit, end_ns):
    while bit and now() < end_ns:
        pass
""",
        """
def receive(bit, end_ns):
    count = 0
    while now() < end_ns:
        count += 1
    return count
""",
        (2, 5, 20, 50, 200),
    ),
    Slots(
        "memory bus and processor cache",
        """
block = bytearray(32 << 20)
def send(bit, end_ns):
    while bit and now() < end_ns - 1_000_000:
        block[: 4 << 20] = block[-(4 << 20) :]
""",
        """
block = bytearray(8 << 20)
def receive(bit, end_ns):
    count = 0
    while now() < end_ns:
        block[: 1 << 18] = block[-(1 << 18) :]
        count += 1
    return count
""",
        (2, 5, 20, 50),
    ),
    Slots(
        "inode numbers of pipes",
        """
os.sched_setaffinity(0, {0})
def send(bit, end_ns):
    if bit:
        for _ in range(20):
            for fd in os.pipe():
                os.close(fd)
""",
        """
os.sched_setaffinity(0, {0})
before = 0
def receive(bit, end_ns):
    global before
    until(end_ns - slot_ns // 8)
    pipe = os.pipe()
    number = os.fstat(pipe[0]).st_ino
    for fd in pipe:
        os.close(fd)
    before, passed = number, number - before
    return min(passed, 1000)
""",
        (0.5, 1, 3, 10, 30),
    ),
    Slots(
        "futex of a shared page",
        """
at = page_of(0)
word = ctypes.c_uint32.from_address(at).value
def send(bit, end_ns):
    if bit and (left_ns := end_ns - now()) > 0:
        libc.syscall(202, ctypes.c_void_p(at), 0, word, struct.pack("qq", 0, left_ns))
""",
        """
at = page_of(0)
def receive(bit, end_ns):
    until(end_ns - slot_ns // 2)
    return libc.syscall(202, ctypes.c_void_p(at), 1, 9)
""",
        (0.1, 0.2, 0.5, 1, 3, 10),
    ),
    Slots(
        "shared pages in /proc/self/pagemap",
        """
def send(bit, end_ns):
    if bit:
        at = page_of(0)
        until(end_ns - slot_ns // 8)
        libc.munmap(ctypes.c_void_p(at), 4096)
""",
        """
at = page_of(0)
pages = os.open("/proc/self/pagemap", os.O_RDONLY)
def receive(bit, end_ns):
    until(end_ns - slot_ns // 2)
    (entry,) = struct.unpack("Q", os.pread(pages, 8, at // 4096 * 8))
    return entry >> 56 & 1
""",
        (0.2, 0.5, 1, 3, 10),
    ),
)
READ = """
took_ns = time.perf_counter_ns()
pages = mmap.mmap(file, 0, mmap.MAP_SHARED, mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
"""
SEND_PAGES = f"""{READ}
for number, bit in enumerate(bits):
    bit and pages[number * 4096]
print(json.dumps({{"took_ns": time.perf_counter_ns() - took_ns}}))
"""
RECEIVE_PAGES = f"""{READ}
values = []
for number in range(count):
    began = time.perf_counter_ns()
    pages[number * 4096]
    values.append(time.perf_counter_ns() - began)
took_ns = time.perf_counter_ns() - took_ns
print(json.dumps({{"took_ns": took_ns, "wrong": wrong(values, bits)}}))
"""


def capacity(wrong: float) -> float:
    """Bits that a symmetric channel passes with each bit that is sent, of which some are wrong."""
    share = min(max(wrong, 1e-9), 1 - 1e-9)
    return 1 + share * math.log2(share) + (1 - share) * math.log2(1 - share)


class Pair:
    """Two bots in sandboxes of their own, and a file that both may read."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self.shared = folder / "shared"

    async def run(self, name: str, code: str, numbers: Sequence[int]) -> dict[str, float]:
        """Run one of them; what it printed."""
        path = self._folder / f"{name}.py"
        path.write_text(BOT + code)
        words = map(str, (sys.executable, "-S", path, self.shared, *numbers))
        process = await launch(
            BotCommand(name, tuple(words)), self._folder / "run" / name, {}, sandbox=self._sandbox
        )
        await process.watch()
        text = process.last_words()
        assert process.returncode == 0, text
        found: dict[str, float] = json.loads(text.splitlines()[-1]) if text else {}
        return found

    async def in_slots(self, channel: Slots, slot_ms: float) -> float:
        """The share of wrong bits."""
        slot_ns = int(slot_ms * 1e6)
        count = min(4000, int(RUN_S * 1e9 / slot_ns))
        numbers = (count, slot_ns, time.monotonic_ns() + int(START_S * 1e9))
        found: dict[str, float] = {}

        async def receive() -> None:
            found.update(await self.run("receives", channel.receive + RECEIVES, numbers))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(receive)
            nursery.start_soon(self.run, "sends", channel.send + SENDS, numbers)
        return found["wrong"]

    async def in_pages(self) -> tuple[float, float]:
        """The share of wrong bits of the page cache, and bits that are sent and read a second.

        The sender has ended when the receiver starts.
        """
        with self.shared.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        sent = await self.run("sends", SEND_PAGES, (PAGES, 0, 0))
        read = await self.run("receives", RECEIVE_PAGES, (PAGES, 0, 0))
        return read["wrong"], PAGES / ((sent["took_ns"] + read["took_ns"]) / 1e9)


async def measure(pair: Pair, only: str) -> None:
    """Measure each channel, and print its best slot."""
    print("| channel | slot | wrong bits | bits a second |\n|---|---:|---:|---:|")
    if only in "page cache by time":
        wrong, rate = await pair.in_pages()
        print(
            f"| page cache by time, also after the sender's end | | {wrong:.1%} | {capacity(wrong) * rate:,.0f} |"
        )
    for channel in CHANNELS:
        if only not in channel.name:
            continue
        best = (-1.0, 0.0, 0.0)
        for slot_ms in channel.slots_ms:
            wrong = await pair.in_slots(channel, slot_ms)
            best = max(best, (capacity(wrong) * 1000 / slot_ms, slot_ms, wrong))
        rate, slot_ms, wrong = best
        print(f"| {channel.name} | {slot_ms:g} ms | {wrong:.1%} | {rate:,.0f} |", flush=True)


def main() -> None:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of a channel's name")
    parser.add_argument("--folder", type=Path, help="on the disk whose page cache is measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        folder = Path(made)
        folder.chmod(0o755)
        with Sandbox(data=folder / "data") as sandbox:
            pair = Pair(sandbox, folder / "bots")
            pair.shared.parent.mkdir()
            pair.shared.write_bytes(random.Random(1).randbytes(PAGES * 4096))
            print(f"{sandbox.level}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
            trio.run(measure, pair, given.only)


if __name__ == "__main__":
    main()

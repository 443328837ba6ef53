"""One heap for all threads: what gRPC's threads give back is there for the others."""

import os
import platform
import subprocess
import sys

import pytest

# Threads that all hold memory at the same time, and how many heaps the C library has made for them.
PROGRAM = """
import ctypes, re, sys, threading
from arena.heap import share_one_heap

shared = share_one_heap() if sys.argv[1] == "shared" else None
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
gate = threading.Barrier(9)

def take():
    libc.malloc(1000)  # a foreign call: other threads run meanwhile
    gate.wait()
    gate.wait()

threads = [threading.Thread(target=take) for _ in range(8)]
for each in threads:
    each.start()
gate.wait()
libc.open_memstream.restype = ctypes.c_void_p
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(shared, len(re.findall(rb"<heap nr=", text.value)))
gate.wait()
"""


def heaps(how, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, how],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    shared, count = ran.stdout.split()
    return shared, int(count)


if platform.libc_ver()[0] != "glibc":
    pytest.skip("another C library than glibc has no such heaps", allow_module_level=True)


def test_threads_have_heaps_of_their_own_unless_told():
    """Else the next test would prove nothing."""
    assert heaps("apart")[1] > 1


def test_all_threads_take_from_one_heap():
    assert heaps("shared") == ("True", 1)


def test_whoever_sets_the_number_of_heaps_keeps_it():
    shared, count = heaps("shared", MALLOC_ARENA_MAX="2")
    assert (shared, count) == ("False", 2)

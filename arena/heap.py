"""One heap for all threads of a process, where the C library would give each its own."""

import ctypes
import os
from typing import Final

_M_ARENA_MAX: Final = -8
"""glibc's parameter of `mallopt(3)`: how many heaps ("arenas") there may be."""


def share_one_heap() -> bool:
    """Have all threads take memory from one heap; to be called before there are any.

    glibc gives up to eight heaps for each processor to the threads that ask. What gRPC's threads take in
    one and give back in another stays there for as long as it lies between other pieces, so that a
    server whose calls come and go grows by some hundred bytes with each of them, without end. One heap
    takes turns; Python's threads do so in any case.

    Returns whether there is one heap now. It is left as it is where `MALLOC_ARENA_MAX` is set, and by a C
    library that is not glibc.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(mallopt(_M_ARENA_MAX, 1))

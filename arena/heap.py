"""Makes all threads of a process share one heap of the C library."""

import ctypes
import os
from typing import Final

_M_ARENA_MAX: Final = -8
"""glibc's parameter of `mallopt(3)` for the largest number of heaps ("arenas")."""


def share_one_heap() -> bool:
    """Make all threads allocate from one heap; to be called before the first thread starts.

    glibc has up to eight heaps for each processor, one for each thread that allocates. Memory that gRPC's threads
    allocate in one heap and free in another is not returned to the system while other blocks surround it, so that a
    server grows by some hundred bytes with each call. With one heap threads wait for each other, as Python's threads do
    in any case.

    Returns whether there is one heap now. Nothing is changed if `MALLOC_ARENA_MAX` is set, or if the C library is not
    glibc.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(mallopt(_M_ARENA_MAX, 1))

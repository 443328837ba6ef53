"""A process that does some of another's work, and ends with it."""

import os
import signal
from multiprocessing import connection, parent_process
from threading import Thread


def end_with_parent() -> None:
    """Have this process, a worker, ended by its parent alone, and end when that has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
    parent = parent_process()
    assert parent is not None
    Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End this process when its parent has ended, however that came; no work is waited for."""
    connection.wait([sentinel])
    os._exit(1)

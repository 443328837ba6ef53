"""Worker processes, which end with their parent process."""

import os
import signal
from multiprocessing import connection, parent_process
from threading import Thread


def end_with_parent() -> None:
    """Let this worker process end only by its parent, and when the parent has ended."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the parent, which ends this process
    parent = parent_process()
    assert parent is not None
    Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End this process at once when its parent has ended, for any reason."""
    connection.wait([sentinel])
    os._exit(1)

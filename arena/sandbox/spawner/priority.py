"""Lowers the priority of a bot: the arena gets processor time and memory before it."""

import errno
import os
from contextlib import suppress
from typing import Final

NICE: Final = 5
"""The niceness of bots relative to the arena; they have a third of its weight.

With more, other programs of a busy machine would delay their answers too much.
"""
OOM_SCORE_ADJ: Final = 1000
"""The kernel ends bots first when memory runs out, the largest of them before the others."""
_NICEST: Final = 19


def put_below(group: int) -> None:
    """Lower the priority of a process group, given by the id of its leader; 0 is this process's.

    Processes that it starts inherit that.
    """
    nice = os.getpriority(os.PRIO_PROCESS, 0) + NICE
    with suppress(OSError):  # the process may have ended
        os.setpriority(os.PRIO_PGRP, group, min(nice, _NICEST))
        with open(f"/proc/{group or 'self'}/oom_score_adj", "w", encoding="ascii") as file:
            file.write(str(OOM_SCORE_ADJ))


def lower_session(pid: int) -> bool:
    """Lower the session of a process, if the kernel shares the processor among sessions first.

    Return false if the call has to be repeated: without privileges the kernel lets one session be lowered every 0.1 s.
    """
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
            file.write(str(NICE))
    except OSError as error:  # the process may have ended, and some kernels have no such file
        return error.errno != errno.EAGAIN
    return True

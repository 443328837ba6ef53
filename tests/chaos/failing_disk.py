"""A disk that fails from its nth write or sync on, for one process and one folder.

Writes elsewhere, as those of the log, go on.
"""

import errno
import os
from pathlib import Path

from arena import durable_files

FULL, TORN, UNSYNCED = "full", "torn", "unsynced"
"""Nothing more can be written; the same, after half of the nth write; nothing can be synced."""
DEEDS = (FULL, TORN, UNSYNCED)


class FailingDisk:
    """Counts what is written below a folder and fails from the nth time on, for good."""

    def __init__(self, folder, nth, deed):
        self._folder, self._nth, self._deed = str(folder), nth, deed
        self._count = 0

    def install(self):
        """Take the place of the functions of this process."""
        if self._deed == UNSYNCED:
            sync = durable_files.sync_data

            def failing_sync(fd):
                if self._due(fd):
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                sync(fd)

            durable_files.sync_data = failing_sync
            return
        write = os.write

        def failing_write(fd, data):
            if not self._due(fd):
                return write(fd, data)
            if self._deed == TORN and self._count == self._nth and len(data) > 1:
                return write(fd, bytes(data)[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        os.write = failing_write

    def _due(self, fd):
        """Whether it fails this time."""
        if not str(Path(f"/proc/self/fd/{fd}").readlink()).startswith(self._folder):
            return False
        self._count += 1
        return self._count >= self._nth

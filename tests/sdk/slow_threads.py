"""The kit's Python client on a machine so busy that gRPC's threads keep their locks for a while.

At its end it says which threads are left, by a handler of its author's.
"""

import atexit
import runpy
import sys
import threading
import time
from pathlib import Path
from typing import Final

from grpc import _channel

from cardarena import _connection

CLIENT: Final = (
    Path(__file__).resolve().parents[2] / "clients" / "conformance" / "python" / "client.py"
)
KEPT_S: Final = 0.3
OWN: Final = {"MainThread", "cardarena"}

receiving = threading.Event()


class Kept(threading.Condition):
    """A lock that gRPC's threads give back late, once the arena has said something."""

    def __exit__(self, *raised):
        if receiving.is_set() and threading.current_thread().name not in OWN:
            time.sleep(KEPT_S)
        return super().__exit__(*raised)


class Threading:
    """What gRPC takes for the module `threading`."""

    Condition = Kept

    def __getattr__(self, name):
        return getattr(threading, name)


def receive(self, *given):
    receiving.set()
    return right(self, *given)


def say_who_is_left():
    names = [thread.name for thread in threading.enumerate()]
    sys.stderr.write(f"at exit there are {names}\n")


if __name__ == "__main__":
    right = _connection.Connection._receive
    _connection.Connection._receive = receive
    _channel.threading = Threading()
    atexit.register(say_who_is_left)
    sys.argv[0] = str(CLIENT)
    runpy.run_path(str(CLIENT), run_name="__main__")

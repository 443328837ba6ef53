"""The `arena` command as a person would start it, tied to the process that tests it.

    python -m tests.chaos.server serve --data FOLDER --port PORT

With FAILING_DISK set to `FOLDER NTH DEED`, writes into that folder fail. With ANSWERS_KEPT, nothing that
the arena has worked out is kept but the last so many answers of each kind. STRANGERS is a network of loopback
addresses that are taken for other machines': on this machine, where honest bots may live beside, nobody is kept out.
"""

import functools
import ipaddress
import os
import sys

from tests.chaos.processes import ANSWERS_KEPT, FAILING_DISK, STRANGERS, die_with_parent


def keep(answers):
    """Bound every `lru_cache` of modules that are imported from now on."""
    cached = functools.lru_cache

    def bounded(maxsize=128, typed=False):
        if callable(maxsize):
            return cached(answers)(maxsize)
        return cached(maxsize if maxsize is None else min(maxsize, answers), typed)

    functools.lru_cache = bounded


def estrange(strangers):
    """Have the addresses of a network be no loopback addresses to this process."""
    network, is_loopback = ipaddress.IPv4Network(strangers), ipaddress.IPv4Address.is_loopback
    ipaddress.IPv4Address.is_loopback = property(
        lambda each: each not in network and is_loopback.fget(each)
    )


if __name__ == "__main__":
    die_with_parent()
    if ANSWERS_KEPT in os.environ:
        keep(int(os.environ.pop(ANSWERS_KEPT)))
    if STRANGERS in os.environ:
        estrange(os.environ.pop(STRANGERS))
    from arena.cli import main

    if FAILING_DISK in os.environ:
        from tests.chaos.failing_disk import FailingDisk

        folder, nth, deed = os.environ.pop(FAILING_DISK).rsplit(" ", 2)
        FailingDisk(folder, int(nth), deed).install()
    main(sys.argv[1:], prog_name="arena")

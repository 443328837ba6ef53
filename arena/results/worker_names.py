"""Names of workers on other machines: `key@host`, or the key's name without a known host."""

import re
from typing import Final

HOST: Final = re.compile(r"[A-Za-z0-9._-]{0,64}")
"""A name of a host."""


def key_of(worker: str) -> str:
    """Return the name of the key with which a worker has joined; that of a local worker is its own name."""
    return worker.partition("@")[0]

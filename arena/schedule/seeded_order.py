"""Draws by lot: sorting by SHA-256, which is the same on every machine and with every version of Python."""

import hashlib
import json
from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")


def digest(*about: object) -> str:
    """The SHA-256 of JSON values, in hexadecimal."""
    # JSON separates the parts: ("a", "bc") and ("ab", "c") have different digests.
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def shuffled(items: Iterable[_T], *about: object) -> list[_T]:
    """The items in an order drawn by lot; `about` are the inputs, such as a seed and a round."""
    return sorted(items, key=lambda item: digest(*about, item))

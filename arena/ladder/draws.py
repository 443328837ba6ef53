"""Draws by lot: sorting by SHA-256, the same on every machine and in every version of Python."""

import hashlib
import json
from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")


def digest(*about: object) -> str:
    """The SHA-256, in hexadecimal, of values that JSON can write."""
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") have different digests.
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def shuffled(items: Iterable[_T], *about: object) -> list[_T]:
    """The items in the order that is drawn `about` something, such as a seed and a round."""
    return sorted(items, key=lambda item: digest(*about, item))

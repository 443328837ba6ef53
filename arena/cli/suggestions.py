"""Suggestions of names that are similar to an unknown one."""

import difflib
from collections.abc import Iterable
from typing import Final

MOST: Final = 12
"""The number of known names that are listed if none is similar."""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the similar names, or otherwise the known ones, as part of a sentence."""
    known = list(dict.fromkeys(names))
    folded = {known_name.casefold(): known_name for known_name in reversed(known)}
    near = difflib.get_close_matches(name.casefold(), folded, 3)
    if near:
        return f"perhaps {' or '.join(repr(folded[match]) for match in near)} is meant"
    if not known:
        return "there is none yet"
    more = f" and {len(known) - MOST} more" if len(known) > MOST else ""
    return f"there are {', '.join(known[:MOST])}{more}"

"""What is drawn in another process: each call takes and returns what can be sent to one.

What plays matches again is loaded where it is called. The process that serves pages and feeds
never does, and is a tenth smaller for it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def render(path: Path, stamp: int, eye: str, hand: int, step: str, tournament: str) -> str:
    """A page of a match, as `arena.web.match.render`."""
    from arena.web import match

    return match.render(path, stamp, eye, hand, step, tournament)


def place_of_step(path: Path, stamp: int, step: str) -> int:
    """The hand that has a step, as `arena.web.match.place_of_step`."""
    from arena.web import match

    return match.place_of_step(path, stamp, step)


def as_json(path: Path) -> Mapping[str, Any]:
    """What a match came to, as `arena.web.match.as_json`."""
    from arena.web import match

    return match.as_json(path)

"""Which pages a match has, and where: known without its replay."""

import re
from collections.abc import Sequence
from typing import Final

from arena.games.contract import Seat
from arena.scenes import Eyes, Viewer

_EYE: Final = re.compile(r"all|spectator|seat-(\d)")


class Missing(Exception):
    """A page of a match that is not there. The text says which there are."""


def eyes_named(name: str, seats: int) -> Eyes | None:
    """The eyes of an address: `all`, `spectator`, `seat-0` …; None if there are none of this name."""
    found = _EYE.fullmatch(name)
    if found is None:
        return None
    if found[1] is None:
        return Viewer(name)
    return Seat(int(found[1])) if int(found[1]) < seats else None


def eyes_name(eyes: Eyes) -> str:
    """The eyes as an address has them."""
    return eyes.value if isinstance(eyes, Viewer) else f"seat-{eyes}"


def eyes_label(eyes: Eyes, names: Sequence[str]) -> str:
    """The eyes as a link says them."""
    if isinstance(eyes, Viewer):
        return "All hands" if eyes is Viewer.ALL else "Spectator"
    return f"{eyes} · {names[eyes]}"


def all_eyes(seats: int) -> tuple[Eyes, ...]:
    """All eyes that a match may be seen with."""
    return (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))


def match_path(match_id: str, eyes: Eyes, hand: int) -> str:
    """The path of a page; `hand` counts from 0, and from 1 in the path."""
    return f"m/{match_id}/{eyes_name(eyes)}/{hand + 1}"

"""Records which owners' calls and messages used the event loop, so that causing a pause does not pay."""

from collections.abc import Iterator
from typing import Final

NOTED_S: Final = 0.001
"""Shorter work is not recorded: a pause is twenty times as long."""
MOST_OF_AN_OWNER: Final = 256
"""Recorded pieces of work of one owner, the longest ones."""
MOST_OWNERS: Final = 1_000


class PauseCauses:
    """The work of each owner on the loop, in order of time."""

    def __init__(self) -> None:
        """Without any work."""
        self._works: dict[str, list[tuple[float, float]]] = {}

    def note(self, owner: str, since_s: float, until_s: float) -> None:
        """An owner's call or message used the loop from `since_s` to `until_s`, which is now."""
        if not owner or until_s - since_s < NOTED_S:
            return
        works = self._works.setdefault(owner, [])
        works.append((since_s, until_s))
        if len(works) > MOST_OF_AN_OWNER:
            works.remove(min(works, key=lambda work: work[1] - work[0]))
        if len(self._works) > MOST_OWNERS:
            del self._works[next(iter(self._works))]

    def of(self, owner: str, since_s: float, until_s: float) -> Iterator[tuple[float, float]]:
        """The parts of a span in which this owner's work used the loop."""
        for began_s, ended_s in reversed(self._works.get(owner, ())):
            if ended_s <= since_s:
                return
            if began_s < until_s:
                yield max(began_s, since_s), min(ended_s, until_s)

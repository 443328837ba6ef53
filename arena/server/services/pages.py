"""Pages of long lists of matches. A page token names the last item of the page before."""

import re
from dataclasses import dataclass
from typing import Final

from arena.server.refusals import invalid
from arena.store import StoredMatch

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 100
"""As many as are made into a message in well under 2 ms: bots wait meanwhile."""


def page_size(asked: int) -> int:
    """How many items are shown, if so many are asked for; 0 asks for none in particular."""
    return min(asked or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins: after a match in play, or after one that has ended."""

    in_play: str = ""
    ended: tuple[int, str] | None = None
    """When it ended, in milliseconds since 1970, and its id."""

    @classmethod
    def of_token(cls, token: str) -> "Place":
        """The place that a page token names.

        Raises:
          Refused: if it names none.
        """
        found = _TOKEN.fullmatch(token)
        if found is None:
            raise invalid("BAD_PAGE_TOKEN", "the page token is not one that was given out")
        in_play, ended, match_id = found["in_play"], found["ended"], found["id"]
        return cls(in_play or "", None if ended is None else (int(ended), match_id))

    @classmethod
    def after(cls, ended: StoredMatch) -> "Place":
        """The place behind a match that has ended."""
        return cls(ended=(ended.ended_unix_ms, ended.outcome.match_id))

    @property
    def begun(self) -> bool:
        """Whether there was a page before."""
        return bool(self.in_play) or self.ended is not None

    @property
    def token(self) -> str:
        if self.ended is None:
            return f"in-play-{self.in_play}"
        return f"ended-{self.ended[0]}-{self.ended[1]}"


NEWEST: Final = (10**15 - 1, "~")
"""Before all that have ended."""
_TOKEN: Final = re.compile(
    r"(in-play-(?P<in_play>[^ ]{1,128})|ended-(?P<ended>[0-9]{1,15})-(?P<id>[^ ]{1,128}))?"
)

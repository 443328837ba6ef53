"""Pages of long lists, and the tokens that name where a page begins."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from arena.errors.refused import Refused
from arena.store import StoredMatch

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 100
"""As many items as can be made into a message in well under 2 ms, during which all bots wait."""

_T = TypeVar("_T")


def page_size(asked: int) -> int:
    """Return the number of items of a page if a client asks for `asked`; 0 requests the default."""
    return min(asked or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def first_page(
    items: Sequence[_T], size: int, token: Callable[[_T], str]
) -> tuple[Sequence[_T], str]:
    """Return the first `size` items, and the token of the next page, which names the last of them.

    If `items` has no more than `size` items there is no next page, and the token is empty.
    """
    return items[:size], token(items[size - 1]) if len(items) > size else ""


def numbered_page(items: Sequence[_T], asked: int, token: str) -> tuple[Sequence[_T], str]:
    """Return the page that a token names by the number of its first item, and the token of the next page.

    Raises `Refused` if the token is malformed.
    """
    if token and not (token.isascii() and token.isdecimal() and len(token) < 10):
        raise Refused("BAD_PAGE_TOKEN")
    begin, size = int(token or 0), page_size(asked)
    return first_page(items[begin:], size, lambda _: str(begin + size))


@dataclass(frozen=True, slots=True)
class PagePosition:
    """The position where a page of matches begins: after a match in play, or after one that has ended."""

    in_play: str = ""
    ended: tuple[int, str] | None = None
    """When the match ended, in milliseconds since 1970, and its id."""

    @classmethod
    def of_token(cls, token: str) -> "PagePosition":
        """Return the position that a page token names. Raises `Refused` if the token is malformed."""
        parts = _TOKEN.fullmatch(token)
        if parts is None:
            raise Refused("BAD_PAGE_TOKEN")
        in_play, ended, match_id = parts["in_play"], parts["ended"], parts["id"]
        return cls(in_play or "", None if ended is None else (int(ended), match_id))

    @classmethod
    def after(cls, ended: StoredMatch) -> "PagePosition":
        return cls(ended=(ended.ended_unix_ms, ended.outcome.match_id))

    @property
    def begun(self) -> bool:
        return bool(self.in_play) or self.ended is not None

    @property
    def token(self) -> str:
        if self.ended is None:
            return f"in-play-{self.in_play}"
        return f"ended-{self.ended[0]}-{self.ended[1]}"


NEWEST: Final = (10**15 - 1, "~")
"""The position before all matches that have ended."""
_TOKEN: Final = re.compile(
    r"(in-play-(?P<in_play>[^ ]{1,128})|ended-(?P<ended>[0-9]{1,15})-(?P<id>[^ ]{1,128}))?"
)

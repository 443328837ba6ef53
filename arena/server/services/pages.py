"""Pages of long lists. A page token names the last item of the page before."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from arena.server.refusals import invalid

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 500

T = TypeVar("T")


def page_size(asked: int) -> int:
    """How many items are shown, if so many are asked for; 0 asks for none in particular."""
    return min(asked or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def page(
    items: Sequence[T], name: Callable[[T], str], size: int, token: str
) -> tuple[Sequence[T], str]:
    """A page of `items` and the token of the next one, empty on the last.

    Raises:
      Refused: if the token names no item.
    """
    size = page_size(size)
    begin = 0
    if token:
        names = [name(item) for item in items]
        if token not in names:
            raise invalid("BAD_PAGE_TOKEN", "the page token is not one that was given out")
        begin = names.index(token) + 1
    chosen = items[begin : begin + size]
    more = begin + size < len(items)
    return chosen, name(chosen[-1]) if more else ""

"""Draws unseen cards for hands whose cards are hidden."""

from collections.abc import Callable, Iterable, Sequence

from arena.cards import Card


def hands_of(
    unseen: Iterable[Card], sizes: Sequence[int], below: Callable[[int], int]
) -> list[tuple[Card, ...]]:
    """Deal all `unseen` cards into hands of these sizes, uniformly.

    The result follows from the set of cards and from the draws alone, in whatever order the cards are given.
    `below(n)` draws an integer in [0, n).

    Raises:
      ValueError: unless the sizes sum up to the number of cards.
    """
    cards = sorted(unseen)
    if len(cards) != sum(sizes):
        raise ValueError(f"{len(cards)} unseen cards are not those of hands of {list(sizes)}")
    for last in range(len(cards) - 1, 0, -1):
        at = below(last + 1)
        cards[at], cards[last] = cards[last], cards[at]
    hands, start = [], 0
    for size in sizes:
        hands.append(tuple(cards[start : start + size]))
        start += size
    return hands

"""Which match the author's thread worked for, and so what an ask waited behind."""

from collections import Counter, deque
from itertools import pairwise
from typing import Final

REMEMBERED_TURNS: Final = 64
TOLD_S: Final = 0.1
"""Shorter waits are not told."""


class Turns:
    """The asks that were given to the author, one after the other. A turn lasts until the next one."""

    def __init__(self) -> None:
        self._begun: deque[tuple[int, float]] = deque(maxlen=REMEMBERED_TURNS)

    def begin(self, match: int, now_s: float) -> None:
        """The author is given an ask of a match."""
        self._begun.append((match, now_s))

    def waited(self, since_s: float, until_s: float) -> str:
        """What an ask waited for that came at `since_s` and was not given out before `until_s`.

        It names the match whose turns took most of the wait; empty if the wait was short.
        """
        shares: Counter[int] = Counter()
        turns = [turn for turn in self._begun if turn[1] < until_s]
        for (match, begin_s), (_, end_s) in pairwise([*turns, (0, until_s)]):
            shares[match] += max(0, round((end_s - max(begin_s, since_s)) * 1000))
        if until_s - since_s < TOLD_S or not +shares:
            return ""
        match = shares.most_common(1)[0][0]
        return f"it waited {until_s - since_s:.1f} s behind match {match} in your own process"

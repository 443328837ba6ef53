"""The matches of an arena that are not over: interrupted and ordered ones."""

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from arena.live.matches.match_record import MatchRecord, MatchState


class InPlay(Mapping[str, MatchRecord]):
    """Matches that were ordered and are not over, by id, oldest first.

    A page of them is found in the same time for any number of matches.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._matches: dict[int, MatchRecord] = {}
        self._alone: list[int] = []
        """Numbers of the matches that are a deal-set of their own, which are public."""
        self._all: list[int] = []
        self._next = itertools.count(1)
        self._sealed: Counter[tuple[str, str]] = Counter()
        """Matches of deal-sets, by game and deal-set."""
        self._sealed_matches: Counter[str] = Counter()
        self._sealed_sets: Counter[str] = Counter()
        self.alone_of: Counter[str] = Counter()
        """Seats of each bot at matches that are a deal-set of their own, by the bot's name."""

    def __getitem__(self, match_id: str) -> MatchRecord:
        return self._matches[self._numbers[match_id]]

    def add(self, match: MatchRecord) -> None:
        """Add a match, in place of any other of its id."""
        self.discard(match.match_id)
        number = self._numbers[match.match_id] = next(self._next)
        self._matches[number] = match
        self._all.append(number)
        if match.order.alone:
            self._alone.append(number)
            self.alone_of.update(bot.name for bot in match.table.bots)
        else:
            self._seal(match, 1)

    def discard(self, match_id: str) -> None:
        number = self._numbers.pop(match_id, None)
        if number is None:
            return
        match = self._matches.pop(number)
        del self._all[bisect_left(self._all, number)]
        if match.order.alone:
            del self._alone[bisect_left(self._alone, number)]
            for bot in match.table.bots:
                self.alone_of[bot.name] -= 1
                if not self.alone_of[bot.name]:
                    del self.alone_of[bot.name]
        else:
            self._seal(match, -1)

    def sealed(self) -> list[tuple[str, int, int]]:
        """Return the id of each game with matches of deal-sets, and the numbers of these matches and deal-sets."""
        matches = self._sealed_matches
        return [(game, matches[game], self._sealed_sets[game]) for game in sorted(matches)]

    def _seal(self, match: MatchRecord, change: int) -> None:
        game = match.order.terms.game.id
        key = game, match.order.deal_set
        before = self._sealed[key]
        self._sealed[key] += change
        self._sealed_matches[game] += change
        self._sealed_sets[game] += (self._sealed[key] > 0) - (before > 0)
        if not self._sealed[key]:
            del self._sealed[key]
        if not self._sealed_matches[game]:
            del self._sealed_matches[game], self._sealed_sets[game]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, match_id: object) -> bool:
        return match_id in self._numbers

    def page(self, most: int, *, alone: bool, after: str = "") -> Sequence[MatchRecord]:
        """Return at most `most` matches, newest first; if `after` is given, only those that are older.

        `after` has to be the id of one of them. With `alone`, only matches that are a deal-set of their own are
        returned.
        """
        numbers = self._alone if alone else self._all
        end = bisect_left(numbers, self._numbers[after]) if after else len(numbers)
        return [self._matches[number] for number in reversed(numbers[max(0, end - most) : end])]


class OpenMatches:
    """The records of all matches that are not over, by id."""

    def __init__(self) -> None:
        self.in_play = InPlay()
        self._suspended: dict[str, MatchRecord] = {}

    def suspend(self, match: MatchRecord) -> None:
        """Add an interrupted match of an earlier process."""
        self._suspended[match.match_id] = match

    def take_suspended(self, match_id: str) -> MatchRecord | None:
        """Remove and return the suspended match of this id, because it is ordered; None if there is none."""
        return self._suspended.pop(match_id, None)

    def any_of(self, match_ids: Sequence[str]) -> bool:
        """Return whether any of these matches is suspended or in play."""
        return any(
            match_id in self.in_play or match_id in self._suspended for match_id in match_ids
        )

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all matches that are not over."""
        return frozenset(self.in_play).union(self._suspended)

    @property
    def unseated(self) -> frozenset[str]:
        """The ids of interrupted matches whose bots are not seated again."""
        left = (match.match_id for match in self.in_play.values() if match.unfinished is not None)
        return frozenset(self._suspended).union(left)

    def in_state(self, state: MatchState) -> Sequence[MatchRecord]:
        """Return the matches in play that are in a state, oldest first."""
        return [match for match in self.in_play.values() if match.state is state]

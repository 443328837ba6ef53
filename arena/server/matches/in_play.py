"""Matches that were ordered and have not ended, and who plays them: looked up in pages."""

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING

import trio

from arena.ladder.results import MatchOutcome
from arena.server.gate.admission import Admission
from arena.server.orders import DealSetOrder, OrderPolicy, TableOrder

if TYPE_CHECKING:
    from arena.referee import Outcome
    from arena.server.bots import BotId
    from arena.server.gate.disk_budget import Grant


class OrderedMatch:
    """A match that was ordered and has not ended. Several callers may wait for its outcome."""

    def __init__(self, order: DealSetOrder, table: TableOrder, policy: OrderPolicy) -> None:
        self.order = order
        self.table = table
        self.policy = policy
        self.played: Outcome | None = None
        """How it ended, with the hands; None while it is in play."""
        self.grant: Grant | None = None
        """What it may write; None where nobody asks, and before it is let in."""
        self.unwilling: dict[BotId, str] = {}
        """Bots that are here and will not play it, and why; their seats are played by fallback."""
        self._over = trio.Event()
        self._outcome: MatchOutcome | None = None
        self._error: Exception | None = None

    @property
    def match_id(self) -> str:
        return self.table.match_id

    async def outcome(self) -> MatchOutcome:
        """How the match ended, once that is recorded.

        Raises:
          Refused: if it could not begin.
          StoreError: if it has ended, and that could not be recorded.
        """
        await self._over.wait()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome

    def let_in(self, admission: Admission | None) -> None:
        """It may be played from now on, and write."""
        if self.grant is None and admission is not None:
            self.grant = admission.grant()

    def over(self) -> None:
        """It writes nothing any more."""
        if self.grant is not None:
            self.grant.close()
            self.grant = None

    def ended(self, outcome: MatchOutcome) -> None:
        """It has ended so."""
        self._outcome = outcome
        self._over.set()

    def failed(self, error: Exception) -> None:
        """It will not have an outcome, for this reason."""
        self._error = error
        self._over.set()


class InPlay(MutableMapping[str, OrderedMatch]):
    """Matches by id, oldest first. A page of them takes no longer the more there are."""

    def __init__(self) -> None:
        """There are none."""
        self._numbers: dict[str, int] = {}
        self._matches: dict[int, OrderedMatch] = {}
        self._alone: list[int] = []
        """Numbers of those that are a deal-set of their own, and so may be told to anybody."""
        self._all: list[int] = []
        self._next = itertools.count(1)
        self._sealed: Counter[tuple[str, str]] = Counter()
        """Tables of deal-sets, by game and deal-set."""
        self._sealed_tables: Counter[str] = Counter()
        self._sealed_sets: Counter[str] = Counter()
        self.alone_of: Counter[str] = Counter()
        """How many seats each bot has at matches alone, by name."""

    def __getitem__(self, match_id: str) -> OrderedMatch:
        return self._matches[self._numbers[match_id]]

    def __setitem__(self, match_id: str, match: OrderedMatch) -> None:
        if match_id in self._numbers:
            del self[match_id]
        number = self._numbers[match_id] = next(self._next)
        self._matches[number] = match
        self._all.append(number)
        if match.order.alone:
            self._alone.append(number)
            self.alone_of.update(bot.name for bot in match.table.bots)
        else:
            self._seal(match, 1)

    def __delitem__(self, match_id: str) -> None:
        number = self._numbers.pop(match_id)
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
        """Of which games tables of deal-sets are in play: how many tables, of how many deal-sets."""
        tables = self._sealed_tables
        return [(game, tables[game], self._sealed_sets[game]) for game in sorted(tables)]

    def _seal(self, match: OrderedMatch, change: int) -> None:
        game = match.order.terms.game.id
        own = game, match.order.deal_set
        before = self._sealed[own]
        self._sealed[own] += change
        self._sealed_tables[game] += change
        self._sealed_sets[game] += (self._sealed[own] > 0) - (before > 0)
        if not self._sealed[own]:
            del self._sealed[own]
        if not self._sealed_tables[game]:
            del self._sealed_tables[game], self._sealed_sets[game]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, match_id: object) -> bool:
        return match_id in self._numbers

    def page(self, most: int, *, alone: bool, after: str = "") -> Sequence[OrderedMatch]:
        """The newest matches, or those next older than `after`, which has to be one of them.

        With `alone`, only those that are a deal-set of their own.
        """
        numbers = self._alone if alone else self._all
        end = bisect_left(numbers, self._numbers[after]) if after else len(numbers)
        return [self._matches[number] for number in reversed(numbers[max(0, end - most) : end])]

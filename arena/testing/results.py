"""A test double for the store of results, in memory."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from arena.results.deal_sets import MatchOutcome
from arena.store import MatchFilter, StoredMatch, StoredMatches


class MemoryResults(StoredMatches):
    """Results in memory, with the calls that the arena uses."""

    def __init__(self) -> None:
        self.ended: dict[str, StoredMatch] = {}
        """The recorded matches by id, in order."""
        self.published: set[str] = set()

    def outcomes(self, match_ids: Collection[str]) -> dict[str, MatchOutcome]:
        return {at: self.ended[at].outcome for at in match_ids if at in self.ended}

    def record(self, ended: Sequence[StoredMatch], published: Collection[str] = ()) -> None:
        self.published.update(published)
        for match in ended:
            known = self.ended.get(match.outcome.match_id)
            if known is None or not known.outcome.has_result:
                self.ended[match.outcome.match_id] = match

    def mark_published(self, match_ids: Collection[str]) -> None:
        self.published.update(match_ids)

    def get(self, match_id: str) -> StoredMatch | None:
        match = self.ended.get(match_id)
        return None if match is None else self._stored(match)

    def find(
        self,
        wanted: MatchFilter = MatchFilter(),  # noqa: B008 - frozen
        *,
        limit: int = 50,
        after: tuple[int, str] | None = None,
        skip: int = 0,
    ) -> tuple[StoredMatch, ...]:
        newest = sorted(self.ended.values(), key=_place, reverse=True)
        return tuple(
            self._stored(match)
            for match in newest
            if (after is None or _place(match) < after)
            and (self._stored(match).closed or not wanted.closed)
            and wanted.game in ("", match.game)
            and wanted.ending in ("", match.outcome.ending)
            and set(wanted.bots) <= set(match.bots)
            and (any(match.outcome.faults) or not wanted.faulted)
            and (match.outcome.match_id in self.published or not wanted.published)
            and not wanted.competition
            and (not wanted.lost_by or self._lost(match, wanted.lost_by))
        )[skip : skip + limit]

    def games(self, wanted: MatchFilter = MatchFilter()) -> frozenset[str]:  # noqa: B008 - frozen
        return frozenset(match.game for match in self.find(wanted, limit=len(self.ended)))

    def bots(self, competition: str = "") -> tuple[str, ...]:
        if competition:
            return ()
        return tuple(sorted({bot for match in self.ended.values() for bot in match.bots}))

    @staticmethod
    def _lost(match: StoredMatch, name: str) -> bool:
        places = zip(match.bots, match.outcome.places, strict=False)
        return any(bot == name and place > 1 for bot, place in places)

    def _stored(self, ended: StoredMatch) -> StoredMatch:
        return replace(ended, published=ended.outcome.match_id in self.published)


def _place(ended: StoredMatch) -> tuple[int, str]:
    return ended.ended_unix_ms, ended.outcome.match_id

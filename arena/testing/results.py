"""A test double for the store of results, in memory."""

from collections.abc import Collection, Sequence

from arena.schedule.deal_sets import MatchOutcome
from arena.store import EndedMatch, MatchFilter, StoredMatch


class MemoryResults:
    """Results in memory: `arena.server.matches.results.Results`."""

    def __init__(self) -> None:
        self.ended: dict[str, EndedMatch] = {}
        """The recorded matches by id, in order."""
        self.published: set[str] = set()

    def outcomes(self, match_ids: Collection[str]) -> dict[str, MatchOutcome]:
        return {at: self.ended[at].outcome for at in match_ids if at in self.ended}

    def record(self, ended: Sequence[EndedMatch], published: Collection[str] = ()) -> None:
        self.published.update(published)
        for each in ended:
            known = self.ended.get(each.outcome.match_id)
            if known is None or not known.outcome.has_result:
                self.ended[each.outcome.match_id] = each

    def mark_published(self, match_ids: Collection[str]) -> None:
        self.published.update(match_ids)

    def get(self, match_id: str) -> StoredMatch | None:
        found = self.ended.get(match_id)
        return None if found is None else self._stored(found)

    def find(
        self,
        wanted: MatchFilter = MatchFilter(),  # noqa: B008 - frozen
        *,
        limit: int = 50,
        after: tuple[int, str] | None = None,
    ) -> tuple[StoredMatch, ...]:
        newest = sorted(self.ended.values(), key=_place, reverse=True)
        return tuple(
            self._stored(each)
            for each in newest
            if (after is None or _place(each) < after)
            and (self._stored(each).closed or not wanted.closed)
            and wanted.game in ("", each.game)
            and wanted.ending in ("", each.outcome.ending)
            and set(wanted.bots) <= set(each.bots)
            and (any(each.outcome.faults) or not wanted.faulted)
            and (each.outcome.match_id in self.published or not wanted.published)
            and not wanted.competition
        )[:limit]

    def _stored(self, ended: EndedMatch) -> StoredMatch:
        return StoredMatch(
            ended.outcome,
            ended.game,
            ended.bots,
            ended.deal_set,
            competition="",
            ended_unix_ms=ended.ended_unix_ms,
            published=ended.outcome.match_id in self.published,
        )


def _place(ended: EndedMatch) -> tuple[int, str]:
    return ended.ended_unix_ms, ended.outcome.match_id

"""Groups and finals: round robins of groups of about the same strength, then one of their best bots."""

from collections import Counter
from collections.abc import Sequence

from arena.contests.formats.group_knockout import snake
from arena.contests.formats.tournament_format import FinalPlace, GroupResult, TournamentFormat
from arena.contests.pair_margins import mean_scores
from arena.results.deal_sets import Group, digest, round_robin
from arena.results.record import RoundRecord
from arena.results.rounds import DrawError, half_points_of


def draw_groups(seeds: Sequence[str], groups: int, seats: int) -> tuple[Group, ...]:
    """Return the groups, dealt in snake order by seed. Raises `DrawError` if a group would not fill a table."""
    if groups < 1:
        raise DrawError(f"there is at least 1 group, not {groups}")
    if len(seeds) // groups < seats:
        raise DrawError(
            f"{groups} groups of at least {seats} bots need {groups * seats} bots; "
            f"{len(seeds)} entered"
        )
    return snake(seeds, groups)


def finalists(rankings: Sequence[Sequence[str]], best: int) -> Group:
    """Return the `best` of each group: all first places, then all second ones, in order of the groups.

    Raises `DrawError` if a group has fewer bots.
    """
    for number, ranking in enumerate(rankings, 1):
        if len(ranking) < best:
            raise DrawError(
                f"group {number} has {len(ranking)} bots, of which {best} should advance"
            )
    return tuple(ranking[place] for place in range(best) for ranking in rankings)


class GroupStage(TournamentFormat):
    """Groups, then a round robin of their best, on new boards and from zero points."""

    def draw(self) -> RoundRecord | None:
        terms = self.plan.groups
        assert terms is not None
        if len(self.past) > 1:
            return None
        if not self.past:
            groups = draw_groups(self.names(), terms.groups, self.seats)
        else:
            first = self.past[0]
            rankings = [
                [place.bot for place in self._by_points(first, group, "")]
                for group in first.round.groups
            ]
            best = finalists(rankings, terms.best)
            groups = (tuple(bot for bot in best if bot in set(self.names())),)
            if len(groups[0]) < self.seats:
                return None
        return self.drawn(groups, (), self._plays(groups), self.game.deal_sets)

    def _plays(self, groups: Sequence[Group]) -> list[Group]:
        plays: list[list[Group]] = []
        for number, group in enumerate(groups):
            seed = digest(self.seed, "group", self.round_number, number)
            schedule = round_robin(
                group, seats=self.seats, deal_sets=self.game.deal_sets, seed=seed
            )
            plays.append([deal_set.bots for deal_set in schedule])
        longest = max(map(len, plays))
        return [
            plays_of_group[at]
            for at in range(longest)
            for plays_of_group in plays
            if at < len(plays_of_group)
        ]

    def results(self) -> tuple[GroupResult, ...]:
        results: list[GroupResult] = []
        for number, played in enumerate(self.past):
            finals = self.past[1].round.groups[0] if not number and len(self.past) > 1 else ()
            for at, group in enumerate(played.round.groups, 1):
                stage = "finals" if number else f"group {at}"
                deal_sets, ranked = played.of_group(group), self._by_points(played, group, "")
                results.append(
                    GroupResult(
                        stage,
                        tuple(place.bot for place in ranked),
                        tuple(place.points for place in ranked) if deal_sets else (),
                        tuple(place.bot for place in ranked if place.bot in finals),
                        len(deal_sets),
                    )
                )
        return tuple(results)

    def places(self) -> tuple[FinalPlace, ...]:
        """Return the finals by points, then all others by their places in the groups."""
        if not self.past:
            return ()
        ranked: list[FinalPlace] = []
        if len(self.past) > 1:
            (group,) = self.past[1].round.groups
            ranked = list(self._by_points(self.past[1], group, "finals"))
        in_finals = {place.bot for place in ranked}
        others = [
            place
            for number, group in enumerate(self.past[0].round.groups, 1)
            for place in self._by_points(self.past[0], group, f"group {number}")
            if place.bot not in in_finals
        ]
        others.sort(key=lambda other: other.place)
        for place in others:
            ahead = len(in_finals) + sum(other.place < place.place for other in others)
            note = f"place {place.place} of {place.note}"
            ranked.append(FinalPlace(place.bot, 1 + ahead, place.points, note))
        return tuple(ranked)

    def _by_points(
        self, played: RoundRecord, group: Sequence[str], note: str
    ) -> tuple[FinalPlace, ...]:
        """Return a group in order of points, and of skill for equal points, which share a place.

        Bots that went out before the next draw are last.
        """
        half = Counter[str](dict.fromkeys(group, 0))
        for deal_set in played.of_group(group):
            half.update(half_points_of(mean_scores(deal_set.bots, [deal_set], played.outcomes)))
        out = set(group) - set(self.names(played.round.number + 1))
        rank = {bot: (bot in out, -half[bot]) for bot in group}
        ordered = sorted(self.ranking(played, group), key=rank.__getitem__)
        return tuple(
            FinalPlace(
                bot, 1 + sum(other < rank[bot] for other in rank.values()), half[bot] / 2, note
            )
            for bot in ordered
        )

"""Knockout at larger tables: the upper half of each group advances, until one table is left."""

from collections.abc import Iterable, Sequence

from arena.contests.formats.tournament_format import FinalPlace, GroupResult, Past, TournamentFormat
from arena.contests.plan import CompetitionPlan
from arena.results.deal_sets import Group, is_complete
from arena.results.record import Candidate, RoundRecord
from arena.results.rounds import DrawError


def draw_round(seeds: Sequence[str], seats: int) -> tuple[tuple[Group, ...], Group]:
    """Return the groups of a round, and the byes; `seeds` are the bots that are still in, best first.

    Raises `DrawError` if they do not fill one table.
    """
    if len(seeds) < seats:
        raise DrawError(f"a table of {seats} seats needs {seats} bots; {len(seeds)} are in")
    byes = len(seeds) % seats
    return snake(seeds[byes:], (len(seeds) - byes) // seats), tuple(seeds[:byes])


def through(
    rankings: Sequence[Sequence[str]], byes: Sequence[str], seeds: Sequence[str], seats: int
) -> Group:
    """Return the bots that advance after a round, in order of seed; after the last table, return its winner.

    `rankings` are the groups, best bot first. If fewer than a table would be left, the next bots by place and
    then seed advance too.
    """
    seed = {name: at for at, name in enumerate(seeds)}
    if len(rankings) == 1 and not byes:
        return (rankings[0][0],)
    going = [*byes, *(bot for ranking in rankings for bot in ranking[: len(ranking) // 2])]
    others = sorted(
        (place, seed[bot], bot)
        for ranking in rankings
        for place, bot in enumerate(ranking)
        if place >= len(ranking) // 2
    )
    going += [bot for _, _, bot in others[: max(0, seats - len(going))]]
    return tuple(sorted(going, key=seed.__getitem__))


def snake(seeds: Sequence[str], groups: int) -> tuple[Group, ...]:
    """Groups of about the same strength, dealt in snake order."""
    dealt: list[list[str]] = [[] for _ in range(groups)]
    for at, name in enumerate(seeds):
        turn, place = divmod(at, groups)
        dealt[groups - 1 - place if turn % 2 else place].append(name)
    return tuple(map(tuple, dealt))


class TableKnockout(TournamentFormat):
    """A knockout at larger tables: the upper half of each advances."""

    def __init__(
        self, plan: CompetitionPlan, number: int, candidates: Iterable[Candidate], past: Past
    ) -> None:
        super().__init__(plan, number, candidates, past)
        self._still = self.names(1)
        self._out: list[tuple[str, list[str]]] = []
        """Bots that share a place, with the stage in which they went out, lowest place first."""
        self._results: list[GroupResult] = []
        self._over = False
        for played in self.past:
            self._take(played)

    def draw(self) -> RoundRecord | None:
        still = tuple(bot for bot in self._still if bot in set(self.names()))
        if self._over or (self.past and len(still) < self.seats):
            return None
        groups, byes = draw_round(still, self.seats)
        return self.drawn(groups, byes, self.repeated(groups), still)

    def places(self) -> tuple[FinalPlace, ...]:
        note = "champion" if self._over else "still in"
        ranked = [FinalPlace(bot, 1, None, note) for bot in self._still]
        place = 1 + len(self._still)
        for stage, out in reversed(self._out):
            ranked += [FinalPlace(bot, place, None, f"out in {stage}") for bot in out]
            place += len(out)
        return tuple(ranked)

    def results(self) -> tuple[GroupResult, ...]:
        return tuple(self._results)

    def _take(self, played: RoundRecord) -> None:
        round_ = played.round
        rankings = [self.ranking(played, group) for group in round_.groups]
        going = through(rankings, round_.byes, self._still, self.seats)
        went = [bot for bot in self._still if bot not in set(going)]
        self._over = len(round_.groups) == 1 and not round_.byes
        stage = "final" if self._over else f"round {round_.number}"
        known = (
            going
            if all(is_complete(deal_set, played.outcomes) for deal_set in played.deal_sets)
            else ()
        )
        self._results += [self.group_result(stage, played, group, known) for group in round_.groups]
        self._results += [GroupResult(stage, (bot,), note="bye") for bot in round_.byes]
        if self._over:  # the places of the last table follow its standings
            self._out += [(stage, [bot]) for bot in reversed(rankings[0][1:])]
        else:
            self._out.append((stage, went))
        self._still = going

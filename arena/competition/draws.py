"""The next round of a tournament, whatever its format, and who came where when there is none.

Each is a function of the plan, of who entered, and of the rounds before with their results. So a round
may be drawn again after a stop and must agree with what was kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from arena.competition.formats import bracket, knockout_tables, swiss, swiss_tables
from arena.competition.formats.decided import EXTRA, LEAST, Decided, decided
from arena.competition.formats.gauntlet import gauntlet
from arena.competition.formats.groups import draw_groups, finalists
from arena.competition.margins import margins_between, mean_scores, measure
from arena.competition.plan_file import CompetitionPlan, Format, GamePlan
from arena.competition.record import Candidate, RoundPlayed
from arena.competition.rounds import (
    DrawError,
    Group,
    Played,
    Round,
    bye_half_points,
    half_points_of,
)
from arena.ladder.draws import digest
from arena.ladder.schedule import MAX_GROUPS, DealSetPlan, planned, round_robin
from arena.ladder.standings import standings

Past: TypeAlias = Sequence[RoundPlayed]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round, and the deal-sets that are played in it."""

    round: Round
    deal_sets: tuple[DealSetPlan, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a bot came by the rules of the format."""

    bot: str
    place: int
    """From 1; bots that cannot be told apart share one."""
    points: float | None
    """Of a Swiss tournament; None elsewhere."""
    note: str
    """Such as the round in which it went out."""


def next_round(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> Drawn | None:
    """The round after `past`, all of which is played; None when the tournament is over.

    Raises:
      DrawError, ScheduleError: if no first round can be drawn for these bots.
    """
    return _FORMATS[_format(plan)](_Game(plan, game, candidates, past)).draw()


def places(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> tuple[Place, ...]:
    """Where everybody came so far; empty where the table alone says so."""
    return _FORMATS[_format(plan)](_Game(plan, game, candidates, past)).places()


def _format(plan: CompetitionPlan) -> Format:
    if plan.format is None:
        raise ValueError("a ladder has no rounds")
    return plan.format


class _Game:
    """One game of a tournament, with what was played of it."""

    def __init__(
        self, plan: CompetitionPlan, number: int, candidates: Iterable[Candidate], past: Past
    ) -> None:
        self.plan, self.number, self.past = plan, number, past
        self.candidates = tuple(sorted(candidates, key=lambda each: each.seed))
        self.game: GamePlan = plan.games[number]
        self.seats = self.game.terms.seats
        # With several games each has boards of its own.
        self.seed = plan.seed if len(plan.games) == 1 else digest(plan.seed, self.game.name)
        self.round_number = len(past) + 1

    def names(self, round_number: int | None = None) -> Group:
        """Those who take part in the draw of a round, in order of seed; of the next one."""
        number = self.round_number if round_number is None else round_number
        return tuple(each.name for each in self.candidates if each.is_in(self.number, number))

    def entrants(self) -> list[Candidate]:
        return [each for each in self.candidates if each.is_in(self.number, self.round_number)]

    def plans(self, groups: Iterable[Group]) -> tuple[DealSetPlan, ...]:
        """A deal-set for each of the groups, numbered on from those before."""
        drawn = 1 + max((each.last_number for each in self.past), default=0)
        name = f"{self.plan.name}/{self.game.name}"
        return tuple(
            planned(number, group, self.seed, name) for number, group in enumerate(groups, drawn)
        )

    def drawn(
        self, groups: Sequence[Group], byes: Group, plays: Iterable[Group], *of: object
    ) -> Drawn:
        inputs = digest(str(self.plan.format), self.seed, self.round_number, self._entered(), *of)
        return Drawn(Round(self.round_number, tuple(groups), byes, inputs), self.plans(plays))

    def _entered(self) -> list[tuple[str, str, int]]:
        return [(each.name, each.owner, each.seed) for each in self.entrants()]

    def many(self, groups: Iterable[Group], times: int | None = None) -> list[Group]:
        """Each of the groups so many times, all of them once before any is there again."""
        return [group for _ in range(times or self.game.deal_sets) for group in groups]

    def ranking(self, played: RoundPlayed, group: Sequence[str]) -> list[str]:
        """A group by the table of its deal-sets; who went out before the next draw is behind all."""
        out = set(group) - set(self.names(played.round.number + 1))
        found = standings(played.of_group(group), played.outcomes)
        seeds = {each.name: each.seed for each in self.candidates}
        order = [row.bot for row in found.rows if row.tier is not None]
        order += sorted(set(group) - set(order), key=seeds.__getitem__)
        return sorted(order, key=lambda bot: bot in out)


class _FormatOfGame(Protocol):
    def draw(self) -> Drawn | None: ...
    def places(self) -> tuple[Place, ...]: ...


class _OneRound:
    """Formats that are planned whole."""

    def __init__(self, of: _Game) -> None:
        self._of = of

    def draw(self) -> Drawn | None:
        of = self._of
        if of.past:
            return None
        plans = self._schedule()
        groups = tuple(dict.fromkeys(tuple(sorted(each.bots)) for each in plans))
        return of.drawn(groups, (), [each.bots for each in plans], of.game.deal_sets)

    def places(self) -> tuple[Place, ...]:
        return ()

    def _schedule(self) -> tuple[DealSetPlan, ...]:
        of = self._of
        return round_robin(
            of.names(),
            seats=of.seats,
            deal_sets=of.game.deal_sets,
            seed=of.seed,
            max_groups=of.plan.format_terms.max_groups or MAX_GROUPS,
        )


class _Gauntlet(_OneRound):
    def _schedule(self) -> tuple[DealSetPlan, ...]:
        of = self._of
        return gauntlet(
            of.names(),
            of.plan.format_terms.challenger,
            seats=of.seats,
            deal_sets=of.game.deal_sets,
            seed=of.seed,
        )


class _Swiss:
    def __init__(self, of: _Game) -> None:
        self._of = of
        self._played = [self._points(each) for each in of.past]

    def draw(self) -> Drawn | None:
        of, most = self._of, self._of.plan.format_terms.rounds
        if of.past and of.round_number > (most or self._needed()):
            return None
        entrants = [each.entrant for each in of.entrants()]
        if of.past and len(entrants) < of.seats:
            return None  # so many have gone that nobody is left to play
        if of.seats == 2:
            round_ = swiss.draw_round(entrants, self._played, seed=of.seed)
        else:
            round_ = swiss_tables.draw_round(entrants, self._played, seats=of.seats, seed=of.seed)
        return Drawn(round_, of.plans(of.many(round_.groups)))

    def places(self) -> tuple[Place, ...]:
        half = {each.name: 0 for each in self._of.candidates}
        for played in self._played:
            for bot, points in played.half_points.items():
                half[bot] += points
            for bot in played.byes:
                half[bot] += bye_half_points(self._of.seats)
        return tuple(
            Place(bot, 1 + sum(more > own for more in half.values()), own / 2, "")
            for bot, own in sorted(half.items(), key=lambda each: (-each[1], each[0]))
        )

    def _needed(self) -> int:
        entered = len(
            self._of.names(1)
        )  # those of the first round: who goes later shortens nothing
        if self._of.seats == 2:
            return swiss.rounds_needed(entered)
        return swiss_tables.rounds_needed(entered, self._of.seats)

    def _points(self, played: RoundPlayed) -> Played:
        points: dict[str, int] = {}
        # As it was when the next round was drawn: that draw must come out the same for good.
        still = set(self._of.names(played.round.number + 1))
        for group in played.round.groups:
            own = played.of_group(group)
            if own:
                points |= half_points_of(mean_scores(group, own, played.outcomes))
            else:  # somebody went before the first card: for the others it is a bye
                points |= dict.fromkeys(set(group) & still, bye_half_points(self._of.seats))
        return Played(played.round.groups, played.round.byes, points)


class _Knockout:
    """Of two: each round plays on in all games of the bracket that are open."""

    def __init__(self, of: _Game) -> None:
        self._of = of
        self._seeds = of.names(1)
        self._games: tuple[bracket.Game, ...] = ()
        if len(self._seeds) > 1:
            make = bracket.double if of.plan.format_terms.double else bracket.single
            self._games = make(len(self._seeds))
        self._measure = measure(of.game.terms)
        self._deal_sets: dict[int, list[DealSetPlan]] = {}
        self._winners: dict[int, str] = {}
        self._how: dict[int, Decided] = {}
        for number, played in enumerate(of.past, 1):
            self._take(number, played)

    def draw(self) -> Drawn | None:
        of = self._of
        if not self._games:
            raise DrawError("a knockout needs at least 2 bots")
        playable = self._standing(of.round_number).playable
        if not playable:
            return None
        more = [self._more(game.number) for game, _ in playable]
        pairs = [tuple(sorted(pair)) for _, pair in playable]
        plays = [
            pair
            for at in range(max(more))
            for pair, count in zip(pairs, more, strict=True)
            if at < count
        ]
        resting = set(of.names()) - {bot for pair in pairs for bot in pair}
        still = {bot for bot in resting if len(self._losses(bot)) < self._lives}
        byes = tuple(bot for bot in of.names() if bot in still)
        return of.drawn(pairs, byes, plays, sorted(self._winners.items()), more)

    def places(self) -> tuple[Place, ...]:
        if not self._games:
            return ()
        found = self._standing(self._of.round_number)
        last = {bot: games[-1] for bot, games in found.losses.items() if len(games) >= self._lives}
        going = len(self._games)  # who is still in stands above all who are out
        worth = {
            bot: going + (bot == found.champion) if bot not in last else last[bot]
            for bot in self._seeds
        }
        stages = {game.number: game.stage for game in self._games}
        rounds = {bot: stages.get(at, "") for bot, at in last.items()}
        # Games of one stage are one place: nothing says which of their losers is better.
        level = {
            bot: min((n for n, s in stages.items() if s == rounds[bot]), default=at)
            if bot in rounds
            else at
            for bot, at in worth.items()
        }
        return tuple(
            Place(
                bot,
                1 + sum(other > own for other in level.values()),
                None,
                self._note(bot, last, stages, found.champion),
            )
            for bot, own in sorted(
                level.items(), key=lambda each: (-each[1], self._seeds.index(each[0]))
            )
        )

    def _note(
        self, bot: str, last: Mapping[str, int], stages: Mapping[int, str], champion: str | None
    ) -> str:
        if bot == champion:
            return "champion"
        if bot not in last:
            return "still in"
        how = self._how.get(last[bot])
        return f"out in {stages[last[bot]]}" + (f", {how.how}" if how else ", by walkover")

    @property
    def _lives(self) -> int:
        return 2 if self._of.plan.format_terms.double else 1

    def _losses(self, bot: str) -> tuple[int, ...]:
        return self._standing(self._of.round_number).losses.get(bot, ())

    def _standing(self, round_number: int) -> bracket.Standing:
        gone = set(self._seeds) - set(self._of.names(round_number))
        return bracket.standing(self._games, self._seeds, self._winners, gone)

    def _take(self, number: int, played: RoundPlayed) -> None:
        rank = {bot: at for at, bot in enumerate(self._seeds)}
        for game, pair in self._standing(number).playable:
            own = self._deal_sets.setdefault(game.number, [])
            own += played.of_group(pair)
            found = decided(
                margins_between(*pair, own, played.outcomes, self._measure),
                self._measure.bound,
                first_is_seeded_higher=rank[pair[0]] < rank[pair[1]],
                most=self._of.plan.format_terms.most_deal_sets,
            )
            if found is not None:
                self._winners[game.number] = pair[0] if found.first_won else pair[1]
                self._how[game.number] = found

    def _more(self, game: int) -> int:
        """Deal-sets that a game has in the next round."""
        played, most = len(self._deal_sets.get(game, ())), self._of.plan.format_terms.most_deal_sets
        if played < LEAST:
            return LEAST - played
        return min(LEAST, most - played) if played < most else EXTRA


class _KnockoutTables:
    """Of larger tables: the upper half of each goes on."""

    def __init__(self, of: _Game) -> None:
        self._of = of
        self._still = of.names(1)
        self._out: list[list[str]] = []
        """Who went out in each round, the best first."""
        self._over = False
        for played in of.past:
            self._take(played)

    def draw(self) -> Drawn | None:
        of = self._of
        still = tuple(bot for bot in self._still if bot in set(of.names()))
        if self._over or (of.past and len(still) < of.seats):
            return None
        groups, byes = knockout_tables.draw_round(still, of.seats)
        return of.drawn(groups, byes, of.many(groups), still)

    def places(self) -> tuple[Place, ...]:
        note = "champion" if self._over else "still in"
        found = [Place(bot, 1, None, note) for bot in self._still]
        place = 1 + len(self._still)
        for number, out in reversed(list(enumerate(self._out, 1))):
            found += [Place(bot, place, None, f"out in round {number}") for bot in out]
            place += len(out)
        return tuple(found)

    def _take(self, played: RoundPlayed) -> None:
        of, round_ = self._of, played.round
        rankings = [of.ranking(played, group) for group in round_.groups]
        going = knockout_tables.through(rankings, round_.byes, self._still, of.seats)
        went = [bot for bot in self._still if bot not in set(going)]
        self._over = len(round_.groups) == 1 and not round_.byes
        if self._over:  # the last table has an order of its own
            self._out += [[bot] for bot in reversed(rankings[0][1:])]
        else:
            self._out.append(went)
        self._still = going


class _Groups:
    """Groups, then a round robin of their best, on new boards and from zero."""

    def __init__(self, of: _Game) -> None:
        self._of = of

    def draw(self) -> Drawn | None:
        of, terms = self._of, self._of.plan.format_terms
        if len(of.past) > 1:
            return None
        if not of.past:
            groups = draw_groups(of.names(), terms.groups, of.seats)
        else:
            rankings = [of.ranking(of.past[0], each) for each in of.past[0].round.groups]
            best = finalists(rankings, terms.best)
            groups = (tuple(bot for bot in best if bot in set(of.names())),)
            if len(groups[0]) < of.seats:
                return None
        return of.drawn(groups, (), self._plays(groups), of.game.deal_sets)

    def _plays(self, groups: Sequence[Group]) -> list[Group]:
        of = self._of
        plays: list[list[Group]] = []
        for number, group in enumerate(groups):
            seed = digest(of.seed, "group", of.round_number, number)
            found = round_robin(group, seats=of.seats, deal_sets=of.game.deal_sets, seed=seed)
            plays.append([each.bots for each in found])
        longest = max(map(len, plays))
        return [own[at] for at in range(longest) for own in plays if at < len(own)]

    def places(self) -> tuple[Place, ...]:
        of = self._of
        if not of.past:
            return ()
        found: list[Place] = []
        if len(of.past) > 1:
            (group,) = of.past[1].round.groups
            order = of.ranking(of.past[1], group)
            found = [Place(bot, at, None, "finals") for at, bot in enumerate(order, 1)]
        taken = {each.bot for each in found}
        first = of.past[0]
        rankings = [of.ranking(first, each) for each in first.round.groups]
        behind = len(found)
        for at in range(max(map(len, rankings))):
            alike = [
                (bot, number)
                for number, ranking in enumerate(rankings, 1)
                if at < len(ranking) and (bot := ranking[at]) not in taken
            ]
            found += [
                Place(bot, behind + 1, None, f"place {at + 1} of group {number}")
                for bot, number in alike
            ]
            behind += len(alike)
        return tuple(found)


def _knockout(of: _Game) -> _FormatOfGame:
    return _Knockout(of) if of.seats == 2 else _KnockoutTables(of)


_FORMATS: Final[Mapping[Format, Callable[[_Game], _FormatOfGame]]] = {
    Format.ROUND_ROBIN: _OneRound,
    Format.GAUNTLET: _Gauntlet,
    Format.SWISS: _Swiss,
    Format.KNOCKOUT: _knockout,
    Format.GROUPS: _Groups,
}

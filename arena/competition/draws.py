"""Draws of tournaments: the next round of each format, and the places by points or in the bracket.

All are functions of the plan, the entrants, and the rounds so far with their results. So a round can be drawn
again after a restart, and must equal the stored one.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from arena.competition.formats import bracket, group_knockout, group_swiss, swiss
from arena.competition.formats.gauntlet import gauntlet
from arena.competition.formats.groups import draw_groups, finalists
from arena.competition.formats.knockout_decision import EXTRA, LEAST, Decided, decided
from arena.competition.pair_margins import margins_between, mean_scores, measure
from arena.competition.plan import CompetitionPlan, Format, GamePlan
from arena.competition.record import Candidate, RoundPlayed
from arena.competition.rounds import (
    DrawError,
    Group,
    PlayedRound,
    Round,
    bye_half_points,
    half_points_of,
)
from arena.rating.ranking import standings
from arena.schedule.deal_sets import (
    MAX_GROUPS,
    DealSetPlan,
    digest,
    is_complete,
    planned,
    round_robin,
)

Past: TypeAlias = Sequence[RoundPlayed]


@dataclass(frozen=True, slots=True)
class DrawnRound:
    """A round with its deal-sets."""

    round: Round
    deal_sets: tuple[DealSetPlan, ...]


@dataclass(frozen=True, slots=True)
class FinalPlace:
    """The place of a bot by points, or in the bracket. Formats that rank by skill have none."""

    bot: str
    place: int
    """From 1; bots of equal points share one."""
    points: float | None
    """Points in Swiss and groups; None in a bracket."""
    note: str
    """For example the round in which it went out."""


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The bots of a group in a round, with the result so far."""

    stage: str
    """For example `round 2`, `losers' round 1`, `group 3` or `finals`."""
    bots: tuple[str | None, ...]
    """The best first if the stage is ranked; None for a bot that is not known yet. A single bot has a bye."""
    scores: tuple[float | None, ...] = ()
    """By bot: points of the round in a Swiss, of all deal-sets in a group; margin a deal-set in a knockout of two,
    skill at larger tables. Empty before the first complete deal-set."""
    going_on: tuple[str, ...] = ()
    """The bots that advance, or have won the last stage; empty while that is not known."""
    deal_sets: int = 0
    """The number of complete deal-sets."""
    note: str = ""
    """How a knockout's game was decided."""


def next_round(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> DrawnRound | None:
    """The round after `past`, which is complete; None when the tournament is over.

    Raises:
      DrawError, ScheduleError: if no first round can be drawn for these bots.
    """
    return _of_format(plan, game, candidates, past).draw()


def places(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> tuple[FinalPlace, ...]:
    """The places so far, by points or in the bracket; empty for formats that rank by skill."""
    return _of_format(plan, game, candidates, past).places()


def round_results(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> tuple[GroupResult, ...]:
    """The groups of all rounds with their results, in the order of stages; empty for formats without rounds."""
    return () if plan.format is None else _of_format(plan, game, candidates, past).results()


def _of_format(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> "_FormatOfGame":
    if plan.format is None:
        raise ValueError("a ladder has no rounds")
    of = _Game(plan, game, candidates, past)
    if plan.format is Format.KNOCKOUT and of.seats > 2:
        return _KnockoutTables(of)
    return _FORMATS[plan.format](of)


class _Game:
    """One game of a tournament with its rounds so far."""

    def __init__(
        self, plan: CompetitionPlan, number: int, candidates: Iterable[Candidate], past: Past
    ) -> None:
        self.plan, self.number, self.past = plan, number, past
        entered = (each for each in candidates if each.enters(number))
        self.candidates = tuple(sorted(entered, key=lambda each: each.seed))
        self.game: GamePlan = plan.games[number]
        self.seats = self.game.terms.seats
        # Several games have different boards.
        self.seed = plan.seed if len(plan.games) == 1 else digest(plan.seed, self.game.name)
        self.round_number = len(past) + 1

    def names(self, round_number: int | None = None) -> Group:
        """The bots in the draw of a round, by default the next one, in order of seed."""
        return tuple(each.name for each in self.entrants(round_number))

    def entrants(self, round_number: int | None = None) -> list[Candidate]:
        number = self.round_number if round_number is None else round_number
        return [each for each in self.candidates if each.is_in(self.number, number)]

    def plans(self, groups: Iterable[Group]) -> tuple[DealSetPlan, ...]:
        """A deal-set for each of the groups, numbered after those before."""
        first = 1 + max((each.last_number for each in self.past), default=0)
        name = f"{self.plan.name}/{self.game.name}"
        return tuple(
            planned(number, group, self.seed, name) for number, group in enumerate(groups, first)
        )

    def drawn(
        self, groups: Sequence[Group], byes: Group, plays: Iterable[Group], *of: object
    ) -> DrawnRound:
        entered = [(each.name, each.owner, each.seed) for each in self.entrants()]
        inputs = digest(str(self.plan.format), self.seed, self.round_number, entered, *of)
        return DrawnRound(Round(self.round_number, tuple(groups), byes, inputs), self.plans(plays))

    def repeated(self, groups: Iterable[Group]) -> list[Group]:
        """The groups, once for each deal-set that a group plays."""
        return list(groups) * self.game.deal_sets

    def ranking(self, played: RoundPlayed, group: Sequence[str]) -> list[str]:
        """A group in order of its standings; bots that went out before the next draw are last."""
        out = set(group) - set(self.names(played.round.number + 1))
        found = standings(played.of_group(group), played.outcomes)
        seeds = {each.name: each.seed for each in self.candidates}
        order = [row.bot for row in found.rows if row.tier is not None]
        order += sorted(set(group) - set(order), key=seeds.__getitem__)
        return sorted(order, key=lambda bot: bot in out)

    def group_result(
        self, stage: str, played: RoundPlayed, group: Group, going_on: Sequence[str]
    ) -> GroupResult:
        """A group in order of its standings, with those of `going_on` that are in it."""
        own = played.of_group(group)
        if not own:
            return GroupResult(stage, group)
        ranked = self.ranking(played, group)
        scores = {row.bot: row.score for row in standings(own, played.outcomes).rows}
        return GroupResult(
            stage,
            tuple(ranked),
            tuple(scores.get(bot) for bot in ranked),
            tuple(bot for bot in ranked if bot in set(going_on)),
            len(own),
        )


class _FormatOfGame(ABC):
    """One format's draws, places and results of a game."""

    def __init__(self, of: _Game) -> None:
        self._of = of

    @abstractmethod
    def draw(self) -> DrawnRound | None: ...

    def places(self) -> tuple[FinalPlace, ...]:
        return ()

    def results(self) -> tuple[GroupResult, ...]:
        return ()


class _OneRound(_FormatOfGame):
    """Formats with one round, which is ranked by skill."""

    def draw(self) -> DrawnRound | None:
        of = self._of
        if of.past:
            return None
        plans = self._schedule()
        groups = tuple(dict.fromkeys(tuple(sorted(each.bots)) for each in plans))
        return of.drawn(groups, (), [each.bots for each in plans], of.game.deal_sets)

    def _schedule(self) -> tuple[DealSetPlan, ...]:
        of = self._of
        return round_robin(
            of.names(),
            seats=of.seats,
            deal_sets=of.game.deal_sets,
            seed=of.seed,
            max_groups=of.plan.round_robin.max_groups or MAX_GROUPS,
        )


class _Gauntlet(_OneRound):
    def _schedule(self) -> tuple[DealSetPlan, ...]:
        of = self._of
        assert of.plan.gauntlet is not None
        return gauntlet(
            of.names(),
            of.plan.gauntlet.challenger,
            seats=of.seats,
            deal_sets=of.game.deal_sets,
            seed=of.seed,
        )


class _Swiss(_FormatOfGame):
    def __init__(self, of: _Game) -> None:
        super().__init__(of)
        self._played = [self._points(each) for each in of.past]

    def draw(self) -> DrawnRound | None:
        of, most = self._of, self._of.plan.swiss.rounds
        if of.past and of.round_number > (most or self._needed()):
            return None
        entrants = [each.entrant for each in of.entrants()]
        if of.past and len(entrants) < of.seats:
            return None  # too few bots are left
        if of.seats == 2:
            round_ = swiss.draw_round(entrants, self._played, seed=of.seed)
        else:
            round_ = group_swiss.draw_round(entrants, self._played, seats=of.seats, seed=of.seed)
        return DrawnRound(round_, of.plans(of.repeated(round_.groups)))

    def places(self) -> tuple[FinalPlace, ...]:
        half = {each.name: 0 for each in self._of.candidates}
        for played in self._played:
            for bot, points in played.half_points.items():
                half[bot] += points
            for bot in played.byes:
                half[bot] += bye_half_points(self._of.seats)
        return tuple(
            FinalPlace(bot, 1 + sum(more > own for more in half.values()), own / 2, "")
            for bot, own in sorted(half.items(), key=lambda each: (-each[1], each[0]))
        )

    def results(self) -> tuple[GroupResult, ...]:
        found: list[GroupResult] = []
        for past, played in zip(self._of.past, self._played, strict=True):
            stage, half = f"round {past.round.number}", played.half_points
            for group in played.groups:
                scores = tuple(half[bot] / 2 if bot in half else None for bot in group)
                known = scores if group[0] in half else ()
                found.append(GroupResult(stage, group, known, deal_sets=len(past.of_group(group))))
            bye = bye_half_points(self._of.seats) / 2
            found += [GroupResult(stage, (bot,), (bye,), note="bye") for bot in played.byes]
        return tuple(found)

    def _needed(self) -> int:
        entered = len(self._of.names(1))  # later withdrawals do not change the number of rounds
        if self._of.seats == 2:
            return swiss.rounds_needed(entered)
        return group_swiss.rounds_needed(entered, self._of.seats)

    def _points(self, played: RoundPlayed) -> PlayedRound:
        points: dict[str, int] = {}
        # As when the next round was drawn, so that the draw stays the same.
        still = set(self._of.names(played.round.number + 1))
        for group in played.round.groups:
            own = played.of_group(group)
            if own:
                points |= half_points_of(mean_scores(group, own, played.outcomes))
            else:  # a bot went out before the first card: the others get a bye
                points |= dict.fromkeys(set(group) & still, bye_half_points(self._of.seats))
        return PlayedRound(played.round.groups, played.round.byes, points)


class _Knockout(_FormatOfGame):
    """A knockout of two: each round has deal-sets of all open games of the bracket."""

    def __init__(self, of: _Game) -> None:
        super().__init__(of)
        self._seeds = of.names(1)
        self._games: tuple[bracket.BracketGame, ...] = ()
        if len(self._seeds) > 1:
            make = bracket.double if of.plan.knockout.double else bracket.single
            self._games = make(len(self._seeds))
        self._measure = measure(of.game.terms)
        self._deal_sets: dict[int, list[DealSetPlan]] = {}
        self._winners: dict[int, str] = {}
        self._how: dict[int, Decided] = {}
        self._leads: dict[int, float] = {}
        """The mean margin of the first side, by game."""
        for number, played in enumerate(of.past, 1):
            self._take(number, played)

    def draw(self) -> DrawnRound | None:
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

    def places(self) -> tuple[FinalPlace, ...]:
        if not self._games:
            return ()
        found = self._standing(self._of.round_number)
        last = {bot: games[-1] for bot, games in found.losses.items() if len(games) >= self._lives}
        stages = {game.number: game.stage for game in self._games}
        first = {stage: number for number, stage in sorted(stages.items(), reverse=True)}
        # Bots that are still in rank above all others; the losers of one stage share a place, as
        # their games do not rank them.
        level = {
            bot: first[stages[last[bot]]]
            if bot in last
            else len(self._games) + (bot == found.champion)
            for bot in self._seeds
        }
        return tuple(
            FinalPlace(
                bot,
                1 + sum(other > own for other in level.values()),
                None,
                self._note(bot, last, stages, found.champion),
            )
            for bot, own in sorted(
                level.items(), key=lambda each: (-each[1], self._seeds.index(each[0]))
            )
        )

    def results(self) -> tuple[GroupResult, ...]:
        standing = self._standing(self._of.round_number)
        return tuple(
            self._result(game, standing)
            for game in self._games
            if set(standing.sides[game.number]) != {bracket.NOBODY}
            and (not game.only_if_beaten or game.number in self._deal_sets)
        )

    def _result(self, game: bracket.BracketGame, standing: bracket.BracketState) -> GroupResult:
        sides, winner = standing.sides[game.number], standing.winners.get(game.number)
        bots = tuple(bot for bot in sides if bot != bracket.NOBODY)
        going_on = () if winner is None else (winner,)
        if len(bots) == 1:
            return GroupResult(game.stage, bots, (), going_on, note="bye")
        how = self._how.get(game.number)
        if how is None and winner is not None:
            return GroupResult(game.stage, bots, (), going_on, note="by walkover")
        lead = self._leads.get(game.number)
        scores = () if lead is None else (lead, -lead)
        note = "" if how is None else str(how.how)
        deal_sets = len(self._deal_sets.get(game.number, ()))
        return GroupResult(game.stage, bots, scores, going_on, deal_sets, note)

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
        return 2 if self._of.plan.knockout.double else 1

    def _losses(self, bot: str) -> tuple[int, ...]:
        return self._standing(self._of.round_number).losses.get(bot, ())

    def _standing(self, round_number: int) -> bracket.BracketState:
        gone = set(self._seeds) - set(self._of.names(round_number))
        return bracket.standing(self._games, self._seeds, self._winners, gone)

    def _take(self, number: int, played: RoundPlayed) -> None:
        rank = {bot: at for at, bot in enumerate(self._seeds)}
        for game, pair in self._standing(number).playable:
            own = self._deal_sets.setdefault(game.number, [])
            own += played.of_group(pair)
            margins = margins_between(*pair, own, played.outcomes, self._measure)
            if margins:
                self._leads[game.number] = math.fsum(margins) / len(margins)
            found = decided(
                margins,
                self._measure.bound,
                first_is_seeded_higher=rank[pair[0]] < rank[pair[1]],
                most=self._of.plan.knockout.most_deal_sets,
            )
            if found is not None:
                self._winners[game.number] = pair[0] if found.first_won else pair[1]
                self._how[game.number] = found

    def _more(self, game: int) -> int:
        """The number of deal-sets of a game in the next round."""
        played, most = len(self._deal_sets.get(game, ())), self._of.plan.knockout.most_deal_sets
        if played < LEAST:
            return LEAST - played
        return min(LEAST, most - played) if played < most else EXTRA


class _KnockoutTables(_FormatOfGame):
    """A knockout at larger tables: the upper half of each advances."""

    def __init__(self, of: _Game) -> None:
        super().__init__(of)
        self._still = of.names(1)
        self._out: list[tuple[str, list[str]]] = []
        """Bots that share a place, with the stage in which they went out, lowest place first."""
        self._results: list[GroupResult] = []
        self._over = False
        for played in of.past:
            self._take(played)

    def draw(self) -> DrawnRound | None:
        of = self._of
        still = tuple(bot for bot in self._still if bot in set(of.names()))
        if self._over or (of.past and len(still) < of.seats):
            return None
        groups, byes = group_knockout.draw_round(still, of.seats)
        return of.drawn(groups, byes, of.repeated(groups), still)

    def places(self) -> tuple[FinalPlace, ...]:
        note = "champion" if self._over else "still in"
        found = [FinalPlace(bot, 1, None, note) for bot in self._still]
        place = 1 + len(self._still)
        for stage, out in reversed(self._out):
            found += [FinalPlace(bot, place, None, f"out in {stage}") for bot in out]
            place += len(out)
        return tuple(found)

    def results(self) -> tuple[GroupResult, ...]:
        return tuple(self._results)

    def _take(self, played: RoundPlayed) -> None:
        of, round_ = self._of, played.round
        rankings = [of.ranking(played, group) for group in round_.groups]
        going = group_knockout.through(rankings, round_.byes, self._still, of.seats)
        went = [bot for bot in self._still if bot not in set(going)]
        self._over = len(round_.groups) == 1 and not round_.byes
        stage = "final" if self._over else f"round {round_.number}"
        known = (
            going if all(is_complete(each, played.outcomes) for each in played.deal_sets) else ()
        )
        self._results += [of.group_result(stage, played, each, known) for each in round_.groups]
        self._results += [GroupResult(stage, (bot,), note="bye") for bot in round_.byes]
        if self._over:  # the places of the last table follow its standings
            self._out += [(stage, [bot]) for bot in reversed(rankings[0][1:])]
        else:
            self._out.append((stage, went))
        self._still = going


class _Groups(_FormatOfGame):
    """Groups, then a round robin of their best, on new boards and from zero points."""

    def draw(self) -> DrawnRound | None:
        of, terms = self._of, self._of.plan.groups
        assert terms is not None
        if len(of.past) > 1:
            return None
        if not of.past:
            groups = draw_groups(of.names(), terms.groups, of.seats)
        else:
            first = of.past[0]
            rankings = [
                [each.bot for each in self._by_points(first, group, "")]
                for group in first.round.groups
            ]
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

    def results(self) -> tuple[GroupResult, ...]:
        of, found = self._of, []
        for number, played in enumerate(of.past):
            finals = of.past[1].round.groups[0] if not number and len(of.past) > 1 else ()
            for at, group in enumerate(played.round.groups, 1):
                stage = "finals" if number else f"group {at}"
                own, ranked = played.of_group(group), self._by_points(played, group, "")
                found.append(
                    GroupResult(
                        stage,
                        tuple(each.bot for each in ranked),
                        tuple(each.points for each in ranked) if own else (),
                        tuple(each.bot for each in ranked if each.bot in finals),
                        len(own),
                    )
                )
        return tuple(found)

    def places(self) -> tuple[FinalPlace, ...]:
        """The finals by points, then all others by their places in the groups."""
        of = self._of
        if not of.past:
            return ()
        found: list[FinalPlace] = []
        if len(of.past) > 1:
            (group,) = of.past[1].round.groups
            found = list(self._by_points(of.past[1], group, "finals"))
        in_finals = {each.bot for each in found}
        others = [
            each
            for number, group in enumerate(of.past[0].round.groups, 1)
            for each in self._by_points(of.past[0], group, f"group {number}")
            if each.bot not in in_finals
        ]
        others.sort(key=lambda each: each.place)
        for each in others:
            ahead = len(in_finals) + sum(other.place < each.place for other in others)
            note = f"place {each.place} of {each.note}"
            found.append(FinalPlace(each.bot, 1 + ahead, each.points, note))
        return tuple(found)

    def _by_points(
        self, played: RoundPlayed, group: Sequence[str], note: str
    ) -> tuple[FinalPlace, ...]:
        """A group in order of points, and of skill for equal points, which share a place.

        Bots that went out before the next draw are last.
        """
        half = Counter[str](dict.fromkeys(group, 0))
        for each in played.of_group(group):
            half.update(half_points_of(mean_scores(each.bots, [each], played.outcomes)))
        out = set(group) - set(self._of.names(played.round.number + 1))
        rank = {bot: (bot in out, -half[bot]) for bot in group}
        ordered = sorted(self._of.ranking(played, group), key=rank.__getitem__)
        return tuple(
            FinalPlace(
                bot, 1 + sum(other < rank[bot] for other in rank.values()), half[bot] / 2, note
            )
            for bot in ordered
        )


_FORMATS: Final[Mapping[Format, type[_FormatOfGame]]] = {
    Format.ROUND_ROBIN: _OneRound,
    Format.GAUNTLET: _Gauntlet,
    Format.SWISS: _Swiss,
    Format.KNOCKOUT: _Knockout,
    Format.GROUPS: _Groups,
}

"""A knockout of two seats: each round has deal-sets of all open games of the bracket."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from arena.contests.formats import bracket
from arena.contests.formats.tournament_format import FinalPlace, GroupResult, Past, TournamentFormat
from arena.contests.knockout_decision import EXTRA, LEAST, Decided, decided
from arena.contests.pair_margins import margins_between, measure
from arena.contests.plan import CompetitionPlan
from arena.results.record import Candidate, RoundRecord
from arena.results.rounds import DrawError

if TYPE_CHECKING:
    from arena.results.deal_sets import DealSet


class PairKnockout(TournamentFormat):
    """A knockout of two: each round has deal-sets of all open games of the bracket."""

    def __init__(
        self, plan: CompetitionPlan, number: int, candidates: Iterable[Candidate], past: Past
    ) -> None:
        super().__init__(plan, number, candidates, past)
        self._seeds = self.names(1)
        self._games: tuple[bracket.BracketGame, ...] = ()
        if len(self._seeds) > 1:
            make = bracket.double if self.plan.knockout.double else bracket.single
            self._games = make(len(self._seeds))
        self._measure = measure(self.game.terms)
        self._deal_sets: dict[int, list[DealSet]] = {}
        self._winners: dict[int, str] = {}
        self._how: dict[int, Decided] = {}
        self._leads: dict[int, float] = {}
        """The mean margin of the first side, by game."""
        for round_number, played in enumerate(self.past, 1):
            self._take(round_number, played)

    def draw(self) -> RoundRecord | None:
        if not self._games:
            raise DrawError("a knockout needs at least 2 bots")
        playable = self._standing(self.round_number).playable
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
        resting = set(self.names()) - {bot for pair in pairs for bot in pair}
        still = {bot for bot in resting if len(self._losses(bot)) < self._lives}
        byes = tuple(bot for bot in self.names() if bot in still)
        return self.drawn(pairs, byes, plays, sorted(self._winners.items()), more)

    def places(self) -> tuple[FinalPlace, ...]:
        if not self._games:
            return ()
        standing = self._standing(self.round_number)
        last = {
            bot: games[-1] for bot, games in standing.losses.items() if len(games) >= self._lives
        }
        stages = {game.number: game.stage for game in self._games}
        first = {stage: number for number, stage in sorted(stages.items(), reverse=True)}
        # Bots that are still in rank above all others; the losers of one stage share a place, as
        # their games do not rank them.
        level = {
            bot: first[stages[last[bot]]]
            if bot in last
            else len(self._games) + (bot == standing.champion)
            for bot in self._seeds
        }
        return tuple(
            FinalPlace(
                bot,
                1 + sum(other > stage for other in level.values()),
                None,
                self._note(bot, last, stages, standing.champion),
            )
            for bot, stage in sorted(
                level.items(), key=lambda row: (-row[1], self._seeds.index(row[0]))
            )
        )

    def results(self) -> tuple[GroupResult, ...]:
        standing = self._standing(self.round_number)
        return tuple(
            self._result(game, standing)
            for game in self._games
            if set(standing.sides[game.number]) != {bracket.BYE}
            and (not game.only_if_beaten or game.number in self._deal_sets)
        )

    def _result(self, game: bracket.BracketGame, standing: bracket.BracketState) -> GroupResult:
        sides, winner = standing.sides[game.number], standing.winners.get(game.number)
        bots = tuple(bot for bot in sides if bot != bracket.BYE)
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
        return 2 if self.plan.knockout.double else 1

    def _losses(self, bot: str) -> tuple[int, ...]:
        return self._standing(self.round_number).losses.get(bot, ())

    def _standing(self, round_number: int) -> bracket.BracketState:
        gone = set(self._seeds) - set(self.names(round_number))
        return bracket.standing(self._games, self._seeds, self._winners, gone)

    def _take(self, number: int, played: RoundRecord) -> None:
        rank = {bot: at for at, bot in enumerate(self._seeds)}
        for game, pair in self._standing(number).playable:
            deal_sets = self._deal_sets.setdefault(game.number, [])
            deal_sets += played.of_group(pair)
            margins = margins_between(*pair, deal_sets, played.outcomes, self._measure)
            if margins:
                self._leads[game.number] = math.fsum(margins) / len(margins)
            decision = decided(
                margins,
                self._measure.bound,
                first_is_seeded_higher=rank[pair[0]] < rank[pair[1]],
                most=self.plan.knockout.most_deal_sets,
            )
            if decision is not None:
                self._winners[game.number] = pair[0] if decision.first_won else pair[1]
                self._how[game.number] = decision

    def _more(self, game: int) -> int:
        played, most = len(self._deal_sets.get(game, ())), self.plan.knockout.most_deal_sets
        if played < LEAST:
            return LEAST - played
        return min(LEAST, most - played) if played < most else EXTRA

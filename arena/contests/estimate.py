"""Estimates of a competition before it begins: matches, hours and core-hours.

The caller gives the duration of a match. Each seat of a match uses one core while it is played, so that no bot
slows another.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena.contests.formats import group_swiss, swiss
from arena.contests.knockout_decision import EXTRA, LEAST
from arena.contests.plan import CompetitionPlan, Format, GamePlan
from arena.results.deal_sets import MAX_GROUPS


class TooFewBots(ValueError):
    """There are too few bots for the plan; the text says how many it needs."""


@dataclass(frozen=True, slots=True)
class Span:
    """A number between two bounds."""

    least: float
    most: float

    def times(self, factor: float) -> "Span":
        return Span(self.least * factor, self.most * factor)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimate of a tournament; for a ladder, of each hour that it is open."""

    deal_sets: Span
    matches: Span
    hours: Span
    """The duration in hours if all cores are used."""
    core_hours: Span
    at_a_time: int


def estimate(plan: CompetitionPlan, *, bots: Sequence[int], cores: int, match_s: float) -> Estimate:
    """Estimate `plan` for the numbers of bots of each game, these cores, and matches of `match_s` seconds.

    Several games share the cores; in a ladder each has an equal share of the hour.

    Raises:
      TooFewBots: if they do not fill a table, or the groups of the plan.
      ValueError: if there are fewer cores than seats.
    """
    return _added(
        [
            _of_game(plan, game, entered, cores, match_s, len(plan.games))
            for game, entered in zip(plan.games, bots, strict=True)
        ]
    )


def warnings(plan: CompetitionPlan, bots: Sequence[int]) -> list[str]:
    """Return sentences about what is probably a mistake in a plan, for the numbers of bots of each game."""
    rounds = plan.swiss.rounds
    if plan.format is not Format.SWISS or rounds is None:
        return []
    return [
        f"{game.name}: {entered} bots have all met after {swiss.most_rounds(entered)} rounds, and [swiss] has"
        f' {rounds}, so bots meet again; format = "round_robin" lets all meet equally often'
        for game, entered in zip(plan.games, bots, strict=True)
        if game.seats == swiss.SEATS <= entered and swiss.most_rounds(entered) < rounds
    ]


def _of_game(
    plan: CompetitionPlan, game: GamePlan, bots: int, cores: int, match_s: float, games: int
) -> Estimate:
    seats = game.terms.seats
    if cores < seats:
        raise ValueError(f"a match of {seats} seats takes {seats} cores; there are {cores}")
    if bots < seats:
        raise TooFewBots(f"{game.name} seats needs {seats} bots; {bots} entered")
    at_a_time = cores // seats
    if plan.format is None:
        deal_sets = _exactly(3600.0 * at_a_time / (match_s * seats * games))
    else:
        deal_sets = _deal_sets(plan, plan.format, game, bots)
    matches = deal_sets.times(seats)
    return Estimate(
        deal_sets,
        matches,
        matches.times(match_s / 3600.0 / at_a_time),
        matches.times(match_s * seats / 3600.0),
        at_a_time,
    )


def _added(of_games: Sequence[Estimate]) -> Estimate:
    def total(spans: Sequence[Span]) -> Span:
        return Span(math.fsum(one.least for one in spans), math.fsum(one.most for one in spans))

    return Estimate(
        total([one.deal_sets for one in of_games]),
        total([one.matches for one in of_games]),
        total([one.hours for one in of_games]),
        total([one.core_hours for one in of_games]),
        min(one.at_a_time for one in of_games),
    )


def _deal_sets(plan: CompetitionPlan, format_: Format, game: GamePlan, bots: int) -> Span:
    seats, deal_sets = game.seats, game.deal_sets
    if format_ is Format.ROUND_ROBIN:
        return _exactly(deal_sets * _groups(bots, seats, plan.round_robin.max_groups or MAX_GROUPS))
    if format_ is Format.GAUNTLET:
        return _exactly(deal_sets)
    if format_ is Format.SWISS:
        needed = swiss.rounds_needed(bots) if seats == 2 else group_swiss.rounds_needed(bots, seats)
        return _exactly(deal_sets * (plan.swiss.rounds or needed) * (bots // seats))
    if format_ is Format.KNOCKOUT and seats == 2:
        games = 2 * bots - 2 if plan.knockout.double else bots - 1
        most = plan.knockout.most_deal_sets + EXTRA
        return Span(games * LEAST, (games + plan.knockout.double) * most)
    if format_ is Format.KNOCKOUT:
        return _exactly(deal_sets * _knockout_tables(bots, seats))
    terms = plan.groups
    assert terms is not None
    smaller, larger = divmod(bots, terms.groups)
    if smaller < seats or smaller < terms.best:
        raise TooFewBots(
            f"{terms.groups} groups of at least {max(seats, terms.best)} bots need "
            f"{terms.groups * max(seats, terms.best)}; {bots} entered"
        )
    if terms.groups * terms.best < seats:
        raise TooFewBots(
            f"finals of {seats} seats need {seats} bots; {terms.groups * terms.best} advance"
        )
    sizes = [smaller + (at < larger) for at in range(terms.groups)]
    every = sum(_groups(size, seats, MAX_GROUPS) for size in [*sizes, terms.groups * terms.best])
    return _exactly(deal_sets * every)


def _groups(bots: int, seats: int, most: int) -> int:
    groups = math.comb(bots, seats)
    return groups if seats == 2 else min(groups, most)


def _knockout_tables(bots: int, seats: int) -> int:
    """Return the number of tables in all rounds: the upper half advances, but at least one full table."""
    tables, left = 0, bots
    while True:
        groups, byes = divmod(left, seats)
        tables += groups
        if groups == 1 and not byes:
            return tables
        left = max(seats, byes + groups * (seats // 2))


def _exactly(number: float) -> Span:
    return Span(number, number)

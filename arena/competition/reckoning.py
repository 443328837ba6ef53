"""What a competition will come to before it begins: matches, hours and core-hours.

The length of a match is measured elsewhere, or guessed; here it is multiplied out. Every seat of a
match has a core of its own while it is played, as a bot must not be slower for its neighbours.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.competition.formats import swiss, swiss_tables
from arena.competition.formats.decided import EXTRA, LEAST
from arena.competition.plan_file import CompetitionPlan, Format, GamePlan
from arena.ladder.schedule import MAX_GROUPS


class TooFewBots(ValueError):
    """These bots are too few for what was asked; the text says how many it takes."""


@dataclass(frozen=True, slots=True)
class Span:
    """A number that is known only from below and above."""

    least: float
    most: float

    def times(self, factor: float) -> "Span":
        """Each end multiplied."""
        return Span(self.least * factor, self.most * factor)


@dataclass(frozen=True, slots=True)
class Reckoning:
    """What a tournament takes; of a ladder, each hour that it is open."""

    deal_sets: Span
    matches: Span
    hours: Span
    """With as many matches at a time as there are cores for."""
    core_hours: Span
    at_a_time: int
    """Matches at a time."""


def reckon(plan: CompetitionPlan, *, bots: int, cores: int, match_s: float) -> Reckoning:
    """What `plan` comes to with so many bots and cores, if a match takes so long.

    Several games share the cores; of a ladder each has its share of the hour.

    Raises:
      TooFewBots: if they do not fill a table, or the groups that were asked for.
      ValueError: if there are fewer cores than seats.
    """
    return _added(
        [_of_game(plan, game, bots, cores, match_s, len(plan.games)) for game in plan.games]
    )


def _of_game(
    plan: CompetitionPlan, game: GamePlan, bots: int, cores: int, match_s: float, games: int
) -> Reckoning:
    seats = game.terms.seats
    if cores < seats:
        raise ValueError(f"a match of {seats} seats takes {seats} cores; there are {cores}")
    if bots < seats:
        raise TooFewBots(f"a table of {seats} seats needs {seats} bots; {bots} entered")
    at_a_time = cores // seats
    if plan.format is None:
        deal_sets = _alike(3600.0 * at_a_time / (match_s * seats * games))
    else:
        deal_sets = _deal_sets(plan, plan.format, game, bots)
    matches = deal_sets.times(seats)
    return Reckoning(
        deal_sets,
        matches,
        matches.times(match_s / 3600.0 / at_a_time),
        matches.times(match_s * seats / 3600.0),
        at_a_time,
    )


def _added(each: Sequence[Reckoning]) -> Reckoning:
    def total(spans: Iterable[Span]) -> Span:
        ends = [(span.least, span.most) for span in spans]
        return Span(math.fsum(least for least, _ in ends), math.fsum(most for _, most in ends))

    return Reckoning(
        total(one.deal_sets for one in each),
        total(one.matches for one in each),
        total(one.hours for one in each),
        total(one.core_hours for one in each),
        min(one.at_a_time for one in each),
    )


def _deal_sets(plan: CompetitionPlan, format_: Format, game: GamePlan, bots: int) -> Span:
    seats, terms, deal_sets = game.terms.seats, plan.format_terms, game.deal_sets
    if format_ is Format.ROUND_ROBIN:
        return _alike(deal_sets * _groups(bots, seats, terms.max_groups or MAX_GROUPS))
    if format_ is Format.GAUNTLET:
        return _alike(deal_sets)
    if format_ is Format.SWISS:
        needed = (
            swiss.rounds_needed(bots) if seats == 2 else swiss_tables.rounds_needed(bots, seats)
        )
        return _alike(deal_sets * (terms.rounds or needed) * (bots // seats))
    if format_ is Format.KNOCKOUT and seats == 2:
        games = 2 * bots - 2 if terms.double else bots - 1
        most = terms.most_deal_sets + EXTRA
        return Span(games * LEAST, (games + terms.double) * most)
    if format_ is Format.KNOCKOUT:
        return _alike(deal_sets * _knockout_tables(bots, seats))
    smaller, larger = divmod(bots, terms.groups)
    if smaller < seats or smaller < terms.best:
        raise TooFewBots(
            f"{terms.groups} groups of at least {max(seats, terms.best)} bots need "
            f"{terms.groups * max(seats, terms.best)}; {bots} entered"
        )
    if terms.groups * terms.best < seats:
        raise TooFewBots(
            f"finals of {seats} seats need {seats} bots; {terms.groups * terms.best} go on"
        )
    sizes = [smaller + (at < larger) for at in range(terms.groups)]
    every = sum(_groups(size, seats, MAX_GROUPS) for size in [*sizes, terms.groups * terms.best])
    return _alike(deal_sets * every)


def _groups(bots: int, seats: int, most: int) -> int:
    groups = math.comb(bots, seats)
    return groups if seats == 2 else min(groups, most)


def _knockout_tables(bots: int, seats: int) -> int:
    """Tables of all rounds: of each the upper half goes on, and never fewer than one table."""
    tables, left = 0, bots
    while True:
        groups, byes = divmod(left, seats)
        tables += groups
        if groups == 1 and not byes:
            return tables
        left = max(seats, byes + groups * (seats // 2))


def _alike(number: float) -> Span:
    return Span(number, number)

"""Draws of tournaments: the next round of each format, and the places by points or in the bracket.

All are functions of the plan, the entrants, and the rounds so far with their results. A round that is drawn again after
a restart must therefore equal the stored one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from arena.contests.formats.group_knockout import TableKnockout
from arena.contests.formats.groups import GroupStage
from arena.contests.formats.knockout import PairKnockout
from arena.contests.formats.one_round import Gauntlet, RoundRobin
from arena.contests.formats.swiss import Swiss
from arena.contests.formats.tournament_format import FinalPlace, GroupResult, Past, TournamentFormat
from arena.contests.plan import CompetitionPlan, Format
from arena.results.record import Candidate, RoundRecord

_FORMATS: Final[Mapping[Format, type[TournamentFormat]]] = {
    Format.ROUND_ROBIN: RoundRobin,
    Format.GAUNTLET: Gauntlet,
    Format.SWISS: Swiss,
    Format.KNOCKOUT: PairKnockout,
    Format.GROUPS: GroupStage,
}


def next_round(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> RoundRecord | None:
    """Return the round after `past`, which is complete; None when the tournament is over.

    Raises `DrawError` or `ScheduleError` if no first round can be drawn for these bots.
    """
    return _of_format(plan, game, candidates, past).draw()


def places(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> tuple[FinalPlace, ...]:
    """Return the places so far, by points or in the bracket; empty for formats that rank by skill."""
    return _of_format(plan, game, candidates, past).places()


def round_results(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> tuple[GroupResult, ...]:
    """Return the groups of all rounds with their results, in the order of stages; empty for formats without rounds."""
    return () if plan.format is None else _of_format(plan, game, candidates, past).results()


def _of_format(
    plan: CompetitionPlan, game: int, candidates: Iterable[Candidate], past: Past
) -> TournamentFormat:
    if plan.format is None:
        raise ValueError("a ladder has no rounds")
    candidates = [
        replace(candidate, owner=plan.team_of(candidate.owner)) for candidate in candidates
    ]
    kind = _FORMATS[plan.format]
    if plan.format is Format.KNOCKOUT and plan.games[game].terms.seats > 2:
        kind = TableKnockout
    return kind(plan, game, candidates, past)

"""How long the table of a ladder takes: the fit, its tiers and every pair's chance."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arena.rating.ranking import standings
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, MatchPlan


@dataclass(frozen=True, slots=True)
class Case:
    """A ladder of so many bots and deal-sets."""

    name: str
    bots: int
    deal_sets: int
    seats: int = 2
    target_s: float | None = None


CASES: Final = (
    Case("100x5000", 100, 5_000),
    Case("200x20000", 200, 20_000, target_s=10.0),
    Case("100x5000_4_seats", 100, 5_000, seats=4),
)


def table_s(case: Case, progress: Callable[[str], None]) -> float:
    """Seconds from the results of a ladder to its table."""
    progress(f"{case.deal_sets:,} deal-sets of {case.bots} bots")
    plans, outcomes = _played(case)
    began = time.perf_counter()
    table = standings(plans, outcomes)
    took = time.perf_counter() - began
    assert table.complete == case.deal_sets
    assert not table.problem
    return took


def _played(case: Case) -> tuple[list[DealSetPlan], dict[str, MatchOutcome]]:
    """Deal-sets between bots drawn by lot, in which the cards count more than the bots."""
    draw = random.Random(case.name)
    skills = {f"bot{number:03}": draw.gauss(0, 3) for number in range(case.bots)}
    plans, outcomes = [], {}
    for number in range(1, case.deal_sets + 1):
        group = tuple(draw.sample(sorted(skills), case.seats))
        cards = [draw.gauss(0, 20) for _ in group]
        matches = []
        for rotation in range(case.seats):
            seated = group[rotation:] + group[:rotation]
            match = MatchPlan(f"{number}-{rotation}", str(number), rotation, seated, "")
            scores = [
                skills[bot] + luck + draw.gauss(0, 6)
                for bot, luck in zip(seated, cards, strict=True)
            ]
            places = (1,) * case.seats
            clean: tuple[dict[str, int], ...] = ({},) * case.seats
            outcomes[match.id] = MatchOutcome(match.id, tuple(scores), places, "completed", clean)
            matches.append(match)
        plans.append(DealSetPlan(str(number), number, group, "", tuple(matches)))
    return plans, outcomes

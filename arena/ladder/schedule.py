"""The closed schedule of a tournament of launched bots: a round robin of complete deal-sets.

In every round each group of bots plays one deal-set: the same boards at as
many tables as there are seats, with the seating moved on by one seat from
table to table. So everyone plays every seat of every board once, and the luck
of the deal cancels.

Draws are made by sorting SHA-256 hashes, so a schedule is the same on every machine
and every version of Python.
"""

import hmac
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from arena.ladder.draws import digest, shuffled

MAX_GROUPS: Final = 200
"""Groups of more than two bots in one round; where there are more, a sample of them plays."""

Group: TypeAlias = tuple[str, ...]

_ID_DIGITS: Final = 20  # 80 bits: no two of a million matches share an id


class ScheduleError(ValueError):
    """These bots cannot play this tournament; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """One table of a deal-set."""

    id: str
    deal_set_id: str
    rotation: int
    """Seats by which the deal-set's seating has moved on, 0 to n - 1."""
    bots: tuple[str, ...]
    """Names in seat order."""
    seed: str
    """Fixes the boards; the same at all tables of the deal-set."""

    @property
    def instance(self) -> int:
        """Which process of each bot plays: one that sees no other table of the deal-set."""
        return self.rotation


@dataclass(frozen=True, slots=True)
class DealSetPlan:
    """One list of boards and the tables it is played at."""

    id: str
    number: int
    """Counts the deal-sets of the tournament, from 1."""
    bots: tuple[str, ...]
    """Names in seat order at the table with rotation 0."""
    seed: str
    matches: tuple[MatchPlan, ...]


def round_robin(
    bots: Sequence[str],
    *,
    seats: int,
    deal_sets: int,
    seed: str,
    tournament: str = "",
    max_groups: int = MAX_GROUPS,
) -> tuple[DealSetPlan, ...]:
    """Plan `deal_sets` rounds; in each, every group of `seats` bots plays one deal-set.

    If there are more than `max_groups` groups of three or more bots, each round
    plays `max_groups` of them, chosen so that all bots play equally often (give or
    take one deal-set) and meet each other about equally often.

    The seed fixes everything but the ids. These depend on the `tournament`'s name as
    well, so that two tournaments in one folder share none. A schedule of more rounds
    starts with the same deal-sets, so a tournament can be made longer. Each deal-set has
    a seed of its own, which tells neither the given one nor that of another deal-set.

    Raises:
      ScheduleError: if there are too few bots, two of one name, or no rounds.
    """
    require_schedulable(bots, seats, deal_sets)
    if max_groups < 1:
        raise ScheduleError(f"a round has at least 1 group, not {max_groups}")
    names = sorted(bots)  # so that the order in which they were given does not matter
    every_group = math.comb(len(names), seats)
    if seats == 2 or every_group <= max_groups:
        groups = _all_groups(names, seats, seed)
        groups_a_round = every_group
    else:
        groups = _sampled_groups(names, seats, seed)
        groups_a_round = max_groups
    return tuple(
        planned(number, group, seed, tournament)
        for number, group in enumerate(itertools.islice(groups, deal_sets * groups_a_round), 1)
    )


def require_schedulable(bots: Sequence[str], seats: int, deal_sets: int) -> None:
    """Require bots of different names, as many as a table has seats, and something to play.

    Raises:
      ScheduleError: saying what is missing.
    """
    if seats < 2:
        raise ScheduleError(f"a table of a tournament has at least 2 seats, not {seats}")
    if len(bots) < seats:
        raise ScheduleError(f"{seats} seats need at least {seats} bots; there are {len(bots)}")
    for name, times in Counter(bots).items():
        if times > 1:
            raise ScheduleError(f"{times} bots are named {name!r}; every bot needs its own name")
    if deal_sets < 1:
        raise ScheduleError(f"a group plays at least 1 deal-set, not {deal_sets}")


def _all_groups(names: list[str], seats: int, seed: str) -> Iterator[Group]:
    """Every group once a round, in an order drawn for the round.

    The order matters to a tournament that is stopped early: no bot has played
    all its matches while another waits for its first.
    """
    groups = list(itertools.combinations(names, seats))
    for number in itertools.count(1):
        yield from shuffled(groups, seed, "round", number)


def _sampled_groups(names: list[str], seats: int, seed: str) -> Iterator[Group]:
    """Groups without end, the bots that played least first.

    Seat by seat a group takes, among the bots that played least, the one that
    met the others of the group least. So the numbers of deal-sets of two bots
    never differ by more than one.
    """
    played: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    for number in itertools.count(1):
        waiting = shuffled(names, seed, "group", number)
        group: list[str] = []
        for _ in range(seats):
            chosen = min(
                waiting,
                key=lambda bot: (played[bot], sum(met[frozenset((bot, g))] for g in group)),
            )
            waiting.remove(chosen)
            group.append(chosen)
        played.update(group)
        met.update(map(frozenset, itertools.combinations(group, 2)))
        yield tuple(group)


def planned(number: int, group: Group, seed: str, tournament: str) -> DealSetPlan:
    """Deal-set `number` of a schedule, between these bots; its seating is drawn."""
    seating = tuple(shuffled(sorted(group), seed, "seating", number))
    boards = _derived_seed(seed, number)
    deal_set_id = digest(tournament, seed, "deal-set", number, seating)[:_ID_DIGITS]
    return DealSetPlan(
        id=deal_set_id,
        number=number,
        bots=seating,
        seed=boards,
        matches=tuple(
            MatchPlan(
                id=digest(deal_set_id, "match", rotation)[:_ID_DIGITS],
                deal_set_id=deal_set_id,
                rotation=rotation,
                bots=seating[rotation:] + seating[:rotation],
                seed=boards,
            )
            for rotation in range(len(seating))
        ),
    )


def planned_tables(number: int, tables: Sequence[Group], seed: str, tournament: str) -> DealSetPlan:
    """Deal-set `number` at tables that were drawn elsewhere, each in seat order."""
    packs = _derived_seed(seed, number)
    deal_set_id = digest(tournament, seed, "deal-set", number, tables)[:_ID_DIGITS]
    return DealSetPlan(
        id=deal_set_id,
        number=number,
        bots=tuple(sorted({bot for table in tables for bot in table})),
        seed=packs,
        matches=tuple(
            MatchPlan(digest(deal_set_id, "match", at)[:_ID_DIGITS], deal_set_id, at, bots, packs)
            for at, bots in enumerate(tables)
        ),
    )


def _derived_seed(seed: str, number: int) -> str:
    """The seed of one deal-set: HMAC-SHA-256 under the tournament's.

    A replay names the seed of its deal-set while other deal-sets are in play.
    """
    about = json.dumps(["deal-set seed", number])
    return hmac.digest(seed.encode(), about.encode(), "sha256").hex()

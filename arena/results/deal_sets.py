"""Deal-sets: the schedule of a round robin, draws by lot, and the outcomes of matches.

A deal-set is the same boards at as many tables as there are seats. The seating moves on by one seat from table
to table, so every bot plays every seat of every board once, and the luck of the deal cancels. In each round of
a round robin every group of bots plays one deal-set.

Draws sort by SHA-256, so a schedule is the same on every machine and with every version of Python.
"""

import hashlib
import hmac
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

_T = TypeVar("_T")

MAX_GROUPS: Final = 200
"""The maximal number of groups of more than two bots in one round; if there are more, a sample of them plays."""
ABORTED: Final = "aborted"
"""The ending of a match that the arena itself could not finish.

Such a match does not count, and is played again. Every other ending is a result.
"""
FORFEITED_AT: Final = 0.1
"""The share of decisions by the fallback from which a seat counts as forfeited."""

Group: TypeAlias = tuple[str, ...]

_ID_DIGITS: Final = 20  # 80 bits: no two of a million matches share an id

HOUSE: Final = "(house)"
"""The name of the arena's own bots, which fill empty seats."""
PERSON: Final = "(person)"
"""The name of every person who plays a submitted bot."""


def bot_of(player: str) -> str:
    """Return the bot of a player, which is a version of an uploaded bot, such as `ann@7`, or the bot itself."""
    return player.partition("@")[0]


def digest(*about: object) -> str:
    """Return the SHA-256 of JSON values, in hexadecimal."""
    # JSON separates the parts: ("a", "bc") and ("ab", "c") have different digests.
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def shuffled(items: Iterable[_T], *about: object) -> list[_T]:
    """Return the items in an order drawn by lot; `about` are the inputs, such as a seed and a round."""
    return sorted(items, key=lambda item: digest(*about, item))


class ScheduleError(ValueError):
    """No schedule can be made for these bots; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """One table of a deal-set."""

    id: str
    deal_set_id: str
    rotation: int
    """The number of seats by which the seating has moved from the first table, 0 to n - 1."""
    bots: tuple[str, ...]
    """Names in seat order."""


class DealSetShape(StrEnum):
    """The seating of a deal-set."""

    ROTATION = "rotation"
    """Each bot has every seat once."""
    CROSS = "cross"
    """Each bot sees each board once, for bots whose owners could compare what they see."""


class DealSetState(StrEnum):
    """The state of a deal-set of a competition."""

    WAITING = "waiting"
    IN_PLAY = "in play"
    COMPLETE = "complete"
    """It was reported, with a result for each match."""
    GIVEN_UP = "given up"
    """The arena could not finish it; it waits again after the next start."""
    VOID = "void"
    """It does not count: one of its bots was out before it began, or an organiser dropped the worker that played it."""


@dataclass(frozen=True, slots=True)
class DealSet:
    """One list of boards and the tables it is played at, as it is drawn, stored and read again."""

    id: str
    number: int
    """From 1 in each schedule."""
    bots: tuple[str, ...]
    """Names in seat order at the table with rotation 0."""
    seed: str
    """The seed of the boards, which are the same at all tables."""
    matches: tuple[MatchPlan, ...]
    round: int = 0
    """The round of a tournament that it belongs to; 0 without rounds."""
    shape: DealSetShape = DealSetShape.ROTATION
    state: DealSetState = DealSetState.WAITING
    """The state. A deal-set in play may have all results, because the arena may stop between the last result and the report."""
    inputs_sha256: str = ""
    """The hash of the inputs of a ladder's draw."""
    begin: int = field(default=0, compare=False)
    """The number of its latest begin: 1 when it is taken for the first time, and has no results. The store counts it."""

    @property
    def tables(self) -> tuple[Group, ...]:
        """The bots of each match in seat order."""
        return tuple(match.bots for match in self.matches)

    @property
    def is_void(self) -> bool:
        """Whether it does not count."""
        return self.state is DealSetState.VOID

    @property
    def is_open(self) -> bool:
        """Whether it is still to be played or reported."""
        return self.state not in (DealSetState.COMPLETE, DealSetState.VOID)


def round_robin(
    bots: Sequence[str],
    *,
    seats: int,
    deal_sets: int,
    seed: str,
    tournament: str = "",
    max_groups: int = MAX_GROUPS,
) -> tuple[DealSet, ...]:
    """Plan `deal_sets` rounds of `round_robin_groups`.

    The seed fixes everything but the ids, which depend on the name of the `tournament` too, so that two
    tournaments in one folder share none. A schedule of more rounds starts with the same deal-sets. Each deal-set
    has its own seed, which reveals neither the given seed nor that of another deal-set.

    Raises `ScheduleError` if there are too few bots, two of one name, or no rounds.
    """
    groups = round_robin_groups(
        bots, seats=seats, deal_sets=deal_sets, seed=seed, max_groups=max_groups
    )
    return tuple(planned(number, group, seed, tournament) for number, group in enumerate(groups, 1))


def round_robin_groups(
    bots: Sequence[str], *, seats: int, deal_sets: int, seed: str, max_groups: int = MAX_GROUPS
) -> Iterator[Group]:
    """Return the groups of `deal_sets` rounds; in each round, every group of `seats` bots plays one deal-set.

    If there are more than `max_groups` groups of three or more bots, each round plays `max_groups` of them, chosen
    by `balanced_groups`.

    Raises `ScheduleError` if there are too few bots, two of one name, or no rounds.
    """
    require_schedulable(bots, seats, deal_sets)
    if max_groups < 1:
        raise ScheduleError(f"a round has at least 1 group, not {max_groups}")
    names = sorted(bots)  # the given order does not matter
    every_group = math.comb(len(names), seats)
    if seats == 2 or every_group <= max_groups:
        groups = _all_groups(names, seats, seed)
        groups_a_round = every_group
    else:
        groups = balanced_groups(names, seats, seed, "group")
        groups_a_round = max_groups
    return itertools.islice(groups, deal_sets * groups_a_round)


def require_schedulable(bots: Sequence[str], seats: int, deal_sets: int) -> None:
    """Require bots of different names, at least as many as seats, and at least one deal-set.

    Raises:
      ScheduleError: saying what is wrong.
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
    """Yield every group once in each round, in an order drawn for the round.

    If a tournament is stopped early, its bots have played about equally many matches.
    """
    groups = list(itertools.combinations(names, seats))
    for number in itertools.count(1):
        yield from shuffled(groups, seed, "round", number)


def balanced_groups(
    bots: Sequence[str], seats: int, seed: str, label: str, fixed: Group = ()
) -> Iterator[Group]:
    """Yield endlessly groups of `fixed` and `seats` of the `bots`, in which all play and meet equally often.

    Each seat goes to the bot that played least, and among those to the one that met the others of the group
    least; lots decide the rest. So the numbers of deal-sets of two bots differ by one at most.
    """
    played: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    for number in itertools.count(1):
        waiting, group = shuffled(bots, seed, label, number), list[str]()
        for _ in range(seats):
            chosen = min(
                waiting, key=lambda bot: (played[bot], sum(met[frozenset((bot, g))] for g in group))
            )
            waiting.remove(chosen)
            group.append(chosen)
        played.update(group)
        met.update(map(frozenset, itertools.combinations(group, 2)))
        yield (*fixed, *group)


def planned(number: int, group: Group, seed: str, tournament: str) -> DealSet:
    """Deal-set `number` of a schedule, between these bots; its seating is drawn."""
    seating = tuple(shuffled(sorted(group), seed, "seating", number))
    tables = [seating[at:] + seating[:at] for at in range(len(seating))]
    deal_set_id = digest(tournament, seed, "deal-set", number, seating)[:_ID_DIGITS]
    return _planned(number, deal_set_id, seating, tables, seed)


def planned_tables(number: int, tables: Sequence[Group], seed: str, tournament: str) -> DealSet:
    """Deal-set `number` at these tables, each in seat order."""
    bots = tuple(sorted({bot for table in tables for bot in table}))
    deal_set_id = digest(tournament, seed, "deal-set", number, tables)[:_ID_DIGITS]
    return _planned(number, deal_set_id, bots, tables, seed)


def _planned(
    number: int, deal_set_id: str, bots: Group, tables: Sequence[Group], seed: str
) -> DealSet:
    matches = tuple(
        MatchPlan(digest(deal_set_id, "match", at)[:_ID_DIGITS], deal_set_id, at, table)
        for at, table in enumerate(tables)
    )
    return DealSet(deal_set_id, number, bots, _derived_seed(seed, number), matches)


def _derived_seed(seed: str, number: int) -> str:
    """Return the seed of one deal-set: an HMAC-SHA-256 with the schedule's seed as key.

    A replay shows the seed of its deal-set while other deal-sets are in play.
    """
    about = json.dumps(["deal-set seed", number])
    return hmac.digest(seed.encode(), about.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """The outcome of one match.

    Raises `ValueError` if the match has a result, but scores, places, faults and forfeits have different
    numbers of seats.
    """

    match_id: str
    scores: tuple[float, ...]
    """By seat, in the game's own unit; higher is better."""
    places: tuple[int, ...]
    """By seat, 1 is first; equal bots share a place."""
    ending: str
    """Why the match ended, as the referee names it; `ABORTED` is not a result."""
    faults: tuple[Mapping[str, int], ...]
    """By seat, how often the bot there committed each kind of fault."""
    forfeited: tuple[bool, ...] = ()
    """By seat, whether its bot forfeited and the fallback played to the end. Empty if unknown."""
    fallback_share: tuple[float, ...] = ()
    """By seat, the share of its decisions that the fallback played, 0 to 1. Empty if unknown."""
    hands: int = 0
    """The number of hands played, including throw-ins."""
    decisions: int = 0
    """The number of decisions of all seats."""
    cost: int = field(default=0, compare=False)
    """The largest difference between the best and the worst seat in one hand, in points; 0 if unknown."""
    costliest_hand: int = field(default=0, compare=False)
    """The number of that hand, from 1; 0 if unknown."""
    evidence: str = ""
    """Details of an abnormal ending, for the operator of the arena."""
    journal_position: str = field(default="", compare=False)
    """The position of the match's end in the journal; not part of the result."""

    def __post_init__(self) -> None:
        if self.has_result and not len(self.scores) == len(self.places) == len(self.faults):
            raise ValueError(
                f"match {self.match_id} has {len(self.scores)} scores, {len(self.places)} places "
                f"and faults of {len(self.faults)} seats"
            )
        for by_seat in (self.forfeited, self.fallback_share):
            if by_seat and len(by_seat) != len(self.scores):
                raise ValueError(
                    f"match {self.match_id} has {len(self.scores)} scores, and forfeits of "
                    f"{len(by_seat)} seats"
                )

    @property
    def has_result(self) -> bool:
        return self.ending != ABORTED


def lapse(outcome: MatchOutcome, seat: int) -> float:
    """Return to what degree a seat was forfeited: 0 if its bot made all decisions, 1 if it counts as forfeited."""
    if outcome.forfeited and outcome.forfeited[seat]:
        return 1.0
    return min(1.0, outcome.fallback_share[seat] / FORFEITED_AT) if outcome.fallback_share else 0.0


def lead_with_forfeits(lead: float, forfeited: tuple[bool, bool], widest: float) -> float:
    """Return the lead of one bot over another at a table where one of them forfeited its seat.

    It is the worse of the result and `widest`, the widest lead so far, so that no bot gains by forfeiting.
    """
    if forfeited == (True, False):
        return min(lead, -(widest or 1.0))
    if forfeited == (False, True):
        return max(lead, widest or 1.0)
    return lead


def places_with_forfeits(outcome: MatchOutcome) -> tuple[int, ...]:
    """Return the places of a match by seat; seats that count as forfeited come after all others."""
    ranks = [(lapse(outcome, seat) < 1.0, -place) for seat, place in enumerate(outcome.places)]
    return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)


def aborted(match_id: str, evidence: str = "") -> MatchOutcome:
    """Return the outcome of a match that the arena could not finish."""
    return MatchOutcome(match_id, (), (), ABORTED, (), evidence=evidence)


def winners(bots: Sequence[str], places: Sequence[int]) -> Sequence[str]:
    """Return the bots with the first place, by seat: several if they share it, none if all do.

    An aborted match has no places and no winners.
    """
    first = [bot for bot, place in zip(bots, places, strict=False) if place == 1]
    return first if len(first) < len(places) else ()


def is_complete(deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> bool:
    """Return whether every match of a deal-set has a result."""
    return all(match.id in outcomes and outcomes[match.id].has_result for match in deal_set.matches)

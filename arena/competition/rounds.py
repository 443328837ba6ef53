"""What all formats share: who entered, what a round is, points, byes and seeds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from arena.ladder.draws import digest, shuffled

Group: TypeAlias = tuple[str, ...]
Pair: TypeAlias = frozenset[str]


class DrawError(ValueError):
    """No round can be drawn for these bots; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot of a competition."""

    name: str
    owner: str
    seed: int
    """Its rank before the first round, from 1."""


@dataclass(frozen=True, slots=True)
class Round:
    """Who meets whom, as it is stored before the first card."""

    number: int
    """From 1."""
    groups: tuple[Group, ...]
    """In order of strength; within a group in order of name."""
    byes: Group
    """Who has nobody to play, and is paid for it."""
    inputs_sha256: str
    """Of all that the draw was made from."""


@dataclass(frozen=True, slots=True)
class Played:
    """A round when it is over."""

    groups: tuple[Group, ...]
    byes: Group
    half_points: Mapping[str, int]
    """Of everybody who played; those with byes are left out."""


@dataclass(frozen=True, slots=True)
class Field:
    """Who is still in, and what happened to them so far."""

    owners: Mapping[str, str]
    """By bot, in order of seed, without those who withdrew."""
    seeds: Mapping[str, int]
    half_points: Mapping[str, int]
    byes: Counter[str] = field(default_factory=Counter)
    met: Counter[Pair] = field(default_factory=Counter)

    def same_owner(self, one: str, other: str) -> bool:
        """Whether two bots are of one owner."""
        return self.owners[one] == self.owners[other]


def half_points_of(means: Mapping[str, float]) -> dict[str, int]:
    """Two for each bot of the table that was beaten in the deal-set's mean score, one for a tie."""
    return {
        bot: sum(
            1 + (mean > other) - (mean < other) for them, other in means.items() if them != bot
        )
        for bot, mean in means.items()
    }


def bye_half_points(seats: int) -> int:
    """A win where two meet; at larger tables the mean of the first and the second place."""
    return 2 if seats == 2 else 2 * seats - 3


def field_after(entrants: Iterable[Entrant], past: Sequence[Played], seats: int) -> Field:
    """What `entrants`, those who are still in, have come to."""
    still = tuple(sorted(entrants, key=lambda each: each.seed))
    points, byes, met = Counter[str](), Counter[str](), Counter[Pair]()
    for each in past:
        points.update(each.half_points)
        byes.update(each.byes)
        points.update(dict.fromkeys(each.byes, bye_half_points(seats)))
        met.update(frozenset(pair) for group in each.groups for pair in combinations(group, 2))
    return Field(
        {each.name: each.owner for each in still},
        {each.name: each.seed for each in still},
        {each.name: points[each.name] for each in still},
        byes,
        met,
    )


def with_byes(still: Field, seats: int) -> tuple[list[str], Group]:
    """Those who play, and those left over: of the fewest byes the fewest points, the lowest seed.

    Raises:
      DrawError: if there are fewer bots than seats.
    """
    playing = list(still.seeds)
    if len(playing) < seats:
        raise DrawError(
            f"a round of {seats} seats needs at least {seats} bots; {len(playing)} are in"
        )
    byes = sorted(
        playing,
        key=lambda bot: (still.byes[bot], still.half_points[bot], -still.seeds[bot]),
    )[: len(playing) % seats]
    return [bot for bot in playing if bot not in byes], tuple(byes)


def draw_hash(kind: str, still: Field, seed: str, number: int) -> str:
    """Of all that a round is drawn from."""
    return digest(
        kind,
        seed,
        number,
        [(name, still.owners[name], rank) for name, rank in still.seeds.items()],
        sorted(still.half_points.items()),
        sorted(still.byes.items()),
        sorted((*sorted(pair), times) for pair, times in still.met.items()),
    )


def seeded(names: Iterable[str], table: Sequence[str], seed: str) -> tuple[str, ...]:
    """All names in order of seed: as a frozen table ranks them, the others drawn by lot behind."""
    left = set(names)
    ranked = [name for name in table if name in left]
    return (*ranked, *shuffled(sorted(left - set(ranked)), seed, "seeds"))

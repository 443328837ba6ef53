"""Rounds: entrants, points, byes and seeds, for all formats."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from arena.results.deal_sets import Group, digest, shuffled
from arena.results.record import Candidate

Pair: TypeAlias = frozenset[str]


class DrawError(ValueError):
    """No round can be drawn for these bots; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class RoundPoints:
    """A completed round."""

    groups: tuple[Group, ...]
    byes: Group
    half_points: Mapping[str, int]
    """Half points of all bots that played, without those that had byes."""


@dataclass(frozen=True, slots=True)
class Field:
    """The bots that are still in, with their history."""

    owners: Mapping[str, str]
    """By bot, in order of seed, without bots that are out."""
    seeds: Mapping[str, int]
    half_points: Mapping[str, int]
    byes: Counter[str] = field(default_factory=Counter)
    met: Counter[Pair] = field(default_factory=Counter)

    def same_owner(self, one: str, other: str) -> bool:
        """Return whether two bots are of one owner."""
        return self.owners[one] == self.owners[other]


def half_points_of(means: Mapping[str, float]) -> dict[str, int]:
    """Half points by bot: two for each other bot with a lower mean score, one for an equal one."""
    return {
        bot: sum(
            1 + (mean > other) - (mean < other) for them, other in means.items() if them != bot
        )
        for bot, mean in means.items()
    }


def bye_half_points(seats: int) -> int:
    """Return the half points of a bye: a win for two seats, otherwise the mean of the first and second place."""
    return 2 if seats == 2 else 2 * seats - 3


def field_after(entrants: Iterable[Candidate], past: Sequence[RoundPoints], seats: int) -> Field:
    """Return the field of `entrants`, the bots that are still in, after these rounds."""
    still = tuple(sorted(entrants, key=lambda entrant: entrant.seed))
    points, byes, met = Counter[str](), Counter[str](), Counter[Pair]()
    for played in past:
        points.update(played.half_points)
        byes.update(played.byes)
        points.update(dict.fromkeys(played.byes, bye_half_points(seats)))
        met.update(frozenset(pair) for group in played.groups for pair in combinations(group, 2))
    return Field(
        {entrant.name: entrant.owner for entrant in still},
        {entrant.name: entrant.seed for entrant in still},
        {entrant.name: points[entrant.name] for entrant in still},
        byes,
        met,
    )


def with_byes(still: Field, seats: int) -> tuple[list[str], Group]:
    """Return the bots that play, and the byes: fewest byes first, then fewest points, then lowest seed.

    Raises `DrawError` if there are fewer bots than seats.
    """
    playing = list(still.seeds)
    if len(playing) < seats:
        raise DrawError(
            f"a round of {seats} seats needs at least {seats} bots; {len(playing)} are in"
        )
    byes = sorted(
        playing, key=lambda bot: (still.byes[bot], still.half_points[bot], -still.seeds[bot])
    )[: len(playing) % seats]
    return [bot for bot in playing if bot not in byes], tuple(byes)


def draw_hash(kind: str, still: Field, seed: str, number: int) -> str:
    """Return the hash of all inputs of a draw."""
    return digest(
        kind,
        seed,
        number,
        [(name, still.owners[name], rank) for name, rank in still.seeds.items()],
        sorted(still.half_points.items()),
        sorted(still.byes.items()),
        sorted((*sorted(pair), times) for pair, times in still.met.items()),
    )


def seeded(names: Iterable[str], ranking: Sequence[str], seed: str) -> tuple[str, ...]:
    """Return all names in order of seed: first in the order of a ranking, then the others by lot."""
    entered = set(names)
    ranked = [name for name in ranking if name in entered]
    return (*ranked, *shuffled(sorted(entered - set(ranked)), seed, "seeds"))

"""Pairing on a ladder: the next bot, and the partners about which the standings are least certain.

Pairing never uses results. A ladder that paired bots of similar results would select its data by their noise,
and the intervals of its standings would no longer hold (docs/statistics.md has the simulation). Here all bots
meet equally often.

A bot cannot choose its opponents by its absence either, because partners are drawn among absent bots too. Once an
absent bot and its drawn partner are both connected, they are paired before all others.

The matrix of the margin fit is the Laplacian of a graph. With Σ its pseudo-inverse, the variance of the
difference of two bots is R = Σii + Σjj - 2 Σij, in units of the noise. The reduction of the sum of all variances
by a deal-set between them is proportional to

    gain = M / (1/n + R),    where M is R with Σ² in place of Σ.

The fit's normal equations are sums over deal-sets. The matrix of a deal-set (`gram`) follows from its seating alone. So
the variance of the standings can be computed, and reduced where it is large, without any result.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.contests.timetable import CROSS_TABLES
from arena.results.deal_sets import HOUSE, DealSet, DealSetShape, bot_of, digest, planned_tables
from arena.sandbox.house_levels import HOUSE_BOTS

Array: TypeAlias = npt.NDArray[np.float64]
Tables: TypeAlias = Sequence[Sequence[str]]
"""The bots in seat order, by table."""


def rotations(group: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the tables of a deal-set in which each bot of the group has every seat once."""
    group = tuple(group)
    return tuple(group[at:] + group[:at] for at in range(len(group)))


def gram(tables: Tables) -> tuple[list[str], Array]:
    """Return the players of these tables, and (players, players): their term in the fit's matrix.

    The mean of the table and the mean of the seat over all tables are subtracted. For the n rotations of n bots
    it is n times the identity minus a matrix of ones.
    """
    players = sorted({bot for table in tables for bot in table})
    index = {bot: number for number, bot in enumerate(players)}
    seated = np.zeros((len(tables), len(tables[0]), len(players)))
    for number, table in enumerate(tables):
        for seat, bot in enumerate(table):
            seated[number, seat, index[bot]] = 1.0
    seated -= seated.mean(axis=1, keepdims=True)
    seated -= seated.mean(axis=0, keepdims=True)
    rows = seated.reshape(-1, len(players))
    added: Array = rows.T @ rows
    return players, added


MIN_DEAL_SETS: Final = 10
"""Complete deal-sets that a bot on a ladder needs for a place; until it was drawn for as many, it is drawn first.

A bot that changes its version repeatedly is drawn for at most so many deal-sets beyond its share.
"""

AHEAD: Final = 3
"""The maximal number of deal-sets by which a partner may be ahead of the bot with the fewest.

A remote bot that plays one match at a time always has fewer than launched ones. So that it meets them, its partners are
compared with the last of the bots that are needed to fill its tables.
"""

LEAST_TABLES: Final = 2
"""The smallest number of tables of a deal-set with remote bots: with a single table, the luck of the boards could not be separated from skill."""

_FAINT: Final = 0.01
"""The weight of a prior, which is one deal-set of all bots against each other.

Without it, a bot that has met no other would have a variance of 0 instead of the largest.
"""

_ROUNDING: Final = 1e-9

Group: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A connected bot that can be drawn."""

    name: str
    owner: str
    served: int
    """The number of deal-sets that it was drawn for so far, including those in play."""
    present_h: float
    """Hours that it was connected, at least the duration of its deal-sets."""
    free_seats: int
    """Further seats that it accepts; with fewer than the tables of a deal-set it is not drawn."""
    remote: bool = False
    """Whether it is remote: its owner may see the cards of all its instances."""
    away: bool = False
    """Whether it is absent: it may be drawn, and plays once it is connected again."""
    new: bool = False
    """Whether its version was drawn for fewer deal-sets than a place needs."""


class Pairing:
    """The draws of one ladder, which depend on its seed and on the deal-sets drawn before."""

    def __init__(
        self, seed: str, seats: int, past: Sequence[Tables] = (), *, ladder: str = ""
    ) -> None:
        """Draw after the deal-sets with the tables `past`; the name of the `ladder` is part of ids."""
        if seats < 2:
            raise ValueError(f"a table of a ladder has at least 2 seats, not {seats}")
        self._seed, self._seats, self._ladder = seed, seats, ladder
        self._past: list[tuple[Group, ...]] = [tuple(map(tuple, tables)) for tables in past]
        self._played = {bot for tables in self._past for table in tables for bot in table}
        self._index: dict[str, int] = {}
        self._counted = 0
        self._gram: Array = np.zeros((0, 0))
        self._gains: Array | None = None
        self._owed: list[tuple[str, str]] = []
        """Bots, without versions, that were drawn against each other while the second was absent."""

    def draw(self, waiting: Sequence[Waiting]) -> DealSet | None:
        """Draw the next deal-set, which then counts as played; None if the waiting bots cannot fill one.

        `HOUSE` at its tables is one of the arena's own bots. Owed deal-sets are kept in memory only, so a restart drops
        them.

        Raises `ValueError` if two waiting bots have one name.
        """
        here = {bot.name: bot for bot in sorted(waiting, key=lambda bot: bot.name)}
        if len(here) != len(waiting):
            raise ValueError("two bots that wait have one name")
        slot = len(self._past)
        self._set_known(here)
        inputs = self._inputs(here, slot)
        chosen = self._chosen(here, slot)
        if chosen is None:
            return None
        tables = self._tables(chosen, here, slot)
        self._note(tables)
        same_bots = len(set(map(frozenset, tables))) == 1 and HOUSE not in tables[0]
        return replace(
            planned_tables(slot + 1, tables, self._seed, self._ladder),
            shape=DealSetShape.ROTATION if same_bots else DealSetShape.CROSS,
            inputs_sha256=inputs,
        )

    def _chosen(self, here: Mapping[str, Waiting], slot: int) -> Group | None:
        """Return the bots of the next deal-set: an owed one, or a new draw."""
        able = {name: bot for name, bot in here.items() if bot.free_seats >= 1}
        present = [name for name, bot in able.items() if not bot.away]
        names = {bot_of(name): name for name in present}
        for owed in self._owed:
            if names.keys() >= set(owed):
                group = self._partners([names[bot] for bot in owed], present, able, slot)
                if self._fits(group, able) and self._is_enough(group, able):
                    self._owed.remove(owed)
                    return group
        return self._drawn(present, able, slot)

    def _drawn(
        self, present: Sequence[str], able: Mapping[str, Waiting], slot: int
    ) -> Group | None:
        """Return a new draw. Earlier draws with absent bots become owed deal-sets."""
        while True:
            owed = Counter(absent for _, absent in self._owed)
            turns = able
            if owed:
                turns = {
                    name: replace(bot, served=bot.served + owed[bot_of(name)])
                    for name, bot in able.items()
                }
            share = _over_share(turns.values())
            order = sorted(
                present,
                key=lambda name: (
                    not (able[name].new and share[name] <= MIN_DEAL_SETS),
                    _waited(able[name]),
                    self._lot(slot, name),
                ),
            )
            # With few owners the same bots are needed at every table, and stay ahead of all others.
            groups = (
                self._partners([first], partners or self._allowed(first, share, able), able, slot)
                for partners in ((), present)
                for first in order
            )
            group = next((partners for partners in groups if self._is_enough(partners, able)), None)
            absent = [name for name in group or () if able[name].away]
            if group is None or not absent:
                return group
            for other in absent:
                self._owed.append((bot_of(group[0]), bot_of(other)))
                self._halve(self._renewed(), ((group[0], other),))

    def _allowed(
        self, first: str, share: Mapping[str, float], here: Mapping[str, Waiting]
    ) -> list[str]:
        """Return the bots that are not too far ahead to be partners of the first."""
        needed = self._size([first], here) if here[first].remote else 1
        behind = sorted(share.values())[:needed]
        return [name for name in here if share[name] - behind[-1] <= AHEAD + _ROUNDING]

    def _is_enough(self, group: Group, here: Mapping[str, Waiting]) -> bool:
        if all(name in HOUSE_BOTS for name in group):
            return False  # absent and new bots may be partners too
        if any(here[name].remote for name in group):
            return len(group) > 1  # the arena's own bots fill the rest
        return len(group) == self._seats and self._fits(group, here)

    def _size(self, group: Sequence[str], here: Mapping[str, Waiting]) -> int:
        remote = any(here[name].remote for name in group)
        return self._seats * CROSS_TABLES if remote else self._seats

    def _fits(self, group: Sequence[str], here: Mapping[str, Waiting]) -> bool:
        tables = 1 if any(here[name].remote for name in group) else self._seats
        return all(here[name].free_seats >= tables for name in group)

    def _is_mixable(self, group: Sequence[str], here: Mapping[str, Waiting]) -> bool:
        """Return whether all remote bots of a group may sit at its first table, or all are remote.

        Tables with launched bots are played one after another, and a remote bot would wait for its own.
        """
        remote = sum(here[name].remote for name in group)
        return remote < self._seats or remote == len(group)

    def _partners(
        self, first: Sequence[str], allowed: Sequence[str], here: Mapping[str, Waiting], slot: int
    ) -> Group:
        gains, index = self._renewed(), self._index
        group = list(first)
        while len(group) < self._size(group, here):
            owners = {here[name].owner for name in group}
            others = [
                name
                for name in allowed
                if here[name].owner not in owners
                and self._fits((*group, name), here)
                and self._is_mixable((*group, name), here)
            ]
            if not others:
                break
            rows = [index[name] for name in group]
            worth = {name: float(gains[index[name], rows].sum()) for name in others}
            group.append(min(others, key=lambda name: (-worth[name], self._lot(slot, name))))
        return tuple(group)

    def _tables(self, chosen: Group, here: Mapping[str, Waiting], slot: int) -> tuple[Group, ...]:
        def lot(name: str) -> str:
            return self._lot(slot, "seat", name)

        seated = sorted(chosen, key=lot)
        if not any(here[name].remote for name in chosen):
            return rotations(seated)
        seated.sort(key=lambda name: not here[name].remote)
        # The arena's own bots fill the last table; they fill a table alone only if it is the only one.
        tables = max(LEAST_TABLES, math.ceil(len(seated) / self._seats))
        rows = (sorted(seated[at * self._seats :][: self._seats], key=lot) for at in range(tables))
        return tuple((*row, *[HOUSE] * (self._seats - len(row))) for row in rows)

    def _lot(self, *about: object) -> str:
        return digest(self._seed, *about)

    def _inputs(self, here: Mapping[str, Waiting], slot: int) -> str:
        rows = [
            (
                *(bot.name, bot.owner, bot.served, bot.present_h, bot.free_seats),
                *(bot.new, bot.remote, bot.away),
            )
            for bot in here.values()
        ]
        return digest("ladder", self._seed, self._seats, slot, rows, self._owed, self._past)

    # The information of past deal-sets.

    def _set_known(self, here: Collection[str]) -> None:
        known = {*self._played, *here}
        if known != self._index.keys():
            self._index = {name: at for at, name in enumerate(sorted(known))}
            self._counted, self._gains = 0, None
            self._gram = np.zeros((len(known), len(known)))

    def _note(self, tables: tuple[Group, ...]) -> None:
        self._past.append(tables)
        self._played.update(bot for table in tables for bot in table)
        if len(self._past) - self._counted >= self._renewal:
            self._gains = None
        elif self._gains is not None:
            self._halve(self._gains, tables)

    def _halve(self, gains: Array, tables: tuple[Group, ...]) -> None:
        """Halve the gains of the pairs of a deal-set in play, as another one would repeat its information."""
        # The arena's own bots are not chosen as partners, and need not be in the matrix.
        met = sorted({self._index[bot] for table in tables for bot in table if bot != HOUSE})
        gains[np.ix_(met, met)] /= 2.0

    @property
    def _renewal(self) -> int:
        """Return the number of deal-sets after which the gains are computed again."""
        return max(1, len(self._index) // self._seats)

    def _renewed(self) -> Array:
        """Return the gains of all pairs, from the deal-sets up to the last renewal."""
        if self._gains is None:
            upto = len(self._past) - len(self._past) % self._renewal
            for tables in itertools.islice(self._past, self._counted, upto):
                players, added = gram(tables)
                rows = [self._index[bot] for bot in players]
                self._gram[np.ix_(rows, rows)] += added
            self._counted = upto
            self._gains = gains_of(self._gram, self._seats)
            for tables in itertools.islice(self._past, upto, None):
                self._halve(self._gains, tables)
            for pair in self._owed:
                self._halve(self._gains, (tuple(n for n in self._index if bot_of(n) in pair),))
        return self._gains


def gains_of(known: Array, seats: int) -> Array:
    """(bots, bots): the relative gains of deal-sets between two bots."""
    number = len(known)
    # Sums of rows stay zero: the inverse is taken in the space of differences.
    faint = _FAINT * (np.eye(number) - 1.0 / number)
    ones = np.full((number, number), 1.0 / number)
    spread = np.linalg.inv(known + faint + ones) - ones
    variances = _differences(spread)
    gains: Array = _differences(spread @ spread) / (1.0 / seats + variances)
    return gains


def _differences(matrix: Array) -> Array:
    diagonal = np.diag(matrix)
    differences: Array = diagonal[:, None] + diagonal - 2.0 * matrix
    return differences


def _waited(bot: Waiting) -> float:
    return bot.served / bot.present_h


def _over_share(waiting: Collection[Waiting]) -> dict[str, float]:
    """Return, by bot, the number of deal-sets above its share by the hours connected; the median of all bots is 0."""
    hours = sum(bot.present_h for bot in waiting)
    rate = sum(bot.served for bot in waiting) / hours if hours else 0.0
    over = {bot.name: bot.served - rate * bot.present_h for bot in waiting}
    median = statistics.median(over.values()) if over else 0.0
    return {name: more - median for name, more in over.items()}

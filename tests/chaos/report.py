"""What comes out of a scenario: figures beside their targets, and what did not hold."""

import math
import sys
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """Something that was measured or counted."""

    what: str
    value: float
    unit: str = ""
    target: str = ""
    """In words; empty if there is none."""
    met: bool | None = None

    @classmethod
    def at_most(cls, what, value, unit, limit):
        """A figure that is to be no larger than `limit`."""
        return cls(what, value, unit, f"≤ {limit:g}", value <= limit)

    @classmethod
    def at_least(cls, what, value, unit, limit):
        """A figure that is to be no smaller than `limit`."""
        return cls(what, value, unit, f"≥ {limit:g}", value >= limit)


@dataclass
class Report:
    """A scenario's outcome."""

    figures: list[Figure] = field(default_factory=list)
    violations: list = field(default_factory=list)

    def add(self, *figures):
        self.figures += figures
        return self

    @property
    def held(self):
        """Whether all invariants held; a target that is missed is another thing."""
        return not self.violations


def percentile(values, percent):
    """The nearest-rank percentile of some values; 0 if there are none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class Progress:
    """Says on the error stream how far a long scenario is, at every twentieth part of it."""

    PARTS = 20

    def __init__(self, whole, what):
        self._whole, self._what = whole, what
        self._told = 0

    def at(self, done):
        part = done * self.PARTS // self._whole
        if part > self._told and self._whole >= self.PARTS:
            self._told = part
            sys.stderr.write(f"  {done:,} of {self._whole:,} {self._what}\n")

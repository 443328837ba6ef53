"""A trial as the checker sees it, and what it says of one."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.evidence import Book


@dataclass(frozen=True)
class Violation:
    """An invariant that does not hold, and where."""

    invariant: str
    where: str


@dataclass
class Case:
    """Everything known of a trial."""

    books: dict[str, Book]
    """The journal, by match."""
    replays: dict[str, Path]
    """The published replays, by match."""
    keys: dict[str, bytes]
    """What opens the deals of the matches, by match."""
    histories: list
    at_kill: dict[int, dict[str, tuple[int, bool]]] = field(default_factory=dict)
    """What was written when a life of the server ended: decisions, and whether closed."""
    promised: dict[str, str] = field(default_factory=dict)
    """Matches that the lobby said were made, with what they are called in a report."""
    unfinished: frozenset[str] = frozenset()
    """Matches that need not have ended."""
    may_fault: frozenset[str] = frozenset()
    """Bots that were mistreated so that they may be blamed."""
    commitments: Path | None = None
    """The public log of deals, if there is one."""
    strange: list[str] = field(default_factory=list)
    """What the readers of the files stumbled over."""


def invariant(name):
    """Name a check after what it asserts; it gives places where that does not hold."""

    def named(places):
        def violations(case):
            return [Violation(name, where) for where in places(case)]

        violations.__name__ = places.__name__
        violations.invariant = name
        return violations

    return named

"""What a qualification found, as its author reads it and as programs do."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

MAX_OFFERED: Final = 12
"""Moves offered that are told; who needs all of them repeats the check."""
MAX_LINES: Final = 12
MAX_LINE_CHARS: Final = 300
"""Of what the bot printed last."""
MANIFEST_CHECK: Final = "manifest"
START_CHECK: Final = "start"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, and what was found."""

    name: str
    """`manifest`, `start`, a game's id, or one of what every bot must stand."""
    passed: bool
    took_s: float = 0.0
    seats: int = 0
    """Of a game; else 0."""
    problem: str = ""
    """What went wrong, as a sentence."""
    ask: int = 0
    """At which ask of its match, from 1; 0 if at none."""
    answered: str = ""
    offered: tuple[str, ...] = ()
    last_lines: tuple[str, ...] = ()
    again: str = ""
    """The command that repeats it."""

    @property
    def is_game(self) -> bool:
        return self.seats > 0

    @property
    def title(self) -> str:
        """What was looked at, in words."""
        if self.is_game:
            return f"{self.name}, {self.seats} seats"
        return self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Report:
    """A whole qualification."""

    sha256: str
    """Of the contents that were looked at."""
    seed: str
    took_s: float
    checks: tuple[Check, ...] = field(default=())
    partial: bool = False
    """Whether only some of the checks were wanted."""

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def games(self) -> Mapping[str, tuple[Check, ...]]:
        """The checks of each game, in the order in which they were made."""
        found: dict[str, list[Check]] = defaultdict(list)
        for check in self.checks:
            if check.is_game:
                found[check.name].append(check)
        return {game: tuple(checks) for game, checks in found.items()}

    @property
    def passed_games(self) -> tuple[str, ...]:
        """The games that it may play: it passed at its least and at its most seats."""
        return tuple(
            game for game, checks in self.games.items() if all(each.passed for each in checks)
        )

    @property
    def started(self) -> bool:
        """Whether archive and manifest are in order, and it started."""
        basics = [each for each in self.checks if each.name in (MANIFEST_CHECK, START_CHECK)]
        return len(basics) == 2 and all(each.passed for each in basics)

    @property
    def qualified(self) -> bool:
        """Whether it may be made active: for the games that passed, each by itself."""
        if self.partial:
            return False
        stands = all(each.passed for each in self.checks if not each.is_game)
        return self.started and stands and bool(self.passed_games)

    @property
    def summary(self) -> str:
        """How it went, to follow the version's name."""
        took = f"in {self.took_s:.0f} s"
        if self.partial:
            passed = len(self.checks) - len(self.failed)
            return f"{passed} of {len(self.checks)} checks passed {took}"
        if not self.qualified:
            return f"not qualified, {took}"
        return f"qualified for {len(self.passed_games)} of {len(self.games)} games {took}"

    def words(self, name: str) -> list[str]:
        """All that there is to tell, line by line."""
        lines = [f"{name}  sha256 {self.sha256[:12]}…  {self.summary}"]
        for check in self.failed:
            lines += _words(check)
        return lines

    def as_json(self) -> dict[str, Any]:
        """As it is kept, and as programs read it."""
        return {
            "sha256": self.sha256,
            "qualified": self.qualified,
            "partial": self.partial,
            "seed": self.seed,
            "took_s": round(self.took_s, 3),
            "passed_games": list(self.passed_games),
            "checks": [asdict(check) | {"took_s": round(check.took_s, 3)} for check in self.checks],
        }


def report_of(values: Mapping[str, Any]) -> Report:
    """A report from what `as_json` made of it.

    Raises:
      KeyError, TypeError: if it is none.
    """
    return Report(
        sha256=values["sha256"],
        seed=values["seed"],
        took_s=values["took_s"],
        partial=values["partial"],
        checks=tuple(_check(each) for each in values["checks"]),
    )


def _check(values: Mapping[str, Any]) -> Check:
    fields = dict(values)
    for name in ("offered", "last_lines"):
        fields[name] = tuple(fields[name])
    return Check(**fields)


def last_of(lines: Sequence[str]) -> tuple[str, ...]:
    """The last lines of what a bot printed, each no longer than one reads."""
    told = [line[:MAX_LINE_CHARS] for line in lines if line.strip()]
    return tuple(told[-MAX_LINES:])


def _words(check: Check) -> list[str]:
    where = ""
    if check.ask:
        more = ", …" if len(check.offered) == MAX_OFFERED else ""
        answered = f": {check.answered}" if check.answered else ""
        where = f" Ask {check.ask}{answered}; offered: {', '.join(check.offered)}{more}."
    lines = [f"FAILED {check.title}: {check.problem.rstrip('.')}.{where}"]
    lines += [f"  | {line}" for line in check.last_lines]
    if check.again:
        lines.append(f"  again here: {check.again}")
    return lines

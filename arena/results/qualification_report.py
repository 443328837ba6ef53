"""The report of a qualification: its checks, as text for the bot's author and as JSON."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from arena.results.think_times import PhaseTimes, SdkTimes, TimeSpent

MAX_OFFERED: Final = 12
MAX_LINES: Final = 12
"""The number of lines of the bot's output in a report."""
MAX_LINE_CHARS: Final = 300
MANIFEST_CHECK: Final = "manifest"
START_CHECK: Final = "start"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    """`manifest`, `start`, a game's id, or a robustness case."""
    passed: bool
    took_s: float = 0.0
    seats: int = 0
    """The number of seats for a game; otherwise 0."""
    problem: str = ""
    """The problem, as a sentence."""
    ask: int = 0
    """The number of the ask in its match at which the problem occurred, from 1; 0 for none."""
    answered: str = ""
    offered: tuple[str, ...] = ()
    last_lines: tuple[str, ...] = ()
    again: str = ""
    """The command that repeats the check."""
    asks: int = 0
    """The bot's decisions in the longest match of a game; 0 if that is not known."""
    failed_ask: str = ""
    """The data of that ask: `cardarena.v1.FailedAsk` in base64; empty for none."""
    phases: tuple[PhaseTimes, ...] = ()
    """The times of its decisions in the matches of a game that were played to their end, by phase of the game."""
    time: TimeSpent | None = None
    """The parts of these times; None without such a match."""

    @property
    def is_game(self) -> bool:
        return self.seats > 0

    @property
    def title(self) -> str:
        """The name of the check, for people."""
        if self.is_game:
            return f"{self.name}, {self.seats} seats"
        return self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class QualificationReport:
    """The result of a qualification."""

    sha256: str
    seed: str
    took_s: float
    checks: tuple[Check, ...] = field(default=())
    partial: bool = False
    """Whether only some checks were requested."""

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def games(self) -> Mapping[str, tuple[Check, ...]]:
        """The checks of each game, in the order in which they were made."""
        by_game: dict[str, list[Check]] = defaultdict(list)
        for check in self.checks:
            if check.is_game:
                by_game[check.name].append(check)
        return {game: tuple(checks) for game, checks in by_game.items()}

    @property
    def passed_games(self) -> tuple[str, ...]:
        """The games that it may play: those that passed with the least and the most seats."""
        return tuple(
            game for game, checks in self.games.items() if all(check.passed for check in checks)
        )

    @property
    def started(self) -> bool:
        """Whether archive and manifest are valid, and the bot started."""
        basics = [check for check in self.checks if check.name in (MANIFEST_CHECK, START_CHECK)]
        return len(basics) == 2 and all(check.passed for check in basics)

    @property
    def qualified(self) -> bool:
        """Whether the version may be made active: all cases passed, and at least one game."""
        if self.partial:
            return False
        is_robust = all(check.passed for check in self.checks if not check.is_game)
        return self.started and is_robust and bool(self.passed_games)

    @property
    def summary(self) -> str:
        """The result in a phrase, to follow the version's name."""
        took = f"in {self.took_s:.0f} s"
        if self.partial:
            passed = len(self.checks) - len(self.failed)
            return f"{passed} of {len(self.checks)} checks passed {took}"
        if not self.qualified:
            return f"not qualified, {took}"
        games = "game" if len(self.games) == 1 else "games"
        return f"qualified for {len(self.passed_games)} of {len(self.games)} {games} {took}"

    def words(self, name: str) -> list[str]:
        """Return the report as lines of text: the summary, and each failed check.

        If the bot fails in all games, the first failure is the cause to look for, and the others are
        only named.
        """
        lines = [f"{name}  sha256 {self.sha256[:12]}…  {self.summary}"]
        games = [check for check in self.failed if check.is_game]
        if asked := [check.asks for check in self.checks if check.asks]:
            least, most = min(asked), max(asked)
            covered = f"{most}" if least == most else f"{least} to {most}"
            by_game = "" if least == most else ", by game"
            lines.append(
                f"Covered: the first {covered} asks of a match{by_game}. Rated matches may be longer."
            )
        first = games[:1] if games and not self.passed_games else self.failed
        for check in first:
            lines += _words(check)
        if rest := [check.title for check in self.failed if check not in first]:
            lines.append(f"These failed too, perhaps by the same cause: {'; '.join(rest)}.")
        return lines

    def as_json(self) -> dict[str, Any]:
        return {
            "sha256": self.sha256,
            "qualified": self.qualified,
            "partial": self.partial,
            "seed": self.seed,
            "took_s": round(self.took_s, 3),
            "passed_games": list(self.passed_games),
            "checks": [asdict(check) | {"took_s": round(check.took_s, 3)} for check in self.checks],
        }


def report_of(values: Mapping[str, Any]) -> QualificationReport:
    """Read a report from the values of `as_json`.

    Raises `KeyError` or `TypeError` if fields are missing or unknown.
    """
    return QualificationReport(
        sha256=values["sha256"],
        seed=values["seed"],
        took_s=values["took_s"],
        partial=values["partial"],
        checks=tuple(_check(row) for row in values["checks"]),
    )


def _check(values: Mapping[str, Any]) -> Check:
    fields = dict(values)
    for name in ("offered", "last_lines"):
        fields[name] = tuple(fields[name])
    fields["phases"] = tuple(PhaseTimes(**row) for row in fields.get("phases", ()))
    if (time := fields.get("time")) is not None:
        by_sdk = time["by_sdk"] and SdkTimes(**time["by_sdk"])
        fields["time"] = TimeSpent(**time | {"by_sdk": by_sdk})
    return Check(**fields)


def last_of(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the last lines of a bot's output, each shortened to `MAX_LINE_CHARS`."""
    shown = [line[:MAX_LINE_CHARS] for line in lines if line.strip()]
    return tuple(shown[-MAX_LINES:])


def _words(check: Check) -> list[str]:
    where = ""
    if check.ask:
        more = ", …" if len(check.offered) == MAX_OFFERED else ""
        answered = f": {check.answered}" if check.answered else ""
        where = f" Ask {check.ask}{answered}; offered: {', '.join(check.offered)}{more}."
    lines = [f"FAILED {check.title}: {check.problem.rstrip('.')}.{where}"]
    lines += [f"  | {line}" for line in check.last_lines]
    if check.again:
        lines.append(f"  repeat it with: {check.again}")
    return lines

"""Matches between the same bots, one after the other: their summary and the bots' exceptions."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.table import Table

from arena.cli.terminal.plain import say
from arena.rating.student_t import quantile
from arena.referee import Ending, Outcome
from arena.sandbox import printed_exception

EXPLANATION: Final = (
    "Margin: points a game better than the mean of the others. Seats rotate from game to game, and"
    " each game has new cards; arena tournament plays the same cards in every seat, and so"
    " needs fewer games to tell two bots apart."
)
_CONFIDENCE: Final = 0.975
"""Two-sided 95 %."""
_SHOWN: Final = 3
"""Number of different exceptions of a bot that are listed at the end."""


@dataclass(frozen=True, slots=True)
class SeriesGame:
    """One game of a series."""

    names: tuple[str, ...]
    """The bots by seat."""
    outcome: Outcome

    def seat_of(self, name: str) -> int:
        """The seat of a bot."""
        return self.names.index(name)


@dataclass(frozen=True, slots=True)
class SeriesRecord:
    """The results of one bot in a series."""

    bot: str
    won: int
    """Games with the first place, not shared."""
    drawn: int
    """Games with a shared first place."""
    lost: int
    margin: float
    """Its score less the mean of the others', on average."""
    half_width_95: float | None
    """Of the margin's 95 % interval; None for less than two games."""
    faults: int

    @classmethod
    def of(cls, name: str, games: Sequence[SeriesGame]) -> "SeriesRecord":
        """The record of a bot; no game may have been aborted."""
        won = drawn = faults = 0
        margins = []
        for game in games:
            seat, outcome = game.seat_of(name), game.outcome
            first = outcome.places[seat] == 1
            shared = outcome.places.count(1) > 1
            won += first and not shared
            drawn += first and shared
            faults += sum(fault.seat == seat for fault in outcome.faults)
            score = outcome.scores[seat]
            others = (sum(outcome.scores) - score) / (len(outcome.scores) - 1)
            margins.append(score - others)
        half_width = None
        if len(margins) > 1:
            error = statistics.stdev(margins) / math.sqrt(len(margins))
            half_width = quantile(_CONFIDENCE, len(margins) - 1) * error
        lost = len(games) - won - drawn
        return cls(name, won, drawn, lost, statistics.fmean(margins), half_width, faults)


def complete(games: Sequence[SeriesGame]) -> list[SeriesGame]:
    """The games that were not aborted."""
    return [game for game in games if game.outcome.ending is not Ending.ABORTED]


def table(records: Sequence[SeriesRecord], title: str) -> Table:
    """The records: a row for each bot, best margin first."""
    made = Table(title=title, title_justify="left")
    made.add_column("bot")
    for name in ("won", "drawn", "lost", "margin", "± 95 %", "faults"):
        made.add_column(name, justify="right")
    for row in sorted(records, key=lambda row: -row.margin):
        made.add_row(
            row.bot,
            str(row.won),
            str(row.drawn),
            str(row.lost),
            f"{row.margin:+.2f}",
            "" if row.half_width_95 is None else f"{row.half_width_95:.2f}",
            str(row.faults) if row.faults else "",
        )
    made.caption = EXPLANATION
    made.caption_justify = "left"
    return made


class Exceptions:
    """Exceptions in the bots' code: the first of each kind is printed at once, and all are counted."""

    def __init__(self) -> None:
        self.match_id = ""
        """The current game."""
        self.first: tuple[str, str] | None = None
        """The match and the bot of the first exception; None if there was none."""
        self._counts: dict[str, Counter[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def read_line(self, bot: str, line: str) -> None:
        """Read a line of a bot's output."""
        told = printed_exception(line)
        if told is None:
            return
        self.first = self.first or (self.match_id, bot)
        counts = self._counts.setdefault(bot, Counter())
        counts[told.what] += 1
        if counts[told.what] == 1:
            say(f"{bot} raised an exception: {told.what}", err=True)

    def in_all(self) -> list[str]:
        """A sentence for each bot with exceptions."""
        lines = []
        for bot, counts in self._counts.items():
            most = counts.most_common(_SHOWN)
            kinds = "; ".join(f"{times} × {what}" for what, times in most)
            more = "; …" if len(counts) > len(most) else ""
            total = counts.total()
            word = "exception" if total == 1 else "exceptions"
            lines.append(f"{bot} raised {total} {word}, and the fallback was played: {kinds}{more}")
        return lines

    def as_json(self) -> list[dict[str, Any]]:
        """The counts as JSON."""
        return [
            {"bot": bot, "exception": what, "times": times}
            for bot, counts in self._counts.items()
            for what, times in counts.items()
        ]

"""Matches between the same bots, one after the other: their summary and the bots' exceptions."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.app.author_matches import SeriesGame
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.referee.spec import Ending
from arena.results.deal_sets import lead_with_forfeits
from arena.results.student_t import quantile
from arena.sandbox.output import printed_exception, printed_stuck

EXPLANATION: Final = (
    "Margin: points a game better than the mean of the others. Seats rotate from game to game, and"
    " each game has new cards; arena tournament plays the same cards in every seat, and so"
    " needs fewer games to tell two bots apart."
)
_CONFIDENCE: Final = 0.975
"""Two-sided 95 %."""
_SHOWN: Final = 3
"""The number of different exceptions of a bot that are listed at the end."""


@dataclass(frozen=True, slots=True)
class SeriesRecord:
    """The results of one bot in a series."""

    bot: str
    won: int
    """The number of games with the first place, not shared."""
    drawn: int
    """The number of games with a shared first place."""
    lost: int
    margin: float
    """The mean of its score less the mean score of the others; a forfeited game counts as the worse of its result and a loss by the widest lead so far."""
    half_width_95: float | None
    """The ± of the margin's 95 % interval; None for less than two games."""
    faults: int

    @classmethod
    def of(cls, name: str, games: Sequence[SeriesGame]) -> "SeriesRecord":
        """Return the record of a bot; no game may have been aborted."""
        won = drawn = faults = 0
        margins, widest = [], 0.0
        for game in games:
            seat, outcome = game.seat_of(name), game.outcome
            first = outcome.places[seat] == 1
            shared = outcome.places.count(1) > 1
            won += first and not shared
            drawn += first and shared
            faults += sum(fault.seat == seat for fault in outcome.faults)
            score = outcome.scores[seat]
            others = (sum(outcome.scores) - score) / (len(outcome.scores) - 1)
            lead = score - others
            widest = max(widest, abs(lead))
            out = [conduct.forfeited for conduct in outcome.conduct]
            by_others = all([*out[:seat], *out[seat + 1 :]])
            margins.append(lead_with_forfeits(lead, (out[seat], by_others), widest))
        half_width = None
        if len(margins) > 1:
            error = statistics.stdev(margins) / math.sqrt(len(margins))
            half_width = quantile(_CONFIDENCE, len(margins) - 1) * error
        lost = len(games) - won - drawn
        return cls(name, won, drawn, lost, statistics.fmean(margins), half_width, faults)


def complete(games: Sequence[SeriesGame]) -> list[SeriesGame]:
    """Return the games that were not aborted."""
    return [game for game in games if game.outcome.ending is not Ending.ABORTED]


def print_records(records: Sequence[SeriesRecord], title: str) -> None:
    """Print the records: a row for each bot, best margin first."""
    rows = [
        (
            row.bot,
            row.won,
            row.drawn,
            row.lost,
            f"{row.margin:+.2f}",
            "" if row.half_width_95 is None else f"{row.half_width_95:.2f}",
            row.faults or "",
        )
        for row in sorted(records, key=lambda row: -row.margin)
    ]
    heads = ("bot", "won", "drawn", "lost", "margin", "± 95 %", "faults")
    print_table(
        heads,
        rows,
        wrapped=("bot",),
        numbers=heads[1:],
        title=title,
        caption=EXPLANATION,
        framed=True,
    )


class Exceptions:
    """Exceptions in the bots' code: the first of each kind is printed at once, and all are counted.

    Code that does not return is also printed.
    """

    def __init__(self) -> None:
        self._match_id = ""
        self.first: tuple[str, str] | None = None
        """The match and the bot of the first exception; None if there was none."""
        self._counts: dict[str, Counter[str]] = {}
        self._stuck: set[tuple[str, str]] = set()
        """Bots whose code has not returned, and where it is, as it was printed."""

    def __bool__(self) -> bool:
        return bool(self._counts)

    def begin(self, match_id: str) -> None:
        self._match_id = match_id

    def read_line(self, bot: str, line: str) -> None:
        """Read a line of a bot's output."""
        stuck = printed_stuck(line)
        if stuck is not None and (bot, stuck.where) not in self._stuck:
            self._stuck.add((bot, stuck.where))
            say(f"{bot}: {stuck.where}", err=True)
        raised = printed_exception(line)
        if raised is None:
            return
        self.first = self.first or (self._match_id, bot)
        counts = self._counts.setdefault(bot, Counter())
        counts[raised.what] += 1
        if counts[raised.what] == 1:
            say(f"{bot} raised an exception: {raised.what}", err=True)

    def in_all(self) -> list[str]:
        """Return a sentence for each bot with exceptions."""
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
        return [
            {"bot": bot, "exception": what, "times": times}
            for bot, counts in self._counts.items()
            for what, times in counts.items()
        ]

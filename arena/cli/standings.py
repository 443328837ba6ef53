"""The table of a tournament, for the terminal and for programs."""

from collections.abc import Mapping
from typing import Any, Final

from rich.table import Table

from arena.ladder.standings import Row, Standings

EXPLANATION: Final = (
    "Skill: points a match better than the mean of all, from complete deal-sets."
    " Bots of one tier are not told apart."
)


def table(standings: Standings, title: str, *, brief: bool = False) -> Table:
    """The standings, a line a bot, best first; `brief` leaves the explanation out."""
    made = Table(title=title, title_justify="left")
    made.add_column("tier", justify="right")
    made.add_column("bot")
    made.add_column("skill", justify="right")
    made.add_column("± 95 %", justify="right")
    made.add_column("deal-sets", justify="right")
    made.add_column("matches", justify="right")
    made.add_column("faults", justify="right")
    for row in standings.rows:
        made.add_row(
            "" if row.tier is None else str(row.tier),
            row.bot,
            _signed(row.skill),
            "" if row.half_width is None else f"{row.half_width:.2f}",
            str(row.deal_sets),
            str(row.matches),
            _faults(row.faults),
        )
    made.caption = _caption(standings, "" if brief else EXPLANATION)
    made.caption_justify = "left"
    return made


def as_json(standings: Standings) -> dict[str, Any]:
    """The standings as values that JSON can hold."""
    return {
        "standings": [_row(row) for row in standings.rows],
        "better": [list(chances) for chances in standings.better],
        "deal_sets": {"complete": standings.complete, "planned": standings.planned},
        "problem": standings.problem,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "bot": row.bot,
        "tier": row.tier,
        "skill": row.skill,
        "half_width_95": row.half_width,
        "deal_sets": row.deal_sets,
        "matches": row.matches,
        "faults": dict(row.faults),
    }


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _faults(faults: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in faults.items())


def _caption(standings: Standings, text: str) -> str:
    if standings.problem:
        return standings.problem
    missing = standings.planned - standings.complete
    return f"{text} {missing} deal-sets are not complete.".strip() if missing else text

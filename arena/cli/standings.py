"""The table of a tournament, for the terminal and for programs."""

from collections.abc import Mapping
from typing import Any, Final

from rich.table import Table

from arena.ladder.standings import Row, Standings

EXPLANATION: Final = (
    "Skill: points a match better than the mean of all, from complete deal-sets."
    " Bots of one tier are not told apart."
)
SEATS_LEFT: Final = (
    "Score: the mean over a bot's tables of its skill where it stayed, less what faults cost, and of"
    " a walkover where it left the seat: the worse of what the table came to and {points:.2f}."
)


def table(standings: Standings, title: str, *, brief: bool = False) -> Table:
    """The standings, a line a bot, best first; `brief` leaves the explanation out."""
    made = Table(title=title, title_justify="left")
    lapsed = any(row.score != row.skill for row in standings.rows)
    made.add_column("tier", justify="right", no_wrap=True)
    made.add_column("bot")
    numbers = ["score" if lapsed else "skill", "± 95 %"]
    numbers += ["skill", "left"] if lapsed else []
    for head in (*numbers, "deal-sets", "matches"):
        made.add_column(head, justify="right", no_wrap=True)
    made.add_column("faults", justify="right")
    for row in standings.rows:
        made.add_row(
            "" if row.tier is None else str(row.tier),
            row.bot,
            _signed(row.score),
            "" if row.half_width is None else f"{row.half_width:.2f}",
            *((_signed(row.skill), _percent(row.left)) if lapsed else ()),
            str(row.deal_sets),
            str(row.matches),
            _faults(row.faults),
        )
    texts = [] if brief else [EXPLANATION]
    if lapsed and standings.walkover is not None:
        texts.append(SEATS_LEFT.format(points=-standings.walkover))
    made.caption = _caption(standings, " ".join(texts))
    made.caption_justify = "left"
    return made


def as_json(standings: Standings) -> dict[str, Any]:
    """The standings as values that JSON can hold."""
    return {
        "standings": [_row(row) for row in standings.rows],
        "better": [list(chances) for chances in standings.better],
        "deal_sets": {"complete": standings.complete, "planned": standings.planned},
        "problem": standings.problem,
        "walkover": standings.walkover,
        "fallback_skill": standings.fallback_skill,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "bot": row.bot,
        "tier": row.tier,
        "score": row.score,
        "half_width_95": row.half_width,
        "skill": row.skill,
        "left": row.left,
        "deal_sets": row.deal_sets,
        "matches": row.matches,
        "faults": dict(row.faults),
    }


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _percent(share: float | None) -> str:
    return f"{share:.0%}" if share else ""


def _faults(faults: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in faults.items())


def _caption(standings: Standings, text: str) -> str:
    if standings.problem:
        return standings.problem
    missing = standings.planned - standings.complete
    return f"{text} {missing} deal-sets are not complete.".strip() if missing else text

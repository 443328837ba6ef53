"""The table of a tournament, for the terminal and for programs."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from arena.ladder.head_to_head import Record, Records
from arena.ladder.standings import Row, Standings

EXPLANATION: Final = (
    "Skill: points a match better than the mean of all, from complete deal-sets."
    " Bots of one tier are not told apart."
)
SEATS_LEFT: Final = (
    "Score: the mean over a bot's tables of its skill where it stayed, less what faults cost, and of"
    " a walkover where it left the seat: the worse of what the table came to and {points:.2f}."
)


MOST_SIDE_BY_SIDE: Final = 12
"""Bots whose records against each other fit beside each other on a terminal."""


def table(
    standings: Standings, title: str, *, records: Records | None = None, brief: bool = False
) -> Table:
    """The standings, a line a bot, best first; `brief` leaves the explanation out."""
    made = Table(title=title, title_justify="left")
    lapsed = any(row.score != row.skill for row in standings.rows)
    made.add_column("tier", justify="right", no_wrap=True)
    made.add_column("bot")
    numbers = ["score" if lapsed else "skill", "± 95 %"]
    numbers += ["skill", "left"] if lapsed else []
    for head in (*numbers, "deal-sets", "matches"):
        made.add_column(head, justify="right", no_wrap=True)
    if records is not None:
        made.add_column("w-d-l", justify="right", no_wrap=True)
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
            *([] if records is None else [str(records.of_bot[row.bot])]),
            _faults(row.faults),
        )
    texts = [] if brief else [EXPLANATION]
    if lapsed and standings.walkover is not None:
        texts.append(SEATS_LEFT.format(points=-standings.walkover))
    made.caption = _caption(standings, " ".join(texts))
    made.caption_justify = "left"
    return made


def head_to_head(standings: Standings, records: Records) -> Table:
    """Wins, draws and losses of each bot against each other, in the order of the standings."""
    bots = [row.bot for row in standings.rows]
    made = Table(title="Head to head", title_justify="left")
    made.add_column("w-d-l of")
    for bot in bots:
        made.add_column(Text(bot), justify="right")
    for bot in bots:
        met = [records.of_pair.get((bot, other)) for other in bots]
        made.add_row(Text(bot), *("" if each is None else str(each) for each in met))
    return made


def as_json(standings: Standings, records: Records) -> dict[str, Any]:
    """The standings as values that JSON can hold."""
    return {
        "standings": [_row(row) | _record(records.of_bot[row.bot]) for row in standings.rows],
        "head_to_head": _pairs(standings, records),
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


def as_csv(standings: Standings, records: Records) -> str:
    """The standings as comma-separated values, a line a bot under a line of names."""
    rows = []
    for row in standings.rows:
        told = _row(row) | _record(records.of_bot[row.bot])
        rows.append(told | {"faults": sum(row.faults.values())})
    return _csv(rows)


def pairs_as_csv(standings: Standings, records: Records) -> str:
    """The records of each two bots as comma-separated values."""
    return _csv(_pairs(standings, records))


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _record(record: Record) -> dict[str, int]:
    return {"wins": record.wins, "draws": record.draws, "losses": record.losses}


def _pairs(standings: Standings, records: Records) -> list[dict[str, Any]]:
    bots = [row.bot for row in standings.rows]
    return [
        {"bot": bot, "other": other, **_record(record), "margin": record.margin}
        for bot in bots
        for other in bots
        if (record := records.of_pair.get((bot, other))) is not None
    ]


def score(row: Row) -> str:
    """A bot's score with its interval, in few characters."""
    width = "" if row.half_width is None else f" ± {row.half_width:.1f}"
    return "" if row.score is None else f"{row.score:+.1f}{width}"


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

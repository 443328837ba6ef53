"""Prints standings as tables in a terminal."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.games.catalogue import UnknownGame, game_by_id
from arena.records.phrases import count
from arena.results.head_to_head import WinRecord
from arena.results.record import Out

WIDE: Final = 1_000
"""A width at which every column fits."""
SEE_WIDE: Final = "see `arena competition show NAME --wide`."
ALWAYS: Final = 100
MOST_SIDE_BY_SIDE: Final = 12
"""The number of bots whose records against each other fit side by side on a terminal."""
EXPLANATION: Final = (
    "Skill: points a match better than the mean of all, from complete deal-sets. Bots of one tier cannot be"
    " told apart."
)
ONLY_IN_ALL: Final = (
    "Only bots that are ranked in every game have a score here, if there are two or more of them."
)
NO_INTERVAL: Final = (
    "± 95 % is empty for bots that a single deal-set compares with the others: an error needs two."
)
NOT_ENOUGH: Final = (
    "Not enough deal-sets yet to call one bot better than another: about {needed:,} more."
)
FORFEITS: Final = (
    "Score: the mean over a bot's matches of its skill where it played, less what faults cost, and of the"
    " worse of the result and {points:.2f} where it forfeited the seat."
)


def print_standings(standings: dict[str, Any], *, pairs: bool = False, wide: bool = False) -> None:
    """Print standings in the columns that fit the terminal, or with `wide` in all columns; `pairs` adds the results of each two bots."""
    console = PlainConsole(width=WIDE if wide else None)
    what = "live standings" if standings["live"] else f"official standings {standings['number']}"
    say(f"{standings['competition']}: {what}")
    for game in standings["games"]:
        console.print(standings_table(game, console.width))
        for names in game["cycles"]:
            say(f"A circle: {' beats '.join([*names, names[0]])}.")
        if game["unexplained"]:
            say(
                f"Skills leave {game['unexplained']:.0%} of the differences between pairs unexplained."
            )
        if pairs:
            console.print(_pairs(game, console.width))
        if pairs or (game["pairs"] and 2 < len(game["rows"]) <= MOST_SIDE_BY_SIDE):
            print_head_to_head(game, console)
    if standings["overall"]:
        console.print(_overall(standings, console.width))
    for bot_out in standings["out"]:
        deal_sets = ", and its deal-sets do not count" if bot_out["why"] == Out.DISQUALIFIED else ""
        say(
            f"{bot_out['bot']} is {bot_out['why']}{deal_sets}{': ' + bot_out['reason'] if bot_out['reason'] else ''}"
        )


def print_head_to_head(game: dict[str, Any], console: Console) -> None:
    """Print wins, draws and losses of each two bots, or report that they do not fit."""
    table = head_to_head_table(game, console.width)
    if table is None:
        say(f"Head to head of {len(game['rows'])} bots does not fit at this width; {SEE_WIDE}")
    else:
        console.print(table)


def title_of(game: dict[str, Any]) -> str:
    """Return the title of a game with its seats; the id if this arena does not have the game."""
    try:
        title = game_by_id(game["game"]).title
    except UnknownGame:
        title = game["game"]
    return f"{title}, {game['seats']} seats"


class _Column(NamedTuple):
    """A column of a table that leaves out columns which do not fit."""

    importance: int
    """The least important column is left out first, and one of `ALWAYS` never."""
    head: str
    cells: Sequence[str]
    is_text: bool = False
    """Whether it is on the left of its column, and may take several lines there."""
    is_optional: bool = False
    """Whether it is not shown if all its cells are empty."""


def _fitting(
    columns: Sequence[_Column], width: int, *, caption: str = "", **look: Any
) -> tuple[Table, list[str]]:
    """Return a table of the columns that fit, and the heads of those that are left out, which the caption names.

    The names of bots are never shortened: if they do not fit, they take several lines.
    """
    kept = list(columns)
    left_out: list[str] = []
    console = PlainConsole(width=WIDE)
    while True:
        least = min(kept, key=lambda column: column.importance)
        text = caption
        if left_out:
            text = f"{caption} Left out at this width: {', '.join(left_out)}; {SEE_WIDE}".lstrip()
        made = _table(kept, folds=False, caption=text, **look)
        # rich measures a table without padding at its edges two columns too narrow.
        if Measurement.get(console, console.options, made).minimum + 2 <= width:
            return made, left_out
        if least.importance == ALWAYS:
            return _table(kept, folds=True, caption=text, **look), left_out
        kept.remove(least)
        left_out.append(least.head or "notes")


def _table(columns: Sequence[_Column], *, folds: bool, **look: Any) -> Table:
    made = Table(title_justify="left", caption_justify="left", **look)
    for column in columns:
        is_name = column.importance == ALWAYS
        wraps = column.is_text and any(" " in cell for cell in column.cells)
        made.add_column(
            column.head,
            justify="left" if is_name or column.is_text else "right",
            no_wrap=not (wraps or (is_name and folds)),
            overflow="fold",
            min_width=_longest_word(column) if wraps else cell_len(column.head),
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        made.add_row(*map(Text, cells))
    return made


def _longest_word(column: _Column) -> int:
    return max(
        (len(word) for text in (column.head, *column.cells) for word in text.split()), default=0
    )


def standings_table(game: dict[str, Any], width: int = WIDE) -> Table:
    """Return the standings of one game: a row for each bot, best first, in the columns that fit."""
    rows = game["rows"]
    costs = any(row["score"] != row["skill"] for row in rows)
    columns = [
        _Column(95, "place", [_whole(row["place"]) for row in rows]),
        _Column(92, "points", [_points(row) for row in rows], is_optional=True),
        _Column(40, "tier", [_whole(row["tier"]) for row in rows]),
        _Column(ALWAYS, "bot", [row["bot"] for row in rows]),
        _Column(90, "score" if costs else "skill", [_signed(row["score"]) for row in rows]),
        _Column(80, "± 95 %", [_width(row["half_width_95"]) for row in rows]),
        _Column(
            30, "± all", [_width(row["half_width_95_together"]) for row in rows], is_optional=True
        ),
        _Column(
            20, "skill", [_signed(row["skill"]) if costs else "" for row in rows], is_optional=True
        ),
        _Column(
            55,
            "forfeited",
            [_share(row["forfeited"]) if costs else "" for row in rows],
            is_optional=True,
        ),
        _Column(50, "deal-sets", [str(row["deal_sets"]) for row in rows]),
        _Column(45, "met", [_met(row) for row in rows], is_optional=True),
        _Column(35, "present", [_hours(row["present_h"]) for row in rows], is_optional=True),
        _Column(60, "w-d-l", [_record(row) for row in rows]),
        _Column(70, "faults", [_faults(row) for row in rows], is_text=True),
        _Column(65, "", [row["note"] for row in rows], is_text=True, is_optional=True),
    ]
    shown = [column for column in columns if not column.is_optional or any(column.cells)]
    look = {"title": title_of(game), "box": box.SIMPLE_HEAD, "pad_edge": False}
    made, _ = _fitting(shown, width, caption=_caption(game, costs=costs), **look)
    return made


def head_to_head_table(game: dict[str, Any], width: int = WIDE) -> Table | None:
    """Wins, draws and losses of each bot against each other, in the order of the standings.

    If names are too wide for heads, they are numbered. None if the records are also too wide.
    """
    met: dict[tuple[str, str], WinRecord] = {}
    for pair in game["pairs"]:
        won = WinRecord(pair["wins"], pair["draws"], pair["losses"])
        met[pair["bot"], pair["other"]] = won
        met[pair["other"], pair["bot"]] = WinRecord(won.losses, won.draws, won.wins)
    bots = [row["bot"] for row in game["rows"]]
    numbered = [f"{number} {bot}" for number, bot in enumerate(bots, 1)]
    heads = [bots, [str(number) for number in range(1, len(bots) + 1)]]
    for names, others in zip((bots, numbered), heads, strict=True):
        columns = [_Column(ALWAYS, "w-d-l of", names)]
        columns += [
            _Column(1, head, [str(met.get((bot, other), "")) for bot in bots])
            for head, other in zip(others, bots, strict=True)
        ]
        made, left_out = _fitting(columns, width, title="Head to head")
        if not left_out:
            return made
    return None


def _pairs(game: dict[str, Any], width: int) -> Table:
    pairs = game["pairs"]
    columns = [
        _Column(ALWAYS, "bot", [pair["bot"] for pair in pairs]),
        _Column(ALWAYS, "other", [pair["other"] for pair in pairs]),
        _Column(1, "deal-sets", [str(pair["deal_sets"]) for pair in pairs]),
        _Column(3, "margin", [_signed(pair["margin"]) for pair in pairs]),
        _Column(2, "anytime 95 %", [_interval(pair) for pair in pairs]),
        _Column(4, "better", [pair["better"] or "not decided" for pair in pairs], is_text=True),
    ]
    made, _ = _fitting(columns, width, title=f"Each two, in {game['margins_in']}")
    return made


def _overall(standings: dict[str, Any], width: int) -> Table:
    rows = standings["overall"]
    columns = [
        _Column(ALWAYS, "bot", [row["bot"] for row in rows]),
        _Column(99, "score", [_signed(row["score"]) for row in rows]),
        _Column(98, "± 95 %", [_width(row["half_width_95"]) for row in rows]),
    ]
    columns += [
        _Column(97 - number, game["game"], [_signed(row["by_game"][number]) for row in rows])
        for number, game in enumerate(standings["games"])
    ]
    only = ONLY_IN_ALL if any(row["score"] is None for row in rows) else ""
    title = "All games, in units of each game's spread"
    made, _ = _fitting(columns, width, title=title, caption=only)
    return made


def _caption(game: dict[str, Any], *, costs: bool) -> str:
    if game["problem"]:
        return f"{game['problem']}."
    texts = [EXPLANATION]
    if costs and game["forfeit_points"] is not None:
        texts.append(FORFEITS.format(points=-game["forfeit_points"]))
    if any(row["score"] is not None and row["half_width_95"] is None for row in game["rows"]):
        texts.append(NO_INTERVAL)
    if game["ranked_by"] == "skill" and game["needed"]:
        texts.append(NOT_ENOUGH.format(needed=game["needed"]))
    sets = game["deal_sets"]
    if within := sets["within_teams"]:
        texts.append(
            f"{count(within, 'deal-set')} between bots of one owner or team"
            f" {'weighs' if within == 1 else 'weigh'} nothing for places."
        )
    missing = sets["planned"] - sets["complete"]
    if missing:
        verb = "is" if missing == 1 else "are"
        texts.append(f"{count(missing, 'deal-set')} {verb} not complete.")
    return " ".join(texts)


def score(row: dict[str, Any]) -> str:
    """Return a bot's score with its interval, to one decimal."""
    width = "" if row["half_width_95"] is None else f" ± {row['half_width_95']:.1f}"
    return "" if row["score"] is None else f"{row['score']:+.1f}{width}"


def _whole(value: int | None) -> str:
    return "" if value is None else str(value)


def _points(row: dict[str, Any]) -> str:
    return "" if row["points"] is None else f"{row['points']:g}"


def _share(value: float | None) -> str:
    return f"{value:.0%}" if value else ""


def _interval(pair: dict[str, Any]) -> str:
    low, high = pair["low"], pair["high"]
    return "" if low is None or high is None else f"{low:+.2f} … {high:+.2f}"


def _record(row: dict[str, Any]) -> str:
    return str(WinRecord(row["wins"], row["draws"], row["losses"]))


def _faults(row: dict[str, Any]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in row["faults"].items())


def _met(row: dict[str, Any]) -> str:
    return "" if row["opponents_met"] is None else f"{row['opponents_met']} of {row['opponents']}"


def _hours(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} h"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _width(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"

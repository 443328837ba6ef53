"""`arena table`: the table of a competition, live or official, and whether an exported one is true."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.cli.desk import Desk, desk_options
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.server.office import NotVerified, verify

SHOWN_DIGITS = 16
MOST_SIDE_BY_SIDE = 12


class NameOrVerify(click.Group):
    """A group whose first word may be the name of a competition: `arena table autumn`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["of", *args]
        return super().resolve_command(ctx, args)


@click.group(
    cls=NameOrVerify,
    epilog="""\b
Examples:
  arena table autumn
  arena table autumn --number 2 --json
  arena table autumn --pairs
  arena table verify autumn.jsonl --arena $(arena keys arena-key)
""",
    options_metavar="",
    subcommand_metavar="NAME [OPTIONS] | verify FILE",
)
def table() -> None:
    """Show the table of the competition NAME, or verify one that was exported."""


@table.command(
    hidden=True, epilog="\b\nExamples:\n  arena table autumn\n  arena table autumn --pairs"
)
@click.argument("name")
@click.option(
    "--number", type=click.IntRange(1), help="An official table.  [default: the latest state]"
)
@click.option("--pairs", is_flag=True, help="Also what happened between each two.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@desk_options
def of(*, desk: Desk, name: str, number: int | None, pairs: bool, as_json: bool) -> None:
    """Show the table of the competition NAME."""
    found = desk.table(name, number)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        print_table(found, PlainConsole(), pairs=pairs)


@table.command(
    "verify",
    epilog="""\b
Examples:
  arena competition export autumn --as deals > autumn.jsonl
  arena table verify autumn.jsonl
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--arena", metavar="KEY", help="The public key of the arena that must have signed it."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_file(*, file: Path, arena: str | None, as_json: bool) -> None:
    """Make the table in FILE again from its deal-sets, and check its signature.

    The exit code is 0 if the same table comes of them, to the byte.
    """
    try:
        key = bytes.fromhex(arena) if arena else None
    except ValueError:
        raise click.BadParameter("a public key is 64 hexadecimal digits") from None
    try:
        with file.open(encoding="utf-8") as lines:
            found = verify(lines, public_key=key)
    except UnicodeDecodeError:
        raise click.ClickException(f"{file}: it is not text in UTF-8") from None
    except NotVerified as error:
        raise click.ClickException(f"{file}: {error}") from None
    if as_json:
        told = {
            "competition": found.competition,
            "number": found.number,
            "deal_sets": found.deal_sets,
            "public_key": found.public_key,
            "verified": True,
        }
        click.echo(json.dumps(told, indent=2))
        return
    say(
        f"{file}: table {found.number} of {found.competition} is what comes of its "
        f"{found.deal_sets} deal-sets, signed by the arena {found.public_key[:SHOWN_DIGITS]}"
    )


def print_table(found: dict[str, Any], console: Console, *, pairs: bool = False) -> None:
    """A table for people."""
    what = (
        "live, and counts for nothing yet" if found["live"] else f"official table {found['number']}"
    )
    say(f"{found['competition']}: {what}")
    for game in found["games"]:
        console.print(_game(game))
        for names in game["cycles"]:
            say(f"A circle: {' beats '.join([*names, names[0]])}.")
        if game["unexplained"]:
            say(
                f"One line leaves {game['unexplained']:.0%} of what differs between pairs unexplained."
            )
        if pairs:
            console.print(_pairs(game))
    if found["overall"]:
        console.print(_overall(found["overall"]))
    for each in found["out"]:
        say(f"{each['bot']} is {each['why']}{': ' + each['reason'] if each['reason'] else ''}")


def _game(game: dict[str, Any]) -> Table:
    rows = game["rows"]
    placed = any(row["place"] for row in rows)
    pointed = any(row["points"] is not None for row in rows)
    together = any(row["half_width_95_together"] is not None for row in rows)
    lapsed = any(row["left"] for row in rows)
    made = Table(title=f"{game['game']}, {game['seats']} seats", title_justify="left")
    for head in (
        *(["place"] if placed else []),
        *(["points"] if pointed else []),
        "tier",
    ):
        made.add_column(head, justify="right", no_wrap=True)
    made.add_column("bot", no_wrap=True)
    for head in (
        "score",
        "± 95 %",
        *(["± all"] if together else []),
        *(["skill", "left"] if lapsed else []),
        "deal-sets",
        "faults",
    ):
        made.add_column(head, justify="right", no_wrap=True)
    if any(row["note"] for row in rows):
        made.add_column("")
    for row in rows:
        cells: list[str | Text] = []
        if placed:
            cells.append(str(row["place"] or ""))
        if pointed:
            cells.append("" if row["points"] is None else f"{row['points']:g}")
        cells += [str(row["tier"] or ""), Text(row["bot"]), _signed(row["score"])]
        cells.append(_width(row["half_width_95"]))
        if together:
            cells.append(_width(row["half_width_95_together"]))
        if lapsed:
            cells += [_signed(row["skill"]), f"{row['left']:.0%}" if row["left"] else ""]
        cells += [str(row["deal_sets"]), str(sum(row["faults"].values()) or "")]
        made.add_row(*cells, *([row["note"]] if any(each["note"] for each in rows) else []))
    sets = game["deal_sets"]
    missing = sets["planned"] - sets["complete"]
    made.caption = game["problem"] or (f"{missing} deal-sets are not complete." if missing else "")
    made.caption_justify = "left"
    return made


def _pairs(game: dict[str, Any]) -> Table:
    made = Table(title="Each two, in points a deal-set", title_justify="left")
    for head in ("bot", "other", "deal-sets", "margin", "anytime 95 %", ""):
        made.add_column(head, no_wrap=True)
    for each in game["pairs"]:
        low, high = each["low"], each["high"]
        interval = "" if low is None or high is None else f"{low:+.2f} … {high:+.2f}"
        made.add_row(
            Text(each["bot"]),
            Text(each["other"]),
            str(each["deal_sets"]),
            _signed(each["margin"]),
            interval,
            f"{each['better']} is better" if each["better"] else "not decided",
        )
    return made


def _overall(rows: list[dict[str, Any]]) -> Table:
    made = Table(title="All games, in units of each game's spread", title_justify="left")
    made.add_column("bot")
    for head in ("score", "± 95 %"):
        made.add_column(head, justify="right")
    for row in rows:
        made.add_row(Text(row["bot"]), _signed(row["score"]), _width(row["half_width_95"]))
    return made


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _width(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"

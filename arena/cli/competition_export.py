"""`arena competition export` and `arena competition verify`: standings as files, and their check."""

from pathlib import Path
from typing import Final

import click

from arena.cli.command_group import loading
from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.competition_play import print_result
from arena.cli.options import json_option, print_json
from arena.cli.standings_csv import prizes as prizes_of
from arena.cli.standings_csv import prizes_csv
from arena.cli.terminal.plain import say

SHOWN_DIGITS: Final = 16
"""The number of digits of a public key that are printed."""


@click.command(
    epilog="""\b
Examples:
  arena competition export autumn --as csv > autumn.csv
  arena competition export autumn --as deals > autumn.jsonl
  arena competition verify autumn.jsonl
  arena competition export autumn --as csv --prizes > prizes.csv
"""
)
@click.argument("name")
@click.option(
    "--as",
    "form",
    required=True,
    type=click.Choice(["csv", "json", "deals"]),
    help="Rows of the standings, the whole standings, or all deal-sets with the signed standings.",
)
@click.option(
    "--number",
    type=click.IntRange(1),
    help="These official standings.  [default: the latest state]",
)
@click.option(
    "--prizes",
    is_flag=True,
    help="Only the order of prizes, by places and tie-breaks; for official standings.",
)
@read_options
def export(
    *, client: CompetitionClient, name: str, form: str, number: int | None, prizes: bool
) -> None:
    """Write the standings of NAME, or the deal-sets from which they were computed.

    With --prizes each ranked bot has a row: its prize, its place, and the bots with which it is tied after all
    tie-breaks. Standings that are not official have no prizes.
    """
    if prizes:
        _export_prizes(client, name, form, number)
    elif form == "deals":
        for line in client.deals(name, number):
            click.echo(line)
    else:
        standings = client.standings(name, number)
        print_result(standings, as_json=form == "json", as_csv=form == "csv")


def _export_prizes(client: CompetitionClient, name: str, form: str, number: int | None) -> None:
    if form == "deals":
        raise click.UsageError("prizes are csv or json")
    state = client.show(name)
    if not state.official:
        raise click.ClickException(
            f"{name} has no official standings yet: `arena competition finish {name}` makes them"
        )
    standings = client.standings(name, number or state.official)
    prized = prizes_of(standings, {bot.bot: bot.owner for bot in state.bots})
    if form == "json":
        print_json({"competition": name, "number": standings["number"], "prizes": prized})
    else:
        click.echo(prizes_csv(prized), nl=False)


@click.command(
    "verify",
    epilog="""\b
Examples:
  arena competition export autumn --as deals > autumn.jsonl
  arena competition verify autumn.jsonl
  arena competition verify autumn.jsonl --arena $(arena keys arena-key)
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--arena", metavar="KEY", help="Require a signature with this public key.")
@json_option
def verify_file(*, file: Path, arena: str | None, as_json: bool) -> None:
    """Compute the standings in FILE again from its deal-sets, and check the signature.

    FILE was written by `arena competition export --as deals`. The exit code is 0 if the standings are
    equal to the byte.
    """
    with loading():
        from arena.app.standings_file import NotVerified, verify
    try:
        key = bytes.fromhex(arena) if arena else None
    except ValueError:
        raise click.BadParameter("a public key is 64 hexadecimal digits") from None
    try:
        with file.open(encoding="utf-8") as lines:
            verified = verify(lines, public_key=key)
    except UnicodeDecodeError:
        raise click.ClickException(f"{file}: it is not text in UTF-8") from None
    except NotVerified as error:
        raise click.ClickException(f"{file}: {error}") from None
    if as_json:
        about = {
            "competition": verified.competition,
            "number": verified.number,
            "deal_sets": verified.deal_sets,
            "public_key": verified.public_key,
            "verified": True,
        }
        print_json(about)
        return
    say(
        f"{file}: standings {verified.number} of {verified.competition} follow from its "
        f"{verified.deal_sets} deal-sets, signed by the arena {verified.public_key[:SHOWN_DIGITS]}"
    )

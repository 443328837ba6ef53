"""`arena standings`: the table of a tournament as it stands, without playing."""

import contextlib
import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from arena.cli import standings as show
from arena.cli.arguments import data_option, plain_errors
from arena.cli.named import require_folder
from arena.cli.near import nearest
from arena.cli.terminal.console import PlainConsole
from arena.cli.tournament import Told
from arena.games.catalogue import UnknownGame, game_by_id
from arena.ladder.head_to_head import records
from arena.ladder.standings import standings as rank
from arena.server.data_folder import store_path
from arena.store import Store, is_there, open_store


@click.command(
    epilog="""\b
Examples:
  arena standings
  arena standings autumn
  arena standings autumn --csv > autumn.csv
  arena standings autumn --head-to-head --csv > pairs.csv
  arena standings autumn --json | jq '.standings[0].bot'
"""
)
@click.argument("name", required=False)
@click.option("--head-to-head", "pairs", is_flag=True, help="Only who won against whom.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@data_option
def standings(*, name: str | None, pairs: bool, as_json: bool, as_csv: bool, data: Path) -> None:
    """Show the standings of the tournament NAME, also while it is played; or list all of them.

    Nothing is played, and no bot is needed.
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    require_folder(data)
    if not is_there(store_path(data)):
        raise click.ClickException(f"no tournament was played in the folder {data} yet")
    with plain_errors(), open_store(store_path(data)) as store:
        if name is None:
            if as_csv or pairs:
                raise click.UsageError("name the tournament whose standings are wanted")
            _list(store, as_json=as_json)
            return
        told = _told(store, name)
    if as_json:
        click.echo(json.dumps(told.as_json(), indent=2))
    elif as_csv:
        made = show.pairs_as_csv if pairs else show.as_csv
        click.echo(made(told.standings, told.records), nl=False)
    elif pairs:
        PlainConsole().print(show.head_to_head(told.standings, told.records))
    else:
        told.print(PlainConsole())


def _told(store: Store, name: str) -> Told:
    names = [each.name for each in store.tournaments()]
    if name not in names:
        raise click.ClickException(f"there is no tournament {name!r}; {nearest(name, names)}")
    found = store.tournament(name)
    terms, seed = found.settings().terms, found.settings().seed
    deal_sets, outcomes = found.deal_sets(), found.outcomes()
    title = terms["game"]
    with contextlib.suppress(UnknownGame):  # its results stay, whatever games there are
        title = game_by_id(title).title
    return Told(
        name=name,
        game=terms["game"],
        title=title,
        seats=terms["seats"],
        seed=seed,
        fair=not terms["seeded"],
        standings=rank(deal_sets, outcomes),
        records=records(deal_sets, outcomes),
    )


def _list(store: Store, *, as_json: bool) -> None:
    found = []
    for each in store.tournaments():
        tournament = store.tournament(each.name)
        matches = [match.id for deal_set in tournament.deal_sets() for match in deal_set.matches]
        outcomes = tournament.outcomes()
        found.append(
            {
                "tournament": each.name,
                "game": each.terms["game"],
                "seats": each.terms["seats"],
                "bots": [entrant.name for entrant in each.entrants],
                "played": sum(at in outcomes and outcomes[at].has_result for at in matches),
                "matches": len(matches),
            }
        )
    if as_json:
        click.echo(json.dumps({"tournaments": found}, indent=2))
        return
    if not found:
        click.echo("There is no tournament yet.")
        return
    PlainConsole().print(_table(found))


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("tournament", "game", "seats", "matches", "bots"):
        table.add_column(name, no_wrap=name != "bots")
    for each in found:
        played = f"{each['played']} of {each['matches']}"
        bots = Text(", ".join(each["bots"]))
        table.add_row(Text(each["tournament"]), each["game"], str(each["seats"]), played, bots)
    return table

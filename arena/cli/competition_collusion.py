"""`arena competition collusion`: pairs of owners whose bots may help each other."""

from typing import Any

import click
from rich.progress import Progress

from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import say
from arena.cli.terminal.standings import print_standings
from arena.competition.collusion_report import suspected, without_shared
from arena.competition.plan import read_plan
from arena.competition.record import CompetitionRecord
from arena.competition.standings import RANKED_BY, RankingRule, live_standings


@click.command(
    epilog="""\b
Examples:
  arena competition collusion autumn
  arena competition collusion autumn --without ann --without bob
  arena competition collusion autumn --json | jq '.games[].pairs[] | select(.stands)'
"""
)
@click.argument("name")
@click.option(
    "--without",
    multiple=True,
    metavar="OWNER",
    help="Show the standings without the tables of OWNER instead; of two owners, without those that they shared.",
)
@json_option
@read_options
def collusion(
    *, client: CompetitionClient, name: str, without: tuple[str, ...], as_json: bool
) -> None:
    """List pairs of owners whose bots score otherwise at shared tables than their skills explain.

    For each pair of owners whose bots met there are two approximate e-values: of what they gain together
    at the cost of others, at tables of three or more seats, and of what one gains from the other. A pair
    stands out if one of them exceeds the threshold for all pairs together. That is a reason to watch the
    replays, not a proof: people judge.
    """
    record = client.record(name)
    if without:
        _print_without(record, without, as_json=as_json)
        return
    with Progress(console=PlainConsole(stderr=True, quiet=as_json), transient=True) as bars:
        task = bars.add_task("pairs of owners", total=None)
        found = suspected(record, lambda done, of: bars.update(task, completed=done, total=of))
    if as_json:
        print_json(found)
        return
    for game in found["games"]:
        _print_suspected(game)


def _print_without(record: CompetitionRecord, without: tuple[str, ...], *, as_json: bool) -> None:
    owners = sorted({each.owner for each in record.candidates})
    for owner in without:
        if owner not in owners:
            raise click.BadParameter(f"no bot of {owner!r} entered; owners are {', '.join(owners)}")
    if RANKED_BY[read_plan(record.config).format] is not RankingRule.SKILL:
        raise click.ClickException("its places do not follow skill, so no table can be left out")
    found = live_standings(without_shared(record, without))
    if as_json:
        print_json(found)
    else:
        print_standings(found)


def _print_suspected(game: dict[str, Any]) -> None:
    head, pairs = f"{game['game']} of {game['seats']}", game["pairs"]
    if not pairs:
        say(f"{head}: no two owners can be looked at yet")
        return
    standing = sum(each["stands"] for each in pairs)
    say(
        f"{head}: {len(pairs)} pairs of owners, of which {standing or 'none'} stand out (approximate)"
    )
    rows = [
        (
            *each["owners"],
            each["deal_sets"],
            _shown_evidence(each["joint"]),
            _shown_evidence(each["difference"]),
            "look into it" if each["stands"] else "",
        )
        for each in pairs
    ]
    heads = ("owners", "", "deal-sets", "each gains, points a table", "first gains from second", "")
    print_table(heads, rows)
    for each in (moved for pair in pairs for moved in pair["places"]):
        left = each["without"]
        say(
            f"{each['bot']} is in place {each['place']}, and without the shared tables "
            f"{f'in place {left}' if left else 'not ranked'}."
        )


def _shown_evidence(found: dict[str, Any] | None) -> str:
    return "" if found is None else f"{found['points']:+.2f}, E = {found['e_value']:.3g}"

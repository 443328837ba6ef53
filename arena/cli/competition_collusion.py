"""`arena competition collusion`: pairs of owners whose bots may help each other, and workers that may help a bot."""

import sys
from typing import Any

import click

from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import print_table, progress
from arena.cli.terminal.plain import say
from arena.cli.terminal.standings import print_standings


@click.command(
    epilog="""\b
Examples:
  arena competition collusion autumn
  arena competition collusion autumn --without ann --without bob
  arena competition collusion autumn --earlier summer --earlier spring
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
@click.option(
    "--earlier",
    multiple=True,
    metavar="NAME",
    help="Another competition in the same games whose deal-sets are evidence too.",
)
@json_option
@read_options
def collusion(
    *,
    client: CompetitionClient,
    name: str,
    without: tuple[str, ...],
    earlier: tuple[str, ...],
    as_json: bool,
) -> None:
    """List pairs of owners whose scores at shared tables differ from the prediction by their skills.

    For each pair of owners whose bots met there are two approximate p-values: of what they gain together
    at the cost of others, at tables of three or more seats, and of what one gains from the other. A pair
    stands out if one of them is small enough among those of all pairs, which happens in one of 100 honest
    competitions. That is a reason to watch the replays, not a proof: people judge.

    Workers that failed deal-sets are tested too: whether a bot scored more in deal-sets that a worker reported than in
    those that failed there, or than at other workers. The evidence is an e-value; larger values are stronger evidence.
    """
    with progress("pairs of owners", quiet=as_json or not sys.stderr.isatty()):
        report = client.collusion(name, without, earlier)
    if as_json:
        print_json(report)
    elif without:
        print_standings(report)
    else:
        for game in report["games"]:
            _print_suspected(game)
            _print_workers(game["workers"])


def _print_suspected(game: dict[str, Any]) -> None:
    head, pairs = f"{game['game']} of {game['seats']}", game["pairs"]
    if not pairs:
        say(
            f"{head}: no two owners can be tested: none met, or without the deal-sets in which they met "
            "the skills of their bots cannot be estimated"
        )
        return
    standing = sum(pair["stands"] for pair in pairs)
    say(
        f"{head}: {len(pairs)} pairs of owners, of which {standing or 'none'} stand out (approximate)"
    )
    rows = [
        (
            *pair["owners"],
            pair["deal_sets"],
            _shown_evidence(pair["joint"]),
            _shown_evidence(pair["difference"]),
            "look into it" if pair["stands"] else "",
        )
        for pair in pairs
    ]
    heads = ("owners", "", "deal-sets", "each gains, points a table", "first gains from second", "")
    print_table(heads, rows)
    for bot in (moved for pair in pairs for moved in pair["places"]):
        place = bot["without"]
        say(
            f"{bot['bot']} is in place {bot['place']}, and without the shared tables "
            f"{f'in place {place}' if place else 'not ranked'}."
        )


def _print_workers(workers: list[dict[str, Any]]) -> None:
    if not workers:
        return
    rows = [
        (
            row["worker"],
            row["bot"],
            f"{row['failed']} of {row['failed'] + row['reported']}",
            _shown_failing(row["lost"]),
            _shown_failing(row["gained"]),
            "look into it" if row["stands"] else "",
        )
        for row in workers
    ]
    print_table(
        ("worker", "bot", "failed", "more in reported ones", "more than at others", ""), rows
    )


def _shown_evidence(evidence: dict[str, Any] | None) -> str:
    return "" if evidence is None else f"{evidence['points']:+.2f}, p = {evidence['p_value']:.3g}"


def _shown_failing(evidence: dict[str, Any] | None) -> str:
    return "" if evidence is None else f"{evidence['points']:+.2f}, E = {evidence['e_value']:.3g}"

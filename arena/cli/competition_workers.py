"""`arena competition spot-checks` and `drop-worker`: what workers on other machines played."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from arena.cli.competition_client import local_competitions
from arena.cli.options import data_option, json_option, plain_errors, print_json
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.competition.spot_checks import WorkerChecks, worker_checks
from arena.scenes.sentences import counted
from arena.server.data_folder import store_path
from arena.store import is_there, open_store

SHOWN: Final = 5
"""Bots of each worker that are shown, besides those that stand out."""


@click.command(
    name="spot-checks",
    epilog="""\b
Examples:
  arena competition spot-checks autumn
  arena competition spot-checks autumn --json | jq '.workers[].favours[] | select(.stands_out)'
""",
)
@click.argument("name")
@json_option
@data_option
def spot_checks(*, name: str, as_json: bool, data: Path) -> None:
    """Compare deal-sets of NAME with their second play at another worker.

    One deal-set in a hundred that a worker on another machine has played is played again at another one, with the
    same cards. A bot that a worker favours scores more in the first plays. It stands out if that is too much for chance,
    over all bots and workers together.
    """
    path = store_path(data)
    if not is_there(path):
        raise click.ClickException(f"there is no arena in {data}")
    with plain_errors(), open_store(path) as store:
        store.competitions().get(name)
        found = worker_checks(store.spot_checks().of(name))
    if as_json:
        print_json({"competition": name, "workers": [asdict(each) for each in found]})
    elif not found:
        say(f"{name}: no deal-set was played again yet")
    else:
        for each in found:
            _print(each)


@click.command(
    epilog="""\b
Examples:
  arena keys revoke jsojlhnA                                    # it plays no more
  arena competition drop-worker autumn m1 --reason "favours ann"
"""
)
@click.argument("name")
@click.argument("worker")
@click.option("--reason", required=True, help="The reason, which the arena's records keep.")
@json_option
@data_option
def drop_worker(*, name: str, worker: str, reason: str, as_json: bool, data: Path) -> None:
    """Drop the deal-sets of NAME that WORKER played, and make new official standings.

    They do not count afterwards. In a round robin, a plan with more deal-sets adds others. The rounds of a Swiss, of
    groups and of a knockout are drawn from results, so nothing is dropped there.
    """
    if not reason.strip():
        raise click.UsageError("give a reason")
    with local_competitions(data, must_exist=True) as client:
        dropped = client.drop_worker(name, worker, reason)
        official = client.show(name)["official"]
        if not dropped:
            known = client.store.competitions().workers(name)
            raise click.ClickException(
                f"no deal-set of {name} that counts was played by a worker {worker!r}; "
                + (f"workers: {', '.join(known)}" if known else "the arena played all itself")
            )
    if as_json:
        print_json(
            {"competition": name, "worker": worker, "dropped": dropped, "official": official}
        )
        return
    say(f"{counted(dropped, 'deal-set')} of {name} that {worker} played no longer count: {reason}")
    if official:
        say(f"Official standings {official} are made without them.")


def _print(checks: WorkerChecks) -> None:
    say(
        f"{checks.worker}: {counted(checks.deal_sets, 'deal-set')} played again, "
        f"{checks.same_scores} with the same scores"
    )
    rows = [
        (
            each.bot,
            each.deal_sets,
            f"{each.per_deal_set:+.2f}",
            f"{each.p_value:.2g}",
            "look into it" if each.stands_out else "",
        )
        for at, each in enumerate(checks.favours)
        if at < SHOWN or each.stands_out
    ]
    print_table(("bot", "deal-sets", "more in the first play", "p", ""), rows)

"""`arena competition spot-checks` and `drop-worker`: deal-sets that workers on other machines played."""

from typing import Final

import click

from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.pictures.sentences import counted
from arena.referee.wire.message_json import message_json
from cardarena.v1 import competitions_pb2 as messages

SHOWN: Final = 5
"""The number of bots of each worker that are shown, besides those that stand out."""


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
@read_options
def spot_checks(*, client: CompetitionClient, name: str, as_json: bool) -> None:
    """Count the deal-sets that each worker of NAME reported and failed, and compare deal-sets with their second play at another worker.

    One deal-set in a hundred that a worker on another machine has played is played again at another one, with the same
    cards. A bot that a worker favours scores more in the first plays. It stands out if chance does not explain the
    difference, over all bots and workers together. `arena competition collusion` tests whether a worker fails deal-sets
    that a bot has lost.
    """
    request = messages.ListSpotChecksRequest(name=name)
    workers_checks = client.call("ListSpotChecks", request).workers
    if as_json:
        workers = [message_json(checks) for checks in workers_checks]
        print_json({"competition": name, "workers": workers})
    elif not workers_checks:
        say(f"{name}: no worker has played a deal-set yet")
    else:
        for checks in workers_checks:
            _print(checks)


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
@read_options
def drop_worker(
    *, client: CompetitionClient, name: str, worker: str, reason: str, as_json: bool
) -> None:
    """Drop the deal-sets of NAME that WORKER played, and make new official standings.

    WORKER is `key@host`; a key names the workers of all its hosts.

    They do not count afterwards. In a round robin, a plan with more deal-sets adds others. The rounds of a Swiss, of
    groups and of a knockout are drawn from results, so no deal-set can be dropped there.
    """
    if not reason.strip():
        raise click.UsageError("give a reason")
    request = messages.DropWorkerRequest(name=name, worker=worker, reason=reason)
    done = client.call("DropWorker", request)
    if not done.dropped:
        known = ", ".join(done.workers)
        raise click.ClickException(
            f"no deal-set of {name} that counts was played by a worker {worker!r}; "
            + (f"workers: {known}" if known else "the arena played all itself")
        )
    if as_json:
        print_json({"competition": name, "worker": worker} | message_json(done))
        return
    say(
        f"{counted(done.dropped, 'deal-set')} of {name} that {worker} played no longer count: {reason}"
    )
    if done.official:
        say(f"Official standings {done.official} are made without them.")


def _print(checks: messages.WorkerChecks) -> None:
    say(
        f"{checks.worker}: {counted(checks.reported, 'deal-set')} reported, {counted(checks.failed_begins, 'begin')} "
        f"failed; {checks.deal_sets} played again, {checks.same_scores} with the same scores"
    )
    if not checks.favours:
        return
    rows = [
        (
            favour.bot,
            favour.deal_sets,
            f"{favour.per_deal_set:+.2f}",
            f"{favour.p_value:.2g}",
            "look into it" if favour.stands_out else "",
        )
        for at, favour in enumerate(checks.favours)
        if at < SHOWN or favour.stands_out
    ]
    print_table(("bot", "deal-sets", "more in the first play", "p", ""), rows)

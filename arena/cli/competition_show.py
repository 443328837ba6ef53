"""`arena competition list` and `arena competition show`: states, standings and entrants of competitions."""

import contextlib
import json
import time
from typing import Any, Final

import click

from arena.cli.arena_client import patiently
from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.competition_play import print_result
from arena.cli.options import json_option, print_json, wide_option
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import say
from arena.cli.terminal.standings import WIDE, print_head_to_head, print_standings
from arena.competition.plan import CompetitionKind
from arena.competition.plan_text import FINALS
from arena.competition.states import State
from arena.server.official_standings import pairs_csv

POLL_S: Final = 1.0
"""Seconds between two lines of `--follow`."""


def finals_of(client: CompetitionClient, found: dict[str, Any]) -> list[str]:
    """Return the names of the finals of a ladder, which make its official standings; none for other competitions."""
    if found["kind"] != CompetitionKind.LADDER:
        return []
    start = f"{found['competition']}{FINALS}"
    return [each["competition"] for each in client.every() if each["competition"].startswith(start)]


@click.command(
    "list",
    epilog="\b\nExamples:\n  arena competition list\n  arena competition list --json",
)
@json_option
@read_options
def list_competitions(*, client: CompetitionClient, as_json: bool) -> None:
    """List all competitions."""
    every = client.every()
    if as_json:
        print_json({"competitions": every})
        return
    if not every:
        say("There is no competition yet.")
        return
    fields = ("competition", "kind", "format", "state", "entered", "official")
    rows = [["" if each[field] is None else each[field] for field in fields] for each in every]
    print_table(("competition", "kind", "format", "state", "bots", "official"), rows)


@click.command(
    epilog="""\b
Examples:
  arena competition show autumn
  arena competition show autumn --pairs
  arena competition show autumn --wide | less -S
  arena competition show autumn --csv > autumn.csv
  arena competition show autumn --number 2 --json | jq .standings
  arena competition show autumn --follow
"""
)
@click.argument("name")
@click.option(
    "--number",
    type=click.IntRange(1),
    help="These official standings.  [default: the latest state]",
)
@click.option("--pairs", is_flag=True, help="Also the results of each pair of bots.")
@click.option("--head-to-head", is_flag=True, help="Only wins, draws and losses of each pair.")
@click.option("--csv", "as_csv", is_flag=True, help="Only standings, as comma-separated values.")
@wide_option
@click.option(
    "--follow", is_flag=True, help="Print the state every second until the competition is finished."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; with --follow a line a poll."
)
@read_options
def show(
    *,
    client: CompetitionClient,
    name: str,
    number: int | None,
    pairs: bool,
    head_to_head: bool,
    as_csv: bool,
    wide: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Show the state, the standings and the entrants of the competition NAME.

    Standings are live while the competition is played, and official when it is finished. Places and
    skills in live standings are provisional. Nothing is played, and no bot is launched.
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if follow:
        _follow(client, name, as_json=as_json)
        return
    found = client.standings(name, number)
    if as_json:
        print_json(client.show(name) | {"standings": found})
    elif as_csv and (pairs or head_to_head):
        click.echo(pairs_csv(found), nl=False)
    elif as_csv:
        print_result(found, as_csv=True)
    elif head_to_head:
        for game in found["games"]:
            print_head_to_head(game, PlainConsole(width=WIDE if wide else None))
    else:
        state = client.show(name)
        _print_progress(state)
        for finals in finals_of(client, state):
            say(f"{finals} makes official standings of {name}.")
        print_standings(found, pairs=pairs, wide=wide)
        _print_entrants(state)


def _follow(client: CompetitionClient, name: str, *, as_json: bool) -> None:
    """Print a line for each poll until the competition is finished; the arena may be busy or restart."""

    def poll() -> dict[str, Any]:
        return patiently(
            lambda: client.show(name),
            told=lambda error: say(f"{error.message}; trying again", err=True),
        )

    with contextlib.suppress(KeyboardInterrupt):
        before, began_s = poll(), time.monotonic()
        found = before
        while True:
            lasted_s = time.monotonic() - began_s
            click.echo(json.dumps(found) if as_json else _line(found, before, lasted_s))
            if found["state"] == State.FINISHED:
                return
            time.sleep(POLL_S)
            found = poll()


def _line(found: dict[str, Any], before: dict[str, Any], seconds: float) -> str:
    """One poll in a line: deal-sets played and in play, their rate, and the time for the rest."""
    done, left = (_sum(found, ("complete",)), _sum(found, ("waiting", "in_play")))
    rate = (done - _sum(before, ("complete",))) / seconds if seconds > POLL_S else 0.0
    away = [each["bot"] for each in found["bots"] if each["away"]]
    parts = [
        "; ".join(filter(None, (str(found["state"]), found["waits"]))),
        f"{done} deal-sets played",
        f"{_sum(found, ('in_play',))} in play",
        f"{left} left of what is drawn",
    ]
    if rate:
        parts.append(f"{60 * rate:.1f} a minute")
        parts.append(f"{left / rate / 60:.1f} minutes for what is drawn")
    if away:
        parts.append(f"absent: {', '.join(away)}")
    return ", ".join(parts)


def _sum(found: dict[str, Any], states: tuple[str, ...]) -> int:
    return sum(game["deal_sets"][each] for game in found["games"] for each in states)


def _print_progress(found: dict[str, Any]) -> None:
    format_ = f", {found['format']}" if found["format"] else ""
    waits = f"; {found['waits']}" if found["waits"] else ""
    say(f"{found['competition']}: {found['kind']}{format_}, {found['state']}{waits}")
    if found["announcement"]:
        say(f"Announced {found['announced']}: {found['announcement']}")
    if found["timetable"]:
        say(f"Played {found['timetable']}.")
    for game in found["games"]:
        sets = game["deal_sets"]
        parts = [f"{sets['complete']} deal-sets played"]
        parts += [
            f"{sets[each]} {words}"
            for each, words in (
                ("in_play", "in play"),
                ("waiting", "waiting"),
                ("given_up", "given up"),
                ("void", "not to be played"),
            )
            if sets[each]
        ]
        rounds = f", round {game['rounds']}" if game["rounds"] else ""
        say(f"{game['game']} of {game['seats']}{rounds}: {', '.join(parts)}")


def _print_entrants(found: dict[str, Any]) -> None:
    rows = []
    for each in found["bots"]:
        why = " ".join(filter(None, (each["out"], each["reason"]))) or each["away"]
        games = [", ".join(each["games"]) or "by its version"] if len(found["games"]) > 1 else []
        rows.append((each["seed"], each["bot"], each["owner"], each["kind"], *games, why))
    games = ["games"] if len(found["games"]) > 1 else []
    print_table(("seed", "bot", "owner", "kind", *games, ""), rows, wrapped=("games", ""))

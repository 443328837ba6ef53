"""`arena competition list` and `arena competition show`: states, standings and entrants of competitions."""

import contextlib
import json
import time
from datetime import UTC, datetime
from typing import Final

import click

from arena.cli.arena_client import patiently
from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.competition_play import print_result
from arena.cli.options import json_option, print_json, wide_option
from arena.cli.standings_csv import pairs_csv
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import say
from arena.cli.terminal.standings import WIDE, print_head_to_head, print_standings
from arena.referee.wire.enums import word_of
from arena.referee.wire.message_json import message_json
from arena.results.record import FINALS
from cardarena.v1 import competitions_pb2 as messages

POLL_S: Final = 1.0
"""Seconds between two lines of `--follow`."""


def finals_of(client: CompetitionClient, ladder: messages.CompetitionInfo) -> list[str]:
    """Return the names of the finals of a ladder, which make its official standings; none for other competitions."""
    if ladder.format != messages.COMPETITION_FORMAT_LADDER:
        return []
    names = (competition.name for competition in client.all())
    return [name for name in names if name.startswith(f"{ladder.name}{FINALS}")]


@click.command(
    "list", epilog="\b\nExamples:\n  arena competition list\n  arena competition list --json"
)
@json_option
@read_options
def list_competitions(*, client: CompetitionClient, as_json: bool) -> None:
    """List all competitions."""
    competitions = client.all()
    if as_json:
        print_json({"competitions": [message_json(competition) for competition in competitions]})
        return
    if not competitions:
        say("There is no competition yet.")
        return
    rows = [
        (
            competition.name,
            word_of(competition, "format"),
            word_of(competition, "state"),
            competition.entered,
            competition.official,
        )
        for competition in competitions
    ]
    print_table(("competition", "format", "state", "bots", "official"), rows)


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

    Standings are live while the competition is played, and official when it is finished. Places and skills in live
    standings are provisional. The command plays no match and launches no bot.
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if follow:
        _follow(client, name, as_json=as_json)
        return
    standings = client.standings(name, number)
    if as_json:
        print_json(message_json(client.show(name)) | {"standings": standings})
    elif as_csv and (pairs or head_to_head):
        click.echo(pairs_csv(standings), nl=False)
    elif as_csv:
        print_result(standings, as_csv=True)
    elif head_to_head:
        for game in standings["games"]:
            print_head_to_head(game, PlainConsole(width=WIDE if wide else None))
    else:
        state = client.show(name)
        _print_progress(state)
        for finals in finals_of(client, state):
            say(f"{finals} makes official standings of {name}.")
        print_standings(standings, pairs=pairs, wide=wide)
        _print_entrants(state)


def _follow(client: CompetitionClient, name: str, *, as_json: bool) -> None:
    """Print a line for each poll until the competition is finished; the arena may be busy or restart."""

    def poll() -> messages.CompetitionInfo:
        return patiently(
            lambda: client.show(name),
            told=lambda error: say(f"{error.message}; trying again", err=True),
        )

    with contextlib.suppress(KeyboardInterrupt):
        before, began_s = poll(), time.monotonic()
        now = before
        while True:
            lasted_s = time.monotonic() - began_s
            click.echo(json.dumps(message_json(now)) if as_json else _line(now, before, lasted_s))
            if now.state == messages.COMPETITION_STATE_FINISHED:
                return
            time.sleep(POLL_S)
            now = poll()


def _line(shown: messages.CompetitionInfo, before: messages.CompetitionInfo, seconds: float) -> str:
    """Return one poll in a line: deal-sets played and in play, their rate, and the time for the rest."""
    done = sum(game.complete for game in shown.games)
    done_before = sum(game.complete for game in before.games)
    left = sum(game.waiting + game.in_play for game in shown.games)
    rate = (done - done_before) / seconds if seconds > POLL_S else 0.0
    away = [bot.bot for bot in shown.bots if bot.away]
    state = word_of(shown, "state")
    parts = [
        "; ".join(filter(None, (state, shown.waits))),
        f"{done} deal-sets played",
        f"{sum(game.in_play for game in shown.games)} in play",
        f"{left} left of what is drawn",
    ]
    if rate:
        parts.append(f"{60 * rate:.1f} a minute")
        parts.append(f"{left / rate / 60:.1f} minutes for what is drawn")
    if away:
        parts.append(f"limited: {', '.join(away)}")
    return ", ".join(parts)


def _print_progress(shown: messages.CompetitionInfo) -> None:
    format_ = word_of(shown, "format")
    state = word_of(shown, "state")
    runs = shown.state == messages.COMPETITION_STATE_RUNNING
    say(
        f"{shown.name}: {format_}, {state}"
        + (f"; {shown.waits}" if shown.waits and not runs else "")
    )
    if shown.waits and runs:
        say(f"Nothing begins at present: {shown.waits}.")
    if shown.announcement:
        announced = datetime.fromtimestamp(shown.announced_unix_ms / 1000, UTC)
        say(f"Announced {announced.isoformat(timespec='seconds')}: {shown.announcement}")
    if shown.timetable:
        say(f"Played {shown.timetable}.")
    for game in shown.games:
        parts = [f"{game.complete} deal-sets played"]
        parts += [
            f"{count} {words}"
            for count, words in (
                (game.in_play, "in play"),
                (game.waiting, "waiting"),
                (game.given_up, "given up"),
                (game.voided, "not to be played"),
            )
            if count
        ]
        rounds = f", round {game.rounds}" if game.rounds else ""
        say(f"{game.game} of {game.seats}{rounds}: {', '.join(parts)}")


def _print_entrants(shown: messages.CompetitionInfo) -> None:
    several = len(shown.games) > 1
    rows = []
    for bot in shown.bots:
        out = word_of(bot, "out")
        why = " ".join(filter(None, (out, bot.reason))) or bot.away
        games = [", ".join(bot.games) or "by its version"] if several else []
        kind = word_of(bot, "kind")
        rows.append((bot.seed, bot.bot, bot.owner, kind, *games, why))
    games = ["games"] if several else []
    print_table(("seed", "bot", "owner", "kind", *games, ""), rows, wrapped=("games", ""))

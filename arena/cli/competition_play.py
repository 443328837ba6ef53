"""Plays competitions in this process, with progress bars, and prints their results."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from arena.cli.competition_client import LocalCompetitions
from arena.cli.options import log_to, print_json
from arena.cli.sandbox_options import SandboxChoice
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import Interrupted
from arena.cli.terminal.standings import print_standings, score, title_of
from arena.competition.plan import read_plan
from arena.schedule.runner import RunProgress
from arena.server.competitions.arena_player import MAX_MATCHES
from arena.server.competitions.scheduler import TROUBLES
from arena.server.official_standings import standings_csv
from arena.server.programs import play_competitions


def play_here(
    client: LocalCompetitions,
    names: Sequence[str],
    confinement: SandboxChoice,
    *,
    again: str,
    quiet: bool,
    at_a_time: int = 1,
    max_matches: int = MAX_MATCHES,
    take_all: bool = False,
) -> None:
    """Play running competitions until they are finished or paused.

    `again` says how to continue after Ctrl-C.
    """
    log_to(client.data)
    commands = {command.name: command for name in names for command in client.commands(name)}
    try:
        with (
            confinement.open(client.data, tuple(commands.values())) as sandbox,
            _bars(client, names, quiet=quiet) as on_progress,
        ):
            play_competitions(
                names,
                client.data,
                at_a_time=at_a_time,
                max_matches=max_matches,
                limits_load=not take_all,
                sandbox=sandbox,
                on_progress=on_progress,
            )
    except KeyboardInterrupt:
        if not quiet:
            for name in names:
                print_standings(client.standings(name))
        raise Interrupted(f"stopped; {again}") from None
    except TROUBLES as trouble:
        raise click.ClickException(str(trouble)) from None


def print_result(found: dict[str, Any], *, as_json: bool = False, as_csv: bool = False) -> None:
    """Print standings as a table, as JSON or as comma-separated values."""
    if as_json:
        print_json(found)
    elif as_csv:
        click.echo(standings_csv(found), nl=False)
    else:
        print_standings(found)


def summary(found: Sequence[dict[str, Any]]) -> Table:
    """Several competitions: a row for each game, with the best bot, its score and the other bots."""
    made = Table(title="Game by game", title_justify="left", box=None, pad_edge=False)
    for name in ("competition", "game", "first", "score", "then"):
        is_number, no_wrap = name == "score", name != "then"
        made.add_column(name, justify="right" if is_number else "left", no_wrap=no_wrap)
    for standings in found:
        for game in standings["games"]:
            best, *others = game["rows"]
            tied = " *" if any(row["tier"] == best["tier"] for row in others) else ""
            then = ", ".join(row["bot"] for row in others)
            title = Text(standings["competition"])
            made.add_row(title, title_of(game), Text(best["bot"] + tied), score(best), Text(then))
    made.caption = "* cannot be told apart from the next by so few deal-sets"
    made.caption_justify = "left"
    return made


@contextlib.contextmanager
def _bars(
    client: LocalCompetitions, names: Sequence[str], *, quiet: bool
) -> Iterator[Callable[[str, int, RunProgress], None]]:
    """A progress bar on standard error for each game."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("matches of this round"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=PlainConsole(stderr=True, quiet=quiet)) as bars:
        tasks = {
            (name, number): bars.add_task(game.terms.game.title, total=None)
            for name in names
            for number, game in enumerate(
                read_plan(client.store.competitions().get(name).config).games
            )
        }

        def on_progress(name: str, game: int, progress: RunProgress) -> None:
            task = tasks[name, game]
            bars.update(task, total=progress.matches, completed=progress.played)

        yield on_progress

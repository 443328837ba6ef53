"""Plays competitions in this process, with progress bars, and prints their results."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena.cli.command_group import loading
from arena.cli.competition_client import CompetitionClient
from arena.cli.options import log_to, print_json
from arena.cli.sandbox_options import SandboxChoice
from arena.cli.standings_csv import standings_csv
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import Interrupted
from arena.cli.terminal.standings import print_standings, score, title_of
from arena.games.catalogue import game_by_id
from arena.sandbox.command import BadCommand

REFRESHES_PER_S: Final = 4
"""The number of times a second that the bars are drawn. Each time takes a millisecond of the arena's thread."""


def play_here(
    client: CompetitionClient,
    names: Sequence[str],
    confinement: SandboxChoice,
    *,
    again: str,
    quiet: bool,
    at_a_time: int = 1,
    max_matches: int | None = None,
    take_all: bool = False,
    engine: str = "",
) -> None:
    """Play running competitions until they are finished or paused.

    `again` says how to continue after Ctrl-C. An `engine`, as `dask:local`, plays them in place of this process.

    Raises `ClickException` if an error paused one; the text says why.
    """
    with loading():  # commands that only show results do not need the arena
        from arena.app.programs import launched_commands, play_competitions
        from arena.cli.bridge_process import bridge_command

    data = client.data
    assert data is not None, "an arena over the network plays its own"
    log_to(data)
    options: dict[str, Any] = {} if max_matches is None else {"max_matches": max_matches}
    if engine:
        command = bridge_command(data, engine, confinement.demand)
        options["bridge"] = lambda _number, _folder: command
    try:
        with (
            confinement.open(data, launched_commands(data, names)) as sandbox,
            _bars(client, names, quiet=quiet) as on_progress,
        ):
            paused = play_competitions(
                names,
                data,
                at_a_time=at_a_time,
                limits_load=not take_all,
                sandbox=sandbox,
                on_progress=on_progress,
                **options,
            )
    except KeyboardInterrupt:
        if not quiet:
            for name in names:
                print_standings(client.standings(name))
        raise Interrupted(f"stopped; {again}") from None
    except BadCommand as error:
        raise click.ClickException(str(error)) from None
    if paused:
        lines = [f"{name} was paused: {why}" for name, why in paused.items()]
        raise click.ClickException("\n".join(lines))


def print_result(standings: dict[str, Any], *, as_json: bool = False, as_csv: bool = False) -> None:
    """Print standings as a table, as JSON or as comma-separated values."""
    if as_json:
        print_json(standings)
    elif as_csv:
        click.echo(standings_csv(standings), nl=False)
    else:
        print_standings(standings)


def print_summary(results: Sequence[dict[str, Any]], console: Console | None = None) -> None:
    """Print a row for each game of several competitions, with the best bot, its score and the other bots."""
    rows = []
    for standings in results:
        for game in standings["games"]:
            best, *others = game["rows"]
            tied = " *" if any(row["tier"] == best["tier"] for row in others) else ""
            then = ", ".join(row["bot"] for row in others)
            name, title = standings["competition"], title_of(game)
            rows.append((name, title, best["bot"] + tied, score(best), then))
    print_table(
        ("competition", "game", "first", "score", "then"),
        rows,
        wrapped=("game", "then"),
        numbers=("score",),
        title="Game by game",
        caption="* cannot be told apart from the next by so few deal-sets",
        console=console,
    )


@contextlib.contextmanager
def _bars(
    client: CompetitionClient, names: Sequence[str], *, quiet: bool
) -> Iterator[Callable[[str, int, int, int], None]]:
    """Show a progress bar on standard error for each game."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("matches"),
        TimeRemainingColumn(),
    )
    console = PlainConsole(stderr=True, quiet=quiet)
    # Without a terminal nothing is drawn before the end, and a drawing thread would use time of the arena.
    with Progress(
        *columns,
        console=console,
        auto_refresh=console.is_terminal,
        refresh_per_second=REFRESHES_PER_S,
    ) as bars:
        tasks = {
            (name, number): bars.add_task(game_by_id(game.game).title, total=None)
            for name in names
            for number, game in enumerate(client.show(name).games)
        }

        def on_progress(name: str, game: int, played: int, matches: int) -> None:
            bars.update(tasks[name, game], total=matches, completed=played)

        yield on_progress

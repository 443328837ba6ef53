"""`arena demo`: the sample bots play a tournament of every game."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from arena.cli import standings as show
from arena.cli.arguments import bot_commands, log_to, plain_errors
from arena.cli.tournament import progress_bar
from arena.games.catalogue import game_by_id
from arena.ladder.standings import Standings
from arena.referee import TimeControl
from arena.server.arena import Arena
from arena.server.host import ServerSettings, serve
from arena.server.tokens import Tokens
from arena.server.tournaments import TournamentPlan, open_tournament, play, publish_left_over

SAMPLE_BOTS: Final = Path("sample_bots")


@dataclass(frozen=True, slots=True)
class Event:
    """One game of the demo."""

    game: str
    bots: tuple[str, ...]
    """Files of sample bots."""
    seats: int
    deal_sets: int
    options: tuple[tuple[str, object], ...] = ()


PROGRAMME: Final = (
    Event("abstrac", ("abstrac.py", "first_bot.py", "random_bot.py"), 2, 6),
    Event("abstrac_suit", ("abstrac.py", "first_bot.py", "random_bot.py"), 2, 6),
    Event("abstrac_unfettered", ("abstrac.py", "first_bot.py", "random_bot.py"), 2, 6),
    Event("abstrac_fiftytwo", ("abstrac.py", "first_bot.py", "random_bot.py"), 2, 6),
    Event("democracy", ("democracy.py", "first_bot.py", "random_bot.py"), 3, 8, (("hands", 3),)),
    Event(
        "chinese_poker",
        ("chinese_poker.py", "first_bot.py", "random_bot.py"),
        2,
        8,
        (("hands", 4),),
    ),
)


@click.command(epilog="\b\nExamples:\n  arena demo\n  arena demo --data /tmp/demo --seed 2")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("arena-data/demo"),
    show_default=True,
    help="Folder of the demo; what an earlier demo left there is removed.",
)
@click.option("--seed", default="demo", show_default=True, help="Fixes deals and seating.")
def demo(data: Path, seed: str) -> None:
    """Play a short tournament of every game between the sample bots.

    A real server is started, and the bots are processes of their own that dial
    in to it over gRPC. Afterwards the folder holds replays to watch.
    """
    if not SAMPLE_BOTS.is_dir():
        text = "there is no folder sample_bots here: run the demo in a checkout of the project"
        raise click.ClickException(text)
    _clear(data)
    log_to(data)
    console = Console()
    began = time.monotonic()
    with plain_errors():
        plans = [_plan(event, seed) for event in PROGRAMME]
        held = [open_tournament(plan, data) for plan in plans]

        async def main(arena: Arena) -> list[Standings]:
            ranked = []
            for plan, tournament in zip(plans, held, strict=True):
                with progress_bar(f"{plan.game.title:18}", quiet=False) as on_progress:
                    table, report = await play(plan, tournament, arena, data, on_progress)
                publish_left_over(report, arena)
                ranked.append(table)
            return ranked

        console.print("A server starts, the sample bots dial in, and six games are played:")
        try:
            ranked = serve(ServerSettings(data), Tokens(), main)
        except KeyboardInterrupt:
            raise click.ClickException("stopped") from None
    for plan, table in zip(plans, ranked, strict=True):
        console.print()
        console.print(show.table(table, f"{plan.game.title}, {plan.seats} seats"))
    _say_more(console, data, time.monotonic() - began)


def _plan(event: Event, seed: str) -> TournamentPlan:
    return TournamentPlan(
        name=event.game,
        game=game_by_id(event.game),
        commands=bot_commands([str(SAMPLE_BOTS / bot) for bot in event.bots]),
        seats=event.seats,
        deal_sets=event.deal_sets,
        seed=seed,
        options=dict(event.options),
        time_control=TimeControl(),
    )


def _clear(data: Path) -> None:
    """Remove an earlier demo, and nothing else."""
    for part in ("journal", "replays", "bots"):
        shutil.rmtree(data / part, ignore_errors=True)
    for file in data.glob("arena.*"):
        file.unlink(missing_ok=True)


def _say_more(console: Console, data: Path, seconds: float) -> None:
    replays = sorted((data / "replays").glob("*.replay"))
    arena = ".venv/bin/arena"
    console.print(f"\nPlayed in {seconds:.0f} s. {len(replays)} replays are in {data / 'replays'}.")
    console.print("Look further:")
    example = next((path for path in replays), None)
    commands = [
        (f"{arena} replay verify {data / 'replays'}", "recompute every match"),
        (f"{arena} replay show {example}", "watch one"),
        (f"{arena} games", "the games"),
        (f"{arena} play abstrac my_bot.py sample_bots/abstrac.py", "your bot, see README.md"),
    ]
    for command, what in commands:
        if example is not None or "None" not in command:
            console.print(f"  {command}  [dim]# {what}[/dim]", soft_wrap=True, highlight=False)

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
from arena.cli.tournament import progress_bars
from arena.games.catalogue import GAMES, game_by_id
from arena.server.tournaments.tournament import Stopped, TournamentPlan, play_tournaments
from arena.terms import MatchTerms

SAMPLE_BOTS: Final = Path("sample_bots")
EVERY_GAME: Final = ("first_bot.py", "random_bot.py")
"""Bots that play every game, beside the one that is made for it."""
AT_A_TIME: Final = 4
"""Tournaments in play at the same time; more only share the same processors."""


@dataclass(frozen=True, slots=True)
class Event:
    """One game of the demo, kept short."""

    game: str
    bot: str
    """The sample bot that is made for the game."""
    deal_sets: int
    seats: int = 2
    options: tuple[tuple[str, object], ...] = ()


PROGRAMME: Final = (
    Event("abstrac", "abstrac.py", 3),
    Event("abstrac_suit", "abstrac.py", 3),
    Event("abstrac_unfettered", "abstrac.py", 3),
    Event("abstrac_fiftytwo", "abstrac.py", 3),
    Event("democracy", "democracy.py", 4, 3, (("hands", 3),)),
    Event("chinese_poker", "chinese_poker.py", 4, 2, (("hands", 4),)),
    Event("arlington", "arlington.py", 3, 2, (("hands", 2),)),
    Event("jam", "jam.py", 3, 2, (("hands", 2),)),
    Event("klaberjass", "klaberjass.py", 4, 2, (("hands", 4),)),
    Event("sixty_six", "sixty_six.py", 4, 2, (("hands", 4),)),
    Event("loo", "loo.py", 2, 5, (("hands", 5),)),
    Event("oklahoma_rummy", "oklahoma_rummy.py", 2, 2, (("hands", 2),)),
    Event("soko", "soko.py", 4, 2, (("hands", 4),)),
    Event("pineapple", "pineapple.py", 4, 2, (("hands", 4),)),
    Event("crazy_pineapple", "pineapple.py", 4, 2, (("hands", 4),)),
    Event("crazy_pineapple_hi_lo", "pineapple.py", 4, 2, (("hands", 4),)),
    Event("open_face_chinese_poker", "open_face_chinese_poker.py", 2, 2, (("hands", 2),)),
    Event("eleusis", "eleusis.py", 2, 3, (("hands", 3),)),
    Event("eleusis_express", "eleusis.py", 2, 3, (("hands", 3),)),
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
        console.print(
            f"A server starts, the sample bots dial in, and {len(GAMES)} games are played:"
        )
        try:
            with progress_bars(plans, quiet=False) as on_progress:
                played = play_tournaments(
                    plans,
                    data,
                    bots=data / "bots",
                    on_progress=on_progress,
                    at_a_time=AT_A_TIME,
                    limits_load=False,
                )
        except Stopped:
            raise click.ClickException("stopped") from None
    for each in played:
        title = f"{each.plan.game.title}, {each.plan.terms.seats} seats"
        console.print()
        console.print(show.table(each.standings, title, brief=True))
    console.print(f"\n{show.EXPLANATION}")
    _say_more(console, data, time.monotonic() - began)


def _plan(event: Event, seed: str) -> TournamentPlan:
    bots = [str(SAMPLE_BOTS / bot) for bot in (event.bot, *EVERY_GAME)]
    # A table for more than three is filled with further random players.
    bots += [f"random-{n}={SAMPLE_BOTS / EVERY_GAME[-1]}" for n in range(2, event.seats - 1)]
    game = game_by_id(event.game)
    return TournamentPlan(
        name=event.game,
        terms=MatchTerms(
            game, game.options(dict(event.options), event.seats), event.seats, seeded=True
        ),
        commands=bot_commands(bots),
        deal_sets=event.deal_sets,
        seed=seed,
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
    commands = [(f"{arena} replay verify {data / 'replays'}", "recompute every match")]
    if replays:
        commands.append((f"{arena} replay show {replays[0]}", "watch one"))
    commands += [
        (f"{arena} games", "the games"),
        (f"{arena} play abstrac my_bot.py sample_bots/abstrac.py", "your bot, see README.md"),
    ]
    console.print("Look further:")
    for command, what in commands:
        console.print(f"  {command}  [dim]# {what}[/dim]", soft_wrap=True, highlight=False)

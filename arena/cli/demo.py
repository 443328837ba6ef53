"""`arena demo`: the sample bots play a tournament of every game, and a bot comes to a ladder."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import click
from rich.progress import Progress
from rich.table import Table

from arena.cli import standings as show
from arena.cli.arguments import bot_commands, log_to, plain_errors
from arena.cli.browser import open_in_browser
from arena.cli.demo_ladder import ARENA, LADDER, Found, show_ladder
from arena.cli.jail import jailed, walled
from arena.cli.terminal.console import PlainConsole
from arena.cli.tournament import progress_bars
from arena.games.catalogue import GAMES, game_by_id
from arena.jail import Level, Wall
from arena.ladder.standings import Standings
from arena.server.tournaments.tournament import (
    Played,
    Stopped,
    TournamentPlan,
    play_tournaments,
)
from arena.terms import MatchTerms

SAMPLE_BOTS: Final = Path("sample_bots")
EVERY_GAME: Final = ("first_bot.py", "random_bot.py")
"""Bots that play every game, beside the one that is made for it."""
MADE_FOR_IT: Final = "made for it"
"""Stands for the bot that is made for a game, whichever."""
SITE: Final = "site"
"""Folder of the demo's pages."""
RIVALS: Final = {"sample": SAMPLE_BOTS / "sixty_six.py", "random": SAMPLE_BOTS / EVERY_GAME[1]}
"""Who is on the ladder before the new bot is."""
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


@click.command(
    epilog="\b\nExamples:\n  arena demo\n  arena demo --open\n  arena demo --data /tmp/demo --seed 2"
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("arena-data/demo"),
    show_default=True,
    help="Folder of the demo; what an earlier demo left there is removed.",
)
@click.option("--seed", default="demo", show_default=True, help="Fixes deals and seating.")
@click.option("--open", "opens", is_flag=True, help="Open its pages in the browser at the end.")
@jailed
def demo(*, data: Path, seed: str, opens: bool, demand: str, read_only: tuple[Path, ...]) -> None:
    """Play a short tournament of every game between the sample bots, and then on a ladder.

    A real server is started, and the bots are processes of their own that dial
    in to it over gRPC. On the ladder a new bot is submitted, beaten, mended and compared, in about
    a minute. Afterwards the folder holds replays to watch.
    """
    if not SAMPLE_BOTS.is_dir():
        text = "there is no folder sample_bots here: run the demo in a checkout of the project"
        raise click.ClickException(text)
    _clear(data)
    log_to(data)
    console = PlainConsole()
    began = time.monotonic()
    with plain_errors():
        plans = [_plan(event, seed) for event in PROGRAMME]
        console.print(
            f"A server starts, the sample bots dial in, and {len(GAMES)} games are played:"
        )
        commands = tuple({each.name: each for plan in plans for each in plan.commands}.values())
        try:
            with (
                walled(demand, data, read_only, commands) as wall,
                progress_bars(plans, quiet=False) as on_progress,
            ):
                found = _found(wall, demand)
                played = play_tournaments(
                    plans,
                    data,
                    bots=data / "bots",
                    on_progress=on_progress,
                    at_a_time=AT_A_TIME,
                    limits_load=False,
                    wall=wall,
                )
        except Stopped:
            raise click.ClickException("stopped") from None
    console.print()
    console.print(overall([each.standings for each in played]))
    console.print()
    console.print(by_game(played))
    console.print(f"\n{show.EXPLANATION}")
    try:
        show_ladder(console, data / LADDER, RIVALS, found)
    except KeyboardInterrupt:
        raise click.ClickException("stopped") from None
    _write_site(data)
    _say_more(console, data, time.monotonic() - began)
    if opens:
        open_in_browser(_page(data))


def _found(wall: Wall | None, demand: str) -> Found:
    """How launched bots are jailed here, and why not better."""
    if wall is None:
        return Found(Level.S0, demand, "--jail off was said")
    return Found(wall.level, demand, wall.why_not_better)


def overall(played: Sequence[Standings]) -> Table:
    """How the kinds of bots did over all games, best first.

    A kind is the bot that is made for a game, whichever, and each that plays every game.
    """
    ranks: dict[str, list[int]] = {}
    faults: Counter[str] = Counter()
    for each in played:
        for rank, kind in enumerate(_kinds(each), 1):
            ranks.setdefault(kind, []).append(rank)
        for row in each.rows:
            faults[_kind(row.bot)] += sum(row.faults.values())
    made = Table(title=f"All {len(played)} games together", title_justify="left")
    made.add_column("bot")
    for name in ("mean standing", "games won", "faults"):
        made.add_column(name, justify="right")
    for kind, own in sorted(ranks.items(), key=lambda found: (fmean(found[1]), -found[1].count(1))):
        mean, won = f"{fmean(own):.2f}", str(own.count(1))
        made.add_row(kind, mean, won, str(faults[kind] or ""))
    return made


def by_game(played: Sequence[Played]) -> Table:
    """A line for each game: which bot won, by how much, and which came then."""
    made = Table(title="Game by game", title_justify="left", box=None, pad_edge=False)
    for name in ("game", "seats", "won by", "score", "then"):
        made.add_column(name, justify="right" if name == "score" else "left", no_wrap=True)
    for each in played:
        best, *others = each.standings.rows
        kinds = _kinds(each.standings)
        alone = all(row.tier != best.tier for row in others)
        made.add_row(
            each.plan.game.title,
            str(each.plan.terms.seats),
            kinds[0] + ("" if alone else " *"),
            show.score(best),
            ", ".join(kinds[1:]),
        )
    made.caption = "* not told apart from the next by so few deal-sets"
    made.caption_justify = "left"
    return made


def _kinds(standings: Standings) -> list[str]:
    """The kinds of bots in a game, best first."""
    return list(dict.fromkeys(_kind(row.bot) for row in standings.rows))


def _kind(bot: str) -> str:
    """Which kind of bot a name of the demo stands for."""
    plays_all = [Path(each).stem.removesuffix("_bot") for each in EVERY_GAME]
    return next((each for each in plays_all if bot.startswith(each)), MADE_FOR_IT)


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
    for part in ("journal", "replays", "bots", "pages", SITE, LADDER):
        shutil.rmtree(data / part, ignore_errors=True)
    for file in data.glob("arena.*"):
        file.unlink(missing_ok=True)


def _write_site(data: Path) -> None:
    """Leave pages that open from the disk: all tables, and a match of each game with all hands seen."""
    from arena.web.export import Wanted, export

    with plain_errors(), Progress(console=PlainConsole(stderr=True), transient=True) as bars:
        bar = bars.add_task("pages", total=None)
        export(
            data,
            data / SITE,
            Wanted(eyes=("all",), per_game=1),
            workers=os.cpu_count() or 1,
            progress=lambda done, of: bars.update(bar, completed=done, total=of),
        )


def _page(data: Path) -> str:
    """Where the demo's pages begin on the disk."""
    return (data / SITE / "index.html").resolve().as_uri()


def _say_more(console: PlainConsole, data: Path, seconds: float) -> None:
    replays = sorted((data / "replays").glob("*.replay"))
    arena = ".venv/bin/arena"
    console.print(f"\nPlayed in {seconds:.0f} s. {len(replays)} replays are in {data / 'replays'}.")
    there = f"--data {data}"
    commands = [
        (f"{arena} standings {PROGRAMME[-1].game} {there}", "one game's table, with who beat whom"),
        (f"{arena} replay show last {there}", "watch a match, step by step"),
        (f"{arena} why last 0 {there}", "what went wrong for the bot at seat 0, in words"),
        (f"{arena} replay verify {data / 'replays'}", "recompute every match"),
        (f"{arena} table {LADDER} --pairs --data {data / LADDER / ARENA}", "the ladder's table"),
        (f"{arena} games", "the games"),
        (f"{arena} play abstrac my_bot.py sample_bots/abstrac.py", "your bot, see README.md"),
    ]
    console.print("Look at:")
    for command, what in commands:
        console.print(f"  [dim]# {what}[/dim]", highlight=False)
        console.print(f"  {command}", soft_wrap=True, markup=False, highlight=False)
    page = _page(data)
    console.print("Or in the browser, tables and a match of each game:")
    console.print(f"  {page}", soft_wrap=True, markup=False, highlight=False)
    console.print(f"  {arena} web {there}", soft_wrap=True, markup=False, highlight=False)
    console.print("  then http://127.0.0.1:7655/ has every match", highlight=False)

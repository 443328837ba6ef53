"""`arena train`: a bot that is trained by self-play."""

import os
import secrets
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.options import (
    GameType,
    json_option,
    make_folder,
    parse_options,
    plain_errors,
    print_json,
)
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say
from arena.games.game import Game
from arena.local.engines import Engine

_BOT: Final = '''"""Plays {title} by the policy beside this file, which `arena train` has trained."""

from pathlib import Path

import cardarena
from cardarena.envs import TrainedBot


class Bot(TrainedBot):
    file = Path(__file__).with_name("{policy}")
    steps = 2400  # of a search on top of the policy, if the clock allows them; 0 plays the policy alone


if __name__ == "__main__":
    cardarena.run(Bot)
'''
_MANIFEST: Final = """command = ["python", "bot.py"]

[[games]]
id = "{game}"
seats = [{seats}]
"""


@click.command(
    epilog="""\b
Examples:
  arena train sixty_six my-bot --minutes 30
  arena train loo my-bot --minutes 120 --seed 7
  arena train sixty_six my-bot --rounds 100 --json
"""
)
@click.argument("game", type=GameType())
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--minutes", type=click.FloatRange(0), help="Stop after the round that ends then.")
@click.option("--rounds", type=click.IntRange(1), help="Stop after this many rounds in all.")
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest of the game]")
@click.option(
    "--option",
    "-o",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the game.  [default: two hands for each seat]",
)
@click.option("--seed", help="Text that repeats a training.  [default: drawn]")
@click.option(
    "--processes", type=click.IntRange(1), help="Processes that play.  [default: one a core]"
)
@click.option(
    "--deal-sets",
    default=50,
    type=click.IntRange(2),
    help="Deal-sets of each measurement.",
    show_default=True,
)
@json_option
def train(
    *,
    game: Game,
    folder: Path,
    minutes: float | None,
    rounds: int | None,
    seats: int | None,
    options: tuple[str, ...],
    seed: str | None,
    processes: int | None,
    deal_sets: int,
    as_json: bool,
) -> None:
    """Train a bot for GAME by self-play, and write it to FOLDER.

    The actions of a decision are tried with the same cards, and a network learns which gain. Training consists of
    rounds and is saved after each of them: the same command continues it. After rounds 1, 2, 4, 8, …, and at the end,
    the bot plays the house bot's policy, with the same cards at each seat. Ctrl-C loses the round that has begun.

    FOLDER gets bot.py, bot.toml and policy.npz, and is then a complete bot. It needs no package. The policy is for this
    number of seats, and plays for the points of a hand.
    """
    if minutes is None and rounds is None:
        raise click.UsageError("say how long: --minutes or --rounds")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the cores are for play
    from arena.envs.training import KEPT, POLICY, CannotTrain, Training, TrainingTerms, lead_of

    count = seats or game.seats[0]
    kept = folder / KEPT
    with plain_errors():
        given = parse_options(options) or _usual(game, count)
        chosen = game.values(game.options(given, count))
    make_folder(folder)
    try:
        if kept.exists():
            seed = seed or Training.seed_of(kept)
            training = Training.kept(kept, TrainingTerms(game.id, count, chosen, seed))
        else:
            training = Training(TrainingTerms(game.id, count, chosen, seed or secrets.token_hex(4)))
    except CannotTrain as error:
        raise click.ClickException(str(error)) from None
    _write_bot(folder, game, count, POLICY)
    begin_s = time.monotonic()
    curve: list[dict[str, Any]] = []
    with (
        closing(Engine(processes=processes)) as engine,
        progress(f"round {training.rounds + 1} begins", quiet=as_json) as tell,
    ):

        def played(done: int, of: int) -> None:
            tell(
                f"round {training.rounds + 1}: {done} of {of} parts, {training.decisions:,} decisions, "
                f"{time.monotonic() - begin_s:,.0f} s"
            )

        def measured(done: int, of: int) -> None:
            tell(
                f"round {training.rounds}: {done} of {of} deal-sets against the house bot's policy"
            )

        is_over = rounds is not None and training.rounds >= rounds
        while not is_over:
            squared = training.round(engine, played)
            training.keep(kept)
            training.export(folder / POLICY)
            took_s = time.monotonic() - begin_s
            is_over = (rounds is not None and training.rounds >= rounds) or (
                minutes is not None and took_s >= 60 * minutes
            )
            tell(f"round {training.rounds}: {training.decisions:,} decisions, error {squared:.3f}")
            if is_over or training.rounds.bit_count() == 1:
                lead = lead_of(folder / POLICY, training.terms, deal_sets, engine, measured)
                point = {
                    "rounds": training.rounds,
                    "decisions": training.decisions,
                    "seconds": round(took_s),
                    "error": squared,
                    **lead._asdict(),
                }
                curve.append(point)
                if not as_json:
                    say(_line(point))
    if as_json:
        print_json({"game": game.id, "seed": training.terms.seed, "curve": curve})
        return
    say(f"Next: arena check {folder}. Seed {training.terms.seed} repeats this.")


def _line(point: Mapping[str, Any]) -> str:
    return (
        f"round {point['rounds']:>4}  {point['decisions']:>11,} decisions  {point['seconds']:>6,} s  "
        f"error {point['error']:.3f}  {point['points']:+8.2f} ± {point['half_width_95']:.2f} points a match"
    )


def _usual(game: Game, seats: int) -> dict[str, object]:
    has_hands = any(setting.name == "hands" for setting in game.settings)
    return {"hands": 2 * seats} if has_hands else {}


def _write_bot(folder: Path, game: Game, seats: int, policy: str) -> None:
    """Write the program and the manifest, unless they exist: an author may have changed them."""
    for name, text in (("bot.py", _BOT), ("bot.toml", _MANIFEST)):
        file = folder / name
        if not file.exists():
            filled = text.format(title=game.title, game=game.id, seats=seats, policy=policy)
            file.write_text(filled, "utf-8")

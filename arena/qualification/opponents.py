"""Whom a bot meets when it is qualified: the sample bot of the game, and one that plays at random."""

from pathlib import Path
from typing import Final

from arena.games.catalogue import Game

INSTALLED: Final = Path(__file__).with_name("sample_bots")
CHECKOUT: Final = Path(__file__).resolve().parents[2] / "sample_bots"
RANDOM: Final = Path(__file__).with_name("random_opponent.py")


def sample_bot(game: Game) -> Path:
    """The sample bot that is made for a game: there is one for each family of games."""
    folder = INSTALLED if INSTALLED.is_dir() else CHECKOUT
    return folder / f"{game.family}.py"

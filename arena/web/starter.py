"""Bots to begin with, as archives that can be submitted as they are."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from arena.games.catalogue import GAMES, UnknownGame, game_by_id
from arena.sandbox.command import SAMPLE_BOTS
from arena.web.addresses import NoSuchPage

STARTER: Final = """\
import random

import cardarena
from cardarena import FAMILY


class MyBot(FAMILY.Bot):
    def move(self, ask: FAMILY.Ask) -> FAMILY.Move:
        return random.choice(ask.moves)


if __name__ == "__main__":
    cardarena.run(MyBot)
"""
"""A bot of a family of games, as pages show it."""
STARTERS: Final[Mapping[str, str]] = {
    "random": "plays any legal move",
    "sample": "plays by simple rules",
}
"""The kinds of archives, and what their bots do."""
_MANIFEST: Final = """\
command = ["python", "bot.py"]
runtime = "python"

[[games]]
id = "{game}"
accepts_challenges = 5    # of other owners on a day
accepts_humans = 20       # matches of people in the browser on a day
"""


@cache
def starter(kind: str, game_id: str) -> bytes:
    """Return the archive of a bot of a game, with its manifest: equal bytes each time.

    Raises `NoSuchPage` if there is no such kind or game.
    """
    try:
        family = game_by_id(game_id).family
    except UnknownGame:
        family = ""
    if kind not in STARTERS or not family:
        raise NoSuchPage("there is no such bot to begin with", "games")
    sample = SAMPLE_BOTS / f"{family}.py"
    program = STARTER.replace("FAMILY", family) if kind == "random" else sample.read_text("utf-8")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in (("bot.py", program), ("bot.toml", _MANIFEST.format(game=game_id))):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            opened.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def all_starters() -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of every archive."""
    for game in GAMES:
        for kind in STARTERS:
            yield f"starters/{kind}/{game.id}.zip", starter(kind, game.id)

"""A new bot's folder: bot, manifest, test and README, from the templates of a language."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arena.games.catalogue import Game

TEMPLATES: Final = Path(__file__).parent / "templates"
CLIENTS: Final = Path(__file__).resolve().parents[2] / "clients"
"""The SDKs, in the checkout that this module is part of; elsewhere there is no such folder."""
NOT_HERE: Final = "PATH/TO/clients"
RUN_BY: Final[Mapping[str, str]] = {
    "python": "bot.py",
    "go": "./{{name}}",
    "typescript": "node dist/main.js",
    "rust": "target/release/{{name}}",
    "java": "java -jar target/{{name}}.jar",
}
"""How each language's bot is started in its folder, once it is built."""
LANGUAGES: Final = tuple(RUN_BY)
BOT_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
"""What a name may be in the build tools of all languages."""


class CannotStart(Exception):
    """There can be no such folder; the message says why."""


def start_bot(folder: Path, game: Game, language: str) -> tuple[Path, ...]:
    """Writes a bot of the folder's name; the files, named from the folder.

    Raises:
      CannotStart: if the name fits no language, or the folder has something in it.
      OSError: if it cannot be written.
    """
    name = folder.resolve().name
    if not BOT_NAME.fullmatch(name):
        raise CannotStart(
            f"{name!r} is no name for a bot: small letters, digits and hyphens, 40 at most, "
            "the first a letter"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotStart(f"{folder} is there already; a new bot needs a folder of its own")
    words = _words(name, game, language)
    written = []
    for template in sorted((TEMPLATES / language).rglob("*.in")):
        place = template.relative_to(TEMPLATES / language).with_suffix("")
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(_filled(template.read_text("utf-8"), words), "utf-8")
        written.append(place)
    return tuple(written)


def _words(name: str, game: Game, language: str) -> dict[str, str]:
    sdk = CLIENTS / language
    run = _filled(RUN_BY[language], {"name": name})
    quoted = f'"{run}"' if " " in run else run
    seats = game.seats[0]
    return {
        "name": name,
        "game": game.id,
        "title": game.title,
        "family": game.family,
        "package": game.family.replace("_", ""),
        "prefix": "".join(word.capitalize() for word in game.family.split("_")),
        "seats": str(seats),
        "bots": " ".join([quoted] * seats),
        "sdk": str(sdk) if sdk.is_dir() else f"{NOT_HERE}/{language}",
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda word: words[word[1]], text)

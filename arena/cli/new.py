"""`arena new`: the folder of a new bot, from the templates of a language."""

import importlib
import importlib.metadata
import json
import re
import shlex
import textwrap
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.options import GameType, json_option, print_json
from arena.cli.terminal.plain import say
from arena.games.game import Game

TEMPLATES: Final = Path(__file__).parent / "templates"
CLIENTS: Final = Path(__file__).resolve().parents[2] / "clients"
"""The SDKs of the checkout; an installed engine has no such folder."""
NOT_HERE: Final = "PATH/TO/clients"
RUN_BY: Final[Mapping[str, str]] = {
    "python": "bot.py",
    "go": "./{{name}}",
    "typescript": "node dist/main.js",
    "rust": "target/release/{{name}}",
    "java": "java -jar target/{{name}}.jar",
    "cpp": "build/{{name}}",
    "c": "cardarena bridge -- ./{{name}}",
}
"""The command that starts each language's bot in its folder, after it is built."""
LANGUAGES: Final = tuple(RUN_BY)
IN_COMMENT: Final[Mapping[str, str]] = {
    "python": "        ",
    "go": "//\t",
    "typescript": "   *   ",
    "rust": "    ///   ",
    "java": "   *   ",
    "cpp": "//   ",
    "c": " *   ",
}
"""The beginning of a line of the list of fields, within its comment."""
COMMENT_CHARS: Final = 96
BOT_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
"""Names that the build tools of all languages accept."""


class CannotCreateBot(Exception):
    """The folder cannot be created; the message says why."""


@click.command(
    epilog="\b\nExamples:\n"
    "  arena new my-bot\n"
    "  arena new bots/my-bot --lang go --game jam\n"
    "  arena new my-bot --lang typescript --json"
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="python",
    help="The language of the bot.",
)
@click.option("--game", type=GameType(), default="abstrac", help="The game that it plays.")
@json_option
def new(folder: Path, language: str, game: Game, as_json: bool) -> None:
    """Create the folder of a new bot, with manifest, test and README.

    The name of FOLDER is the bot's. The bot plays the first legal move and makes no faults. Its
    README says how to run and test it.
    """
    try:
        files = [path.as_posix() for path in start_bot(folder, game, language)]
    except (CannotCreateBot, OSError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        print_json({"folder": str(folder), "language": language, "files": files})
        return
    for file in files:
        say(f"{folder / file}")
    say(f"Next: {folder / 'README.md'}")


def start_bot(folder: Path, game: Game, language: str) -> tuple[Path, ...]:
    """Write a bot with the name of the folder; return the files, relative to the folder.

    Raises:
      CannotCreateBot: if the name is not allowed, or the folder has something in it.
      OSError: if it cannot be written.
    """
    name = folder.resolve().name
    if not BOT_NAME.fullmatch(name):
        raise CannotCreateBot(
            f"{name!r} is no name for a bot: small letters, digits and hyphens, 40 at most, "
            "the first a letter"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotCreateBot(f"{folder} is there already; a new bot needs a folder of its own")
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
        "view": _view_fields(game, language),
        "sdk": str(sdk) if sdk.is_dir() else f"{NOT_HERE}/{language}",
        "install": _install(),
    }


def _install() -> str:
    """Return the arguments of `pip install` for the SDK and the engine of a bot in Python, from the source of their installation here."""
    if (sdk := CLIENTS / "python").is_dir():
        return shlex.join([str(sdk), f"{CLIENTS.parent}[server]"])
    needed = "'cardarena[local]'"
    origin = importlib.metadata.distribution("cardarena").read_text("direct_url.json") or "{}"
    file = urllib.parse.urlsplit(json.loads(origin).get("url", ""))
    folder = Path(urllib.parse.unquote(file.path)).parent
    if file.scheme == "file" and folder.is_dir():
        return f"--find-links {shlex.quote(str(folder))} {needed}"
    return needed


def _view_fields(game: Game, language: str) -> str:
    """Return the fields of the view by their names in a language, and those of the messages in them, with their meaning."""
    view = importlib.import_module(f"cardarena.{game.family}").View.DESCRIPTOR
    indent, meanings = IN_COMMENT[language], game.view_fields()
    lines = [
        line
        for name, key in _named(view, language)
        for line in textwrap.wrap(
            f"{name}: {meanings.get(key, '')}".removesuffix(": "),
            COMMENT_CHARS - len(indent),
            break_on_hyphens=False,
            break_long_words=False,
            subsequent_indent="  ",
        )
    ]
    return f"\n{indent}".join(lines)


def _named(message: Any, language: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a message by their names in a language and in `Game.view_fields`."""
    spelled, element = SPELLED[language], {"java": ".get(i)", "cpp": "[i]"}.get(language, "[]")
    for field in message.fields:
        of_messages = field.is_repeated and bool(field.message_type)
        name, key = spelled(field) + element * of_messages, field.name + "[]" * of_messages
        yield name, key
        if field.message_type is not None:
            for inner in field.message_type.fields:
                yield f"{name}.{spelled(inner)}", f"{key}.{inner.name}"


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


SPELLED: Final[Mapping[str, Callable[[Any], str]]] = {
    "python": lambda field: str(field.name),
    "go": lambda field: _pascal(field.name),
    "typescript": lambda field: str(field.json_name),
    "rust": lambda field: str(field.name),
    "c": lambda field: str(field.name),
    "cpp": lambda field: f"{field.name}()",
    "java": lambda field: f"get{_pascal(field.name)}{'List' * field.is_repeated}()",
}
"""The name of a field in the code that protoc generates for each language; in C, the name in lines of JSON."""


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda word: words[word[1]], text)

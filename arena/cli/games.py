"""`arena games`: the games, their rules and options."""

from dataclasses import asdict
from typing import Any

import click

from arena.cli.command_group import CommandGroup
from arena.cli.options import GameType, json_option, print_json
from arena.cli.terminal.console import PlainConsole, print_table
from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.games.options import Setting, Value


def _seats(game: Game) -> str:
    low, high = game.seats[0], game.seats[-1]
    return f"{low}" if low == high else f"{low}-{high}"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _limits(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(setting.choices)
    if isinstance(setting.default, bool):
        return "yes, no"
    span = f"{setting.minimum} to {setting.maximum}"
    return f"{span}, with commas between" if isinstance(setting.default, str) else span


def _as_json(game: Game) -> dict[str, Any]:
    return {
        "game": game.id,
        "title": game.title,
        "summary": game.summary,
        "rules_version": game.rules_version,
        "seats": list(game.seats),
        "options": [asdict(setting) for setting in game.settings],
    }


@click.group(
    cls=CommandGroup,
    default="list",
    epilog="\b\nExamples:\n  arena games\n  arena games show democracy\n  arena games --json",
)
def games() -> None:
    """List the games, or show the rules of one with `arena games show GAME`."""


@games.command("list", hidden=True, epilog="\b\nExamples:\n  arena games")
@json_option
def list_games(*, as_json: bool) -> None:
    """List the games."""
    if as_json:
        print_json({"games": [_as_json(game) for game in GAMES]})
        return
    rows = [(game.id, game.title, _seats(game), game.summary) for game in GAMES]
    print_table(("game", "title", "seats", "what it is"), rows, wrapped=("what it is",))


@games.command(
    epilog="\b\nExamples:\n  arena games show abstrac\n  arena games show abstrac --json"
)
@click.argument("game", type=GameType())
@json_option
def show(game: Game, as_json: bool) -> None:
    """Show the rules, options and seats of GAME."""
    if as_json:
        fields = [
            {"name": name, "meaning": meaning} for name, meaning in game.view_fields().items()
        ]
        print_json(_as_json(game) | {"view": fields, "page": game.describe()})
        return
    from rich.markdown import Markdown  # it loads a parser, which the list does not need

    console = PlainConsole()
    console.print(Markdown(game.describe()))
    print_table(
        heads := ("option", "default", "values", "meaning"),
        [
            (setting.name, _value(setting.default), _limits(setting), setting.meaning)
            for setting in game.settings
        ],
        wrapped=heads[2:],
        title=f"Options of {game.id}",
        framed=True,
        console=console,
    )
    console.print(f"Seats: {_seats(game)}. Rules version {game.rules_version}.")

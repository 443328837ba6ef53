"""`arena games`: what can be played."""

import json
from typing import Any

import click
from rich.markdown import Markdown
from rich.table import Table

from arena.cli.arguments import GameType
from arena.cli.terminal.console import PlainConsole
from arena.games.catalogue import GAMES, Game
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
    return f"{setting.minimum} to {setting.maximum}"


def _as_json(game: Game) -> dict[str, Any]:
    return {
        "game": game.id,
        "title": game.title,
        "summary": game.summary,
        "rules_version": game.rules_version,
        "seats": list(game.seats),
        "options": [
            {
                "name": setting.name,
                "default": setting.default,
                "minimum": setting.minimum,
                "maximum": setting.maximum,
                "choices": list(setting.choices),
                "meaning": setting.meaning,
            }
            for setting in game.settings
        ],
    }


@click.group(
    invoke_without_command=True,
    epilog="\b\nExamples:\n  arena games\n  arena games show democracy\n  arena games --json",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def games(context: click.Context, as_json: bool) -> None:
    """List the games, or show one with `arena games show GAME`."""
    if context.invoked_subcommand is not None:
        return
    if as_json:
        click.echo(json.dumps({"games": [_as_json(game) for game in GAMES]}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for name in ("game", "title", "seats", "what it is"):
        table.add_column(name, no_wrap=name != "what it is")
    for game in GAMES:
        table.add_row(game.id, game.title, _seats(game), game.summary)
    PlainConsole().print(table)


@games.command(
    epilog="\b\nExamples:\n  arena games show abstrac\n  arena games show abstrac --json"
)
@click.argument("game", type=GameType())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(game: Game, as_json: bool) -> None:
    """Show a game's rules, options and seats."""
    if as_json:
        click.echo(json.dumps(_as_json(game) | {"page": game.describe()}, indent=2))
        return
    console = PlainConsole()
    console.print(Markdown(game.describe()))
    table = Table("option", "default", "values", "meaning", title=f"Options of {game.id}")
    for setting in game.settings:
        default = _value(setting.default)
        table.add_row(setting.name, default, _limits(setting), setting.meaning)
    console.print(table)
    console.print(f"Seats: {_seats(game)}. Rules version {game.rules_version}.")

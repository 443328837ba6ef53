"""Options of a game as settings on the wire, and back."""

from collections.abc import Iterable

from arena.games.catalogue import Game
from arena.games.contract import Options
from arena.games.options import Value
from cardarena.v1 import game_pb2


def setting_message(name: str, value: Value) -> game_pb2.Setting:
    """One named value."""
    if isinstance(value, bool):
        return game_pb2.Setting(name=name, flag=value)
    if isinstance(value, int):
        return game_pb2.Setting(name=name, number=value)
    return game_pb2.Setting(name=name, text=value)


def settings_of_options(game: Game, options: Options) -> list[game_pb2.Setting]:
    """All settings of a game with their values, the preset ones left out."""
    return [
        setting_message(setting.name, getattr(options, setting.name)) for setting in game.settings
    ]


def values_of_settings(settings: Iterable[game_pb2.Setting]) -> dict[str, Value | None]:
    """Names and values, as `Game.options` takes them, which refuses a name without value."""
    values: dict[str, Value | None] = {}
    for setting in settings:
        kind = setting.WhichOneof("value")
        values[setting.name] = None if kind is None else getattr(setting, kind)
    return values

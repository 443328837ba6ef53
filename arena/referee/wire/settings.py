"""Convert the options of a game to protobuf settings and back."""

from collections.abc import Iterable

from arena.games.contract import Options
from arena.games.game import Game
from arena.games.options import Value
from cardarena.v1 import game_pb2


def setting_message(name: str, value: Value) -> game_pb2.Setting:
    """Return one named value."""
    if isinstance(value, bool):
        return game_pb2.Setting(name=name, flag=value)
    if isinstance(value, int):
        return game_pb2.Setting(name=name, number=value)
    return game_pb2.Setting(name=name, text=value)


def settings_of_options(game: Game, options: Options) -> list[game_pb2.Setting]:
    """Return the options that have an effect, with their values."""
    return [setting_message(name, value) for name, value in game.values(options).items()]


def values_of_settings(settings: Iterable[game_pb2.Setting]) -> dict[str, Value | None]:
    """Return values by name for `Game.options`, which rejects a name whose value is None."""
    values: dict[str, Value | None] = {}
    for setting in settings:
        kind = setting.WhichOneof("value")
        values[setting.name] = None if kind is None else getattr(setting, kind)
    return values

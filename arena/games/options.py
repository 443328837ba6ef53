"""Options of a game: typed fields that carry their own limits and meaning.

A game's options are a frozen dataclass whose fields are made with `setting`.
From that one declaration come validation, the list that the lobby sends, and
the text of `arena games show`.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from arena.games.contract import BadOptions

Value: TypeAlias = int | str | bool


@dataclass(frozen=True, slots=True)
class Setting:
    """What one option is: its kind, limits and meaning."""

    name: str
    default: Value
    meaning: str
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()


def setting(
    default: Value,
    meaning: str,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field for one option.

    Integers need `minimum` and `maximum`; strings need `choices`.
    """
    about = {"meaning": meaning, "minimum": minimum, "maximum": maximum, "choices": choices}
    return dataclasses.field(default=default, metadata=about)


def hands_setting(default: int, own_length: str, *, maximum: int = 1000) -> Any:
    """The option `hands` that every game has: the fixed length of rated play.

    `own_length` says what 0 stands for in this game, as in "a race to 500".
    """
    return setting(
        default,
        f"hands in the match, a multiple of the seats; 0 is {own_length}",
        minimum=0,
        maximum=maximum,
    )


def settings_of(options: type, preset: Mapping[str, Value] | None = None) -> tuple[Setting, ...]:
    """The settings that a user may choose: all fields but the preset ones."""
    return _settings(options, frozenset(preset or ()))


@functools.cache  # as many as there are games; each match tells them some times
def _settings(options: type, preset: frozenset[str]) -> tuple[Setting, ...]:
    return tuple(
        Setting(field.name, _default_of(field), **field.metadata)
        for field in dataclasses.fields(options)
        if field.name not in preset
    )


def _default_of(field: dataclasses.Field[Any]) -> Value:
    """The default of a field made by `setting`, which always has one."""
    default: Any = field.default
    return cast("Value", default)


def build_options(
    options: type, given: Mapping[str, object], preset: Mapping[str, Value] | None = None
) -> Any:
    """Validated options from names and values; text is read as the setting's kind.

    Raises:
      BadOptions: naming the option and what it accepts.
    """
    known = {each.name: each for each in settings_of(options, preset)}
    values: dict[str, Value] = dict(preset or {})
    for name, value in given.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise BadOptions(f"there is no option {name!r}; the options are: {names}")
        values[name] = _read(known[name], value)
    return options(**values)


def check_hands(hands: int, seats: int) -> None:
    """Require a fixed length to let every seat deal equally often.

    Raises:
      BadOptions: if `hands` is not a multiple of `seats`.
    """
    if hands % seats:
        raise BadOptions(f"hands={hands} is not a multiple of the {seats} seats")


def _read(about: Setting, value: object) -> Value:
    if isinstance(about.default, bool):
        if isinstance(value, bool):
            return value
        if value in ("true", "yes", "on"):
            return True
        if value in ("false", "no", "off"):
            return False
        raise BadOptions(f"{about.name} is yes or no, not {value!r}")
    if isinstance(about.default, int):
        return _read_int(about, value)
    if value not in about.choices:
        choices = ", ".join(about.choices)
        raise BadOptions(f"{about.name} is one of {choices}, not {value!r}")
    return str(value)


def _read_int(about: Setting, value: object) -> int:
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            raise BadOptions(f"{about.name} is a whole number, not {value!r}") from None
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadOptions(f"{about.name} is a whole number, not {value!r}")
    low, high = about.minimum, about.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadOptions(f"{about.name} is from {low} to {high}, not {value}")
    return value

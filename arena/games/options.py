"""Options of a game: dataclass fields with limits and a description.

The options of a game are a frozen dataclass whose fields are made with `setting`. Validation, the
list that the lobby sends and the text of `arena games show` are derived from these fields.

An option that has an effect only with certain values of others names them:

    hands: int = hands_setting(0, "blinds that rise")
    first_blind: int = setting(2, "the blind of the first level", minimum=1, maximum=9, needs={"hands": (0,)})

A match with `hands=2 first_blind=4` is then refused in a sentence. `Game.values`, messages and replays have only
options with an effect. If a game of a family presets another value, it does not have the option.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from itertools import starmap
from typing import Any, Final, TypeAlias, cast

from arena.games.contract import BadOptions, Options, Result

Value: TypeAlias = int | str | bool
Needs: TypeAlias = Mapping[str, tuple[Value, ...]]
"""Options by name, and the values of which each has to have one."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The default, the limits and the meaning of an option."""

    name: str
    default: Value
    meaning: str
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    needs: Needs = field(default_factory=dict)
    """The values of other options without which this one has no effect."""

    def unmet(self, values: Callable[[str], Value]) -> str | None:
        """Return the name of an option without the value that this one needs; None if it has an effect."""
        return next((name for name, good in self.needs.items() if values(name) not in good), None)


def setting(
    default: Value,
    meaning: str,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    choices: tuple[str, ...] = (),
    needs: Needs | None = None,
) -> Any:
    """Return a dataclass field for one option.

    Integers need `minimum` and `maximum`; strings need `choices`, or are made with `numbers_setting`. With
    `needs`, users can set the option only if each option named there has one of the values; its meaning says so.
    """
    metadata = {
        "meaning": meaning,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "needs": needs or {},
    }
    return field(default=default, metadata=metadata)


def hands_setting(default: int, own_length: str, *, maximum: int = 1000) -> Any:
    """Return the option `hands`, which every game has: a fixed number of hands.

    `own_length` says what 0 means in this game, such as "a race to 500".
    """
    return setting(
        default,
        "hands in the match: a multiple of the seats, or 1 in matches that are not rated; "
        f"0 is {own_length}",
        minimum=0,
        maximum=maximum,
    )


def numbers_setting(meaning: str, *, minimum: int, maximum: int, needs: Needs | None = None) -> Any:
    """Return an option of several whole numbers with commas between them, such as `100,50`; empty by default.

    The rules read it with `numbers_of`, and check how many numbers there are.
    """
    return setting("", meaning, minimum=minimum, maximum=maximum, needs=needs)


def numbers_of(text: str) -> tuple[int, ...]:
    """Return the numbers of an option that was made with `numbers_setting`."""
    return tuple(map(int, text.split(","))) if text else ()


def target_setting(default: int, meaning: str, *, maximum: int) -> Any:
    """Return the option `target` of a race, which has no effect in a match with `hands`."""
    return setting(default, meaning, minimum=1, maximum=maximum, needs=_RACE)


def max_hands_setting(default: int, race: str = "a race") -> Any:
    """Return the option `max_hands`: the limit of hands of a race."""
    return setting(
        default,
        f"hands after which {race} ends at the latest; then the highest total wins",
        minimum=1,
        maximum=1000,
        needs=_RACE,
    )


_RACE: Final = {"hands": (0,)}


def settings_of(options: type, preset: Mapping[str, Value] | None = None) -> tuple[Setting, ...]:
    """Return the settings that a user may choose: those that are not preset and have an effect with the preset values."""
    return _settings(options, tuple((preset or {}).items()))


@functools.cache  # one entry for each game; read several times in each match
def _settings(options: type, preset: tuple[tuple[str, Value], ...]) -> tuple[Setting, ...]:
    fixed = dict(preset)
    return tuple(
        _setting(option, fixed)
        for option in fields(options)
        if option.name not in fixed
        and all(fixed.get(name, good[0]) in good for name, good in option.metadata["needs"].items())
    )


def _setting(about: Field[Any], fixed: Mapping[str, Value]) -> Setting:
    needs = {name: good for name, good in about.metadata["needs"].items() if name not in fixed}
    meaning = "; only with ".join((about.metadata["meaning"], *starmap(_need, needs.items())))
    return Setting(
        about.name,
        cast("Value", about.default),
        **{**about.metadata, "needs": needs, "meaning": meaning},
    )


def build_options(
    options: type, given: Mapping[str, object], preset: Mapping[str, Value] | None = None
) -> Any:
    """Return validated options from values by name; text is converted to the type of the option.

    Raises `BadOptions` naming the option and the values that it accepts, or two options if one has no effect because of
    the other.
    """
    known = {option.name: option for option in settings_of(options, preset)}
    values: dict[str, Value] = dict(preset or {})
    for name, value in given.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise BadOptions(f"there is no option {name!r}; the options are: {names}")
        values[name] = _read(known[name], value)
    built = options(**values)
    for name in given:
        _require_effect(known[name], values[name], built)
    return built


def _require_effect(about: Setting, value: Value, options: Options) -> None:
    other = about.unmet(functools.partial(getattr, options))
    if other is not None:
        need, is_now = _need(other, about.needs[other]), getattr(options, other)
        raise BadOptions(
            f"{about.name}={value} has no effect with {other}={is_now}: it needs {need}"
        )


def _need(name: str, good: tuple[Value, ...]) -> str:
    return f"{name}={' or '.join(map(str, good))}"


def check_match(game: str, numbers: Sequence[int], seats: int, hands: int) -> None:
    """Require an allowed number of seats, and one hand or a number of hands in which all seats deal equally often.

    Raises `BadOptions` if `seats` is not one of `numbers`, which are in order, or `hands` is neither 1 nor a
    multiple of `seats`.
    """
    if seats not in numbers:
        low, high = numbers[0], numbers[-1]
        span = f"{low}" if low == high else f"{low} to {high}"
        raise BadOptions(f"{game} is for {span} seats, not {seats}")
    if hands != 1:
        require_equal_deals(seats, hands)


def require_equal_deals(seats: int, hands: int) -> None:
    """Require a number of hands in which all seats deal equally often, as in every rated match.

    Raises `BadOptions` if `hands` is not a multiple of `seats`.
    """
    if hands % seats:
        raise BadOptions(f"hands={hands} is not a multiple of the {seats} seats")


def match_is_over(
    options: Options, hands_played: int, totals: Sequence[int], *, single_leader: bool = True
) -> bool:
    """Return whether a match with the options `hands`, `target` and `max_hands` is over after a hand.

    With `hands` it ends after so many hands. Otherwise it is a race: it ends when it is won, and after
    `max_hands` hands.
    """
    if options.hands:
        return bool(hands_played >= options.hands)
    return bool(hands_played >= options.max_hands) or race_is_won(
        options, totals, single_leader=single_leader
    )


def race_is_won(options: Options, totals: Sequence[int], *, single_leader: bool = True) -> bool:
    """Return whether a seat has `target` points; if `single_leader`, and no other seat has as many."""
    highest = max(totals)
    return bool(highest >= options.target and not (single_leader and totals.count(highest) > 1))


def ended_by_limit(options: Options, totals: Sequence[int], *, single_leader: bool = True) -> bool:
    """Return whether `max_hands` ended a match that is over, as `Result.ended_by_limit` says."""
    return not options.hands and not race_is_won(options, totals, single_leader=single_leader)


def race_result(match: Any, *, single_leader: bool = True) -> Result:
    """Return the result of a race that is over; `match` has `options`, `totals` and `hand_scores`."""
    limited = ended_by_limit(match.options, match.totals, single_leader=single_leader)
    return Result.of(match.totals, match.hand_scores, ended_by_limit=limited)


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
    if not about.choices:
        return _read_numbers(about, value)
    if value not in about.choices:
        choices = ", ".join(about.choices)
        raise BadOptions(f"{about.name} is one of {choices}, not {value!r}")
    return str(value)


def _read_numbers(about: Setting, value: object) -> str:
    try:
        numbers = numbers_of(value) if isinstance(value, str) else None
    except ValueError:
        numbers = None
    if numbers is None:
        raise BadOptions(
            f"{about.name} is whole numbers with commas between them, such as 3,2, not {value!r}"
        )
    return ",".join(str(_read_int(about, number)) for number in numbers)


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

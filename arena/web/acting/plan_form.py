"""The form of a competition's plan: a field for each key, filled from TOML and written as TOML.

It checks nothing: what is typed becomes the text that `arena competition new` reads, and a problem that the arena names
by its key stands at the field of the key. Pages may not import the plan itself; tests/web/test_plan_form.py compares.
"""

import contextlib
import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from arena.errors import refusal
from arena.games.catalogue import GAMES
from arena.referee.terms import TIME_CLASSES
from arena.validation import InvalidInput, toml_text, toml_values

REST: Final = "rest"
"""The field of the keys that have no field of their own, and of values that a field cannot show, as TOML."""
_NUMBER: Final = re.compile("-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class PlanKey:
    """A key of a plan, with its field."""

    key: str
    """With its table, as `swiss.rounds`."""
    kind: str
    """How its text is read and written, and which control of organise.html draws it."""
    label: str
    hint: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of a choice: what may be chosen, with its words."""
    usual: str = ""
    """Of a choice, the words of no choice; of a check, `on` if it is on by default."""


def _key(kind: str) -> Callable[..., PlanKey]:
    return lambda key, label, *more, **about: PlanKey(key, kind, label, *more, **about)


_text, _number, _choice, _check, _time, _hour, _list, _table = map(
    _key, ("text", "number", "choice", "check", "time", "hour", "list", "table")
)


def _words(*names: str) -> Mapping[str, str]:
    return {name: name.replace("_", " ").capitalize() for name in names}


# fmt: off
GROUPS: Final[Mapping[str, Sequence[PlanKey]]] = {
    "": (
        _text("name", "Name", "Lower-case letters, digits, - and _."),
        _choice("kind", "Kind", "A ladder has no end, and bots enter while it runs.", _words("tournament", "ladder")),
        _choice("format", "Format", "Who meets whom in a tournament.", _words("round_robin", "gauntlet", "swiss", "knockout", "groups"), "None: a ladder"),
        _choice("game", "Game", "", {game.id: game.title for game in GAMES}),
        _number("seats", "Seats"),
        _number("deal_sets", "Deal-sets", "Of each group of bots that meets. Ladders and knockouts of two have none."),
    ),
    "Keys of one format": (
        _number("swiss.rounds", "Swiss: rounds", "Empty for as many as the bots need."),
        _number("groups.groups", "Groups: their number"),
        _number("groups.best", "Groups: bots that advance", "Of each group, to the finals."),
        _text("gauntlet.challenger", "Gauntlet: challenger", "The bot that meets all others."),
        _check("knockout.double", "Knockout: two losses eliminate"),
        _number("knockout.most_deal_sets", "Knockout: most deal-sets", "After them points decide; 200 if empty."),
        _number("round_robin.max_groups", "Round robin: most groups", "If all groups are too many."),
        _choice("ladder.row", "Ladder: a row is of", "", {"newest": "The newest version", "all_versions": "All versions of a bot"}, "By default the newest version"),
        _number("ladder.finals_deal_sets", "Ladder: deal-sets of its finals", "Of each group; 8 if empty."),
        _number("rate.matches_an_hour", "Ladder: most matches an hour"),
        _number("rate.deal_sets_a_day", "Ladder: most deal-sets a day"),
    ),
    "Terms of a match": (
        _table("options", "Options of the game", "One a line, as hands = 4; the page of the game lists them."),
        _choice("time_control", "Time control", "", _words(*TIME_CLASSES), "The usual times"),
        _check("fair", "Fair deals", "Otherwise deals follow from the seed, and can be repeated.", usual="on"),
        _table("time_odds", "Time odds", "A bot's share of the time control, one a line, as my-bot = 0.25."),
    ),
    "Who takes part": (
        _choice("entry", "Entry", "", {"open": "Open to all owners", "invited": "By the organiser alone"}, "By default open to all owners"),
        _number("max_bots_per_owner", "Most bots of an owner", "2 if empty."),
        _list("teams", "Teams", "Owners of a team on one line, with commas: they are treated as one owner."),
        _text("seeds_from", "Seeds from", "A competition whose official standings seed the bots."),
        _text("season", "Season"),
        _text("seed", "Seed", "Text from which pairings are drawn; a random one if empty."),
    ),
    "When it is played": (
        _time("opens", "Opens, UTC", "Nothing is drawn before, and bots may enter until then."),
        _time("closes", "Closes, UTC", "No deal-set begins after it."),
        _hour("daily.begin", "Each day from"),
        _hour("daily.end", "Each day until"),
        _text("daily.zone", "Time zone of these hours", "As Europe/Vienna; UTC if empty."),
    ),
    "Where bots run": (
        _choice("sandbox", "Lowest sandbox level", "", {level: level for level in ("S1", "S2", "S3")}, "That of the arena"),
        _check("pondering", "Pondering", "Bots may compute while nothing is asked of them."),
        _number("speed_class", "Speed class", "Of workers on other machines, which then play it."),
    ),
    "Further keys": (
        _table(REST, "Further keys, as TOML", "Such as [[games]] for several games, or a table of times as time_control."),
    ),
}
"""The keys by the headings of the form, in the order of its fields."""
# fmt: on
KEYS: Final = {row.key: row for group in GROUPS.values() for row in group}


def plan_text(fields: Mapping[str, str]) -> str:
    """Return the plan in TOML of the texts of fields, by key. Raises `InvalidInput` if a field of TOML has none."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for row in KEYS.values():
        text = fields.get(row.key, "").strip()
        if text == row.usual if row.kind == "check" else not text:
            continue
        try:
            value = _READ.get(row.kind, str)(text)
        except InvalidInput as invalid:
            problems += [f"{row.key}: {problem}" for problem in invalid.problems]
            continue
        table, _, name = row.key.rpartition(".")
        if row.key == REST:
            for key, more in value.items():
                both = isinstance(more, dict) and isinstance(values.get(key), dict)
                if key in values and not both:
                    problems.append(f"{REST}: {key} has a field of its own, which is filled")
                values[key] = values[key] | more if both else more
        else:
            (values.setdefault(table, {}) if table else values)[name] = value
    if problems:
        raise InvalidInput(problems)
    return toml_text(values)


def plan_fields(text: str) -> dict[str, str]:
    """Return the texts of fields, by key, of a plan in TOML. Raises `InvalidInput` if it is no TOML."""
    left = toml_values(text)
    fields = {row.key: row.usual for row in KEYS.values() if row.kind == "check"}
    for row in KEYS.values():
        table, _, name = row.key.rpartition(".")
        place = left.get(table) if table else left
        if row.key != REST and isinstance(place, dict) and name in place:
            shown = _shown(row, place[name])
            if shown is not None:
                fields[row.key] = shown
                del place[name]
                if table and not place:
                    del left[table]
    fields[REST] = toml_text(left)
    return fields


def sides(typed: Mapping[str, str], example: str) -> tuple[Mapping[str, str], str]:
    """Return the texts of fields, and the plan in TOML: what was typed in one side fills the other.

    Beside a text that is no TOML the fields are those of the example.
    """
    if typed and "plan" not in typed:
        try:
            return typed, plan_text(typed)
        except InvalidInput:
            return typed, ""
    text = typed.get("plan", example)
    try:
        return plan_fields(text), text
    except InvalidInput:
        return plan_fields(example), text


def by_field(problems: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return the problems of a plan that stand at a field, by key, and the others."""
    at_fields: dict[str, str] = {}
    others: list[str] = []
    refused = refusal("BAD_PLAN")
    for line in problems:
        problem = line.removeprefix(f"{refused.meaning}: ").removesuffix(f" ({refused.code})")
        place, colon, words = problem.partition(": ")
        key = next((key for key in KEYS if colon and _is_of(place, key)), "")
        if key:
            at_fields[key] = f"{at_fields.get(key, '')} {words[:1].upper()}{words[1:]}.".strip()
        elif problem != f"{refused.meaning}:":  # the line above several problems
            others.append(line)
    return at_fields, others


def _is_of(place: str, key: str) -> bool:
    """Return whether a place, such as `teams[0]` or `rate`, is the key, within it, or the table of it."""
    return place == key or place.startswith((f"{key}.", f"{key}[")) or key.startswith(f"{place}.")


def _number_of(text: str) -> int | str:
    return int(text) if _NUMBER.fullmatch(text) else text


def _moment_of(text: str) -> dt.datetime | str:
    with contextlib.suppress(ValueError):
        moment = dt.datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return text


def _hour_of(text: str) -> dt.time | str:
    with contextlib.suppress(ValueError):
        return dt.time.fromisoformat(text)
    return text


def _lists_of(text: str) -> list[list[str]]:
    lines = filter(None, map(str.strip, text.splitlines()))
    return [[*filter(None, map(str.strip, line.split(",")))] for line in lines]


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "number": _number_of,
    "check": bool,
    "time": _moment_of,
    "hour": _hour_of,
    "list": _lists_of,
    "table": toml_values,
}
"""By kind, the value of a text; other kinds have the text itself."""
_WRITTEN: Final[Mapping[str, Callable[[Any], str]]] = {
    "check": lambda value: "on" if value else "",
    "time": lambda value: value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(),
    "list": lambda value: "\n".join(map(", ".join, value)),
    "table": toml_text,
}
"""By kind, the text of a value; other kinds have the value as text."""


def _shown(row: PlanKey, value: Any) -> str | None:
    """Return the text with which the field of a key shows a value; None if the field cannot show it."""
    read = _READ.get(row.kind, str)
    if row.kind in ("time", "hour") and isinstance(value, str):
        value = read(value)
    try:
        text = _WRITTEN.get(row.kind, str)(value)
    except (AttributeError, TypeError):
        return None
    lines = row.kind in ("list", "table") or "\n" not in text
    return text if lines and read(text) == value and text in (row.options or (text,)) else None

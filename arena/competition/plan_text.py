"""Plans as TOML texts: written for `arena tournament`, and without secrets for public readers."""

import datetime as dt
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
FINALS: Final = "-finals-"
"""Between the name of a ladder and the number of its finals in the name of the finals."""
HIDDEN: Final = "hidden"
"""Replaces the seed in a public plan."""


def public_text(text: str) -> str:
    """A plan without its seed, which fixes the packs, and without the commands of bots, which contain paths."""
    values = tomllib.loads(text) | {"seed": HIDDEN}
    values.pop("bots", None)
    return toml(values)


def toml(values: Mapping[str, Any]) -> str:
    """Values as TOML: texts, numbers, booleans, times, lists and mappings.

    Raises:
      TypeError: for a value of another type.
    """
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{_key(name)} = {_value(each)}" for name, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    raise TypeError(f"a plan cannot contain a {type(value).__name__}")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # TOML has the escapes of JSON, and one more for DEL.
    return json.dumps(text).replace("\x7f", "\\u007f")


def differences(
    stored: Mapping[str, Any],
    stored_terms: Mapping[str, Any],
    given: Mapping[str, Any],
    given_terms: Mapping[str, Any],
) -> Iterator[str]:
    """The differences of a plan of one game to the stored plan, each as a phrase: "NAME as stored, not as given".

    Plans are the values of their TOML, terms are as `arena.wire.terms.terms_json` writes them. The number of
    deal-sets and the keys of terms in the plan are ignored.
    """
    for labels, old, new in ((_OF_TERMS, stored_terms, given_terms), (_OF_PLAN, stored, given)):
        for label, name in labels:
            if old.get(name) != new.get(name):
                yield f"{label} {old.get(name)}, not {new.get(name)}"
    if stored_terms.get("seeded") != given_terms.get("seeded"):
        before, now = (
            "seeded deals" if each.get("seeded") else "fair deals"
            for each in (stored_terms, given_terms)
        )
        yield f"{before}, not {now}"
    for label, name in (("option", "options"), ("time control", "time_control")):
        yield from _of_mapping(label, stored_terms.get(name, {}), given_terms.get(name, {}))
    yield from _of_bots(stored.get("bots", {}), given.get("bots", {}))


_OF_TERMS: Final = (
    ("the game", "game"),
    ("rules version", "rules_version"),
    ("seats", "seats"),
    ("fault limit", "fault_limit"),
    ("away limit in ms", "away_limit_ms"),
)
_OF_PLAN: Final = (
    ("kind", "kind"),
    ("format", "format"),
    ("seed", "seed"),
    ("games", "games"),
    ("entry", "entry"),
    ("seeds from", "seeds_from"),
)


def _of_mapping(label: str, stored: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(stored.keys() | given.keys()):
        before, now = stored.get(name, "unset"), given.get(name, "unset")
        if before != now:
            yield f"{label} {name} {before}, not {now}"


def _of_bots(stored: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    if stored.keys() != given.keys():
        yield f"the bots {', '.join(sorted(stored))}, not {', '.join(sorted(given))}"
        return
    for name, command in sorted(stored.items()):
        if command != given[name]:
            yield f"{name} started by `{command}`, not `{given[name]}`"

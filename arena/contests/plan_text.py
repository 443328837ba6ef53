"""Plans as TOML texts: written for `arena tournament`, without secrets for public readers, and for the finals of a ladder."""

import datetime as dt
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from arena.contests.plan import Format, read_plan
from arena.results.deal_sets import digest
from arena.results.record import FINALS

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
HIDDEN: Final = "hidden"
"""Replaces the seed in a public plan."""
_OF_LADDERS: Final = ("ladder", "rate", "opens", "closes", "seeds_from")
"""Keys of a ladder's plan that its finals do not have."""


def public_text(text: str) -> str:
    """Return a plan without its seed, which fixes the packs, and without the commands of bots, which contain paths."""
    values = tomllib.loads(text) | {"seed": HIDDEN}
    values.pop("bots", None)
    return toml(values)


def finals_plan(text: str, number: int) -> str:
    """Return the plan, in TOML, of a ladder's finals: fresh deal-sets of the current versions. Finals are numbered from 1.

    They make the ladder's official standings. The standings of a ladder are public while it is played, so they favour
    bots that were submitted, stopped or absent at the right time. Finals are a round robin that does not use the
    ladder's results, so they have no such bias.
    """
    plan = read_plan(text)
    values = {key: value for key, value in tomllib.loads(text).items() if key not in _OF_LADDERS}
    return toml(
        values
        | {
            "name": f"{plan.name}{FINALS}{number}",
            "kind": "tournament",
            "format": str(Format.ROUND_ROBIN),
            "deal_sets": plan.ladder.finals_deal_sets,
            "seed": digest(plan.seed, "finals", number),
            "entry": "invited",
        }
    )


def toml(values: Mapping[str, Any]) -> str:
    """Values as TOML: texts, numbers, booleans, times, lists and mappings.

    Raises `TypeError` for a value of another type.
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
        pairs = (f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    raise TypeError(f"a plan cannot contain a {type(value).__name__}")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # TOML has the escapes of JSON, and one more for DEL.
    return json.dumps(text).replace("\x7f", "\\u007f")

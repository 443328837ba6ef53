"""Survivors that are accepted: faults that change nothing a bot or a viewer could notice.

`survivors.toml` names each by its file, the function, the line's text, the place
in it, the operator and what was planted, so that it is found again when lines move, and
says why no test is to be expected.
"""

import tomllib
from pathlib import Path

FILE = Path(__file__).parent / "survivors.toml"
FIELDS = ("path", "function", "text", "at", "operator", "after")


def accepted(path=FILE):
    """The reasons of the accepted survivors, by `Mutant.place`.

    Raises:
      ValueError: if an entry lacks a field or a reason, or stands twice.
    """
    reasons = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("survivor", []):
        missing = [name for name in FIELDS if name not in entry]
        missing += [] if str(entry.get("reason", "")).strip() else ["reason"]
        if missing:
            raise ValueError(f"{path.name}: an entry lacks {', '.join(missing)}: {entry}")
        place = tuple(entry[name] for name in FIELDS)
        if place in reasons:
            raise ValueError(f"{path.name}: this stands twice: {entry}")
        reasons[place] = entry["reason"]
    return reasons


def entry(mutant, reason):
    """The text of an entry."""
    values = {**dict(zip(FIELDS, mutant.place, strict=True)), "reason": reason}
    lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
    return "\n".join(["[[survivor]]", *lines, ""])


def _toml(value):
    if isinstance(value, int):
        return str(value)
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""Survivors that are accepted: faults that change nothing a bot or a viewer could notice.

`survivors.toml` lists them by the reason why no test is to be expected. A fault is named by its file, the function, the
line's text, the place in it, the operator and what was planted, so that it is found again when lines move.
"""

import tomllib
from pathlib import Path

FILE = Path(__file__).parent / "survivors.toml"


def accepted(path=FILE):
    """The reasons of the accepted survivors, by `Mutant.place`.

    Raises:
      ValueError: if a group lacks a reason, or a fault stands twice.
    """
    reasons = {}
    for group in tomllib.loads(path.read_text("utf-8")).get("accepted", []):
        if not group.get("reason", "").strip():
            raise ValueError(f"{path.name}: a group lacks its reason: {group}")
        for place in map(tuple, group["faults"]):
            if place in reasons:
                raise ValueError(f"{path.name}: this stands twice: {place}")
            reasons[place] = group["reason"]
    return reasons


def entry(mutant):
    """The line of a fault, to be put into a group."""
    return f"    [{', '.join(map(_toml, mutant.place))}],"


def _toml(value):
    if isinstance(value, int):
        return str(value)
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

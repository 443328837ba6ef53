"""Style sheet, scripts, icon and card shapes. Served names contain a hash of the content."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).with_name("static")
ASSETS: Final = (
    "arena.css",
    "icon.svg",
    "site.js",
    "viewer.js",
    "follow.js",
    "match.js",
    "live.js",
    "moment.js",
    "play.js",
    "seat.js",
    "submit.js",
)
JOINED: Final = {
    "follow.js": ("table.js", "viewer.js", "live.js"),
    **{name: ("table.js", name) for name in ("viewer.js", "live.js", "moment.js", "play.js")},
}
"""Assets of several files: the script that draws trees is sent together with those that show them."""
_DIGITS: Final = 12
_NOTES: Final = re.compile(rb"/\*.*?\*/\s*|^\s+", re.DOTALL | re.MULTILINE)
"""A pattern of the comments and indentation of a style sheet, which is sent without them."""


@cache
def asset(name: str) -> tuple[str, bytes]:
    """Return an asset: its name with a hash, and its content."""
    body = b"".join(STATIC.joinpath(part).read_bytes() for part in JOINED.get(name, (name,)))
    stem, _, kind = name.rpartition(".")
    if kind == "css":
        body = _NOTES.sub(b"", body)
    return f"{stem}-{hashlib.sha256(body).hexdigest()[:_DIGITS]}.{kind}", body


@cache
def sprite() -> str:
    """Return the SVG shapes of suits, court cards and signs, which every page contains."""
    return STATIC.joinpath("sprite.svg").read_text("utf-8")

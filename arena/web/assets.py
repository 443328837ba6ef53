"""Style sheet, scripts and card shapes. Served names contain a hash of the content."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).with_name("static")
ASSETS: Final = ("arena.css", "viewer.js", "match.js", "live.js", "site.js")
_DIGITS: Final = 12


@cache
def asset(name: str) -> tuple[str, bytes]:
    """A style sheet or script: its name with a hash, and its content."""
    body = STATIC.joinpath(name).read_bytes()
    stem, _, kind = name.rpartition(".")
    return f"{stem}-{hashlib.sha256(body).hexdigest()[:_DIGITS]}.{kind}", body


@cache
def sprite() -> str:
    """The SVG shapes of suits and court cards, which every page with cards contains."""
    return STATIC.joinpath("sprite.svg").read_text("utf-8")
